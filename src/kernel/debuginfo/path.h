/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of source files as the kernel's tree has them. */
#pragma once

struct paths;

struct paths *kernel_paths_create(void);
void kernel_paths_destroy(struct paths *p); /* accepts NULL */
/*
 * Tells of a unit compiled in DIR from NAME; either may be NULL. The tree's place is known once
 * the one of init/main.c has been told.
 */
void kernel_paths_unit(struct paths *p, const char *dir, const char *name);
/* The tree, and the folder that it was built in, each with a slash at its end; NULL: not known yet. */
const char *kernel_paths_source_root(const struct paths *p);
const char *kernel_paths_build_root(const struct paths *p);
/* The path RAW relative to the kernel's tree, or as it is if it lies outside. Owned by P. */
const char *kernel_paths_relative(struct paths *p, const char *raw);
