// SPDX-License-Identifier: GPL-2.0-or-later
/* Read patches, and find the lines that they change in a cause's code. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "analyze/why/why.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/sorted.h"

#define MAX_PATCH (256u << 20) /* maximum size of a patch file in bytes */

struct reader {
	struct why_patches *p;
	const char *patch;
	uint32_t before; /* number of items of earlier patches */
	char *file; /* NULL: the patch removes the file */
	char *function; /* last function that began in FILE, or NULL */
	uint32_t at, was_at; /* number of the next line, with and without the patch */
	uint32_t was, is; /* lines left in the hunk, without and with the patch */
	bool changing;
	bool ended; /* the previous line ended a statement */
	uint32_t statement, was_statement; /* first line of the current statement */
};

/* Return whether the line after LINE starts a new statement. */
static bool ends_statement(const char *line)
{
	size_t n = strlen(line);

	while (n && isspace((unsigned char)line[n - 1]))
		n--;
	return !n || *line == '#' || strchr(";{}:/", line[n - 1]);
}

/* A hunk shifts the lines after it. So add BY to the line numbers that earlier patches have from line END on. */
static void move(struct reader *r, uint32_t end, int64_t by)
{
	for (uint32_t i = 0; i < r->before; i++) {
		struct why_patched *item = &r->p->items[i];

		if (compare_text(item->file, r->file) != 0 || item->first < end)
			continue;
		item->first = (uint32_t)(item->first + by);
		item->last = (uint32_t)(item->last + by);
		item->statement = (uint32_t)(item->statement + by);
	}
}

static void end_function(struct reader *r)
{
	free(r->function);
	r->function = NULL;
}

/*
 * If the source line TEXT begins a function, read the function's name: do_it for "long do_it(int a)", and __do_sys_it for
 * "SYSCALL_DEFINE1(it, ...)".
 */
