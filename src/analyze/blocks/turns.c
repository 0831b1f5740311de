// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/blocks/turns.h"

#include <string.h>

#define MORE_MOST 2 /* turns more or less than the value */

/* Does CONDITION have what is last in NAME, "objects" of "return->objects"? */
static bool has_name(const char *condition, const char *name)
{
	const char *dot = strrchr(name, '.'), *arrow = strrchr(name, '>');
	const char *last = dot > arrow ? dot : arrow;

	return condition && strstr(condition, last ? last + 1 : name);
}

/* In which share of the calls in which TURNS is one at least it is MORE than VALUE, both places among SITE's; *VARIES: it is not always the same. */
static double share_of(const struct profile *p, uint32_t site, uint32_t turns, uint32_t value,
		       int64_t more, bool *varies)
{
	double calls = 0, fitting = 0;
	uint64_t first = 0;

	*varies = false;
	vec_each(const struct profile_capture, c, p, captures) {
		if (c->site != site || c->absent >> turns & 1 || !c->values[turns])
			continue;
		first = first ?: c->values[turns];
		*varies |= c->values[turns] != first;
		calls += (double)c->calls;
		if (!(c->absent >> value & 1) &&
		    c->values[turns] == c->values[value] + (uint64_t)more)
			fitting += (double)c->calls;
	}
	return calls > 0 ? fitting / calls : 0;
}

void analyze_turns_find(struct analyze_turns *out, const struct profile *p, uint32_t site,
			const char *named, const char *condition)
{
	const struct profile_variable *variables[PROFILE_VALUES_MAX];
	uint32_t n = 0, turns = PROFILE_VALUES_MAX;

	*out = (struct analyze_turns){ .share = 0.5 };
	for (uint32_t i = 0; i < p->n_variables && n < PROFILE_VALUES_MAX; i++) {
		if (p->variables[i].site != site)
			continue;
		if (!strcmp(p->variables[i].name, named))
			turns = n;
		variables[n++] = &p->variables[i];
	}
	for (uint32_t i = 0; i < n && turns < n; i++) {
		if (variables[i]->kind == PROFILE_VARIABLE_TRIP_COUNT)
			continue;
		for (int64_t more = -MORE_MOST; more <= MORE_MOST; more++) {
			bool varies, better;
			double share = share_of(p, site, turns, i, more, &varies);

			better = share > out->share || (out->variable && share == out->share &&
							has_name(condition, variables[i]->name) &&
							!has_name(condition, out->variable->name));
			if (varies && better)
				*out = (struct analyze_turns){ variables[i], more, share };
		}
	}
}
