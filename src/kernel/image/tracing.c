// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/image/tracing.h"

#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/statfs.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/sorted.h"
#include "kernel/image/btf.h"
#include "kernel/image/image.h"
#include "kernel/image/kallsyms_impl.h"
#include "kernel/image/kcore.h"

#define MAX_FILE (64u << 20)

struct kernel_tracing {
	const struct kernel_kallsyms *ks;
	bool ftrace_known, blacklist_known;
	char *blacklist; /* path of the blacklist, NULL as soon as it has been read */
	/* Indexed like ks->syms: enum kernel_answer, whether the symbol has an ftrace location. count_name() keeps counts there. */
	uint8_t *ftrace;
	size_t next; /* index of the first symbol above the latest ftrace location */
	vec_of(struct kernel_range, blacks); /* sorted by start */
};

const char *kernel_tracefs_find(void)
{
	static const char *const dirs[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		struct statfs fs;

		if (!statfs(dirs[i], &fs) && (unsigned long)fs.f_type == TRACEFS_MAGIC)
			return dirs[i];
	}
	return NULL;
}

static size_t sym_index(const struct kernel_tracing *t, const struct kernel_sym *sym)
{
	return (size_t)(sym - t->ks->syms);
}

/* Note that the symbols just before ADDR have this ftrace location. Mostly ADDR ascends, so begin at the previous result. */
static void add_location(struct kernel_tracing *t, uint64_t addr)
{
	const struct kernel_sym *syms = t->ks->syms;
	size_t n = t->ks->n_syms, next = t->next, at;

	while (next < n && next < t->next + 8 && syms[next].addr <= addr)
		next++;
	if ((next && syms[next - 1].addr > addr) || (next < n && syms[next].addr <= addr))
		next = bisect(n, i, syms[i].addr <= addr);
	t->next = at = next;
	if (!next || addr - syms[next - 1].addr > ARCH_MAX_FTRACE_OFFSET)
		return;
	while (at > 0 && syms[at - 1].addr == syms[next - 1].addr)
		t->ftrace[--at] = KERNEL_YES;
}

/* Parse a line "ADDR NAME[ [MODULE]]". */
static void add_line(char *text, void *tracing)
{
	const char *line = text;
	uint64_t addr;

	if (number_scan_hex(&line, &addr))
		add_location(tracing, addr);
}

/*
 * Parse a line "NAME[ [MODULE]]". The first symbol with this name and module counts such lines, in its element of t->ftrace.
 * Later, settle_names() turns the counts into answers.
 */
static void count_name(char *line, void *tracing)
{
	struct kernel_tracing *t = tracing;
	const struct kernel_sym *const *named;
	const char *module;
	size_t n;

	if (!kallsyms_cut_module(line, ' ', &module))
		return;
	named = kernel_kallsyms_named(t->ks, line, &n);
	for (size_t i = 0; i < n; i++) {
		if (same_text(named[i]->module, module)) {
			uint8_t *count = &t->ftrace[sym_index(t, named[i])];

			*count += *count < UINT8_MAX;
			return;
		}
	}
}

/* The N symbols NAMED have one name. In each module, the first one has the number of lines: turn it into an answer for all. */
static void settle_name(struct kernel_tracing *t, const struct kernel_sym *const *named, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t same = 0;
		uint8_t answer, count = t->ftrace[sym_index(t, named[i])];
		bool first = true;

		for (size_t j = 0; j < n; j++) {
			if (named[j]->module != named[i]->module)
				continue;
			if (j < i)
				first = false;
			same++;
		}
		if (!first)
			continue;
		answer = !count ? KERNEL_NO : count >= same ? KERNEL_YES : KERNEL_UNKNOWN;
		for (size_t j = i; j < n; j++)
			if (named[j]->module == named[i]->module)
				t->ftrace[sym_index(t, named[j])] = answer;
	}
}

static void settle_names(struct kernel_tracing *t)
{
	size_t n_syms = t->ks->n_syms;
	const struct kernel_sym *syms = t->ks->syms;

	for (size_t i = 0; i < n_syms; i++) {
		const struct kernel_sym *const *named;
		size_t n;

		named = kernel_kallsyms_named(t->ks, syms[i].name, &n);
		if (named[0] == &syms[i])
			settle_name(t, named, n);
	}
	/* For several symbols at one address the kernel prints only one name: give all these symbols the same answer. */
	for (size_t i = 0, end; i < n_syms; i = end) {
		bool yes = false;

		for (end = i; end < n_syms && syms[end].addr == syms[i].addr; end++)
			yes |= t->ftrace[end] == KERNEL_YES;
		if (yes)
			memset(t->ftrace + i, KERNEL_YES, end - i);
	}
}

/*
 * Call FN for each line of the file PATH. Return 1, or 0 if the file is missing, empty, or forbidden to this process. Report other
 * errors, and return -errno.
 */
