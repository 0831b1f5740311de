// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzz the state of protections, and the comparison of two kernels. Input: a kernel's configuration, a NUL, its command line. */
#include "fuzz.h"

#include "analyze/figures/environment.h"
#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *config = strndup((const char *)data, size), *cmdline;
	struct profile *p = profile_create(), *none = profile_create();
	struct analyze_env env;

	cmdline = strlen(config) < size ? strndup((const char *)data + strlen(config) + 1,
						  size - strlen(config) - 1) :
					  strdup("");
	profile_env_set(p, PROFILE_ENV_CONFIG, config);
	profile_env_set(p, PROFILE_ENV_CMDLINE, cmdline);
	profile_env_set(none, PROFILE_ENV_CONFIG, "CONFIG_SLUB=y\n");
	analyze_env_diff(&env, p, none);
	analyze_env_deinit(&env);
	analyze_env_protections(&env, p);
	analyze_env_deinit(&env);
	profile_destroy(p);
	profile_destroy(none);
	free(config);
	free(cmdline);
	return 0;
}
