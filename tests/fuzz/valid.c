// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz commands and formats with two valid recordings, generated field by field from profile/fields.c. Each section has its own
 * seed. If both recordings share a seed, they have the same functions, stacks, or counts in this section.
 */
#include "fuzz.h"

#include <jansson.h>
#include <math.h>

#include "base/alloc.h"
#include "cmd/cmd.h"
#include "profile/file/file.h"
#include "profile/file/section.h"
#include "view/diff.h"
#include "view/report.h"
#include "view/why.h"

#define ID40 "0123456789abcdef0123456789abcdef01234567"

static const char *const names[] = {
	"f",
	"g",
	"f",
	"clone",
	"write",
	"[page_fault]",
	"[irq]",
	"[none]",
	"clone [rcu]",
	"alloc",
	"mm/slub.c",
	"lib/x.h",
	"f < g",
	"context",
	"s->min",
	"s->max",
	"return",
	"[ext4]",
	"f [ext4]",
	"a b;c,d",
	"%s%n",
	"=cmd|'/c calc'!A1",
	"schedule",
	"<script>",
	"\x1b[31m",
	"\xff",
	"\n",
	"__x86_indirect_thunk_array",
	"kmem_cache_alloc",
};

static const char *const keys[] = {
	PROFILE_ENV_RELEASE,
	PROFILE_ENV_BUILD_ID,
	PROFILE_ENV_CONFIG,
	PROFILE_ENV_CMDLINE,
	PROFILE_ENV_PINNED,
	PROFILE_ENV_MODEL,
	PROFILE_ENV_CYCLES,
	PROFILE_ENV_TRACE,
	PROFILE_ENV_CLOCK_STEP,
	PROFILE_ENV_DRIFT,
	PROFILE_ENV_TASKS,
	PROFILE_ENV_SYMBOLS,
	PROFILE_ENV_INLINED,
	PROFILE_ENV_TIMES,
	PROFILE_ENV_STATIC_KEYS,
	PROFILE_ENV_RECORDINGS,
	PROFILE_ENV_BOOTS,
	PROFILE_ENV_SYSCALLS,
	PROFILE_ENV_PAGE_FAULTS,
	PROFILE_ENV_TIME,
	PROFILE_ENV_UNFINISHED,
	PROFILE_ENV_TRACERS,
	PROFILE_ENV_PROGRAMS,
	PROFILE_ENV_TARGET,
	(PROFILE_ENV_MODULE "ext4"),
	PROFILE_ENV_CPUS,
	(PROFILE_ENV_MITIGATION "x"),
	(PROFILE_ENV_PROTECTION "x"),
};

static const char *const values[] = {
	"1",
	"0",
	"18446744073709551615",
	"-9223372036854775808",
	"1e308",
	ID40,
	"all",
	"inner=98+-1 full=332+-2",
	"f:1",
	"CONFIG_SLUB=y\n",
	"l1i=10 l1d=18446744073709551615",
	"a,b",
	"nan",
	"process",
	"2026-01-01T00:00:00Z",
	"fentry",
	"",
};

struct maker {
	struct profile *p;
	uint64_t state;
};

