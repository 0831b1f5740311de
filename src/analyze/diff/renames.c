// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/diff/renames.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"

/*
 * Linux 6.10 counts memory by the place that allocates it: functions that do became macros around ones of
 * this ending.
 */
#define NOPROF "_noprof"

/*
 * What else was renamed and is still the same work: found in the differences that the lab's workloads show
 * between 6.1 and 6.12, and read in both sources. Others come by --map.
 */
static const char *const known[][2] = {
	/* 6.3 */
	{ "memcg_kmem_enabled", "memcg_kmem_online" },
	/* 183654ce26a5 ("mmap: change do_mas_munmap and do_mas_aligned_munmap() to use vma iterator") */
	{ "do_mas_munmap", "do_vmi_munmap" },
	{ "do_mas_align_munmap", "do_vmi_align_munmap" },
	/* The same series; in a header since, so inlined. */
	{ "vma_mas_store", "vma_iter_store" },
	{ "vma_mas_remove", "vma_iter_clear" },
	/* 6.4: "mm: make mapping_get_entry available outside of filemap.c" */
	{ "mapping_get_entry", "filemap_get_entry" },
	/* 6.5 */
	{ "__cmpxchg_double_slab", "__slab_update_freelist" },
	{ "cmpxchg_double_slab", "slab_update_freelist" },
	/* b0cc5e89caad ("mm/mlock: rename mlock_future_check() to mlock_future_ok()") */
	{ "mlock_future_check", "mlock_future_ok" },
	/* 6.7: e23edc86b09d and 82845683ca6a ("sched/fair: Rename check_preempt_...() to ...()") */
	{ "check_preempt_curr", "wakeup_preempt" },
	{ "check_preempt_wakeup", "check_preempt_wakeup_fair" },
	/* 6.8 */
	{ "__unfreeze_partials", "__put_partials" },
	{ "unfreeze_partials", "put_partials" },
	{ "unfreeze_partials_cpu", "put_partials_cpu" },
	/* b06dc281aa99 ("mm/rmap: introduce folio_remove_rmap_[pte|ptes|pmd]()"), and those beside it */
	{ "page_remove_rmap", "folio_remove_rmap_ptes" },
	{ "page_add_file_rmap", "folio_add_file_rmap_ptes" },
	{ "page_add_anon_rmap", "folio_add_anon_rmap_ptes" },
	{ "__page_set_anon_rmap", "__folio_set_anon" },
	/* The series that made transparent huge pages of many sizes. */
	{ "hugepage_vma_check", "__thp_vma_allowable_orders" },
	{ "__mod_lruvec_page_state", "__lruvec_stat_mod_folio" },
	/* 6.10 */
	{ "memcg_alloc_slab_cgroups", "alloc_slab_obj_exts" },
	{ "memcg_free_slab_cgroups", "free_slab_obj_exts" },
	{ "slab_objcgs", "slab_obj_exts" },
	/* 6.11 */
	{ "__kmalloc_large_node", "___kmalloc_large_node" },
	{ "kmalloc_large", "__kmalloc_large_noprof" },
	{ "kmalloc_large_node", "__kmalloc_large_node_noprof" },
	{ "kmalloc_node_trace", "__kmalloc_cache_node_noprof" },
	{ "kmalloc_trace", "__kmalloc_cache_noprof" },
	/* 6.12 */
	{ "kmem_cache_open", "do_kmem_cache_create" },
	{ "__fdget", "fdget" },
	{ "__fdget_pos", "fdget_pos" },
	{ "__fdget_raw", "fdget_raw" },
	/* "mm/swap: rename cpu_fbatches->activate", "remove remaining _fn suffix", "remove boilerplate" */
	{ "folio_activate_fn", "lru_activate" },
	{ "lru_add_fn", "lru_add" },
	{ "lru_deactivate_file_fn", "lru_deactivate_file" },
	{ "lru_deactivate_fn", "lru_deactivate" },
	{ "lru_lazyfree_fn", "lru_lazyfree" },
	{ "lru_move_tail_fn", "lru_move_tail" },
	{ "folio_batch_add_and_move", "__folio_batch_add_and_move" },
};

/*
 * Functions that take a page were made to take a folio one after the other, most by changing that one word of
 * their name: of the lab's kernels that holds for all 36 that 6.1 alone and 6.12 alone have so.
 */
