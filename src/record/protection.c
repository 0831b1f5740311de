// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/protection.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/log.h"
#include "catalogue/state.h"
#include "record/engine/features.h"
#include "record/probe/choose.h"
#include "kernel/debuginfo/index.h"

struct expansion {
	const struct record_kernel *kernel;
	struct record_names *functions, *inlined;
	const struct kernel_index *index; /* NULL: none */
	uint32_t version;
	bool can_probe,
		can_enter; /* whether this kernel can time functions at all, and inlined bodies */
	uint32_t added; /* by the protection at hand */
};

/* Note the mechanism that record would use for a function. */
static void note_mechanism(const struct kernel_sym *sym, enum profile_mechanism mech,
			   const char *why, void *arg)
{
	bool *timed = arg;

	(void)sym;
	(void)why;
	if (mech != PROFILE_UNTIMED)
		*timed = true;
}

static bool is_function(struct expansion *e, const char *name)
{
	bool timed = false;

	if (e->can_probe)
		record_sites_list(e->kernel, name, note_mechanism, &timed);
	return timed;
}

static int count_body(const struct kernel_body *body, void *arg)
{
	uint32_t *n = arg;

	(void)body;
	return ++*n > RECORD_PROTECTION_PLACES ? -E2BIG : 0;
}

/*
 * Return the number of bodies of the inlined function that can be timed, as far as is known before their code is read.
 * -E2BIG: too many, which is reported.
 */
static int count_bodies(struct expansion *e, const char *name)
{
	uint32_t n = 0;
	int err;

	if (!e->can_enter || !e->index)
		return 0;
	err = kernel_index_bodies_each(e->index, name, count_body, &n, NULL);
	if (err == -E2BIG)
		log_note("'%s' is inlined in more than %d places, too many to time; "
			 "--range=%s@FUNC times those in FUNC",
			 name, RECORD_PROTECTION_PLACES, name);
	return err ? err : (int)n;
}

/* A function that this kernel has inlined is timed as such, and the other way round. */
static void expand_function(struct expansion *e, const struct catalogue_function *function)
{
	int bodies = 0;

	if (function->code > CATALOGUE_INLINE || !catalogue_span_has(function->span, e->version))
		return;
	if (is_function(e, function->name))
		record_names_add(e->functions, function->name);
	else if ((bodies = count_bodies(e, function->name)) > 0)
		record_names_add(e->inlined, function->name);
	else {
		if (bodies != -E2BIG)
			log_verbose(
				1,
				"'%s' is not timed: neither a function nor inlined in this kernel",
				function->name);
		return;
	}
	e->added++;
}

static void note_state(const struct catalogue_protection *protection, struct profile *p)
{
	scoped_free char *how, *key, *value;
	enum catalogue_state state = catalogue_state(protection, p, true, &how);

	key = alloc_printf(PROFILE_ENV_PROTECTION "%s", protection->name);
	value = alloc_printf("%s: %s", catalogue_state_name(state), how);
	profile_env_set(p, key, value);
	if (state != CATALOGUE_ON)
		log_note("%s is %s on this kernel: %s", protection->name,
			 catalogue_state_name(state), how);
}

static void expand_protection(struct expansion *e, const struct catalogue_protection *protection)
{
	const struct catalogue_function *function = protection->functions;

	e->added = 0;
	for (; function && function->name; function++)
		expand_function(e, function);
	if (!e->added)
		log_note(
			"%s: none of its functions can be timed on this kernel; %s",
			protection->name,
			protection->in_syscall == CATALOGUE_NO ?
				"its cost shows in the workload's own time only" :
				"its cost shows in system calls, samples and the workload's own time");
}

int record_protections_expand(const struct record_kernel *kernel,
			      const struct catalogue_protection *const *protections, uint32_t n,
			      struct profile *p, struct record_names *functions,
			      struct record_names *inlined)
{
	struct expansion e = {
		.kernel = kernel,
		.functions = functions,
		.inlined = inlined,
		.version = catalogue_linux(p),
		.can_probe = !kernel->features->fentry || !kernel->features->kprobe,
		.can_enter = !kernel->features->kprobe,
	};
	int err = 0;

	if (!n)
		return 0;
	if (e.can_probe)
		err = record_symbols_load_functions(kernel->symbols);
	if (!err && e.can_enter)
		err = record_symbols_index(kernel->symbols, &e.index);
	for (uint32_t i = 0; !err && i < n; i++) {
		note_state(protections[i], p);
		expand_protection(&e, protections[i]);
	}
	return err;
}
