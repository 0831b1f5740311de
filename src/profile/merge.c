// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/sorted.h"
#include "profile/layout.h"
#include "profile/unite.h"

/* Messages do not quote longer values, such as a whole kernel configuration. */
#define QUOTED_MAX 60

/* Print the separator between two reasons. */
static FILE *reason(FILE *out)
{
	if (ftell(out))
		fputs("; ", out);
	return out;
}

static void quote(FILE *out, const char *value)
{
	if (!value)
		fputs("unknown", out);
	else if (strlen(value) <= QUOTED_MAX)
		fprintf(out, "\"%s\"", value);
	else
		fprintf(out, "another");
}

static void conflict_env(FILE *out, const char *key, const char *a, const char *b)
{
	if (profile_env_group(key) == PROFILE_ENV_OF_RECORDING || same_text(a, b))
		return;
	fprintf(reason(out), "%s ", key);
	if (a && b && (strlen(a) > QUOTED_MAX || strlen(b) > QUOTED_MAX)) {
		fputs("differs", out);
		return;
	}
	quote(out, b);
	fputs(" instead of ", out);
	quote(out, a);
}

static void conflict_envs(FILE *out, const struct profile *dst, const struct profile *src)
{
	for (uint32_t i = 0; i < dst->n_envs; i++)
		conflict_env(out, dst->envs[i].key, dst->envs[i].value,
			     profile_env_get(src, dst->envs[i].key));
	for (uint32_t i = 0; i < src->n_envs; i++)
		if (!profile_env_get(dst, src->envs[i].key))
			conflict_env(out, src->envs[i].key, NULL, src->envs[i].value);
}

static void conflict_recording(FILE *out, const struct profile *dst, const struct profile *src)
{
	uint32_t i;

	if (dst->clock != src->clock)
		fprintf(reason(out), "times in %s instead of %s", profile_clock_words(src->clock),
			profile_clock_words(dst->clock));
	if (dst->freq != src->freq)
		fprintf(reason(out), "%u samples per second instead of %u", src->freq, dst->freq);
	else if (dst->sample_period != src->sample_period)
		fprintf(reason(out), "a sample every %" PRIu64 " %s instead of every %" PRIu64,
			src->sample_period, profile_clock_words(src->clock), dst->sample_period);
	for (i = 0; i < dst->n_args && i < src->n_args; i++)
		if (strcmp(dst->args[i], src->args[i]))
			break;
	if (i < dst->n_args || i < src->n_args)
		fputs("a different command was run", reason(out));
}

/* Return how many of P's sites (timed functions) OTHER lacks, and the name of one of them. */
static uint32_t sites_missing(const struct profile *p, const struct profile *other,
			      const struct hash_index *in_other, const char **name)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_sites; i++) {
		if (section_find_in(in_other, other, SECTION_SITES, &p->sites[i], KEY_SAME) ==
		    HASH_NONE) {
			*name = p->sites[i].name;
			n++;
		}
	}
	return n;
}

static void conflict_sites(FILE *out, const struct profile *dst, const struct profile *src)
{
	struct hash_index in_dst, in_src;
	const char *name = NULL;
	uint32_t n;

	/* Exact recordings contain all executed functions, so a missing function was not executed. */
	if (profile_is_exact(dst) && profile_is_exact(src))
		return;
	section_index(&in_dst, dst, SECTION_SITES);
	section_index(&in_src, src, SECTION_SITES);
	n = sites_missing(dst, src, &in_src, &name) + sites_missing(src, dst, &in_dst, &name);
	if (n)
		fprintf(reason(out), "different functions were timed (%s%s)", name,
			n > 1 ? " and others" : "");
	vec_each(const struct profile_site, site, src, sites) {
		uint32_t found = section_find_in(&in_dst, dst, SECTION_SITES, site, KEY_SAME);

		if (found != HASH_NONE && dst->sites[found].mech != site->mech) {
			fprintf(reason(out), "%s was timed by %s instead of %s", site->name,
				profile_mechanism_name(site->mech),
				profile_mechanism_name(dst->sites[found].mech));
			break; /* one message is enough */
		}
	}
	hash_deinit(&in_dst);
	hash_deinit(&in_src);
}

