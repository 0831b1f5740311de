// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/session.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/system/interrupt.h"
#include "base/log.h"
#include "kernel/image/btf.h"
#include "kprotperf/mark.h"
#include "profile/file/file.h"
#include "profile/profile.h"
#include "record/collect/environment.h"
#include "record/plan.h"
#include "record/workload.h"

#define EXECUTE(...) __asm__ volatile(".byte " MARK_TEXT(__VA_ARGS__) : : : "memory")

/*
 * Write all functions to PATH by ascending address, as in /proc/kallsyms. Gaps between functions get the name "[unknown]", so that
 * code loaded there later is not counted for the function before the gap.
 */
static int write_symbols(const struct kernel_kallsyms *ks, const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file) {
		log_error("cannot write %s: %m", path);
		return -1;
	}
	vec_each(const struct kernel_sym, sym, ks, syms) {
		uint64_t end = kernel_kallsyms_end(ks, sym);

		fprintf(file, "%016" PRIx64 " %c %s%s%s%s\n", sym->addr, sym->type, sym->name,
			sym->module ? "\t[" : "", sym->module ?: "", sym->module ? "]" : "");
		if (sym + 1 == ks->syms + ks->n_syms || end < sym[1].addr)
			fprintf(file, "%016" PRIx64 " t [unknown]\t[unknown]\n", end);
	}
	if (!fclose(file))
		return 0;
	log_error("cannot write %s: %m", path);
	return -1;
}

/* Write the addresses by which emulator/objects.c finds owners of objects in memory. The emulator reports missing addresses. */
static void write_objects(const char *path, const struct kernel_kallsyms *ks)
{
	static const char *const variables[] = { "slab_caches", "vmemmap_base", "pcpu_base_addr",
						 "pcpu_unit_size" };
	static const struct {
		const char *type, *member;
	} offsets[] = {
		{ "page", NULL },         { "page", "_refcount" },  { "slab", "slab_cache" },
		{ "kmem_cache", "name" }, { "kmem_cache", "list" },
	};
	FILE *file = path ? fopen(path, "we") : NULL;
	struct kernel_btf *btf;

	if (!file)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		uint64_t addr = kernel_kallsyms_variable(ks, variables[i]);

		if (addr)
			fprintf(file, "%s %" PRIx64 "\n", variables[i], addr);
	}
	if (!kernel_btf_load(KERNEL_BTF_PATH, &btf)) {
		for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
			const char *member = offsets[i].member;
			int at = kernel_btf_offset(kernel_btf_raw(btf), offsets[i].type, member);

			if (at >= 0)
				fprintf(file, "%s%s%s %x\n", offsets[i].type, member ? "." : "",
					member ?: "", (unsigned int)at);
		}
		kernel_btf_destroy(btf);
	}
	fclose(file);
}

static int begin(void *arg)
{
	(void)arg;
	EXECUTE(MARK_BEGIN);
	return 0;
}

/* Check the options, and write the environment and the emulator's files. Return 0 or the exit status. */
static int prepare(const struct record_options *o, struct record_plan *plan, struct profile *p,
		   char **path)
{
	const char *symbols = getenv(RECORD_EXACT_ENV);
	int status = record_workload_find(o->argv[0], path);

	if (status)
		return status;
	if (!symbols) {
		log_error("--exact needs the lab's emulator: use scripts/lab run --exact -- CMD");
		return EXIT_FAILURE;
	}
	if (profile_file_try(o->output) || record_symbols_init(&plan->symbols, o->vmlinux, NULL))
		return EXIT_FAILURE;
	write_objects(getenv(RECORD_OBJECTS_ENV), plan->symbols.ks);
	record_environment_read(p, &plan->symbols);
	profile_env_set(p, PROFILE_ENV_ENGINE, PROFILE_ENGINE_EXACT);
	for (char **arg = o->argv; *arg; arg++)
		profile_arg_add(p, *arg);
	return write_symbols(plan->symbols.ks, symbols) ? EXIT_FAILURE : 0;
}

int record_exact(const struct record_options *o)
{
	const struct record_workload_hooks hooks = { .prepare = begin, .limit = o->duration };
	scoped(record_plan_deinit) struct record_plan plan = {};
	scoped(profile_destroy_at) struct profile *p = profile_create();
	scoped_free char *path = NULL;
	int status;

	interrupt_catch();
	status = prepare(o, &plan, p, &path);
	if (!status) {
		uint32_t run = profile_run_add(p, PROFILE_RUN_PROBED);
		int err = record_workload_run(p, run, path, o->argv, &hooks);

		EXECUTE(MARK_END);
		status = err ? EXIT_FAILURE : record_finish(&plan, o, p);
	}
	return status;
}
