// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/tracing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <linux/magic.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "symbol/file.h"
#include "symbol/name.h"

#define MAX_FILE (64u << 20)

/*
 * How far behind a function's first byte its ftrace location may be: behind endbr64 on x86, behind
 * a bti on arm64.
 */
#define MAX_ENTRY_OFFSET 16

struct blacked {
	uint64_t start, end;
};

struct symbol_tracing {
	const struct symbol_kallsyms *ks;
	bool ftrace_known, blacklist_known;
	/* One answer (enum symbol_answer) for each symbol of KS, in its order. */
	uint8_t *ftrace;
	struct blacked *blacks; /* by start */
	size_t n_blacks, cap_blacks;
};

const char *symbol_tracefs_find(void)
{
	static const char *const dirs[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		struct statfs fs;

		if (!statfs(dirs[i], &fs) && (unsigned long)fs.f_type == TRACEFS_MAGIC)
			return dirs[i];
	}
	return NULL;
}

static size_t sym_index(const struct symbol_tracing *t, const struct symbol_sym *sym)
{
	size_t n;

	return (size_t)(sym - symbol_kallsyms_all(t->ks, &n));
}

/* Parses hexadecimal digits, with or without 0x; *P moves behind them. */
static bool parse_hex(char **p, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(*p, &end, 16);
	if (end == *p || errno)
		return false;
	*p = end;
	return true;
}

/* A line "ADDR NAME[ [MODULE]]": every symbol that begins there is a function. */
static void add_location(struct symbol_tracing *t, char *line)
{
	const struct symbol_sym *syms, *sym;
	uint64_t addr, offset;
	size_t n;

	if (!parse_hex(&line, &addr))
		return;
	sym = symbol_kallsyms_covering(t->ks, addr, &offset);
	if (!sym || offset > MAX_ENTRY_OFFSET)
		return;
	syms = symbol_kallsyms_all(t->ks, &n);
	addr = sym->addr;
	while (sym > syms && sym[-1].addr == addr)
		sym--;
	for (; sym < syms + n && sym->addr == addr; sym++)
		t->ftrace[sym - syms] = SYMBOL_YES;
}

/*
 * A line "NAME[ [MODULE]]". While the file is read, t->ftrace counts at the first symbol of that
 * name and module how many lines there are of it.
 */
static void count_name(struct symbol_tracing *t, char *line)
{
	char *name = line, *module = strchr(line, ' ');
	const struct symbol_sym *const *named;
	size_t n;

	if (module) {
		size_t len = strlen(module);

		*module++ = '\0';
		/* len counts the space as well. */
		if (len < 4 || module[0] != '[' || module[len - 2] != ']')
			return;
		module[len - 2] = '\0';
		module++;
	}
	named = symbol_kallsyms_named(t->ks, name, &n);
	for (size_t i = 0; i < n; i++) {
		const char *in = named[i]->module;

		if (!strcmp(in ? in : "", module ? module : "")) {
			uint8_t *count = &t->ftrace[sym_index(t, named[i])];

			*count += *count < UINT8_MAX;
			return;
		}
	}
}

/* Turns the counts of a name's first symbol into answers for all symbols of name and module. */
static void settle_name(struct symbol_tracing *t, const struct symbol_sym *const *named, size_t n)
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
		answer = !count ? SYMBOL_NO : count >= same ? SYMBOL_YES : SYMBOL_UNKNOWN;
		for (size_t j = i; j < n; j++)
			if (named[j]->module == named[i]->module)
				t->ftrace[sym_index(t, named[j])] = answer;
	}
}

static void settle_names(struct symbol_tracing *t)
{
	size_t n_syms;
	const struct symbol_sym *syms = symbol_kallsyms_all(t->ks, &n_syms);

	for (size_t i = 0; i < n_syms; i++) {
		const struct symbol_sym *const *named;
		size_t n;

		named = symbol_kallsyms_named(t->ks, syms[i].name, &n);
		if (named[0] == &syms[i])
			settle_name(t, named, n);
	}
	/* The kernel prints one name for an address that has several. */
	for (size_t i = 0, end; i < n_syms; i = end) {
		bool yes = false;

		for (end = i; end < n_syms && syms[end].addr == syms[i].addr; end++)
			yes |= t->ftrace[end] == SYMBOL_YES;
		if (yes)
			memset(t->ftrace + i, SYMBOL_YES, end - i);
	}
}

