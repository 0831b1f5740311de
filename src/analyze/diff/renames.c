// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/diff/renames.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"

/* In Linux 6.10, names of memory allocation functions became macros that count memory by caller. The functions got this suffix. */
#define NOPROF "_noprof"

/*
 * Old and new names of further functions. A function does the same under both names. The names come from comparisons of Linux 6.1
 * and 6.12, and were checked in both sources. Users add more with --map.
 */
static const char *const known[][2] = {
	/* On x86, both names have one address. Linux 6.1 has the first name as a function in its symbol table, 6.12 the second. */
	{ "__memcpy", "memcpy" },
	{ "__memmove", "memmove" },
	{ "__memset", "memset" },
	/* Linux 6.3: */
	{ "memcg_kmem_enabled", "memcg_kmem_online" },
	/* Commit 183654ce26a5 ("mmap: change do_mas_munmap and do_mas_aligned_munmap() to use vma iterator") */
	{ "do_mas_munmap", "do_vmi_munmap" },
	{ "do_mas_align_munmap", "do_vmi_align_munmap" },
	/* The patch series of commit 183654ce26a5 added the new functions to a header file, so compilers inline them. */
	{ "vma_mas_store", "vma_iter_store" },
	{ "vma_mas_remove", "vma_iter_clear" },
	/* Linux 6.4, commit "mm: make mapping_get_entry available outside of filemap.c" */
	{ "mapping_get_entry", "filemap_get_entry" },
	/* Linux 6.5: */
	{ "__cmpxchg_double_slab", "__slab_update_freelist" },
	{ "cmpxchg_double_slab", "slab_update_freelist" },
	/* Commit b0cc5e89caad ("mm/mlock: rename mlock_future_check() to mlock_future_ok()") */
	{ "mlock_future_check", "mlock_future_ok" },
	/* Linux 6.7, commits e23edc86b09d and 82845683ca6a ("sched/fair: Rename check_preempt_...() to ...()") */
	{ "check_preempt_curr", "wakeup_preempt" },
	{ "check_preempt_wakeup", "check_preempt_wakeup_fair" },
	/* Linux 6.8: */
	{ "__unfreeze_partials", "__put_partials" },
	{ "unfreeze_partials", "put_partials" },
	{ "unfreeze_partials_cpu", "put_partials_cpu" },
	/* The patch series of commit b06dc281aa99 ("mm/rmap: introduce folio_remove_rmap_[pte|ptes|pmd]()") */
	{ "page_remove_rmap", "folio_remove_rmap_ptes" },
	{ "page_add_file_rmap", "folio_add_file_rmap_ptes" },
	{ "page_add_anon_rmap", "folio_add_anon_rmap_ptes" },
	{ "__page_set_anon_rmap", "__folio_set_anon" },
	/* Patch series for transparent huge pages of several sizes: */
	{ "hugepage_vma_check", "__thp_vma_allowable_orders" },
	{ "__mod_lruvec_page_state", "__lruvec_stat_mod_folio" },
	/* Linux 6.10: */
	{ "memcg_alloc_slab_cgroups", "alloc_slab_obj_exts" },
	{ "memcg_free_slab_cgroups", "free_slab_obj_exts" },
	{ "slab_objcgs", "slab_obj_exts" },
	/* Linux 6.11: */
	{ "__kmalloc_large_node", "___kmalloc_large_node" },
	{ "kmalloc_large", "__kmalloc_large_noprof" },
	{ "kmalloc_large_node", "__kmalloc_large_node_noprof" },
	{ "kmalloc_node_trace", "__kmalloc_cache_node_noprof" },
	{ "kmalloc_trace", "__kmalloc_cache_noprof" },
	/* Linux 6.12: */
	{ "kmem_cache_open", "do_kmem_cache_create" },
	{ "__fdget", "fdget" },
	{ "__fdget_pos", "fdget_pos" },
	{ "__fdget_raw", "fdget_raw" },
	/* Commits "mm/swap: rename cpu_fbatches->activate", "... remove remaining _fn suffix", "... remove boilerplate" */
	{ "folio_activate_fn", "lru_activate" },
	{ "lru_add_fn", "lru_add" },
	{ "lru_deactivate_file_fn", "lru_deactivate_file" },
	{ "lru_deactivate_fn", "lru_deactivate" },
	{ "lru_lazyfree_fn", "lru_lazyfree" },
	{ "lru_move_tail_fn", "lru_move_tail" },
	{ "folio_batch_add_and_move", "__folio_batch_add_and_move" },
};

/*
 * After Linux 6.1, many functions got a folio instead of a page as argument, and "folio" instead of "page" in their names. This
 * table of words gives the right name in 6.12 for all 36 such functions of the tested 6.1 kernels.
 */
