// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/code/ftrace.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "kernel/image/kcore.h"
#include "kernel/image/btf.h"
#include "kernel/image/kallsyms.h"

#define PAGES_MAX   4096 /* more are a list that goes in circles, changed as it was read */
#define RECORDS_MAX (1 << 20) /* of a page */

/* Offsets of the members read of struct ftrace_page and struct dyn_ftrace, in bytes. */
struct layout {
	int next, records, index, ip, record_size;
};

static int find_layout(const struct btf *btf, struct layout *l)
{
	*l = (struct layout){
		.next = kernel_btf_offset(btf, "ftrace_page", "next"),
		.records = kernel_btf_offset(btf, "ftrace_page", "records"),
		.index = kernel_btf_offset(btf, "ftrace_page", "index"),
		.ip = kernel_btf_offset(btf, "dyn_ftrace", "ip"),
		.record_size = kernel_btf_offset(btf, "dyn_ftrace", NULL),
	};
	return l->next < 0 || l->records < 0 || l->index < 0 || l->ip < 0 ||
			       l->record_size < l->ip + (int)sizeof(uint64_t) ?
		       -ENOENT :
		       0;
}

struct locations {
	uint64_t *addrs;
	size_t n_addrs, cap_addrs;
};

/* The N records at AT. */
static int read_records(const struct kernel_kcore *kcore, const struct layout *l, uint64_t at,
			uint32_t n, struct locations *out)
{
	size_t size = (size_t)n * l->record_size;
	scoped_free char *records = NULL;
	int err;

	if (n > RECORDS_MAX)
		return -EINVAL;
	records = alloc_array(n, l->record_size);
	err = kernel_kcore_read(kcore, at, records, size);
	for (size_t i = 0; i < size && !err; i += l->record_size) {
		uint64_t addr;

		memcpy(&addr, records + i + l->ip, sizeof(addr));
		vec_push(out, addrs, addr);
	}
	return err;
}

static int read_pages(const struct kernel_kcore *kcore, const struct layout *l, uint64_t at,
		      struct locations *out)
{
	int err = kernel_kcore_read(kcore, at, &at, sizeof(at));

	for (uint32_t i = 0; at && !err; i++) {
		uint64_t next, records;
		uint32_t n;

		if (i == PAGES_MAX)
			return -ELOOP;
		err = kernel_kcore_read(kcore, at + l->next, &next, sizeof(next));
		err = err ?: kernel_kcore_read(kcore, at + l->records, &records, sizeof(records));
		err = err ?: kernel_kcore_read(kcore, at + l->index, &n, sizeof(n));
		err = err ?: read_records(kcore, l, records, n, out);
		at = next;
	}
	return err;
}

int kernel_ftrace_read(const struct kernel_kcore *kcore, const struct btf *btf,
		       const struct kernel_kallsyms *ks, uint64_t **addrs, size_t *n)
{
	uint64_t pages = kernel_kallsyms_variable(ks, "ftrace_pages_start");
	struct locations found = {};
	struct layout l;
	int err = pages ? find_layout(btf, &l) : -ENOENT;

	err = err ?: read_pages(kcore, &l, pages, &found);
	err = err ?: found.n_addrs ? 0 : -ENOENT;
	if (err)
		free(found.addrs);
	else
		*addrs = found.addrs;
	*n = err ? 0 : found.n_addrs;
	return err;
}