static const char *const folio_words[][2] = {
	{ "huge_page", "hugetlb_folio" },
	{ "page", "folio" },
};

/* These are others, not what they were before: kernels have them beside those of folios. */
static const char *const still_pages[] = { "bio_add_page", "filemap_get_pages", "read_cache_page",
					   "vm_normal_page" };

/* ---- one name ---- */

static uint32_t rename_one(const char **name, const char *old, const char *new)
{
	if (!*name || strcmp(*name, old))
		return 0;
	*name = new;
	return 1;
}

/* CHAIN with each body called OLD called NEW, for free(); NULL: there is none. */
static char *chain_rename(const char *chain, const char *old, const char *new)
{
	size_t gap = strlen(PROFILE_CHAIN);
	char *text = alloc_strdup("");
	bool found = false;

	while (*chain) {
		const char *end = strstr(chain, PROFILE_CHAIN);
		size_t n = end ? (size_t)(end - chain) : strlen(chain);
		bool is_it = n == strlen(old) && !strncmp(chain, old, n);
		char *longer = alloc_printf("%s%.*s%s", text, is_it ? (int)strlen(new) : (int)n,
					    is_it ? new : chain, end ? PROFILE_CHAIN : "");

		free(text);
		text = longer;
		found |= is_it;
		chain += n + (end ? gap : 0);
	}
	if (found)
		return text;
	free(text);
	return NULL;
}

uint32_t analyze_rename(struct profile *p, const char *old, const char *new)
{
	uint32_t n = 0;

	new = profile_intern(p, new);
	for (uint32_t i = 0; i < p->n_sites; i++) {
		struct profile_site *site = &p->sites[i];
		char *chain = site->chain ? chain_rename(site->chain, old, new) : NULL;

		n += rename_one(&site->name, old, new);
		n += rename_one(&site->into, old, new);
		if (chain)
			site->chain = profile_intern(p, chain);
		n += !!chain;
		free(chain);
	}
	for (uint32_t i = 0; i < p->n_contexts; i++)
		n += rename_one(&p->contexts[i].name, old, new);
	for (uint32_t i = 0; i < p->n_locations; i++)
		for (uint32_t j = 0; j < p->locations[i].n_frames; j++)
			n += rename_one(&p->locations[i].frames[j].name, old, new);
	return n;
}

/* ---- all that are known ---- */

struct names {
	const char **names;
	size_t n_names, cap_names;
};

static int name_compare(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool names_have(const struct names *names, const char *name)
{
	return search_array(&name, names->names, names->n_names, sizeof(name), name_compare);
}

static void names_add(struct names *names, const char *name)
{
	if (name)
		vec_push(names, names, name);
}

/* Every function of P, once, sorted. */
static void names_collect(struct names *names, const struct profile *p)
{
	for (size_t i = 0; i < p->n_sites; i++) {
		names_add(names, p->sites[i].name);
		names_add(names, p->sites[i].into);
	}
	for (size_t i = 0; i < p->n_locations; i++)
		for (size_t j = 0; j < p->locations[i].n_frames; j++)
			names_add(names, p->locations[i].frames[j].name);
	names->n_names = unite_array(names->names, names->n_names, sizeof(*names->names),
				     name_compare, NULL);
}

const char *analyze_renames_known(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!strcmp(known[i][0], name))
			return known[i][1];
		if (!strcmp(known[i][1], name))
			return known[i][0];
	}
	return NULL;
}

void analyze_renames_add(struct analyze_renames *renames, const char *old, const char *new,
			 int side, enum analyze_renaming_how how)
{
	vec_push(renames, rows,
		 ((struct analyze_renaming){ alloc_strdup(old), alloc_strdup(new), side, how }));
}

/* Collects OLD of SIDE if that is what it is called there and NEW what it is called on the other. */
static void consider(struct analyze_renames *renames, const struct names sides[2], int side,
		     const char *old, const char *new, enum analyze_renaming_how how)
{
	/* Neither is the same as a third. */
	for (uint32_t i = 0; i < renames->n_rows; i++)
		if (!strcmp(renames->rows[i].old, old) || !strcmp(renames->rows[i].new, new))
			return;
	if (names_have(&sides[side], old) && !names_have(&sides[side], new) &&
	    names_have(&sides[!side], new) && !names_have(&sides[!side], old))
		analyze_renames_add(renames, old, new, side, how);
}

