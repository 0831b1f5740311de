// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For Perfetto: a perfetto.protos.Trace. Samples have no order, so that its first track is a flame graph: what was called from one
 * place side by side, each as long as it was sampled. A call that was kept whole is a track in the order of time.
 */
#include <math.h>
#include <stdlib.h>

#include "analyze/code/trace.h"
#include "analyze/inline/stacks.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "output/export/export.h"
#include "output/export/proto.h"
#include "output/text.h"

/* Numbers of fields, and values, in trace_packet.proto, track_event.proto, debug_annotation.proto and track_descriptor.proto. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_TRACK = 60,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	EVENT_ARGUMENT = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	ARGUMENT_TEXT = 6,
	ARGUMENT_NAME = 10,
	SLICE_BEGIN = 1,
	SLICE_END = 2,
};

static void write_packet(FILE *out, struct proto *packet)
{
	scoped(proto_deinit) struct proto trace = { 0 };

	proto_integer(packet, PACKET_SEQUENCE, 1);
	proto_message(&trace, TRACE_PACKET, packet);
	fwrite(trace.bytes, 1, trace.n_bytes, out);
}

static void write_track(FILE *out, uint64_t track, const char *name)
{
	struct proto packet = { 0 }, descriptor = { 0 };

	proto_integer(&descriptor, TRACK_UUID, track);
	proto_text(&descriptor, TRACK_NAME, name);
	proto_message(&packet, PACKET_TRACK, &descriptor);
	write_packet(out, &packet);
}

/* Write the values captured of CALL. */
static void write_arguments(struct proto *event, const struct profile *p,
			    const struct profile_slow *call)
{
	uint32_t place = 0;

	vec_each(const struct profile_variable, v, p, variables) {
		scoped_free char *value = NULL, *safe = NULL, *name = NULL;
		struct proto argument = { 0 };
		uint64_t number;

		if (v->site != call->site)
			continue;
		number = call->values[place];
		if (!(call->absent >> place++ & 1))
			profile_value_append(&value, p, v, number, number >> 63 > v->is_signed);
		safe = output_text_escape(value ?: "-");
		name = output_text_escape(v->name);
		proto_text(&argument, ARGUMENT_TEXT, safe);
		proto_text(&argument, ARGUMENT_NAME, name);
		proto_message(event, EVENT_ARGUMENT, &argument);
	}
}

/* Time is in nanoseconds. NAME NULL: the end of the slice that began last. EVENT has its arguments. */
static void write_slice(FILE *out, uint64_t track, double time, const char *name,
			struct proto event)
{
	struct proto packet = { 0 };

	proto_integer(&event, EVENT_TYPE, name ? SLICE_BEGIN : SLICE_END);
	proto_integer(&event, EVENT_TRACK, track);
	if (name)
		proto_text(&event, EVENT_NAME, name);
	proto_integer(&packet, PACKET_TIMESTAMP, export_integer(time));
	proto_message(&packet, PACKET_EVENT, &event);
	write_packet(out, &packet);
}

static void write_event(FILE *out, uint64_t track, double time, const char *name)
{
	write_slice(out, track, time, name, (struct proto){ 0 });
}

static void write_samples(FILE *out, uint64_t track, const struct export *e)
{
	uint32_t open = 0, leaf = 0;
	double time = 0;

	for (uint32_t i = 0; i < e->n_nodes; i++) {
		for (; open > e->nodes[i].depth; open--)
			write_event(out, track, time, NULL);
		write_event(out, track, time, e->frames[e->nodes[i].frame].label);
		open++;
		if (leaf < e->n_leaves && e->leaves[leaf].node == i)
			time += e->leaves[leaf++].counts[0] * e->period;
	}
	for (; open; open--)
		write_event(out, track, time, NULL);
}