static int read_lines(struct kernel_tracing *t, const char *path,
		      void (*fn)(char *line, void *tracing))
{
	char *text;
	size_t len;
	int err = file_read(path, MAX_FILE, &text, &len);

	if (err == -ENOENT || err == -EACCES || err == -EPERM || err == -ENOTDIR || err == -ENODEV)
		return 0;
	if (err) {
		log_error("cannot read %s: %s", path, log_strerror(err));
		return err;
	}
	file_lines_each(text, len, fn, t);
	free(text);
	return len > 0;
}

static int load_ftrace(struct kernel_tracing *t, const char *tracefs)
{
	scoped_free char *addrs = alloc_printf("%s/available_filter_functions_addrs", tracefs);
	scoped_free char *names = alloc_printf("%s/available_filter_functions", tracefs);
	int ret = read_lines(t, addrs, add_line);

	if (!ret) {
		ret = read_lines(t, names, count_name);
		if (ret > 0)
			settle_names(t);
	}
	t->ftrace_known = ret > 0;
	return ret < 0 ? ret : 0;
}

/* Parse a line "0xSTART-0xEND\tNAME". If the kernel hides addresses, START and END are 0. */
static void add_black(char *text, void *tracing)
{
	struct kernel_tracing *t = tracing;
	const char *line = text;
	struct kernel_range b;

	if (!number_scan_hex(&line, &b.start) || *line++ != '-' || !number_scan_hex(&line, &b.end))
		return;
	if (b.start && b.start < b.end)
		vec_push(t, blacks, b);
}

/* Load the blacklist when it is first needed, which is for kprobes only. */
static void load_blacklist(struct kernel_tracing *t)
{
	int ret;

	if (!t->blacklist)
		return;
	ret = read_lines(t, t->blacklist, add_black);
	free(t->blacklist);
	t->blacklist = NULL;
	/* If no line has an address, the kernel hides addresses: the blacklist is unknown. */
	t->blacklist_known = ret > 0 && t->n_blacks > 0;
	sort_array(t->blacks, t->n_blacks, sizeof(*t->blacks), compare_u64);
	/* Merge overlapping ranges. Otherwise a binary search could miss a range that contains the next ranges. */
	for (size_t i = 1, last = 0, n = t->n_blacks; i < n; i++) {
		if (t->blacks[i].start <= t->blacks[last].end) {
			if (t->blacks[i].end > t->blacks[last].end)
				t->blacks[last].end = t->blacks[i].end;
		} else {
			t->blacks[++last] = t->blacks[i];
		}
		t->n_blacks = last + 1;
	}
}

int kernel_tracing_load(const struct kernel_kallsyms *ks, const uint64_t *locations,
			size_t n_locations, const char *tracefs, const char *blacklist,
			struct kernel_tracing **out)
{
	struct kernel_tracing *t = alloc_new(struct kernel_tracing);
	int err = 0;

	t->ks = ks;
	t->blacklist = blacklist ? alloc_strdup(blacklist) : NULL;
	t->ftrace = alloc_array(ks->n_syms, sizeof(*t->ftrace));
	for (size_t i = 0; i < n_locations; i++)
		add_location(t, locations[i]);
	t->ftrace_known = n_locations > 0;
	if (!n_locations && tracefs)
		err = load_ftrace(t, tracefs);
	if (err) {
		kernel_tracing_destroy(t);
		t = NULL;
	}
	*out = t;
	return err;
}

void kernel_tracing_destroy(struct kernel_tracing *t)
{
	if (!t)
		return;
	free(t->blacklist);
	free(t->ftrace);
	free(t->blacks);
	free(t);
}

bool kernel_tracing_ftrace_known(const struct kernel_tracing *t)
{
	return t->ftrace_known;
}

bool kernel_tracing_blacklist_known(struct kernel_tracing *t)
{
	load_blacklist(t);
	return t->blacklist_known;
}

enum kernel_answer kernel_tracing_is_ftrace(const struct kernel_tracing *t,
					    const struct kernel_sym *sym)
{
	if (!t->ftrace_known)
		return KERNEL_UNKNOWN;
	return t->ftrace[sym_index(t, sym)];
}

enum kernel_answer kernel_tracing_is_blacklisted(struct kernel_tracing *t, uint64_t addr)
{
	size_t next;

	if (!kernel_tracing_blacklist_known(t))
		return KERNEL_UNKNOWN;
	next = bisect(t->n_blacks, i, t->blacks[i].end <= addr);
	return next < t->n_blacks && addr >= t->blacks[next].start ? KERNEL_YES : KERNEL_NO;
}

#define PAGES_MAX   4096 /* a longer list is circular: it has changed during the reading */
#define RECORDS_MAX (1 << 20) /* maximum number of records in a page */

/* Byte offsets of members in struct ftrace_page and struct dyn_ftrace, and the size of the latter. */
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
	vec_of(uint64_t, addrs);
};

/* Read the N records (struct dyn_ftrace) at address AT. */
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
