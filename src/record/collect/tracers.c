// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/collect/tracers.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/file.h"
#include "base/log.h"
#include "base/plural.h"
#include "base/sorted.h"
#include "catalogue/state.h"

/* Maximum bytes read of a list. The kernel needs more time for each further line: 1.5 s for the function tracer's 22,000 lines. */
#define LIST_MAX (64u << 10)

#define NAMES_SHOWN 3
#define TRACEPOINT  "__tracepoint_"

/* Add the function of a line of enabled_functions. A line that begins with a tab continues the previous line. */
static void add_function(char *line, void *arg)
{
	struct record_tracers *t = arg;

	line[strcspn(line, " ")] = '\0';
	if (*line != '\t')
		alloc_keep(&t->functions, alloc_strdup(line));
}

/* Add the function of a line "ADDR TYPE NAME+OFFSET ...". */
static void add_kprobe(char *line, void *arg)
{
	struct record_tracers *t = arg;
	char *save = NULL, *name;

	strtok_r(line, " ", &save);
	strtok_r(NULL, " ", &save);
	name = strtok_r(NULL, " +", &save);
	if (name)
		alloc_keep(&t->functions, alloc_strdup(name));
}

static void read_list(struct record_tracers *t, const char *path, void (*fn)(char *line, void *arg))
{
	scoped_free char *text = alloc_array(LIST_MAX + 1, 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = fd < 0 ? 0 : 1;

	while (n > 0 && len < LIST_MAX) {
		n = read(fd, text + len, LIST_MAX - len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	t->more |= len == LIST_MAX;
	file_lines_each(text, len, fn, t);
}

/* Add the tracepoints among the static keys in the text KEYS. */
static void add_tracepoints(struct record_tracers *t, const char *keys)
{
	struct catalogue_setting key;

	while (catalogue_next_parameter(&keys, &key)) {
		const char *name = key.name.s + strlen(TRACEPOINT);

		if (key.name.n > strlen(TRACEPOINT) &&
		    !strncmp(key.name.s, TRACEPOINT, strlen(TRACEPOINT)))
			alloc_keep(&t->tracepoints, alloc_strndup(name, strcspn(name, "+ ")));
	}
}

void record_tracers_read(struct record_tracers *t, const char *tracefs, const char *kprobes,
			 const char *static_keys)
{
	scoped_free char *current = alloc_printf("%s/current_tracer", tracefs ?: "");
	scoped_free char *enabled = alloc_printf("%s/enabled_functions", tracefs ?: "");
	char line[64];

	if (!t->current && file_read_line(current, line, sizeof(line)) && strcmp(line, "nop") != 0)
		t->current = alloc_strdup(line);
	read_list(t, enabled, add_function);
	read_list(t, kprobes, add_kprobe);
	add_tracepoints(t, static_keys);
}

/* Return whether C writes a probe at OFFSET of a function: ftrace's call near the entry, or the one-byte trap of a kprobe. */
static bool is_probe(const struct record_change *c, uint64_t offset)
{
	switch (arch_patch_of(c->text)) {
	case ARCH_PATCH_CALL:
		return c->len > 1 && offset <= ARCH_MAX_ENTRY_MARK;
	case ARCH_PATCH_TRAP:
		return c->len == 1;
	default:
		return false;
	}
}

void record_tracers_watch(struct record_tracers *t, const struct record_watch *watch,
			  const struct kernel_kallsyms *ks,
			  bool (*is_ignored)(uint64_t addr, const void *arg), const void *arg)
{
	vec_each(const struct record_change, c, watch, changes) {
		uint64_t offset = 0;
		const struct kernel_sym *sym = kernel_kallsyms_covering(ks, c->addr, &offset);

		if (sym && is_probe(c, offset) && !is_ignored(c->addr, arg))
			alloc_keep(&t->functions, alloc_strdup(sym->name));
	}
	for (size_t i = 0; i < watch->programs.n_texts; i++)
		alloc_keep(&t->programs, alloc_strdup(watch->programs.texts[i]));
	t->more |= watch->overflowed;
}

static bool is_timed(const struct profile *p, const char *name)
{
	size_t len = strlen(name);

	vec_each(const struct profile_site, site, p, sites) {
		const char *symbol = site->symbol ?: "";

		if (!strncmp(symbol, name, len) && (!symbol[len] || symbol[len] == ' '))
			return true;
	}
	return false;
}

define_compare(name_compare, char *const, strcmp(*a, *b));

static void drop_name(void *to, void *from)
{
	(void)to;
	free(*(char **)from);
}

/* Return a text such as "3 functions (a, b, ...)", WHAT being the noun. Functions timed in P come first. NULL: T is empty. */
static char *list_names(struct alloc_texts *t, const char *what, bool more, const struct profile *p)
{
	uint32_t shown = 0;
	char *text = NULL;

	t->n_texts = unite_array(t->texts, t->n_texts, sizeof(*t->texts), name_compare, drop_name);
	if (!t->n_texts)
		return NULL;
	alloc_append(&text, "%s%zu %s%s (", more ? "more than " : "", t->n_texts, what,
		     plural(t->n_texts, "", "s"));
	for (int timed = 1; timed >= 0; timed--)
		for (size_t i = 0; i < t->n_texts && shown < NAMES_SHOWN; i++)
			if (is_timed(p, t->texts[i]) == timed)
				alloc_append(&text, "%s%s", shown++ ? ", " : "", t->texts[i]);
	alloc_append(&text, "%s)", more || t->n_texts > shown ? ", ..." : "");
	return text;
}

/* Append ITEM, which may be NULL, to *TEXT, and free ITEM. */
static void append(char **text, char *item)
{
	if (item)
		alloc_append(text, "%s%s", *text ? "; " : "", item);
	free(item);
}

void record_tracers_store(struct record_tracers *t, struct profile *p)
{
	scoped_free char *text = NULL, *programs = NULL;

	if (t->current)
		append(&text, alloc_printf("%s tracer", t->current));
	append(&text, list_names(&t->functions, "function", t->more, p));
	append(&text, list_names(&t->tracepoints, "tracepoint", false, p));
	programs = list_names(&t->programs, "BPF program", false, p);
	if (text) {
		profile_env_set(p, PROFILE_ENV_TRACERS, text);
		log_warn("other tools trace this kernel, and what that costs is in the times of "
			 "what they trace: %s",
			 text);
	}
	if (programs) {
		profile_env_set(p, PROFILE_ENV_PROGRAMS, programs);
		log_warn(
			"others loaded %s while the command ran: times may contain what that costs",
			programs);
	}
	record_tracers_deinit(t);
}

void record_tracers_deinit(struct record_tracers *t)
{
	alloc_texts_free(&t->functions);
	alloc_texts_free(&t->tracepoints);
	alloc_texts_free(&t->programs);
	free(t->current);
	*t = (struct record_tracers){};
}