/* Return the next number of the random generator splitmix64. */
static uint64_t next(struct maker *m)
{
	uint64_t z = m->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint32_t below(struct maker *m, uint32_t n)
{
	return (uint32_t)(next(m) >> 8) % n;
}

static uint64_t number(struct maker *m, uint64_t max)
{
	const uint64_t of[] = { below(m, 4),
				below(m, 100),
				below(m, 1 << 20),
				1ull << below(m, 64),
				(1ull << below(m, 64)) - 1,
				next(m),
				max };
	uint64_t v = of[below(m, below(m, 4) ? 3 : ARRAY_SIZE(of))];

	return v > max && max < UINT64_MAX ? v % (max + 1) : v;
}

static double real(struct maker *m, const struct field *f)
{
	const double of[] = { 0, 1, 98.5, 1e6, 1e18, 1e308, -3, f->required ? 1 : NAN };

	return of[below(m, f->adds ? 6 : ARRAY_SIZE(of))];
}

static const char *text(struct maker *m, const struct field *f)
{
	bool key = m->p->n_envs && f->offset == offsetof(struct profile_env, key);
	char long_one[300];

	if (!f->required && !below(m, 3))
		return NULL;
	if (!f->max)
		return values[below(m, ARRAY_SIZE(values))];
	if (key && below(m, 8))
		return keys[below(m, ARRAY_SIZE(keys))];
	if (below(m, 64))
		return names[below(m, ARRAY_SIZE(names))];
	memset(long_one, 'x', sizeof(long_one));
	long_one[below(m, sizeof(long_one))] = '\0';
	long_one[sizeof(long_one) - 1] = '\0';
	return profile_intern(m->p, long_one);
}

static bool make(struct maker *m, const struct layout *of, void *entry, const void *before);

static bool make_list(struct maker *m, const struct field *f, void *entry)
{
	uint32_t n = f->length ? f->length(m->p, entry) : below(m, below(m, 16) ? 7 : 40);

	for (uint32_t i = 0; n != LIST_UNKNOWN && i < n; i++) {
		void *item = list_push(f, entry, n);

		if (!make(m, f->of, item, i ? list_at(f, entry, i - 1) : NULL))
			return false;
	}
	return n != LIST_UNKNOWN;
}

static uint64_t make_number(struct maker *m, const struct field *f)
{
	/* The reader limits the sum of such a field over a section. */
	uint64_t max = f->adds ? 1ull << (below(m, 16) ? 40 : 60) : UINT64_MAX;

	if (f->wrong && !f->table)
		max = f->max;
	if (f->kind == FIELD_COUNT && !below(m, 4))
		return PROFILE_NOT_COUNTED;
	if (f->kind == FIELD_LOSSES)
		return below(m, 3) ? PROFILE_NOT_COUNTED : number(m, 1 << 20);
	if (f->kind == FIELD_FLAG)
		return below(m, 2);
	if (f->kind == FIELD_SIGNED)
		return number(m, max) * (below(m, 4) ? 1 : -1ull);
	if (f->bias) /* mostly addresses near each other */
		return below(m, 8) ? 16 * below(m, 64) : number(m, f->max) - f->bias;
	return number(m, max);
}

static bool make_field(struct maker *m, const struct field *f, void *entry, const void *before)
{
	char *at = (char *)entry + f->offset;
	const char *s;
	double v;

	switch (f->kind) {
	case FIELD_DOUBLE:
		v = real(m, f);
		memcpy(at, &v, sizeof(v));
		return true;
	case FIELD_STRING:
		s = profile_intern(m->p, text(m, f));
		memcpy(at, &s, sizeof(s));
		return true;
	case FIELD_LIST:
		return make_list(m, f, entry);
	case FIELD_PART:
		return make(m, f->of, at, NULL);
	case FIELD_STEP:
		field_store(f, at, below(m, 40) + (before ? 1 + *(const uint32_t *)before : 0));
		return true;
	case FIELD_LOSS_KINDS:
		return true;
	default:
		if (f->table && !section_count(m->p, f->table))
			return false;
		for (int i = 0; i < (f->n ?: 1); i++)
			field_store(f, at + (size_t)i * f->size,
				    f->table ? below(m, section_count(m->p, f->table)) :
					       make_number(m, f));
		return true;
	}
}

static bool make(struct maker *m, const struct layout *of, void *entry, const void *before)
{
	for_each_field(f, of)
		if (!make_field(m, f, entry, before))
			return false;
	return true;
}

static void order(uint64_t *min, uint64_t *max)
{
	uint64_t least = *min < *max ? *min : *max;

	*max = *min < *max ? *max : *min;
	*min = least;
}

static void mend_values(struct maker *m, uint32_t site, uint32_t *absent, uint64_t *all)
{
	scoped_free uint32_t *bits = profile_site_variables(m->p, m->p->n_variables);

	*absent &= bits[site];
	for (int i = 0; i < PROFILE_VALUES_MAX; i++)
		all[i] = (bits[site] & ~*absent) >> i & 1 ? all[i] : 0;
}

static void mend_blocks(struct maker *m, struct profile_blocks *b)
{
	uint32_t from = 0;

	for (uint32_t i = 0; i < b->n_items; i++) {
		b->items[i].addr = 16 * i + below(m, 16);
		b->items[i].bytes = below(m, 20);
	}
	b->entry = b->n_items ? below(m, b->n_items) : 0;
	for (uint32_t i = 0; i < b->n_arcs && b->n_items; i++) {
		from += from + 1 < b->n_items ? below(m, 2) : 0;
		b->arcs[i] = (struct profile_arc){ from, below(m, b->n_items) };
		if (!below(m, 6))
			b->arcs[i].to = PROFILE_ARC_ANY + below(m, 2);
	}
}

/* Make fields that depend on each other consistent. */
static void mend(struct maker *m, enum section_type type, void *entry)
{
	struct profile_site *site = entry;
	struct profile_cell *cell = entry;
	struct profile_capture *capture = entry;
	struct profile_trace *trace = entry;

	switch (type) {
	case SECTION_SITES:
		site->kind = below(m, 4) ? PROFILE_SITE_FUNCTION : PROFILE_SITE_RANGE;
		site->into = site->kind == PROFILE_SITE_RANGE ? site->into ?: site->name : NULL;
		site->chain = site->into ? site->chain : NULL;
		site->estimated = site->into ? site->estimated : NULL;
		break;
	case SECTION_CELLS:
		order(&cell->stats.min, &cell->stats.max);
		break;
	case SECTION_BLOCKS:
		mend_blocks(m, entry);
		break;
	case SECTION_TRACES:
		trace->depth = m->p->n_traces < 2 ? 0 : below(m, trace[-1].depth + 2);
		break;
	case SECTION_VARIABLES:
		((struct profile_variable *)entry)->bytes = below(m, 2) ? 8 : 1 + below(m, 8);
		break;
	case SECTION_CAPTURES:
		order(&capture->min, &capture->max);
		capture->calls %= below(m, 16) ? 100 : 1 << 20; /* more calls take more time */
		mend_values(m, capture->site, &capture->absent, capture->values);
		break;
	case SECTION_NAMES:
		((struct profile_name *)entry)->value =
			profile_name_value(((struct profile_name *)entry)->text);
		break;
	default:
		break;
	}
}

static void make_table(struct maker *m, enum section_type type)
{
	const struct field *table = section_table(type);
	uint32_t n = below(m, 8) ? below(m, below(m, 8) ? 12 : 60) : 0;
	uint32_t least = type == SECTION_SITES, sum_of = section_count(m->p, type);

	for (uint32_t i = 0; i < n && sum_of < n + least; i++) {
		void *entry = list_push(table, m->p, UINT32_MAX);
		uint64_t sum = 0;
		bool made = make(m, table->of, entry, NULL);

		if (made)
			mend(m, type, entry);
		if (!made || layout_wrong(table->of, m->p, entry, &sum) ||
		    !section_added(m->p, type))
			list_pop(table, m->p);
	}
	if (section_wrong(type, m->p))
		while (section_count(m->p, type) > least)
			list_pop(table, m->p);
}

/* Write a recording generated from SEEDS, one per section, to PATH. */
static void make_file(const uint32_t *seeds, const char *path)
{
	struct maker m = { .p = profile_create() };
	struct profile *back;

	for_each_section(type) {
		m.state = (uint64_t)type << 32 | seeds[type];
		for_each_field(f, &profile_sections[type].layout)
			if (f != section_table(type))
				make_field(&m, f, m.p, NULL);
		make_table(&m, type);
	}
	if (seeds[SECTION_STRINGS] % 2)
		profile_env_set(m.p, PROFILE_ENV_ENGINE, PROFILE_ENGINE_EXACT);
	if (profile_file_write(m.p, path) || profile_file_read(path, &back))
		abort();
	profile_destroy(back);
	profile_destroy(m.p);
}

struct command {
	int (*run)(int argc, char **argv);
	const char *words; /* arguments; A and B stand for the recordings */
};

static const struct command commands[] = {
	{ cmd_report, "report A" },
	{ cmd_report, "report --all A" },
	{ cmd_report, "report --all --raw --time=wall A" },
	{ cmd_report, "report --all --time=self A" },
	{ cmd_report, "report --format=json A" },
	{ cmd_report, "report --format=html A" },
	{ cmd_report, "report --trace A" },
	{ cmd_report, "report --trace --format=json A" },
	{ cmd_report, "report --why-varies=f A" },
	{ cmd_report, "report --why-varies=g --format=json A" },
	{ cmd_report, "report --why-varies=f --format=html A" },
	{ cmd_report, "report --callers=f A" },
	{ cmd_report, "report --callees=f A" },
	{ cmd_report, "report --callees=g --format=json A" },
	{ cmd_diff, "diff A B" },
	{ cmd_diff, "diff --all A B" },
	{ cmd_diff, "diff --all --percentiles --time=wall A B" },
	{ cmd_diff, "diff --format=json A B" },
	{ cmd_diff, "diff --format=html A B" },
	{ cmd_diff, "diff --all --time=self --raw --map=f=g A B" },
	{ cmd_diff, "diff --control=A --fail-above=1 A B" },
	{ cmd_diff, "diff --fold A B" },
	{ cmd_diff, "diff --fold --reverse A B" },
	{ cmd_diff, "diff --trace A B" },
	{ cmd_diff, "diff --annotate=f A B" },
	{ cmd_why, "why A B" },
	{ cmd_why, "why --all A B" },
	{ cmd_why, "why --all --context=clone A B" },
	{ cmd_why, "why --format=json A B" },
	{ cmd_why, "why --format=html A B" },
	{ cmd_why, "why A B A B" },
	{ cmd_changes, "changes A B" },
	{ cmd_fold, "fold A" },
	{ cmd_fold, "fold --svg A" },
	{ cmd_export, "export --to=speedscope A" },
	{ cmd_export, "export --to=pprof A" },
	{ cmd_annotate, "annotate A f" },
	{ cmd_merge, "merge --force -o /dev/null A B" },
	{ cmd_merge, "merge -o /dev/null A A" },
};

/* Each table of these commands is printed as CSV. */
static const struct {
	struct command command;
	const struct view_list *list;
} lists[] = {
	{ { cmd_report, "A" }, &view_report_list },
	{ { cmd_diff, "A B" }, &view_diff_list },
	{ { cmd_why, "A B" }, &view_why_list },
};

/* Run COMMAND with the arguments WORDS. Its JSON must be valid for any numbers. */
static void run(int (*command)(int argc, char **argv), const char *words, const char *a,
		const char *b)
{
	scoped_free char *copy = alloc_strdup(words);
	char *argv[10] = { NULL }, *save = NULL, *out = NULL;
	FILE *was = stdout;
	size_t size;
	int argc = 0;
	json_t *json;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = !strcmp(w, "A") ? (char *)a : !strcmp(w, "B") ? (char *)b : w;
	stdout = open_memstream(&out, &size);
	if (!command(argc, argv) && strstr(words, "json")) {
		fflush(stdout);
		json = json_loads(out, 0, NULL);
		if (!json)
			abort();
		json_decref(json);
	}
	fclose(stdout);
	stdout = was;
	free(out);
}

static void run_table(size_t n, const char *a, const char *b)
{
	size_t l = n % ARRAY_SIZE(lists), t = n / ARRAY_SIZE(lists) % lists[l].list->n_tables;
	const struct view_table *table = lists[l].list->tables[t];
	scoped_free char *words =
		alloc_printf("x --format=csv --section=%s %s", table->name, lists[l].command.words);

	if (view_table_is_in(table, VIEW_IN_CSV))
		run(lists[l].command.run, words, a, b);
}

struct input {
	uint16_t commands[4];
	uint32_t differ; /* bit mask of sections whose seeds differ */
	uint32_t seeds[SECTION_LAST + 1];
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { 0 };
	const char *a = fuzz_file(0, "", 0), *b = fuzz_file(1, "", 0);

	memcpy(&in, data, size < sizeof(in) ? size : sizeof(in));
	make_file(in.seeds, a);
	for (int i = 0; i <= SECTION_LAST; i++)
		in.seeds[i] += in.differ >> i & 1;
	make_file(in.seeds, b);
	for (size_t i = 0; i < ARRAY_SIZE(in.commands); i++) {
		size_t n = in.commands[i] / 2 % ARRAY_SIZE(commands);

		if (in.commands[i] % 2)
			run(commands[n].run, commands[n].words, a, b);
		else
			run_table(in.commands[i] / 2, a, b);
	}
	return 0;
}
