// SPDX-License-Identifier: GPL-2.0-or-later
/* diff --annotate: one function on two kernels. */
#include <string.h>

#include "base/log.h"
#include "base/sorted.h"
#include "cmd/annotated.h"
#include "cmd/cmd.h"

#define N_SIDES 2

static const char *line_text(unsigned int side, const char *file, uint32_t line, void *arg)
{
	const struct view_annotate_diff *c = arg;
	const char *text = kernel_source_line(c->sides[side].source, file, line);

	return text ? text + strspn(text, " \t") : NULL;
}

static int open_sides(struct view_annotate_diff *c, const struct annotate_diff_options *wanted)
{
	static const char *const options[] = { "--baseline-vmlinux", "--hardened-vmlinux" };
	struct annotated_options o = *wanted->annotated;
	const struct annotated *a = c->sides, *b = c->sides + 1;

	for (unsigned int i = 0; i < N_SIDES; i++) {
		o.vmlinux_option = options[i];
		if (annotated_open(&c->sides[i], wanted->files[i], wanted->func, wanted->vmlinux[i],
				   &o))
			return CMD_FAILED;
	}
	if (a->p->clock != b->p->clock) {
		log_error("%s is in %s, but %s is in %s: cannot compare them", a->path,
			  profile_clock_words(a->p->clock), b->path,
			  profile_clock_words(b->p->clock));
		return CMD_FAILED;
	}
	if (!same_text(a->a.event, b->a.event)) {
		log_error("%s has samples of %s, but %s of %s: cannot compare them", a->path,
			  a->a.event ?: "the clock", b->path, b->a.event ?: "the clock");
		return CMD_FAILED;
	}
	/* One side is enough: what one kernel has and the other has not is a finding. */
	if (!a->a.n_places && !b->a.n_places)
		return annotated_check(b, &o);
	if (!(a->a.samples > 0) && !(b->a.samples > 0) && !a->a.counted && !b->a.counted)
		return annotated_check(b->a.n_places ? b : a, &o);
	return CMD_DONE;
}

static void write_sides(const struct view_annotate_diff *c, const struct annotate_diff_options *o)
{
	const struct view_writer *writer = &view_writers[o->view->format];

	if (writer->place == VIEW_IN_PAGE) {
		view_annotate_diff_page(c, o->view->top, o->annotated->all);
		return;
	}
	writer->write(stdout,
		      &(struct view_request){ .list = &view_annotate_diff_list, .data = c });
}

int annotate_diff(const struct annotate_diff_options *o)
{
	struct view_annotate_diff c = { .func = o->func, .context = o->annotated->context };
	int status = open_sides(&c, o);

	if (!status) {
		analyze_annotate_diff_init(&c.diff, &c.sides[0].a, &c.sides[1].a, line_text, &c);
		c.common.clock = c.sides[0].a.clock;
		c.common.prefix = annotate_cost_header(&c.sides[0].a, c.diff.is_of_call);
		write_sides(&c, o);
	}
	analyze_annotate_diff_deinit(&c.diff);
	annotated_close(&c.sides[0]);
	annotated_close(&c.sides[1]);
	return status;
}
