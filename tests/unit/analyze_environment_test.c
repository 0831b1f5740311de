// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the differences between two kernels: options and parameters. */
#include "test.h"
#include "analyze/figures/environment.h"
#include "catalogue/catalogue.h"
#include "fixture.h"

static const struct analyze_env_row *find(const struct analyze_env *env, const char *name)
{
	uint32_t i;

	for (i = 0; i < env->n_rows; i++)
		if (!strcmp(env->rows[i].name, name))
			return &env->rows[i];
	return NULL;
}

static void check(const struct analyze_env *env, enum analyze_env_kind kind, const char *name,
		  const char *baseline, const char *hardened)
{
	const struct analyze_env_row *row = find(env, name);

	if (!row)
		fail_msg("no difference in %s", name);
	assert_int_equal(row->kind, kind);
	if (baseline)
		assert_string_equal(row->sides[0], baseline);
	else
		assert_null(row->sides[0]);
	if (hardened)
		assert_string_equal(row->sides[1], hardened);
	else
		assert_null(row->sides[1]);
}

/* Linux 6.9 renamed options. An option set in both kernels under either name does not differ. */
TEST(test_config_renamed)
{
	struct profile *a = profile_create(), *b = profile_create();
	struct analyze_env env;

	profile_env_set(
		a, PROFILE_ENV_CONFIG,
		"CONFIG_RETPOLINE=y\nCONFIG_CPU_SRSO=y\nCONFIG_SLS=y\nCONFIG_MITIGATION_MDS=y");
	profile_env_set(b, PROFILE_ENV_CONFIG,
			"CONFIG_MITIGATION_RETPOLINE=y\nCONFIG_MITIGATION_SRSO=y\n"
			"CONFIG_MITIGATION_RETHUNK=y\nCONFIG_MITIGATION_MDS=y");
	analyze_env_diff(&env, a, b);
	check(&env, ANALYZE_ENV_PROTECTION, "SLS", "y", "n");
	check(&env, ANALYZE_ENV_PROTECTION, "MITIGATION_RETHUNK", "n", "y");
	assert_null(find(&env, "MITIGATION_RETPOLINE"));
	assert_null(find(&env, "RETPOLINE"));
	assert_null(find(&env, "MITIGATION_SRSO"));
	assert_null(find(&env, "CPU_SRSO"));
	analyze_env_deinit(&env);
	profile_destroy(a);
	profile_destroy(b);
}

TEST(test_config)
{
	struct profile *a = profile_create(), *b = profile_create();
	struct analyze_env env;

	profile_env_set(a, PROFILE_ENV_CONFIG,
			"#\n# Automatically generated\n#\nCONFIG_SAME=y\nCONFIG_HZ=250\n"
			"# CONFIG_SLAB_FREELIST_RANDOM is not set\nCONFIG_GONE=m\n"
			"CONFIG_TWICE=1\nCONFIG_TWICE=2\nCONFIG_OFF=n\n=\nCONFIG_=y\nnonsense");
	profile_env_set(b, PROFILE_ENV_CONFIG,
			"CONFIG_SLAB_FREELIST_RANDOM=y\nCONFIG_SAME=y\nCONFIG_HZ=1000\n"
			"CONFIG_TWICE=2\nCONFIG_STR=\"a b=c\"\n# CONFIG_OFF is not set");
	analyze_env_diff(&env, a, b);
	assert_int_equal(env.n_rows, 5);
	/* Protections come first, then options that control protections. */
	assert_string_equal(env.rows[0].name, "slab_freelist_random");
	check(&env, ANALYZE_ENV_STATE, "slab_freelist_random", "off", "on");
	assert_string_equal(env.rows[1].name, "SLAB_FREELIST_RANDOM");
	check(&env, ANALYZE_ENV_PROTECTION, "SLAB_FREELIST_RANDOM", "n", "y");
	check(&env, ANALYZE_ENV_CONFIG, "HZ", "250", "1000");
	check(&env, ANALYZE_ENV_CONFIG, "GONE", "m", "n");
	check(&env, ANALYZE_ENV_CONFIG, "STR", "n", "\"a b=c\"");
	analyze_env_deinit(&env);

	analyze_env_protections(&env, b);
	assert_int_equal(env.n_rows, 1);
	assert_string_equal(env.rows[0].sides[0], "y");
	analyze_env_deinit(&env);

	/* If one kernel's configuration is unknown, report nothing: otherwise all options would differ. */
	profile_destroy(b);
	b = profile_create();
	analyze_env_diff(&env, a, b);
	assert_int_equal(env.n_rows, 0);
	analyze_env_deinit(&env);
	profile_destroy(a);
	profile_destroy(b);
}