char *profile_merge_conflict(const struct profile *dst, const struct profile *src)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return alloc_strdup("out of memory");
	conflict_recording(out, dst, src);
	conflict_sites(out, dst, src);
	conflict_envs(out, dst, src);
	fclose(out);
	if (size)
		return text;
	free(text);
	return NULL;
}

static uint32_t count_boots(const struct profile *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_runs; i++)
		if (p->runs[i].boot >= n)
			n = p->runs[i].boot + 1;
	return n;
}

/* The id of a boot. If LEN is 0, the id is unknown. */
struct boot_id {
	const char *text;
	size_t len;
};

struct boots {
	vec_of(struct boot_id, ids);
	struct hash_index index; /* finds boots by id; boots without an id are not in the table */
};

static bool boot_equal(const void *ctx, uint32_t item, const void *key)
{
	const struct boot_id *a = &((const struct boots *)ctx)->ids[item], *b = key;

	return a->len == b->len && !memcmp(a->text, b->text, b->len);
}

static uint32_t boot_find(const struct boots *b, const struct boot_id *id)
{
	return id->len ? hash_find(&b->index, hash_bytes(id->text, id->len), boot_equal, b, id) :
			 HASH_NONE;
}

/* Add a boot. If several boots have the same id, boot_find() finds the first of them. */
static void boot_add(struct boots *b, struct boot_id id)
{
	if (id.len && boot_find(b, &id) == HASH_NONE)
		hash_add(&b->index, hash_bytes(id.text, id.len), b->n_ids);
	vec_push(b, ids, id);
}

static void boots_init(struct boots *b, const struct profile *p)
{
	const char *list = profile_env_get(p, PROFILE_ENV_BOOTS);
	uint32_t n = count_boots(p);

	*b = (struct boots){ 0 };
	while (b->n_ids < n) {
		struct boot_id id = { list, list ? strcspn(list, ",") : 0 };

		boot_add(b, id);
		list = list && list[id.len] ? list + id.len + 1 : NULL;
	}
}

static void boots_deinit(struct boots *b)
{
	hash_deinit(&b->index);
	free(b->ids);
}

/* Set PROFILE_ENV_BOOTS to the ids of the boots, separated by commas, up to the last known id. */
static void boots_note(const struct boots *b, struct profile *p)
{
	uint32_t n = b->n_ids;
	scoped_free char *text = NULL;
	size_t size;
	FILE *out;

	while (n && !b->ids[n - 1].len)
		n--;
	out = n ? open_memstream(&text, &size) : NULL;
	if (!out)
		return;
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "%s%.*s", i ? "," : "", (int)b->ids[i].len,
			b->ids[i].len ? b->ids[i].text : "");
	fclose(out);
	profile_env_set(p, PROFILE_ENV_BOOTS, text);
}

/* Return DST's boot number for each boot number of SRC. Set *SHARED to the number of boots that both profiles have. */
static uint32_t *map_boots(struct profile *dst, const struct profile *src, uint32_t *shared)
{
	scoped(boots_deinit) struct boots have, more;
	uint32_t *map, before;

	boots_init(&have, dst);
	boots_init(&more, src);
	before = have.n_ids;
	map = alloc_array(more.n_ids, sizeof(*map));
	*shared = 0;
	for (uint32_t i = 0; i < more.n_ids; i++) {
		map[i] = boot_find(&have, &more.ids[i]);
		if (map[i] == HASH_NONE) {
			map[i] = have.n_ids;
			boot_add(&have, more.ids[i]);
		} else {
			++*shared;
		}
	}
	if (have.n_ids > before)
		boots_note(&have, dst);
	return map;
}

/* New positions of the captured values of a function (site): value I becomes value to[I]. */
struct value_map {
	uint32_t n, to[PROFILE_VALUES_MAX];
};

struct merge {
	struct profile *dst;
	struct profile *src;
	uint32_t *maps[SECTION_LAST + 1]; /* for each section: DST's index of each entry of SRC */
	uint32_t *boots; /* DST's boot number for each boot number of SRC */
	struct value_map *values; /* new positions of values, for each site of SRC */
	uint32_t *variables; /* for each site of DST: its profile_site_variables() */
	char *other_kernel; /* name made of SRC's build-id, for adapt_location() */
};

