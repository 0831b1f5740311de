// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel and the machine of a recording. */
#include <string.h>

#include "analyze/figures/environment.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "output/json.h"
#include "view/report.h"

/*
 * Return the recording's environment and calibration, for free(); TEXTS owns the calibration's strings. Leave out the kernel
 * configuration, which has 5,000 lines. In JSON, the protections in this configuration have a key of their own.
 */
static struct profile_env *envs_of(const struct profile *p, struct alloc_texts *texts, uint32_t *n)
{
	struct profile_env *envs = alloc_array(p->n_envs + PROFILE_N_COSTS, sizeof(*envs));

	*n = 0;
	for (uint32_t i = 0; i < p->n_envs; i++)
		if (strcmp(p->envs[i].key, PROFILE_ENV_CONFIG))
			envs[(*n)++] = p->envs[i];
	for (uint32_t i = 0; i < PROFILE_N_COSTS; i++) {
		char *text = profile_cost_text(p, i);

		if (text)
			envs[(*n)++] = (struct profile_env){
				alloc_keep(texts, alloc_printf("record.cost.%s",
							       profile_mechanism_name(i))),
				alloc_keep(texts, text),
			};
	}
	return envs;
}

static json_t *json(const void *data)
{
	const struct view_report *r = data;
	json_t *env = json_object(), *protections = json_object(), *args = json_array();
	scoped(alloc_texts_free) struct alloc_texts texts = { 0 };
	uint32_t n;
	scoped_free struct profile_env *envs = envs_of(r->common.p[0], &texts, &n);

	for (uint32_t i = 0; i < n; i++)
		output_json_set(env, envs[i].key, output_json_text(envs[i].value));
	for (uint32_t i = 0; i < r->protections.n_rows; i++)
		output_json_set(protections, r->protections.rows[i].name,
				output_json_text(r->protections.rows[i].sides[0]));
	if (!profile_env_get(r->common.p[0], PROFILE_ENV_CONFIG)) {
		json_decref(protections);
		protections = json_null();
	}
	output_json_set(env, "protections", protections);
	for (uint32_t i = 0; i < r->common.p[0]->n_args; i++)
		json_array_append_new(args, output_json_text(r->common.p[0]->args[i]));
	output_json_set(env, "args", args);
	return env;
}

define_compare(env_compare, struct profile_env, strcmp(a->key, b->key));

/* The page lists vulnerabilities that do not affect the CPU in one line. */
static void page(const struct view *v, const void *data)
{
	const struct view_report *r = data;
	scoped_free char *unaffected = NULL, *protections = NULL;
	size_t prefix = strlen(PROFILE_ENV_MITIGATION);
	scoped(alloc_texts_free) struct alloc_texts texts = { 0 };
	uint32_t n;
	scoped_free struct profile_env *envs = envs_of(r->common.p[0], &texts, &n);

	if (n) {
		view_text(v, "Environment:");
		sort_array(envs, n, sizeof(*envs), env_compare);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!strncmp(envs[i].key, PROFILE_ENV_MITIGATION, prefix) &&
		    !strcmp(envs[i].value, "Not affected"))
			alloc_append(&unaffected, "%s%s", unaffected ? " " : "",
				     envs[i].key + prefix);
		else
			view_fact(v, envs[i].key, envs[i].value);
	}
	for (int load = 0; load < ANALYZE_N_LOADS; load++) {
		scoped_free char *text =
			analyze_load_text(load, analyze_load_of(r->common.p[0], load));

		if (text)
			view_fact(v, analyze_load_name(load), text);
	}
	if (unaffected)
		view_fact(v, "not affected by", unaffected);
	for (uint32_t i = 0; i < r->protections.n_rows; i++)
		alloc_append(&protections, "%s%s", protections ? " " : "",
			     r->protections.rows[i].name);
	if (profile_env_get(r->common.p[0], PROFILE_ENV_CONFIG))
		view_fact(v, "protections built in", protections ? protections : "none known");
}

const struct view_table report_environment = {
	.name = "environment",
	.is_closed = true,
	.places = VIEW_IN_PAGE | VIEW_IN_JSON,
	.page = page,
	.json = json,
};
