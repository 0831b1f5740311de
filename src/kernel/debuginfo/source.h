/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Read the text of source lines, if the kernel's source tree is available. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct kernel_image;
struct kernel_source;

/*
 * Open the source tree in the folder DIR. If DIR is NULL, search for each file in this order: first the folder "source" beside
 * IMG, where scripts/lab keeps files that a patch changed; second the tree that IMG's DWARF names, if it still exists; last the
 * folder of generated files. Never return NULL: without a tree, no line is known.
 */
struct kernel_source *kernel_source_create(struct kernel_image *img, const char *dir);
void kernel_source_destroy(struct kernel_source *s); /* accepts NULL */

/* Return the folder of S's tree, or NULL if there is none. S owns the text. */
const char *kernel_source_dir(const struct kernel_source *s);

/*
 * Return whether RELEASE begins with the version in the tree's Makefile (VERSION, PATCHLEVEL and SUBLEVEL). If RELEASE or the
 * tree's version is unknown, return true, too.
 */
bool kernel_source_fits(const struct kernel_source *s, const char *release);

/*
 * Return the text of LINE of FILE, which is relative to the tree, without the line end, or NULL if unknown. S owns the text. Files
 * outside of the tree are not opened, whatever FILE says.
 */
const char *kernel_source_line(struct kernel_source *s, const char *file, uint32_t line);

/* Names of source files, made relative to the kernel's tree. */

struct paths;

struct paths *kernel_paths_create(void);
void kernel_paths_destroy(struct paths *p); /* accepts NULL */
/* Tell P about a unit: its file NAME and the folder DIR of its compilation, which may be NULL. init/main.c tells P the tree. */
void kernel_paths_unit(struct paths *p, const char *dir, const char *name);
/* Return RAW in normalized form and, if in the kernel's tree, relative to the tree. NULL: RAW is too long. P owns the result. */
const char *kernel_paths_relative(struct paths *p, const char *raw);
