// SPDX-License-Identifier: GPL-2.0-or-later
/* Get the state of protections from a kernel's configuration, its command line and its own reports. */
#include "test.h"
#include "catalogue/state.h"

struct kernel {
	const char *release, *config, *cmdline, *vulnerability, *says;
};

static struct profile *profile_of(const struct kernel *kernel)
{
	struct profile *p = profile_create();

	if (kernel->release)
		profile_env_set(p, PROFILE_ENV_RELEASE, kernel->release);
	if (kernel->config)
		profile_env_set(p, PROFILE_ENV_CONFIG, kernel->config);
	if (kernel->cmdline)
		profile_env_set(p, PROFILE_ENV_CMDLINE, kernel->cmdline);
	if (kernel->vulnerability)
		profile_env_set(p, kernel->vulnerability, kernel->says);
	return p;
}

static void expect(const char *name, struct kernel kernel, enum catalogue_state state,
		   const char *why)
{
	const struct catalogue_protection *protection = catalogue_find(name);
	struct profile *p = profile_of(&kernel);
	char *how;

	assert_non_null(protection);
	assert_string_equal(catalogue_state_name(catalogue_state(protection, p, false, &how)),
			    catalogue_state_name(state));
	assert_string_equal(how, why);
	free(how);
	profile_destroy(p);
}

#define RELEASE_6_1  "6.1.0-kprotperf"
#define RELEASE_6_12 "6.12.0-kprotperf"

TEST(options_of_the_configuration_decide)
{
	static const char on[] = "CONFIG_A=y\nCONFIG_SLAB_FREELIST_RANDOM=y\nCONFIG_B=y\n";
	static const char off[] = "CONFIG_A=y\n# CONFIG_SLAB_FREELIST_RANDOM is not set\n";
	static const char longer[] = "CONFIG_SLAB_FREELIST_RANDOM_NOT=y\n";

	expect("slab_freelist_random", (struct kernel){ RELEASE_6_1, on }, CATALOGUE_ON,
	       "CONFIG_SLAB_FREELIST_RANDOM=y");
	expect("slab_freelist_random", (struct kernel){ RELEASE_6_1, off }, CATALOGUE_OFF,
	       "CONFIG_SLAB_FREELIST_RANDOM is not set");
	expect("slab_freelist_random", (struct kernel){ RELEASE_6_1, longer }, CATALOGUE_OFF,
	       "CONFIG_SLAB_FREELIST_RANDOM is not set");
	expect("slab_freelist_random", (struct kernel){ RELEASE_6_1 }, CATALOGUE_UNKNOWN,
	       "no /proc/config.gz, /boot/config-* or /lib/modules/*/config");
}

TEST(versions_have_their_defaults)
{
	expect("random_kmalloc_caches", (struct kernel){ RELEASE_6_1, "CONFIG_A=y\n" },
	       CATALOGUE_OFF, "added in Linux 6.6");
	expect("random_kmalloc_caches", (struct kernel){ RELEASE_6_12, "CONFIG_A=y\n" },
	       CATALOGUE_OFF, "CONFIG_RANDOM_KMALLOC_CACHES is not set");
	/* The reason shows the option's name in that kernel version. */
	expect("sls", (struct kernel){ RELEASE_6_1, "CONFIG_A=y\n" }, CATALOGUE_OFF,
	       "CONFIG_SLS is not set");
	expect("sls", (struct kernel){ RELEASE_6_12, "CONFIG_A=y\n" }, CATALOGUE_OFF,
	       "CONFIG_MITIGATION_SLS is not set");
	/* The option counts, because a distribution may have backported it. */
	expect("sls", (struct kernel){ RELEASE_6_1, "CONFIG_MITIGATION_SLS=y\n" }, CATALOGUE_ON,
	       "CONFIG_MITIGATION_SLS=y");
	expect("refcount", (struct kernel){ RELEASE_6_1, "CONFIG_A=y\n" }, CATALOGUE_ON,
	       "always there");
}