TEST(test_cmdline)
{
	struct profile *a = profile_create(), *b = profile_create();
	struct analyze_env env;

	profile_env_set(a, PROFILE_ENV_CMDLINE,
			"console=ttyS0 quiet pti=on dyndbg=\"file a.c +p\" console=tty0 \n");
	profile_env_set(
		b, PROFILE_ENV_CMDLINE,
		"  quiet console=ttyS0 init_on_alloc=1 dyndbg=\"file b.c +p\" console=tty0");
	analyze_env_diff(&env, a, b);
	assert_int_equal(env.n_rows, 3);
	check(&env, ANALYZE_ENV_CMDLINE, "pti", "on", NULL);
	check(&env, ANALYZE_ENV_CMDLINE, "init_on_alloc", NULL, "1");
	check(&env, ANALYZE_ENV_CMDLINE, "dyndbg", "\"file a.c +p\"", "\"file b.c +p\"");
	analyze_env_deinit(&env);
	profile_destroy(a);
	profile_destroy(b);
}

TEST(test_other_keys)
{
	struct profile *a = profile_create(), *b = profile_create();
	struct analyze_env env;

	profile_env_set(a, PROFILE_ENV_BUILD_ID, "aa");
	profile_env_set(b, PROFILE_ENV_BUILD_ID, "bb");
	profile_env_set(a, PROFILE_ENV_MITIGATION "meltdown", "Mitigation: PTI");
	profile_env_set(b, PROFILE_ENV_MITIGATION "meltdown", "Vulnerable");
	profile_env_set(b, PROFILE_ENV_SMT, "");
	profile_env_set(a, PROFILE_ENV_TIME, "2026");
	profile_env_set(b, PROFILE_ENV_TIME, "2027");
	analyze_env_diff(&env, a, b);
	assert_int_equal(env.n_rows, 4);
	/* States that the kernel reports do not need its configuration. */
	check(&env, ANALYZE_ENV_STATE, "page_table_isolation", "on", "off");
	check(&env, ANALYZE_ENV_OTHER, "mitigation.meltdown", "Mitigation: PTI", "Vulnerable");
	check(&env, ANALYZE_ENV_OTHER, PROFILE_ENV_SMT, NULL, "");
	check(&env, ANALYZE_ENV_KERNEL, PROFILE_ENV_BUILD_ID, "aa", "bb");
	assert_int_equal(env.rows[3].kind, ANALYZE_ENV_KERNEL);
	analyze_env_deinit(&env);
	profile_destroy(a);
	profile_destroy(b);
}

TEST(test_protections)
{
	/* The lookup needs a sorted list of options, and must find the first and the last one, too. */
	assert_true(catalogue_has_option("BUG_ON_DATA_CORRUPTION", 22));
	assert_true(catalogue_has_option("ZERO_CALL_USED_REGS", 19));
	assert_true(catalogue_has_option("SLAB_FREELIST_RANDOM=y", 20));
	assert_true(catalogue_has_option("STACKPROTECTOR", 14));
	assert_true(catalogue_has_option("STACKPROTECTOR_STRONG", 21));
	assert_false(catalogue_has_option("STACKPROTECTOR_", 15));
	assert_false(catalogue_has_option("STACKPROTECTO", 13));
	assert_false(catalogue_has_option("", 0));
	assert_false(catalogue_has_option("HZ", 2));
}

RUN_TESTS(NULL, NULL)
