/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of data in a kernel's image, which its table of functions leaves out. */
#ifndef KPROTPERF_SYMBOL_OBJECTS_H
#define KPROTPERF_SYMBOL_OBJECTS_H

#include <stdint.h>

struct symbol_image;
struct symbol_objects;

/* Never NULL: without a symbol table it knows none. IMG must outlive it. */
struct symbol_objects *symbol_objects_create(struct symbol_image *img);
void symbol_objects_destroy(struct symbol_objects *o); /* accepts NULL */

/* What covers the file's address ADDR, *OFFSET bytes in; NULL: nothing that has a size. */
const char *symbol_objects_at(const struct symbol_objects *o, uint64_t addr, uint64_t *offset);

#endif
