// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write lines of text: a letter and numbers. A line comes after the lines to which it refers. Addresses are hexadecimal.
 *
 *     T executed nodes_full frames_full returns_unmatched open closed_by_exit
 *     F id start                                      a function with counts
 *     C id kind command function by                   a context; FUNCTION 0: none; BY: id + 1 of its queueing context, 0: none
 *     B id function addr target falls sizes...        a block, with the bytes of each instruction; TARGET: where its jump or
 *                                                     call leads, 0: unknown; FALLS 1: it may continue after its end
 *     N id parent context function site calls total self     parent 0: none
 *     E block executions                              executions of a block in the last N
 *     P name cycles...                                the model, and the cycles that each event adds
 *     M block insn event:count...                     misses in the last N; BLOCK: id + 1 of the block, 0: unknown
 *     O context event count name                      misses of a type of data: a slab cache's name, or one in brackets
 *     X lost number function                          the traced call, and its number
 *     S depth block function                          a block that the traced call executes, in order
 *     D context function calls total squares min max slot:calls...
 */
#include <inttypes.h>

#include "exact.h"
#include "model.h"

static uint32_t function_id(const struct function *function)
{
	return function ? function->id : 0;
}

static void write_function(struct function *f, FILE *file)
{
	if (!f || !f->id || f->written)
		return;
	f->written = true;
	fprintf(file, "F %" PRIu32 " %" PRIx64 "\n", f->id, f->start);
}

static void write_functions(FILE *file)
{
	for (uint32_t i = 0; i < n_nodes; i++)
		write_function(nodes[i]->function, file);
	/* The function of a kernel thread may not have been executed while the guest was followed. */
	for (uint32_t i = 0; i < n_contexts; i++)
		write_function(contexts[i]->function, file);
}

static void write_blocks(FILE *file)
{
	for (uint32_t i = 0; i < n_blocks; i++) {
		const struct block *b = blocks[i];

		if (!b->function->written)
			continue;
		fprintf(file, "B %" PRIu32 " %" PRIu32 " %" PRIx64 " %" PRIx64 " %d", b->local,
			b->function->id, b->addr, b->direct ? b->target : 0,
			b->ending == ENDS_OTHERWISE || b->ending == ENDS_CALL);
		for (uint16_t k = 0; k < b->n; k++)
			fprintf(file, " %u", b->sizes[k]);
		fputc('\n', file);
	}
}

static void write_misses(const struct miss *m, FILE *file)
{
	for (; m; m = m->next) {
		fprintf(file, "M %" PRIu32 " %u", m->block ? m->block->local + 1 : 0, m->insn);
		for (int event = 0; event < MODEL_N_EVENTS; event++)
			if (m->counts[event])
				fprintf(file, " %d:%" PRIu64, event, m->counts[event]);
		fputc('\n', file);
	}
}

static void write_model(FILE *file)
{
	if (!model.name)
		return;
	fprintf(file, "P %s", model.name);
	for (int event = 0; event < MODEL_N_EVENTS; event++)
		fprintf(file, " %" PRIu64, model.cycles[event]);
	fputc('\n', file);
}

static void write_nodes(FILE *file)
{
	for (uint32_t i = 0; i < n_nodes; i++) {
		const struct node *n = nodes[i];

		fprintf(file,
			"N %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIx64 " %" PRIu64
			" %" PRIu64 " %" PRIu64 "\n",
			n->id + 1, n->parent ? n->parent->id + 1 : 0, n->context->id,
			function_id(n->function), n->site, n->calls, n->total, n->self);
		for (uint32_t k = 0; k < n->n_counts; k++)
			if (n->counts[k] && n->function && n->function->id)
				fprintf(file, "E %" PRIu32 " %" PRIu64 "\n", k, n->counts[k]);
		write_misses(n->misses, file);
	}
}

static void write_trace(FILE *file)
{
	if (!trace.context) {
		if (trace.name)
			fprintf(stderr,
				"exact: no call is kept: the command called %s %" PRIu64
				" times, and --trace asks for call %" PRIu64 "\n",
				trace.name, trace.calls, trace.number);
		return;
	}
	fprintf(file, "X %" PRIu64 " %" PRIu64 " %" PRIu32 "\n", trace.lost, trace.number,
		trace.function->id);
	/* If nodes ran out, a function may have no node and so no number in the file. */
	for (uint32_t i = 0; i < trace.n_steps; i++)
		if (trace.steps[i].block->function->written)
			fprintf(file, "S %" PRIu32 " %" PRIu32 " %" PRIu32 "\n",
				trace.steps[i].depth, trace.steps[i].block->local,
				trace.steps[i].block->function->id);
}

static void write_calls(const struct calls *c, FILE *file)
{
	fprintf(file,
		"D %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %.17g %" PRIu64 " %" PRIu64,
		c->context->id, function_id(c->function), c->n, c->total, c->squares, c->min,
		c->max);
	for (uint32_t i = 0; i < HIST_SLOTS; i++)
		if (c->slots[i])
			fprintf(file, " %" PRIu32 ":%" PRIu32, i, c->slots[i]);
	fputc('\n', file);
}

static void write_distributions(FILE *file)
{
	for (uint32_t i = 0; i < n_nodes; i++) {
		struct calls *c = nodes[i]->distribution;

		if (c && c->n) {
			write_calls(c, file);
			/* Several nodes share C: write it only for the first. */
			c->n = 0;
		}
	}
}

bool write_result(const char *path, uint64_t open)
{
	FILE *file = fopen(path, "w");
	bool ok;

	if (!file)
		return false;
	fprintf(file, "T %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		follow_elapsed(), losses.nodes_full, losses.frames_full, losses.returns_unmatched,
		open, losses.closed_by_exit);
	write_functions(file);
	for (uint32_t i = 0; i < n_contexts; i++)
		fprintf(file, "C %" PRIu32 " %d %d %" PRIu32 " %" PRIu32 "\n", i, contexts[i]->kind,
			contexts[i]->command, function_id(contexts[i]->function),
			contexts[i]->by ? contexts[i]->by->id + 1 : 0);
	write_blocks(file);
	write_model(file);
	write_nodes(file);
	for (uint32_t i = 0; i < n_contexts; i++)
		objects_write(contexts[i], file);
	write_distributions(file);
	write_trace(file);
	ok = !ferror(file);
	return !fclose(file) && ok;
}
