// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compare two kernel versions. The profiles imitate recordings of the lab's big-fork on Linux 6.1 and 6.12, with --func '*slab*'
 * and without --range.
 */
#include "test.h"
#include "analyze/diff/diff.h"
#include "analyze/diff/renames.h"
#include "analyze/why/attribution.h"
#include "fixture.h"

static const struct analyze_options oncpu;

/* A frame of a location: a function inlined at FILE:LINE of the next frame, or the outermost function. */
struct frame {
	const char *name, *file;
	uint32_t line;
};

/* Add COUNT samples in clone with a stack of one location of N frames, innermost first. */
static void sample(struct profile *p, uint64_t addr, uint64_t count, const struct frame *frames,
		   uint32_t n)
{
	uint32_t location = profile_location_add(p, addr, NULL), i;

	for (i = 0; i < n; i++)
		profile_location_frame_add(p, location,
					   &(struct profile_frame){
						   .name = frames[i].name,
						   .file = frames[i].file,
						   .line = frames[i].line,
						   .inlined = i + 1 < n,
					   });
	profile_sample_add(p, &(struct profile_sample){
				      .context = profile_context_add(p, "clone"),
				      .stack = profile_stack_add(p, &location, 1),
				      .count = count,
			      });
}

#define SAMPLE(p, addr, count, ...)                                   \
	sample(p, addr, count, (const struct frame[]){ __VA_ARGS__ }, \
	       sizeof((const struct frame[]){ __VA_ARGS__ }) / sizeof(struct frame))

static void timed(struct profile *p, uint32_t site, uint64_t calls, uint64_t time)
{
	fixture_calls(profile_cell(p, 0, site, profile_context_add(p, "clone")), calls, time, time);
}

/* Create a profile of 10 calls of clone, 100,000 ticks each, on the kernel RELEASE. */
static struct profile *kernel(const char *release)
{
	struct profile *p = profile_create();

	fixture_run(p, 1000000);
	p->sample_period = 1000;
	profile_env_set(p, PROFILE_ENV_RELEASE, release);
	timed(p, 0, 10, 100000);
	return p;
}

static struct profile *older(void)
{
	struct profile *p = kernel("6.1.192-kprotperf");
	uint32_t site;

	SAMPLE(p, 0x100, 300, { "slab_alloc_node", "mm/slub.c", 3374 },
	       { "slab_alloc", "mm/slub.c", 3381 }, { "__kmem_cache_alloc_lru", "mm/slub.c", 3390 },
	       { "kmem_cache_alloc", "mm/slub.c", 3389 });
	/* These samples are in the wrapper's own code. */
	SAMPLE(p, 0x180, 8, { "__kmem_cache_alloc_lru", "mm/slub.c", 3390 },
	       { "kmem_cache_alloc", "mm/slub.c", 3389 });
	SAMPLE(p, 0x200, 300, { "__mmap_region", "mm/mmap.c", 2924 },
	       { "mmap_region", "mm/mmap.c", 2900 });
	SAMPLE(p, 0x300, 400, { "slab_pgdat", "mm/slab.h", 642 },
	       { "account_slab", "mm/slub.c", 1990 }, { "allocate_slab", "mm/slub.c", 1940 });
	timed(p, fixture_function(p, "should_failslab", 1), 100, 4);
	timed(p, fixture_function(p, "kmalloc_slab", 2), 10, 20);
	timed(p, fixture_function(p, "allocate_slab", 3), 10, 1000);
	site = fixture_range(p, "cmpxchg_double_slab", NULL, "allocate_slab", 3553);
	fixture_entries(profile_cell(p, 0, site, profile_context_add(p, "clone")), 10, 10, 50, 50);
	site = fixture_range(p, "check", "cmpxchg_double_slab", "allocate_slab", 3554);
	fixture_entries(profile_cell(p, 0, site, profile_context_add(p, "clone")), 10, 10, 5, 5);
	return p;
}

static struct profile *newer(void)
{
	struct profile *p = kernel("6.12.117-kprotperf");
	uint32_t site;