static const char *const folio_words[][2] = {
	{ "huge_page", "hugetlb_folio" },
	{ "page", "folio" },
};

/* Do not rename these functions: newer kernels still have them, besides separate functions for folios. */
static const char *const still_pages[] = { "bio_add_page", "filemap_get_pages", "read_cache_page",
					   "vm_normal_page" };

static bool has_old(const void *rows, uint32_t item, const void *name)
{
	return !strcmp(((const struct analyze_renaming *)rows)[item].old, name);
}

static bool has_new(const void *rows, uint32_t item, const void *name)
{
	return !strcmp(((const struct analyze_renaming *)rows)[item].new, name);
}

static struct analyze_renaming *find_old(const struct analyze_renames *renames, const char *name)
{
	uint32_t i = hash_find(&renames->olds, hash_string(name), has_old, renames->rows, name);

	return i == HASH_NONE ? NULL : &renames->rows[i];
}

static struct analyze_renaming *find_new(const struct analyze_renames *renames, const char *name)
{
	uint32_t i = hash_find(&renames->news, hash_string(name), has_new, renames->rows, name);

	return i == HASH_NONE ? NULL : &renames->rows[i];
}

/* Return the new name of the function NAME in profile SIDE, or NULL. */
static const char *name_for(const struct analyze_renames *renames, int side, const char *name)
{
	const struct analyze_renaming *row = name ? find_old(renames, name) : NULL;

	return row && row->side == side ? row->new : NULL;
}

static uint32_t rename_one(struct profile *p, const char **name,
			   const struct analyze_renames *renames, int side)
{
	const char *new = name_for(renames, side, *name);

	if (new)
		*name = profile_intern(p, new);
	return !!new;
}

static uint32_t rename_chain(struct profile *p, const char **chain,
			     const struct analyze_renames *renames, int side)
{
	const char *at = *chain ? *chain : "";
	scoped_free char *text = NULL;
	uint32_t n = 0;

	while (*at) {
		const char *end = strstr(at, PROFILE_CHAIN);
		scoped_free char *body = alloc_strndup(at, end ? (size_t)(end - at) : strlen(at));
		const char *new = name_for(renames, side, body);

		n |= !!new;
		if (!new)
			new = body;
		alloc_append(&text, "%s%s", new, end ? PROFILE_CHAIN : "");
		at += strlen(body) + (end ? strlen(PROFILE_CHAIN) : 0);
	}
	if (n)
		*chain = profile_intern(p, text);
	return n;
}

static uint32_t rename_all(struct profile *p, const struct analyze_renames *renames, int side)
{
	uint32_t n = 0;

	vec_each(struct profile_site, site, p, sites) {
		n += rename_one(p, &site->name, renames, side);
		n += rename_one(p, &site->into, renames, side);
		n += rename_chain(p, &site->chain, renames, side);
	}
	for (uint32_t i = 0; i < p->n_contexts; i++)
		n += rename_one(p, &p->contexts[i].name, renames, side);
	for (uint32_t i = 0; i < p->n_locations; i++)
		for (uint32_t j = 0; j < p->locations[i].n_frames; j++)
			n += rename_one(p, &p->locations[i].frames[j].name, renames, side);
	return n;
}

uint32_t analyze_rename(struct profile *p, const char *old, const char *new)
{
	scoped(analyze_renames_deinit) struct analyze_renames one = { 0 };

	analyze_renames_add(&one, old, new, 0, ANALYZE_RENAMING_TOLD);
	return rename_all(p, &one, 0);
}

struct names {
	vec_of(const char *, names);
};

define_compare(name_compare, char *const, strcmp(*a, *b));

static bool names_have(const struct names *names, const char *name)
{
	return search_array(&name, names->names, names->n_names, sizeof(name), name_compare);
}

static void names_add(struct names *names, const char *name)
{
	if (name)
		vec_push(names, names, name);
}

/* Collect the names of P's functions, sorted and without duplicates. */
static void names_collect(struct names *names, const struct profile *p)
{
	for (size_t i = 0; i < p->n_sites; i++) {
		names_add(names, p->sites[i].name);
		names_add(names, p->sites[i].into);
	}
	for (size_t i = 0; i < p->n_locations; i++)
		for (size_t j = 0; j < p->locations[i].n_frames; j++)
			names_add(names, p->locations[i].frames[j].name);
	vec_unite(names, names, name_compare, NULL);
}

const char *analyze_renames_known(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
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
	hash_add(&renames->olds, hash_string(old), renames->n_rows);
	hash_add(&renames->news, hash_string(new), renames->n_rows);
	vec_push(renames, rows,
		 ((struct analyze_renaming){ alloc_keep(&renames->texts, alloc_strdup(old)),
					     alloc_keep(&renames->texts, alloc_strdup(new)), side,
					     how }));
}

