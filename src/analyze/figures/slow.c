// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/figures/slow.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sorted.h"

static void append(char **text, const char *name)
{
	alloc_append(text, "%s%s", *text ? ";" : "", name);
}

/* Callers first, user space's before the syscall, each with the bodies inlined into it behind it. */
static char *stack_text(const struct profile *p, uint32_t number, const char *syscall)
{
	const struct profile_stack *stack = &p->stacks[number];
	uint32_t n = profile_stack_kernel(p, stack);
	char *text = NULL;

	for (uint32_t i = stack->n_locations; i--;) {
		const struct profile_location *at = &p->locations[stack->locations[i]];

		if (i + 1 == n)
			append(&text, syscall);
		if (!at->n_frames)
			append(&text, "[unknown]");
		for (uint32_t k = at->n_frames; k--;)
			append(&text, at->frames[k].name);
	}
	return text;
}

static bool has_values(const struct profile *p, const struct profile_slow *of)
{
	uint32_t place = 0;

	vec_each(const struct profile_variable, v, p, variables)
		if (v->site == of->site && !(of->absent >> place++ & 1))
			return true;
	return false;
}

define_compare(row_compare, struct analyze_slow_row,
	       compare_values(b->of->wall, a->of->wall)       ?:
		       compare_values(a->of->run, b->of->run) ?:
		       compare_values(a->of->start, b->of->start));

void analyze_slow_init(struct analyze_slow *s, const struct profile *p)
{
	scoped_free uint64_t *first = alloc_array(p->n_runs, sizeof(*first));

	*s = (struct analyze_slow){ 0 };
	vec_each(const struct profile_slow, of, p, slow)
		if (!first[of->run] || of->start < first[of->run])
			first[of->run] = of->start;
	vec_each(const struct profile_slow, of, p, slow) {
		const char *syscall = p->contexts[of->context].name;
		bool itself = p->sites[of->site].kind == PROFILE_SITE_CONTEXT;

		vec_push(s, rows,
			 ((struct analyze_slow_row){
				 .of = of,
				 .name = itself ? syscall : p->sites[of->site].name,
				 .syscall = syscall,
				 .comm = of->comm,
				 .has_values = has_values(p, of),
				 .wall = (double)of->wall,
				 .oncpu = (double)of->time,
				 .start = (double)(of->start - first[of->run]),
				 .tid = of->tid,
				 .pid = of->pid ? of->pid : NAN,
				 .stack = stack_text(p, of->stack, syscall),
			 }));
	}
	sort_array(s->rows, s->n_rows, sizeof(*s->rows), row_compare);
}

void analyze_slow_deinit(struct analyze_slow *s)
{
	while (s->n_rows)
		free(s->rows[--s->n_rows].stack);
	free(s->rows);
}