static void each_line(struct symbol_tracing *t, char *text, size_t len,
		      void (*fn)(struct symbol_tracing *t, char *line))
{
	char *end = text + len;

	while (text < end) {
		char *nl = memchr(text, '\n', (size_t)(end - text));

		/* A line without its end may be half a line. */
		if (!nl)
			return;
		*nl = '\0';
		fn(t, text);
		text = nl + 1;
	}
}

/* 1: read and used; 0: not there, or not for us; else -errno, reported. */
static int read_lines(struct symbol_tracing *t, const char *path,
		      void (*fn)(struct symbol_tracing *t, char *line))
{
	char *text;
	size_t len;
	int err = symbol_file_read(path, MAX_FILE, &text, &len);

	if (err == -ENOENT || err == -EACCES || err == -EPERM || err == -ENOTDIR || err == -ENODEV)
		return 0;
	if (err) {
		log_error("cannot read %s: %s", path, log_strerror(err));
		return err;
	}
	each_line(t, text, len, fn);
	free(text);
	return len > 0;
}

static int load_ftrace(struct symbol_tracing *t, const char *tracefs)
{
	char *addrs = alloc_printf("%s/available_filter_functions_addrs", tracefs);
	char *names = alloc_printf("%s/available_filter_functions", tracefs);
	int ret = read_lines(t, addrs, add_location);

	if (!ret) {
		ret = read_lines(t, names, count_name);
		if (ret > 0)
			settle_names(t);
	}
	t->ftrace_known = ret > 0;
	free(addrs);
	free(names);
	return ret < 0 ? ret : 0;
}

/* A line "0xSTART-0xEND\tNAME"; where addresses are hidden both are 0. */
static void add_black(struct symbol_tracing *t, char *line)
{
	struct blacked b;

	if (!parse_hex(&line, &b.start) || *line++ != '-' || !parse_hex(&line, &b.end))
		return;
	if (b.start && b.start < b.end)
		vec_push(t, blacks, b);
}

static int compare_black(const void *a, const void *b)
{
	const struct blacked *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int load_blacklist(struct symbol_tracing *t, const char *path)
{
	int ret = read_lines(t, path, add_black);

	if (ret < 0)
		return ret;
	/* Lines of which none had an address tell nothing. */
	t->blacklist_known = ret > 0 && t->n_blacks > 0;
	if (t->n_blacks)
		qsort(t->blacks, t->n_blacks, sizeof(*t->blacks), compare_black);
	/* Ranges within others would hide what lies behind them from a binary search: merge. */
	for (size_t i = 1, last = 0, n = t->n_blacks; i < n; i++) {
		if (t->blacks[i].start <= t->blacks[last].end) {
			if (t->blacks[i].end > t->blacks[last].end)
				t->blacks[last].end = t->blacks[i].end;
		} else {
			t->blacks[++last] = t->blacks[i];
		}
		t->n_blacks = last + 1;
	}
	return 0;
}

int symbol_tracing_load(const struct symbol_kallsyms *ks, const char *tracefs,
			const char *blacklist, struct symbol_tracing **out)
{
	struct symbol_tracing *t = alloc_new(struct symbol_tracing);
	size_t n;
	int err = 0;

	t->ks = ks;
	symbol_kallsyms_all(ks, &n);
	t->ftrace = alloc_array(n, sizeof(*t->ftrace));
	if (tracefs)
		err = load_ftrace(t, tracefs);
	if (!err && blacklist)
		err = load_blacklist(t, blacklist);
	if (err) {
		symbol_tracing_destroy(t);
		t = NULL;
	}
	*out = t;
	return err;
}

void symbol_tracing_destroy(struct symbol_tracing *t)
{
	if (!t)
		return;
	free(t->ftrace);
	free(t->blacks);
	free(t);
}

bool symbol_tracing_ftrace_known(const struct symbol_tracing *t)
{
	return t->ftrace_known;
}

bool symbol_tracing_blacklist_known(const struct symbol_tracing *t)
{
	return t->blacklist_known;
}

enum symbol_answer symbol_tracing_is_ftrace(const struct symbol_tracing *t,
					    const struct symbol_sym *sym)
{
	if (!t->ftrace_known)
		return SYMBOL_UNKNOWN;
	return t->ftrace[sym_index(t, sym)];
}

enum symbol_answer symbol_tracing_is_blacklisted(const struct symbol_tracing *t, uint64_t addr)
{
	size_t lo = 0, hi = t->n_blacks;

	if (!t->blacklist_known)
		return SYMBOL_UNKNOWN;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (addr < t->blacks[mid].start)
			hi = mid;
		else if (addr >= t->blacks[mid].end)
			lo = mid + 1;
		else
			return SYMBOL_YES;
	}
	return SYMBOL_NO;
}