TEST(kernel_parameters_decide)
{
	static const char config[] =
		"CONFIG_INIT_ON_ALLOC_DEFAULT_ON=y\nCONFIG_HARDENED_USERCOPY=y\n";
	struct kernel kernel = { RELEASE_6_1, config };

	expect("init_on_alloc", kernel, CATALOGUE_ON, "CONFIG_INIT_ON_ALLOC_DEFAULT_ON=y");
	kernel.cmdline = "quiet init_on_alloc=0 ro";
	expect("init_on_alloc", kernel, CATALOGUE_OFF, "init_on_alloc=0 on the command line");
	/* The last parameter counts; words after -- belong to init; - and _ are the same. */
	kernel.cmdline = "init_on_alloc=0 init-on-alloc=on -- init_on_alloc=0";
	expect("init_on_alloc", kernel, CATALOGUE_ON, "init_on_alloc=on on the command line");
	/* Ignore other parameters' names, and a value that is neither on nor off. */
	kernel.cmdline = "xinit_on_alloc=0 init_on_allocs=0 init_on_alloc=maybe";
	expect("init_on_alloc", kernel, CATALOGUE_ON, "CONFIG_INIT_ON_ALLOC_DEFAULT_ON=y");
	kernel.cmdline = "hardened_usercopy=off";
	expect("hardened_usercopy", kernel, CATALOGUE_OFF,
	       "hardened_usercopy=off on the command line");
	/* A parameter cannot enable a protection that is not built in. */
	kernel.config = "CONFIG_A=y\n";
	kernel.cmdline = "hardened_usercopy=on";
	expect("hardened_usercopy", kernel, CATALOGUE_OFF, "CONFIG_HARDENED_USERCOPY is not set");
	kernel.config = "CONFIG_PAGE_POISONING=y\n";
	expect("page_poisoning", kernel, CATALOGUE_OFF, "CONFIG_PAGE_POISONING=y, no parameter");
	kernel.config = "CONFIG_KFENCE=y\nCONFIG_KFENCE_SAMPLE_INTERVAL=0\n";
	expect("kfence", kernel, CATALOGUE_OFF, "CONFIG_KFENCE_SAMPLE_INTERVAL=0");
	kernel.config = "CONFIG_KFENCE=y\nCONFIG_KFENCE_SAMPLE_INTERVAL=500\n";
	expect("kfence", kernel, CATALOGUE_ON, "CONFIG_KFENCE_SAMPLE_INTERVAL=500");
	kernel.config = "CONFIG_RANDOMIZE_BASE=y\n";
	kernel.cmdline = "nokaslr";
	expect("randomize_base", kernel, CATALOGUE_OFF, "nokaslr on the command line");
}

TEST(settings_are_parsed_from_text)
{
	static const char config[] =
		"#\n# Automatically generated\nCONFIG_A=\"b c=d\"\n# CONFIG_B is not set\n"
		"# CONFIG_C is set\nCONFIG_=y\n=\nCONFIG_D\nCONFIG_E=y";
	static const char *const names[] = { "A", "B", "E" }, *const values[] = { "\"b c=d\"", "n",
										  "y" };
	const char *at = config, *cmdline = " a=\"b init_on_alloc=0\" c -- d=";
	struct catalogue_setting setting;
	size_t i;

	for (i = 0; catalogue_next_option(&at, &setting); i++) {
		assert_true(i < 3 && catalogue_text_is(setting.name, names[i]));
		assert_true(catalogue_text_is(setting.value, values[i]));
	}
	assert_int_equal(i, 3);
	assert_true(catalogue_text_is(catalogue_option_value(config, "A"), "\"b c=d\""));
	assert_true(catalogue_text_is(catalogue_option_value(config, "C"), "n"));
	assert_null(catalogue_option_value(NULL, "A").s);
	assert_true(catalogue_text_is(catalogue_parameter_value(cmdline, "a"),
				      "\"b init_on_alloc=0\""));
	assert_true(catalogue_text_is(catalogue_parameter_value(cmdline, "c"), ""));
	assert_null(catalogue_parameter_value(cmdline, "init_on_alloc").s);
	assert_null(catalogue_parameter_value(cmdline, "d").s);
	assert_null(catalogue_parameter_value(NULL, "a").s);
	for (i = 0; catalogue_next_parameter(&cmdline, &setting); i++)
		;
	assert_int_equal(i, 4);
	assert_true(catalogue_text_is(setting.name, "") && !*cmdline);
}