/* "mm/slub.c:1978 shuffle_freelist", for free(). */
static char *line_label(const struct analyze_trace_line *line)
{
	scoped_free char *label = NULL;

	if (line->kind == PROFILE_TRACE_LOOP || line->kind == PROFILE_TRACE_LOST)
		return alloc_printf(line->kind == PROFILE_TRACE_LOOP ? "loop, %.0f times" :
								       "%.0f more, not kept",
				    line->times);
	if (line->file)
		alloc_append(&label, "%s:%.0f", line->file, line->line);
	if (line->name)
		alloc_append(&label, "%s%s", label ? " " : "", line->name);
	return output_text_escape(label ?: "?");
}

/* An instruction is a nanosecond. The rest of a call, after the lines inside it, is at its end. */
static void write_trace(FILE *out, uint64_t track, const struct analyze_trace *t)
{
	double *ends = alloc_array(t->n_lines, sizeof(*ends)), time = 0;
	uint32_t open = 0;

	for (uint32_t i = 0; i <= t->n_lines; i++) {
		scoped_free char *label = NULL;

		for (; open > (i < t->n_lines ? t->lines[i].depth : 0); open--) {
			time = fmax(time, ends[open - 1]);
			write_event(out, track, time, NULL);
		}
		if (i == t->n_lines)
			break;
		label = line_label(&t->lines[i]);
		write_event(out, track, time, label);
		ends[open++] = time + t->lines[i].insns;
	}
	free(ends);
}

/* The rows of a track: those of one thread in the order of time, callers first. */
define_compare(slow_compare, struct analyze_slow_row,
	       compare_values(a->of->run, b->of->run)             ?:
		       compare_values(a->of->tid, b->of->tid)     ?:
		       compare_values(a->of->start, b->of->start) ?:
		       compare_values(b->of->wall, a->of->wall));

static void write_slow_track(FILE *out, uint64_t track, const struct analyze_slow_row *rows)
{
	scoped_free char *name = alloc_printf("slow calls of thread %.0f (%s), run %u", rows->tid,
					      rows->comm ?: "?", rows->of->run + 1),
			 *safe = output_text_escape(name);

	write_track(out, track, safe);
}

/* A call ends before its caller does, which times that do not have the cost of probes do not all show. */
static void write_slow(FILE *out, uint64_t track, const struct profile *p, struct analyze_slow *s)
{
	scoped_free double *ends = alloc_array(s->n_rows, sizeof(*ends));
	uint32_t open = 0;

	sort_array(s->rows, s->n_rows, sizeof(*s->rows), slow_compare);
	for (uint32_t i = 0; i < s->n_rows; i++) {
		const struct analyze_slow_row *row = &s->rows[i];
		bool other =
			!i || row->of->run != row[-1].of->run || row->of->tid != row[-1].of->tid;
		scoped_free char *label = output_text_escape(row->name);
		double end = row->start + row->wall;
		struct proto event = { 0 };

		for (; open && (other || ends[open - 1] <= row->start); open--)
			write_event(out, track, ends[open - 1], NULL);
		if (other)
			write_slow_track(out, ++track, row);
		if (row->has_values)
			write_arguments(&event, p, row->of);
		write_slice(out, track, row->start, label, event);
		ends[open] = open ? fmin(end, ends[open - 1]) : end;
		open++;
	}
	for (; open; open--)
		write_event(out, track, ends[open - 1], NULL);
}

void export_write_perfetto(FILE *out, const struct export *e)
{
	scoped(analyze_trace_deinit) struct analyze_trace trace;
	scoped(analyze_slow_deinit) struct analyze_slow slow;
	scoped_free char *name =
		alloc_printf("%s: %s (the order has no meaning)", e->title, e->unit);

	analyze_trace_init(&trace, e->p);
	analyze_slow_init(&slow, e->p);
	write_track(out, 1, name);
	write_samples(out, 1, e);
	if (trace.n_lines) {
		write_track(out, 2, "one call, in order");
		write_trace(out, 2, &trace);
	}
	write_slow(out, 2, e->p, &slow);
}
