// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzz the reader of debug symbol indexes. Three of four inputs get correct checksums. */
#include "fuzz.h"

#include "kernel/debuginfo/index_impl.h"

static int frame(const struct kernel_frame *f, void *arg)
{
	*(size_t *)arg += (f->name ? strlen(f->name) : 0) + (f->file ? strlen(f->file) : 0);
	return 0;
}

static int body(const struct kernel_body *b, void *arg)
{
	*(size_t *)arg += (b->name ? strlen(b->name) : 0) + b->n_ranges;
	return 0;
}

static int function(const struct kernel_function *f, void *arg)
{
	*(size_t *)arg += (f->name ? strlen(f->name) : 0) + f->n_ranges;
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	size = LLVMFuzzerMutate(data, size, max_size);
	if (seed % 4 && size > sizeof(struct index_header)) {
		/* The copy is aligned, like a mapped file. */
		struct index_header *h = malloc(size);

		memcpy(h, data, size);
		if (h->size == size)
			kernel_index_seal(h);
		memcpy(data, h, size);
		free(h);
	}
	return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kernel_index *idx;
	uint32_t empty, line, id;
	const char *file;
	size_t sum = 0;

	if (kernel_index_open(fuzz_file(0, data, size), NULL, &idx))
		return 0;
	for (uint64_t addr = 0; addr < 0x200; addr += 3) {
		struct kernel_place place;

		kernel_index_at(idx, addr, &place);
		kernel_index_frames(idx, addr, frame, &sum);
		kernel_index_declaration(idx, addr, &file, &line);
	}
	kernel_index_bodies_each(idx, "*", body, &sum, &empty);
	kernel_index_functions_each(idx, "*", function, &sum);
	for (id = 0; id < 20; id++)
		free(kernel_index_chain(idx, id, "/"));
	kernel_index_destroy(idx);
	return 0;
}