TEST(the_kernels_report_decides_unless_forced)
{
	struct kernel kernel = { RELEASE_6_1, "CONFIG_PAGE_TABLE_ISOLATION=y\n", "quiet",
				 PROFILE_ENV_MITIGATION "meltdown", "Mitigation: PTI" };

	expect("page_table_isolation", kernel, CATALOGUE_ON, "meltdown: Mitigation: PTI");
	kernel.says = "Not affected";
	expect("page_table_isolation", kernel, CATALOGUE_OFF, "meltdown: Not affected");
	/* The parameter forces the protection, although the kernel still reports "Not affected". */
	kernel.cmdline = "pti=on";
	expect("page_table_isolation", kernel, CATALOGUE_ON, "pti=on on the command line");
	kernel.vulnerability = NULL;
	kernel.cmdline = "nopti";
	expect("page_table_isolation", kernel, CATALOGUE_OFF, "nopti on the command line");
	kernel.cmdline = "quiet";
	expect("page_table_isolation", kernel, CATALOGUE_BUILT_IN,
	       "CONFIG_PAGE_TABLE_ISOLATION=y; decided by the CPU");
	/* The kernel's own report is enough without a configuration. */
	kernel.config = NULL;
	expect("page_table_isolation", kernel, CATALOGUE_UNKNOWN,
	       "no /proc/config.gz, /boot/config-* or /lib/modules/*/config");
	kernel.vulnerability = PROFILE_ENV_MITIGATION "meltdown";
	kernel.says = "Mitigation: PTI";
	expect("page_table_isolation", kernel, CATALOGUE_ON, "meltdown: Mitigation: PTI");
	/* mds=full does not force the mitigation on a CPU without the bug. */
	kernel = (struct kernel){ RELEASE_6_12, "CONFIG_MITIGATION_MDS=y\n", "mds=full",
				  PROFILE_ENV_MITIGATION "mds", "Not affected" };
	expect("mds", kernel, CATALOGUE_OFF, "mds: Not affected");
}

TEST(rows_are_complete_and_names_unique)
{
	size_t i, j;

	assert_true(catalogue_size >= 25);
	for (i = 0; i < catalogue_size; i++) {
		const struct catalogue_protection *row = &catalogue[i];

		assert_true(*row->title && *row->against && *row->contexts && row->workloads[0]);
		assert_true(row->options || row->by == CATALOGUE_BY_NOTHING);
		/* A protection switched at boot has parameters for both states, or for the state that is not the default. */
		assert_true(row->by != CATALOGUE_BY_BOOT || row->parameters);
		for (j = 0; j < i; j++)
			assert_string_not_equal(row->name, catalogue[j].name);
	}
	assert_true(catalogue_has_option("SLAB_FREELIST_RANDOMX", strlen("SLAB_FREELIST_RANDOM")));
	assert_false(
		catalogue_has_option("SLAB_FREELIST_RANDOMX", strlen("SLAB_FREELIST_RANDOMX")));
	assert_false(catalogue_has_option("SLAB_FREELIST", strlen("SLAB_FREELIST")));
	assert_false(catalogue_has_option("GCC_PLUGINS", strlen("GCC_PLUGINS")));
	assert_null(catalogue_find("nosuch"));
}

RUN_TESTS(NULL, NULL)