/* The same for what OLD of SIDE would be called with one of its words WORD[0] as WORD[1]. */
static void consider_words(struct analyze_renames *renames, const struct names sides[2], int side,
			   const char *old, const char *const word[2])
{
	size_t n = strlen(word[0]);
	const char *at;

	for (at = old; (at = strstr(at, word[0])); at += n) {
		char *new;

		/* "pages" becomes "folios", but "pagevec" and "freepage" are no such words. */
		if ((at > old && at[-1] != '_') || (at[n] && at[n] != '_' && at[n] != 's') ||
		    (at[n] == 's' && at[n + 1] && at[n + 1] != '_'))
			continue;
		new = alloc_printf("%.*s%s%s", (int)(at - old), old, word[1], at + n);
		consider(renames, sides, side, old, new, ANALYZE_RENAMING_INFERRED);
		free(new);
	}
}

static void consider_folio(struct analyze_renames *renames, const struct names sides[2], int side,
			   const char *old)
{
	for (size_t i = 0; i < sizeof(still_pages) / sizeof(*still_pages); i++)
		if (!strcmp(old, still_pages[i]))
			return;
	for (size_t i = 0; i < sizeof(folio_words) / sizeof(*folio_words); i++)
		consider_words(renames, sides, side, old, folio_words[i]);
}

static void side_collect(struct analyze_renames *renames, const struct names sides[2], int side)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		consider(renames, sides, side, known[i][0], known[i][1], ANALYZE_RENAMING_KNOWN);
	for (size_t i = 0; i < sides[side].n_names; i++) {
		char *new = alloc_printf("%s" NOPROF, sides[side].names[i]);

		consider(renames, sides, side, sides[side].names[i], new, ANALYZE_RENAMING_KNOWN);
		free(new);
		consider_folio(renames, sides, side, sides[side].names[i]);
	}
}

/* Whether something was measured of NAME in P. */
static bool is_seen(struct profile *p, const char *name)
{
	/* Interned, so that comparing pointers will do. */
	name = profile_intern(p, name);
	for (uint32_t i = 0; i < p->n_cells; i++) {
		const struct profile_site *site = &p->sites[p->cells[i].site];

		if ((site->name == name || site->into == name) && p->cells[i].stats.calls)
			return true;
	}
	for (uint32_t i = 0; i < p->n_locations; i++)
		for (uint32_t j = 0; j < p->locations[i].n_frames; j++)
			if (p->locations[i].frames[j].name == name)
				return true;
	return false;
}

define_compare(renaming_compare, struct analyze_renaming, strcmp(a->old, b->old));

/* Where a name that one side alone has is another function's, which samples or calls happened to miss on the other. */
static bool is_one_kernel(const struct profile *baseline, const struct profile *hardened)
{
	const char *a = profile_env_get(baseline, PROFILE_ENV_BUILD_ID);
	const char *b = profile_env_get(hardened, PROFILE_ENV_BUILD_ID);

	return a && b && !strcmp(a, b);
}

void analyze_renames_apply(struct analyze_renames *renames, struct profile *baseline,
			   struct profile *hardened)
{
	struct profile *profiles[2] = { baseline, hardened };
	uint32_t first = renames->n_rows;
	struct names sides[2] = { 0 };

	for (int side = 0; side < 2; side++)
		names_collect(&sides[side], profiles[side]);
	for (int side = 0; side < 2 && !is_one_kernel(baseline, hardened); side++)
		side_collect(renames, sides, side);
	/* By now no name is needed any more that renaming changes. */
	for (uint32_t i = first; i < renames->n_rows; i++) {
		struct analyze_renaming *row = &renames->rows[i];

		analyze_rename(profiles[row->side], row->old, row->new);
		row->seen = is_seen(baseline, row->new) || is_seen(hardened, row->new);
	}
	sort_array(renames->rows, renames->n_rows, sizeof(*renames->rows), renaming_compare);
	for (int side = 0; side < 2; side++)
		free(sides[side].names);
}

void analyze_renames_deinit(struct analyze_renames *renames)
{
	while (renames->n_rows) {
		struct analyze_renaming *row = &renames->rows[--renames->n_rows];

		free(row->old);
		free(row->new);
	}
	free(renames->rows);
	memset(renames, 0, sizeof(*renames));
}