static void begin_function(struct reader *r, const char *text)
{
	const char *end = strchr(text, '('), *name = end;
	const char *macro = "SYSCALL_DEFINE";

	if (!end || (!isalpha((unsigned char)*text) && *text != '_') || strchr(text, ';') ||
	    strchr(text, '=') || strchr(text, ':'))
		return;
	while (name > text && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
		name--;
	end_function(r);
	if (strncmp(name, macro, strlen(macro)) != 0)
		r->function = alloc_strndup(name, (size_t)(end - name));
	else
		r->function = alloc_printf("__do_sys_%.*s", (int)strcspn(end + 1, ",)"), end + 1);
}

static void begin_hunk(struct reader *r, const char *line)
{
	int n = 0;

	r->was = r->is = 1;
	if (sscanf(line, "@@ -%u%n", &r->was_at, &n) < 1)
		return;
	if (line[n] == ',')
		sscanf(line + n, ",%u", &r->was);
	line = strchr(line, '+');
	if (!line || sscanf(line, "+%u%n", &r->at, &n) < 1)
		return;
	if (line[n] == ',')
		sscanf(line + n, ",%u", &r->is);
	line = strstr(line, "@@ ");
	end_function(r);
	if (line)
		begin_function(r, line + strlen("@@ "));
	/* The line numbers of this hunk already count the shifts by all earlier hunks. */
	move(r, r->at + r->was, (int64_t)r->is - r->was);
	r->changing = false;
	r->ended = true;
}

static void change(struct reader *r, bool added)
{
	struct why_patched item = { .patch = r->patch,
				    .first = r->at,
				    .last = r->at,
				    .statement = r->statement,
				    .was_statement = r->was_statement };

	if (!r->file)
		return;
	if (!r->changing) {
		item.file = alloc_strdup(r->file);
		item.function = r->function ? alloc_strdup(r->function) : NULL;
		vec_push(r->p, items, item);
	}
	if (added)
		r->p->items[r->p->n_items - 1].last = r->at;
	else
		r->p->items[r->p->n_items - 1].was_last = r->was_at;
	r->changing = true;
}

/* Read a line of a hunk: " ", "+" or "-" and a source line, or "\\ No newline at end of file". */
static void read_source(struct reader *r, const char *line)
{
	if (*line == '\\')
		return;
	if (*line)
		begin_function(r, line + 1);
	if (r->ended) {
		r->statement = r->at;
		r->was_statement = r->was_at;
	}
	if (*line == '+' || *line == '-')
		change(r, *line == '+');
	else
		r->changing = false;
	r->ended = ends_statement(*line ? line + 1 : line);
	if (*line && line[1] == '}')
		end_function(r);
	r->was -= r->was && *line != '+';
	r->was_at += *line != '+';
	r->at += *line != '-';
	r->is -= r->is && *line != '-';
}

static void read_line(char *line, void *arg)
{
	struct reader *r = arg;

	if (r->was || r->is) {
		read_source(r, line);
	} else if (!strncmp(line, "+++ ", 4)) {
		free(r->file);
		end_function(r);
		line[strcspn(line, "\t")] = '\0';
		line = strchr(line + 4, '/');
		r->file = line && strcmp(line, "/dev/null") != 0 ? alloc_strdup(line + 1) : NULL;
	} else if (!strncmp(line, "@@ ", 3))
		begin_hunk(r, line);
}

int why_patches_add(struct why_patches *p, const char *path)
{
	const char *name = strrchr(path, '/');
	struct reader r = { .p = p, .patch = name ? name + 1 : path, .before = p->n_items };
	scoped_free char *text = NULL;
	size_t len;
	int err = file_read(path, MAX_PATCH, &text, &len);

	if (err) {
		log_error("%s: %s", path, file_strerror(err));
		return err;
	}
	file_lines_each(text, len, read_line, &r);
	free(r.file);
	end_function(&r);
	return 0;
}

void why_patches_deinit(struct why_patches *p)
{
	for (uint32_t i = 0; i < p->n_items; i++) {
		free(p->items[i].file);
		free(p->items[i].function);
	}
	free(p->items);
	*p = (struct why_patches){};
}

/*
 * Return whether ITEM changes a line that NODE executes. If only the baseline has NODE, use the lines that ITEM removes.
 * Recordings by probes have no line numbers: compare function names instead.
 */
static bool changes(const struct why_patched *item, const struct tree_pair_node *node)
{
	int side = node->seen[1];
	uint32_t first = side ? item->statement : item->was_statement;
	uint32_t last = side ? item->last : item->was_last;

	if (!node->file[side])
		return item->function && !strcmp(item->function, node->name);
	return !strcmp(item->file, node->file[side]) && last >= node->from[side] &&
	       first <= node->to[side];
}

static bool find_in(const struct why_patches *p, const struct tree_pair_node *node,
		    struct why_patched *found)
{
	*found = (struct why_patched){};
	vec_each(const struct why_patched, item, p, items) {
		if (!changes(item, node) || (found->patch && found->patch != item->patch))
			continue;
		if (!found->patch)
			*found = *item;
		found->last = item->last;
	}
	return found->patch;
}

/* Find a patched line in NODE's code, or in functions inlined into NODE. Set *FOUND to it. */
static bool find_in_code(const struct why_patches *p, const struct tree_pair *t, uint32_t node,
			 struct why_patched *found)
{
	if (find_in(p, &t->nodes[node], found))
		return true;
	for (uint32_t i = t->nodes[node].first_child; i != TREE_NONE; i = t->nodes[i].next)
		if ((t->nodes[i].inlined[1] || t->nodes[i].inlined[0]) &&
		    find_in_code(p, t, i, found))
			return true;
	return false;
}

bool why_patched_find(const struct why_patches *p, const struct tree_pair *t,
		      const struct why_part *part, struct why_patched *found)
{
	uint32_t by = part->kind == WHY_SELF ? part->node : t->nodes[part->node].parent;

	return find_in_code(p, t, by, found) ||
	       (part->kind == WHY_NEW && find_in_code(p, t, part->node, found));
}

const char *why_patched_caller(const struct why_patches *p, const struct tree_pair *t,
			       const struct why_part *part, struct why_patched *found)
{
	for (uint32_t at = t->nodes[part->node].parent; at != TREE_ROOT; at = t->nodes[at].parent)
		if (find_in(p, &t->nodes[at], found))
			return t->nodes[at].name;
	return NULL;
}