/* Add a renaming of OLD to NEW if only profile SIDE has OLD, and only the other profile has NEW. */
static void consider(struct analyze_renames *renames, const struct names sides[2], int side,
		     const char *old, const char *new, enum analyze_renaming_how how)
{
	/* Skip a name that another renaming uses already. */
	if (find_old(renames, old) || find_new(renames, new))
		return;
	if (names_have(&sides[side], old) && !names_have(&sides[side], new) &&
	    names_have(&sides[!side], new) && !names_have(&sides[!side], old))
		analyze_renames_add(renames, old, new, side, how);
}

/* Replace WORD[0] in the function name OLD by WORD[1]. If this gives the name of a function in the other profile, rename OLD. */
static void consider_words(struct analyze_renames *renames, const struct names sides[2], int side,
			   const char *old, const char *const word[2])
{
	size_t n = strlen(word[0]);
	const char *at;

	for (at = old; (at = strstr(at, word[0])); at += n) {
		scoped_free char *new = NULL;

		/* Replace "page" and "pages" only as whole words, not in "pagevec" or "freepage". */
		if ((at > old && at[-1] != '_') || (at[n] && at[n] != '_' && at[n] != 's') ||
		    (at[n] == 's' && at[n + 1] && at[n + 1] != '_'))
			continue;
		new = alloc_printf("%.*s%s%s", (int)(at - old), old, word[1], at + n);
		consider(renames, sides, side, old, new, ANALYZE_RENAMING_INFERRED);
	}
}

static void consider_folio(struct analyze_renames *renames, const struct names sides[2], int side,
			   const char *old)
{
	for (size_t i = 0; i < ARRAY_SIZE(still_pages); i++)
		if (!strcmp(old, still_pages[i]))
			return;
	for (size_t i = 0; i < ARRAY_SIZE(folio_words); i++)
		consider_words(renames, sides, side, old, folio_words[i]);
}

static void side_collect(struct analyze_renames *renames, const struct names sides[2], int side)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		consider(renames, sides, side, known[i][0], known[i][1], ANALYZE_RENAMING_KNOWN);
	for (size_t i = 0; i < sides[side].n_names; i++) {
		scoped_free char *new = alloc_printf("%s" NOPROF, sides[side].names[i]);

		consider(renames, sides, side, sides[side].names[i], new, ANALYZE_RENAMING_KNOWN);
		consider_folio(renames, sides, side, sides[side].names[i]);
	}
}

static void see(const struct analyze_renames *renames, const char *name)
{
	struct analyze_renaming *row = name ? find_new(renames, name) : NULL;

	if (row)
		row->seen = true;
}

/* Mark the renamed functions that have calls or samples in P. */
static void see_all(const struct analyze_renames *renames, const struct profile *p)
{
	scoped_free bool *called = alloc_array(p->n_sites, sizeof(*called));

	for (uint32_t i = 0; i < p->n_cells; i++)
		called[p->cells[i].site] |= p->cells[i].stats.calls > 0;
	for (uint32_t i = 0; i < p->n_sites; i++) {
		see(renames, called[i] ? p->sites[i].name : NULL);
		see(renames, called[i] ? p->sites[i].into : NULL);
	}
	for (uint32_t i = 0; i < p->n_locations; i++)
		for (uint32_t j = 0; j < p->locations[i].n_frames; j++)
			see(renames, p->locations[i].frames[j].name);
}

define_compare(renaming_compare, struct analyze_renaming, strcmp(a->old, b->old));

static void indexes_deinit(struct analyze_renames *renames)
{
	hash_deinit(&renames->olds);
	hash_deinit(&renames->news);
}

void analyze_renames_apply(struct analyze_renames *renames, struct profile *baseline,
			   struct profile *hardened)
{
	struct profile *profiles[2] = { baseline, hardened };
	struct names sides[2] = { 0 };

	for (int side = 0; side < 2; side++)
		names_collect(&sides[side], profiles[side]);
	/* Two recordings of one kernel need no renaming. If only one has a name, the other just has no call or sample of it. */
	for (int side = 0; side < 2 && !profile_same_kernel(baseline, hardened); side++)
		side_collect(renames, sides, side);
	/* Change the names after the search in both profiles, which needs the old names. */
	for (int side = 0; side < 2; side++) {
		rename_all(profiles[side], renames, side);
		free(sides[side].names);
	}
	for (int side = 0; side < 2; side++)
		see_all(renames, profiles[side]);
	indexes_deinit(renames);
	sort_array(renames->rows, renames->n_rows, sizeof(*renames->rows), renaming_compare);
}

void analyze_renames_deinit(struct analyze_renames *renames)
{
	alloc_texts_free(&renames->texts);
	free(renames->rows);
	indexes_deinit(renames);
	memset(renames, 0, sizeof(*renames));
}