	SAMPLE(p, 0x100, 200, { "slab_alloc_node", "mm/slub.c", 4238 },
	       { "kmem_cache_alloc_noprof", "mm/slub.c", 4230 });
	SAMPLE(p, 0x200, 300, { "__mmap_region", "mm/mmap.c", 1400 });
	SAMPLE(p, 0x300, 300, { "slab_pgdat", "mm/slub.c", 2609 },
	       { "account_slab", "mm/slub.c", 2667 }, { "allocate_slab", "mm/slub.c", 2600 });
	SAMPLE(p, 0x400, 200, { "should_failslab", "mm/slub.c", 4090 },
	       { "kmem_cache_alloc_noprof", "mm/slub.c", 4230 });
	timed(p, fixture_function(p, "allocate_slab", 3), 10, 1100);
	site = fixture_range(p, "slab_update_freelist", NULL, "allocate_slab", 4537);
	fixture_entries(profile_cell(p, 0, site, profile_context_add(p, "clone")), 10, 10, 60, 60);
	site = fixture_range(p, "check", "slab_update_freelist", "allocate_slab", 4538);
	fixture_entries(profile_cell(p, 0, site, profile_context_add(p, "clone")), 10, 10, 6, 6);
	return p;
}

static const struct analyze_diff_row *function(const struct analyze_diff *d, const char *name)
{
	uint32_t i;

	for (i = 0; i < d->functions.n_rows; i++)
		if (!strcmp(d->functions.rows[i].name, name) &&
		    !strcmp(d->functions.rows[i].context, "clone"))
			return &d->functions.rows[i];
	fail_msg("no row of %s", name);
	return NULL;
}

static const char *renamed(const struct analyze_renames *renames, const char *old)
{
	uint32_t i;

	for (i = 0; i < renames->n_rows; i++)
		if (!strcmp(renames->rows[i].old, old))
			return renames->rows[i].new;
	return "";
}

/* Check that NAME, inlined into the function INTO, has changed by DELTA. */
static void check_body(const struct why_attribution *a, const char *into, const char *name,
		       double delta)
{
	const char *function = NULL;

	vec_each(const struct why_attribution_row, row, a, rows) {
		if (row->part == WHY_ATTRIBUTED_FUNCTION)
			function = row->name;
		if (row->part != WHY_ATTRIBUTED_BODY || strcmp(row->name, name) != 0)
			continue;
		assert_string_equal(function, into);
		assert_true(row->delta == delta);
		return;
	}
	fail_msg("no row of %s", name);
}

/* Check inlined functions that were timed under other names, below callers with other names. */
static void check_bodies(const struct analyze_diff *d, const struct profile *a,
			 const struct profile *b, double sign)
{
	struct why_attribution attribution;
	struct why why;

	why_init(&why, a, b);
	why_attribution_init(&attribution, &why, d);
	check_body(&attribution, "allocate_slab", "slab_update_freelist", sign * 100);
	check_body(&attribution, "allocate_slab", "check", sign * 10);
	why_attribution_deinit(&attribution);
	why_deinit(&why);
}

TEST(test_versions)
{
	struct profile *a = older(), *b = newer();
	struct analyze_renames renames = { 0 };
	struct analyze_diff d;

	analyze_renames_apply(&renames, a, b);
	assert_int_equal(renames.n_rows, 2);
	assert_string_equal(renamed(&renames, "kmem_cache_alloc"), "kmem_cache_alloc_noprof");
	assert_string_equal(renamed(&renames, "cmpxchg_double_slab"), "slab_update_freelist");
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	check_bodies(&d, a, b, 1);
	assert_int_equal(function(&d, "allocate_slab")->no_partner, ANALYZE_NOTE_NONE);
	assert_int_equal(function(&d, "should_failslab")->no_partner,
			 ANALYZE_NOTE_INLINED_HARDENED);
	assert_int_equal(function(&d, "kmalloc_slab")->note, ANALYZE_NOTE_NOT_TIMED_HARDENED);
	analyze_diff_deinit(&d);
	analyze_renames_deinit(&renames);
	profile_destroy(a);
	profile_destroy(b);
}

/* With the newer kernel as the baseline, the same names are matched. */
TEST(test_backwards)
{
	struct profile *a = newer(), *b = older();
	struct analyze_renames renames = { 0 };
	struct analyze_diff d;

	analyze_renames_apply(&renames, a, b);
	assert_int_equal(renames.n_rows, 2);
	assert_true(renames.rows[0].side == 1 && renames.rows[1].side == 1);
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	check_bodies(&d, a, b, -1);
	analyze_diff_deinit(&d);
	analyze_renames_deinit(&renames);
	profile_destroy(a);
	profile_destroy(b);
}