static bool same_frames(const struct profile_location *a, const struct profile_location *b)
{
	if (a->n_frames != b->n_frames)
		return false;
	for (uint32_t i = 0; i < a->n_frames; i++)
		if (!layout_equal(&layout_frame, &a->frames[i], &b->frames[i], KEY_SAME))
			return false;
	return true;
}

/* SRC may have another kernel (--force). If DST has other frames for an address, SRC's address gets the module other_kernel. */
static void adapt_location(const struct merge *m, struct profile_location *location)
{
	uint32_t found = section_find(m->dst, SECTION_LOCATIONS, location);

	if (found != HASH_NONE && m->dst->locations[found].n_frames && location->n_frames &&
	    !same_frames(&m->dst->locations[found], location))
		location->module = profile_intern(m->dst, m->other_kernel);
}

static void reindex(struct profile *p, enum section_type type)
{
	hash_deinit(&p->lookup->of[type]);
	section_index(&p->lookup->of[type], p, type);
}

/*
 * Set M->values after SRC's variables were added to DST, which had N_BEFORE variables before. Mark the new variables as absent in
 * DST's captured calls. If a function then has more than PROFILE_VALUES_MAX variables, drop the last ones.
 */
static void map_values(struct merge *m, uint32_t n_before)
{
	struct profile *dst = m->dst;
	uint32_t *place = alloc_array(dst->n_variables, sizeof(*place)), i, kept = 0;
	scoped_free uint32_t *n = alloc_array(dst->n_sites, sizeof(*n)), *before;

	m->values = alloc_array(m->src->n_sites, sizeof(*m->values));
	for (i = 0; i < dst->n_variables; i++)
		place[i] = n[dst->variables[i].site]++;
	for (i = 0; i < m->src->n_variables; i++) {
		struct value_map *map = &m->values[m->src->variables[i].site];

		map->to[map->n++] = place[m->maps[SECTION_VARIABLES][i]];
	}
	for (i = 0; i < dst->n_variables; i++)
		if (place[i] < PROFILE_VALUES_MAX)
			dst->variables[kept++] = dst->variables[i];
	free(place);
	before = profile_site_variables(dst, n_before);
	m->variables = profile_site_variables(dst, kept);
	if (dst->n_variables > n_before) {
		dst->n_variables = kept;
		vec_each(struct profile_capture, c, dst, captures)
			c->absent |= m->variables[c->site] & ~before[c->site];
		reindex(dst, SECTION_VARIABLES);
		reindex(dst, SECTION_CAPTURES);
	}
}

/* Convert VALUES and ABSENT from the variables of SRC's site FROM to the variables of DST's site TO. */
static void adapt_values(const struct merge *m, uint32_t from, uint32_t to, uint32_t *absent,
			 uint64_t *values)
{
	const struct value_map *map = &m->values[from];
	uint64_t was[PROFILE_VALUES_MAX];
	uint32_t was_absent = *absent;

	memcpy(was, values, sizeof(was));
	memset(values, 0, sizeof(was));
	*absent = m->variables[to];
	for (uint32_t i = 0; i < map->n; i++) {
		if (was_absent >> i & 1 || map->to[i] >= PROFILE_VALUES_MAX)
			continue;
		values[map->to[i]] = was[i];
		*absent &= ~(1u << map->to[i]);
	}
}

static void adapt(const struct merge *m, enum section_type type, void *copy, const void *entry)
{
	struct profile_run *run = copy;
	struct profile_capture *c = copy;

	if (type == SECTION_RUNS)
		run->boot = m->boots[run->boot];
	if (type == SECTION_LOCATIONS)
		adapt_location(m, copy);
	if (type == SECTION_CAPTURES)
		adapt_values(m, ((const struct profile_capture *)entry)->site, c->site, &c->absent,
			     c->values);
}

/* Merge FROM into the equal entry TO. The caller frees the rest of FROM. */
static void merge_equal(enum section_type type, void *to, void *from)
{
	struct profile_location *a = to, *b = from, was;

	if (type == SECTION_CELLS) {
		profile_stats_merge(&((struct profile_cell *)to)->stats,
				    &((struct profile_cell *)from)->stats);
	} else if (type == SECTION_LOCATIONS && !a->n_frames) {
		was = *a;
		*a = *b;
		*b = was;
	} else {
		layout_merge(section_table(type)->of, to, from);
	}
}

