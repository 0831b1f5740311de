/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of source lines, where the tree that a kernel was built from is at hand. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct kernel_image;
struct kernel_source;

/*
 * Open the tree in the folder DIR. DIR NULL: search, in this order, the folder "source" beside IMG (where the lab keeps
 * files that a patch changed), the tree that IMG's DWARF names, if it still exists, and the build's generated files.
 * Never returns NULL: without a tree no line is known.
 */
struct kernel_source *kernel_source_create(struct kernel_image *img, const char *dir);
void kernel_source_destroy(struct kernel_source *s); /* accepts NULL */

/* The folder of the tree, or NULL where there is none. */
const char *kernel_source_dir(const struct kernel_source *s);

/*
 * Is the tree's version (VERSION, PATCHLEVEL and SUBLEVEL in its Makefile) the one that RELEASE begins
 * with? True too where either is not known.
 */
bool kernel_source_fits(const struct kernel_source *s, const char *release);

/*
 * LINE of FILE, which is relative to the tree, without its end; S owns it. NULL where there is none.
 * Files outside of the tree are not opened, whatever FILE says.
 */
const char *kernel_source_line(struct kernel_source *s, const char *file, uint32_t line);

/* ---- names of source files as the kernel's tree has them ---- */

struct paths;

struct paths *kernel_paths_create(void);
void kernel_paths_destroy(struct paths *p); /* accepts NULL */
/*
 * Tells of a unit compiled in DIR from NAME; either may be NULL. The tree's place is known once
 * the one of init/main.c has been told.
 */
void kernel_paths_unit(struct paths *p, const char *dir, const char *name);
/* The path RAW relative to the kernel's tree, or as it is if it lies outside. Owned by P. */
const char *kernel_paths_relative(struct paths *p, const char *raw);
