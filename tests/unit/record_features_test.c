// SPDX-License-Identifier: GPL-2.0-or-later
/* Describe the kernel's restrictions in words, and read its configuration from any of its usual files. */
#include <errno.h>
#include <sys/stat.h>

#include "test.h"
#include "kernel_fixture.h"
#include "record/collect/environment.h"
#include "record/engine/features.h"

TEST(names_lockdown)
{
	struct record_features f = {
		.btf = true, .bpf = -EPERM, .fentry = -EPERM, .multi = -EPERM
	};

	assert_string_equal(record_features_why_not_fentry(&f), strerror(EPERM));
	strcpy(f.lockdown, "none");
	assert_string_equal(record_features_why_not_bpf(&f), strerror(EPERM));
	strcpy(f.lockdown, "integrity");
	assert_string_equal(record_features_why_not_bpf(&f),
			    "refused by kernel lockdown (integrity)");
	assert_string_equal(record_features_why_not_multi(&f),
			    "refused by kernel lockdown (integrity)");
	strcpy(f.lockdown, "confidentiality");
	assert_string_equal(record_features_why_not_fentry(&f),
			    "refused by kernel lockdown (confidentiality)");
	/* Other errors are not attributed to kernel lockdown. */
	f.fentry = -ENOMEM;
	assert_string_equal(record_features_why_not_fentry(&f), strerror(ENOMEM));
	f.bpf = 0;
	assert_null(record_features_why_not_bpf(&f));
	/* Without securityfs, the state of kernel lockdown is hidden. */
	f.lockdown[0] = '\0';
	f.lockdown_hidden = true;
	assert_non_null(strstr(record_features_why_not_multi(&f), "securityfs"));
}

/* Name the kernel's switches that make attached probes do nothing. */
TEST(names_switches)
{
	struct record_features f = {
		.btf = true, .ftrace = -ESHUTDOWN, .fentry = -ESHUTDOWN, .multi = -ESHUTDOWN
	};

	assert_non_null(strstr(record_features_why_not_fentry(&f), "kernel.ftrace_enabled=1"));
	assert_non_null(strstr(record_features_why_not_multi(&f), "kernel.ftrace_enabled=1"));
	assert_null(record_features_why_not_kprobe(&f));
	f = (struct record_features){ .btf = true, .kprobe = -ESHUTDOWN };
	assert_non_null(strstr(record_features_why_not_kprobe(&f), "kprobes/enabled"));
	assert_null(record_features_why_not_ftrace(&f));
	assert_null(record_features_why_not_fentry(&f));
	f.ftrace = f.fentry = f.multi = -ENODEV;
	assert_non_null(strstr(record_features_why_not_fentry(&f), "reboot"));
	assert_non_null(strstr(record_features_why_not_multi(&f), "reboot"));
}

static void check_config(const char *expected)
{
	struct profile *p = profile_create();
	const char *config;

	record_environment_config(p, fixture_dir, "6.1.0-x");
	config = profile_env_get(p, PROFILE_ENV_CONFIG);
	if (expected)
		assert_string_equal(config, expected);
	else
		assert_null(config);
	profile_destroy(p);
}

TEST_WITH(finds_configuration, fixture_setup, fixture_teardown)
{
	static const char *const folders[] = { "lib", "lib/modules", "lib/modules/6.1.0-x", "boot",
					       "proc" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		assert_int_equal(mkdir(fixture_path(folders[i]), 0700), 0);
	check_config(NULL);
	fixture_text("lib/modules/6.1.0-x/config", "CONFIG_A=y\n");
	check_config("CONFIG_A=y\n");
	fixture_text("boot/config-6.1.0-x", "CONFIG_B=y\n");
	check_config("CONFIG_B=y\n");
	fixture_text("proc/config.gz", "CONFIG_C=y\n");
	check_config("CONFIG_C=y\n");
}

RUN_TESTS(NULL, NULL)