/* In recordings of one kernel, a function that only one of them has is not matched under another name. */
TEST(test_one_kernel)
{
	struct profile *a = older(), *b = newer();
	struct analyze_renames renames = { 0 };

	profile_env_set(a, PROFILE_ENV_BUILD_ID, "0123");
	profile_env_set(b, PROFILE_ENV_BUILD_ID, "0123");
	analyze_renames_add(&renames, "mine", "yours", 0, ANALYZE_RENAMING_TOLD);
	analyze_renames_apply(&renames, a, b);
	assert_int_equal(renames.n_rows, 1);
	analyze_renames_deinit(&renames);
	profile_destroy(a);
	profile_destroy(b);
}

/* Two names that occur in the same kernel are two functions. A name without a similar one is not matched. */
TEST(test_not_renamed)
{
	struct profile *a = kernel("6.1.192"), *b = kernel("6.12.117");
	struct analyze_renames renames = { 0 };

	fixture_function(a, "kmalloc", 1);
	fixture_function(a, "put_partials", 2);
	fixture_function(a, "unfreeze_partials", 3);
	fixture_function(a, "kmem_cache_open", 4);
	fixture_function(b, "kmalloc", 1);
	fixture_function(b, "kmalloc_noprof", 2);
	fixture_function(b, "put_partials", 3);
	analyze_renames_apply(&renames, a, b);
	assert_int_equal(renames.n_rows, 0);
	assert_string_equal(a->sites[1].name, "kmalloc");
	analyze_renames_deinit(&renames);
	profile_destroy(a);
	profile_destroy(b);
}

/* Functions renamed from page to folio are matched word by word, unless one kernel has both names. */
TEST(test_folios)
{
	struct profile *a = kernel("6.1.192"), *b = kernel("6.12.117");
	struct analyze_renames renames = { 0 };
	uint32_t i;

	timed(a, fixture_function(a, "next_uptodate_page", 1), 10, 100);
	fixture_function(a, "dissolve_free_huge_pages", 2);
	timed(a, fixture_function(a, "filemap_get_pages", 3), 10, 100);
	fixture_function(a, "pagevec_release", 4);
	timed(a, fixture_function(a, "page_remove_rmap", 5), 10, 100);
	fixture_function(a, "freepage", 6);
	timed(b, fixture_function(b, "next_uptodate_folio", 1), 10, 200);
	fixture_function(b, "dissolve_free_hugetlb_folios", 2);
	timed(b, fixture_function(b, "filemap_get_folios", 3), 10, 200);
	fixture_function(b, "foliovec_release", 4);
	timed(b, fixture_function(b, "folio_remove_rmap_ptes", 5), 10, 200);
	fixture_function(b, "freefolio", 6);
	analyze_renames_apply(&renames, a, b);
	assert_int_equal(renames.n_rows, 3);
	assert_string_equal(renamed(&renames, "next_uptodate_page"), "next_uptodate_folio");
	assert_string_equal(renamed(&renames, "dissolve_free_huge_pages"),
			    "dissolve_free_hugetlb_folios");
	assert_string_equal(renamed(&renames, "page_remove_rmap"), "folio_remove_rmap_ptes");
	for (i = 0; i < renames.n_rows; i++) {
		bool is_known = !strcmp(renames.rows[i].old, "page_remove_rmap");

		assert_true(renames.rows[i].how ==
			    (is_known ? ANALYZE_RENAMING_KNOWN : ANALYZE_RENAMING_INFERRED));
		assert_true(renames.rows[i].seen ==
			    !!strcmp(renames.rows[i].old, "dissolve_free_huge_pages"));
	}
	assert_string_equal(analyze_renames_known("page_remove_rmap"), "folio_remove_rmap_ptes");
	assert_string_equal(analyze_renames_known("folio_remove_rmap_ptes"), "page_remove_rmap");
	assert_null(analyze_renames_known("next_uptodate_page"));
	assert_string_equal(a->sites[1].name, "next_uptodate_folio");
	assert_string_equal(a->sites[3].name, "filemap_get_pages");
	analyze_renames_deinit(&renames);
	profile_destroy(a);
	profile_destroy(b);
}

RUN_TESTS(NULL, NULL)
