// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "profile/layout.h"

static const char *const kind_names[PROFILE_N_COST_KINDS] = {
	[PROFILE_COST_INNER] = "inner",       [PROFILE_COST_FULL] = "full",
	[PROFILE_COST_NESTED] = "nested",     [PROFILE_COST_TRAMPOLINE] = "trampoline",
	[PROFILE_COST_ARGS] = "args",         [PROFILE_COST_OPEN] = "open",
	[PROFILE_COST_INSIDE] = "inside",     [PROFILE_COST_OUTSIDE] = "outside",
	[PROFILE_COST_LIST] = "list",         [PROFILE_COST_HOP] = "hop",
	[PROFILE_COST_STEPPED] = "stepped",   [PROFILE_COST_PREPARED] = "prepared",
	[PROFILE_COST_EMULATED] = "emulated", [PROFILE_COST_CALL] = "call",
	[PROFILE_COST_JUMP] = "jump",         [PROFILE_COST_BLOCK] = "block",
	[PROFILE_COST_LATENCY] = "latency",   [PROFILE_COST_INTERRUPT] = "interrupt",
};

/* What texts of older recordings call some. */
static const struct {
	const char *name;
	enum profile_cost_kind kind;
} older_names[] = {
	{ "trip", PROFILE_COST_TRAMPOLINE },
	{ "several", PROFILE_COST_LIST },
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

static enum profile_cost_kind kind_of(const char *name, size_t n)
{
	enum profile_cost_kind kind;

	for (size_t i = 0; i < ARRAY_SIZE(older_names); i++)
		if (strlen(older_names[i].name) == n && !strncmp(older_names[i].name, name, n))
			return older_names[i].kind;
	for (kind = 0; kind < PROFILE_N_COST_KINDS; kind++)
		if (strlen(kind_names[kind]) == n && !strncmp(kind_names[kind], name, n))
			break;
	return kind;
}

/* A word "KIND=VALUE" or "KIND=VALUE+-SPREAD"; what is none is left out. */
static void parse_word(struct profile *p, enum profile_mechanism mech, const char *word)
{
	size_t n = strcspn(word, " =");
	enum profile_cost_kind kind = kind_of(word, n);
	double value, spread = NAN;
	const char *at;

	if (kind == PROFILE_N_COST_KINDS || word[n] != '=')
		return;
	at = word + n + 1;
	if (!number_scan_double(&at, &value))
		return;
	if (!strncmp(at, "+-", 2)) {
		at += 2;
		number_scan_double(&at, &spread);
	}
	profile_cost_set(p, mech, kind, value, spread);
}

bool profile_cost_parse(struct profile *p, const char *mechanism, const char *text)
{
	enum profile_mechanism mech = profile_mechanism_by_name(mechanism);

	if (mech == PROFILE_N_COSTS)
		return false;
	while (*(text += strspn(text, " "))) {
		parse_word(p, mech, text);
		text += strcspn(text, " ");
	}
	return true;
}

void profile_costs_from_env(struct profile *p)
{
	size_t prefix = strlen(PROFILE_ENV_COST);

	for (uint32_t i = 0; i < p->n_envs; i++)
		if (!strncmp(p->envs[i].key, PROFILE_ENV_COST, prefix))
			profile_cost_parse(p, p->envs[i].key + prefix, p->envs[i].value);
}
