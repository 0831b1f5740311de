// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>

#include "base/alloc.h"
#include "profile/layout.h"

static const char *const kind_names[PROFILE_N_COST_KINDS] = {
	[PROFILE_COST_INNER] = "inner",       [PROFILE_COST_FULL] = "full",
	[PROFILE_COST_NESTED] = "nested",     [PROFILE_COST_TRAMPOLINE] = "trampoline",
	[PROFILE_COST_ARGS] = "args",         [PROFILE_COST_OPEN] = "open",
	[PROFILE_COST_INSIDE] = "inside",     [PROFILE_COST_OUTSIDE] = "outside",
	[PROFILE_COST_LIST] = "list",         [PROFILE_COST_FRAME] = "frame",
	[PROFILE_COST_STEPPED] = "stepped",   [PROFILE_COST_PREPARED] = "prepared",
	[PROFILE_COST_EMULATED] = "emulated", [PROFILE_COST_CALL] = "call",
	[PROFILE_COST_JUMP] = "jump",         [PROFILE_COST_BLOCK] = "block",
	[PROFILE_COST_LATENCY] = "latency",   [PROFILE_COST_INTERRUPT] = "interrupt",
};

void profile_cost_set(struct profile *p, enum profile_mechanism mech, enum profile_cost_kind kind,
		      double value, double spread)
{
	struct profile_cost cost = { .mech = mech, .kind = kind };
	uint32_t found = section_find_or_add(p, SECTION_COSTS, &cost);

	p->costs[found].value = value;
	p->costs[found].spread = spread;
}

static void append(char **text, const char *name, double value, double spread)
{
	alloc_append(text, "%s%s=%.*f", *text ? " " : "", name, value == floor(value) ? 0 : 2,
		     value);
	if (!isnan(spread))
		alloc_append(text, "+-%.0f", spread);
}

char *profile_cost_text(const struct profile *p, enum profile_mechanism mech)
{
	char *text = NULL;

	for (uint32_t i = 0; i < p->n_costs; i++)
		if (p->costs[i].mech == mech)
			append(&text, kind_names[p->costs[i].kind], p->costs[i].value,
			       p->costs[i].spread);
	return text;
}