/* Add ENTRY to DST and return its index in DST. INDEX finds equal entries of DST; NULL: there are none. */
static uint32_t merge_entry(const struct merge *m, enum section_type type, void *entry,
			    struct hash_index *index)
{
	const struct field *table = section_table(type);
	void *copy = list_push(table, m->dst, UINT32_MAX);
	uint32_t last = section_count(m->dst, type) - 1, found = HASH_NONE;

	layout_move(table->of, m->dst, copy, entry, m->maps);
	adapt(m, type, copy, entry);
	if (index)
		found = section_find_in(index, m->dst, type, copy, KEY_SAME | KEY_DISTINCT);
	if (found != HASH_NONE) {
		merge_equal(type, list_at(table, m->dst, found), copy);
		list_pop(table, m->dst);
		return found;
	}
	if (profile_sections[type].flags & TABLE_UNIQUE)
		hash_add(index, layout_hash(table->of, copy), last);
	return last;
}

static bool has_key(const struct layout *of)
{
	for_each_field(f, of)
		if (f->key)
			return true;
	return false;
}

static void merge_table(struct merge *m, enum section_type type)
{
	const struct field *table = section_table(type);
	uint32_t i = 0, n = section_count(m->src, type), *map = alloc_array(n, sizeof(*map));
	struct hash_index before, *index = NULL;
	uint32_t variables = m->dst->n_variables;

	if (profile_sections[type].flags & TABLE_UNIQUE) {
		index = &m->dst->lookup->of[type];
	} else if (has_key(table->of)) {
		section_index(&before, m->dst, type);
		index = &before;
	}
	/* Site 0 stands for whole contexts in SRC and in DST. Its index stays 0 even if the mechanisms differ. */
	if (type == SECTION_SITES)
		i = 1;
	for (; i < n; i++) {
		map[i] = merge_entry(m, type, list_at(table, m->src, i), index);
		if (log_progress_due())
			log_progress("merging: %u of %u %s", i, n, profile_sections[type].name);
	}
	if (index == &before)
		hash_deinit(&before);
	m->maps[type] = map;
	if (type == SECTION_VARIABLES)
		map_values(m, variables);
}

/* Return P's list KEY with an entry per merged recording, or for a single recording RUNS or its date. The caller frees it. */
static char *list_of(const struct profile *p, const char *key, uint32_t runs)
{
	const char *list = profile_env_get(p, key);

	if (list)
		return alloc_strdup(list);
	return strcmp(key, PROFILE_ENV_TIMES) ?
		       alloc_printf("%" PRIu32, runs) :
		       alloc_strdup(profile_env_get(p, PROFILE_ENV_TIME) ?: "");
}

/* Append the number of runs and the date of each of SRC's recordings to the lists in DST's environment. */
static void note_recordings(struct profile *dst, const struct profile *src, uint32_t runs_before)
{
	static const char *const keys[] = { PROFILE_ENV_RECORDINGS, PROFILE_ENV_TIMES };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		scoped_free char *before = list_of(dst, keys[i], runs_before);
		scoped_free char *more = list_of(src, keys[i], src->n_runs);
		scoped_free char *list = alloc_printf("%s,%s", before, more);

		profile_env_set(dst, keys[i], list);
	}
}

uint32_t profile_merge(struct profile *dst, struct profile *src)
{
	const char *build_id = profile_env_get(src, PROFILE_ENV_BUILD_ID);
	struct merge m = { .dst = dst, .src = src };
	uint32_t shared, runs_before = dst->n_runs;

	m.boots = map_boots(dst, src, &shared);
	m.other_kernel = alloc_printf("kernel %.8s", build_id ? build_id : "?");
	/* Do not merge SECTION_COSTS and the sections before SECTION_SITES: these describe the recording DST, not its runs. */
	for (enum section_type type = SECTION_SITES; type <= SECTION_LAST; type++) {
		hash_deinit(&src->lookup->of[type]);
		if (type != SECTION_COSTS)
			merge_table(&m, type);
	}
	if (profile_is_exact(dst))
		profile_blocks_unite(dst);
	note_recordings(dst, src, runs_before);
	for_each_section(type)
		free(m.maps[type]);
	free(m.boots);
	free(m.values);
	free(m.variables);
	free(m.other_kernel);
	return shared;
}
