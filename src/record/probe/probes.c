// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/probe/probes.h"

#include <errno.h>
#include <linux/types.h>
#include <stddef.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "record/engine/engine.h"
#include "record/probe/links.h"
#include "record/probe/point.h"
#include "record/probe/probes_impl.h"

const struct record_mechanism *record_mechanism(enum profile_mechanism mech)
{
	if (mech == PROFILE_UNTIMED)
		return NULL;
	for (const struct record_mechanism *const *m = record_mechanisms; *m; m++)
		if ((*m)->mech == mech || (*m)->ways[0] == mech || (*m)->ways[1] == mech)
			return *m;
	return NULL;
}

enum profile_mechanism record_attach_mechanism(uint32_t index)
{
	return index ? record_mechanisms[index - 1]->mech : PROFILE_UNTIMED;
}

uint32_t record_attach_counting(void)
{
	uint32_t i = 0;

	while (record_mechanisms[i] && !profile_mechanism(record_mechanisms[i]->mech)->counted)
		i++;
	return i + 1;
}

struct record_probes *record_probes_create(struct record_engine *e,
					   const struct record_features *features)
{
	struct record_probes *probes = alloc_new(struct record_probes);

	probes->engine = e;
	probes->skel = record_engine_programs(e);
	probes->multi = record_multi_create(probes->skel, features);
	return probes;
}

void record_probes_destroy(struct record_probes *probes)
{
	if (!probes)
		return;
	record_probes_detach(probes);
	record_multi_destroy(probes->multi);
	free(probes->point_links);
	free(probes->attached);
	free(probes);
}

struct record_engine *record_probes_engine(const struct record_probes *probes)
{
	return probes->engine;
}

int record_probes_attach(struct record_probes *probes, enum profile_mechanism mech, uint32_t site,
			 const struct record_target *target)
{
	const struct record_mechanism *m = record_mechanism(mech);
	struct record_target one = *target;

	if (!m)
		return -EINVAL;
	one.site = site;
	m->attach(probes, &one, 1);
	return one.err ?: m->complete ? m->complete(probes, &one, mech) : 0;
}

struct record_attached *record_attached_find(const struct record_probes *probes, uint32_t site)
{
	for (uint32_t i = 0; i < probes->n_attached; i++)
		if (probes->attached[i].site == site)
			return &probes->attached[i];
	return NULL;
}

static void close_programs(const struct record_attached *a)
{
	for (int i = 0; i < 2; i++)
		if (a->progs[i])
			close(a->progs[i]);
}

static void close_all(const struct record_attached *a)
{
	close_programs(a);
	if (a->entry >= 0)
		close(a->entry);
	if (a->ret >= 0)
		close(a->ret);
}

void record_attached_remove(struct record_probes *probes, struct record_attached *a)
{
	close_all(a);
	*a = probes->attached[--probes->n_attached];
}

void record_probes_detach_last(struct record_probes *probes)
{
	const struct record_attached *last = &probes->attached[--probes->n_attached];

	close_programs(last);
	record_detach_deferred(last->entry);
	record_detach_deferred(last->ret);
}

void record_probes_detach(struct record_probes *probes)
{
	uint32_t n = probes ? probes->n_attached : 0;

	while (probes && probes->n_attached) {
		const struct record_attached *a = &probes->attached[--probes->n_attached];

		log_progress("detaching probes: %u of %u", n - probes->n_attached, n);
		close_all(a);
	}
	log_progress_end();
}

static void misses_add(struct record_probe_misses *sum, int link, int prog)
{
	sum->recursion += record_program_misses(prog ?: -1);
	sum->hits = record_misses_add(sum->hits, link < 0 ? 0 : record_link_misses(link));
}

static struct record_probe_misses misses_ever(const struct record_probes *probes)
{
	struct record_probe_misses sum = {
		.recursion = record_engine_misses(probes->engine),
		.hits = record_points_misses(probes),
	};

	vec_each(const struct record_attached, a, probes, attached) {
		misses_add(&sum, a->entry, a->progs[0]);
		misses_add(&sum, a->ret, a->progs[1]);
	}
	return sum;
}

struct record_probe_misses record_probes_misses(const struct record_probes *probes)
{
	struct record_probe_misses now = misses_ever(probes);

	now.recursion -= probes->before.recursion;
	if (probes->before.hits == PROFILE_NOT_COUNTED)
		now.hits = PROFILE_NOT_COUNTED;
	else if (now.hits != PROFILE_NOT_COUNTED)
		now.hits -= probes->before.hits;
	return now;
}

void record_probes_reset(struct record_probes *probes)
{
	probes->before = misses_ever(probes);
}
