/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of source lines, if the kernel's source tree is available. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct kernel_image;
struct kernel_source;

/*
 * Open the tree in the folder DIR. If DIR is NULL, search for each file in this order: the folder "source" beside IMG, where
 * scripts/lab keeps files that a patch changed; the tree that IMG's DWARF names, if it still exists; the build's generated
 * files. Never return NULL: without a tree, no line is known.
 */
struct kernel_source *kernel_source_create(struct kernel_image *img, const char *dir);
void kernel_source_destroy(struct kernel_source *s); /* accepts NULL */

/* Return the folder of the tree, or NULL if there is none. */
const char *kernel_source_dir(const struct kernel_source *s);

/*
 * Return whether RELEASE begins with the tree's version (VERSION, PATCHLEVEL and SUBLEVEL in its Makefile). Also return true
 * if the release or the tree's VERSION is unknown.
 */
bool kernel_source_fits(const struct kernel_source *s, const char *release);

/*
 * Return LINE of FILE, which is relative to the tree, without its line end, or NULL if it is unknown. S owns the result.
 * Files outside of the tree are not opened, whatever FILE says.
 */
const char *kernel_source_line(struct kernel_source *s, const char *file, uint32_t line);

/* ---- names of source files, relative to the kernel's tree ---- */

struct paths;

struct paths *kernel_paths_create(void);
void kernel_paths_destroy(struct paths *p); /* accepts NULL */
/* Add a unit to P: NAME, compiled in the folder DIR; either may be NULL. P finds the tree by the unit of init/main.c. */
void kernel_paths_unit(struct paths *p, const char *dir, const char *name);
/* Return RAW, normalized and (if it is in the kernel's tree) relative to the tree; NULL: it is too long. P owns the result. */
const char *kernel_paths_relative(struct paths *p, const char *raw);
