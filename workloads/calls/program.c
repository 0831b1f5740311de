// SPDX-License-Identifier: GPL-2.0-or-later
#include "program.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX     4096
#define MEMORY_MAX    (1 << 20) /* bytes of one argument */
#define STRUCTURE_MAX 1024
#define PAGE          4096

/* Store the error "line N: 'WORD' REASON" unless there is an error. Return false. */
static bool refuse(struct program *p, const char *word, const char *reason)
{
	int n = strchr("\n", *word) ? 0 : 1 + (int)strcspn(word + 1, " \n]");

	if (!*p->error)
		snprintf(p->error, sizeof(p->error), "line %u: '%.*s' %s", p->n + 1,
			 n > 40 ? 40 : n, word, reason);
	return false;
}

static bool is_end(struct program *p)
{
	p->at += strspn(p->at, " ");
	return strchr("\n", *p->at);
}

/* Return SIZE bytes of the arena, which are 0, or NULL. Memory of at least a page begins with a page. */
static void *allocate(struct program *p, size_t size)
{
	size_t align = size < PAGE ? 16 : PAGE;
	size_t begin = (p->used + align - 1) / align * align;

	if (begin + size > PROGRAM_ARENA)
		return refuse(p, p->at, "is beyond the 64 MiB of memory for a program"), NULL;
	p->used = begin + size;
	return p->arena + begin;
}

/* Read the digits at p->at as an integer from 1 to MAX. Return 0 if there is none. */
static uint64_t read_number(struct program *p, int base, uint64_t max)
{
	uint64_t value;
	char *end;

	if (!isdigit(*p->at))
		return 0;
	value = strtoull(p->at, &end, base);
	p->at = end;
	return value <= max ? value : 0;
}

/* Copy the text that begins with a quote at p->at to TO, at most SIZE bytes. */
static bool read_text(struct program *p, char *to, size_t size)
{
	const char *begin = p->at++;
	char digits[3] = { 0 };

	for (; *p->at != '"'; size--) {
		if (!size || strchr("\n", *p->at))
			return refuse(p, begin, is_end(p) ? "has no end" : "is too long");
		*to++ = *p->at++;
		if (to[-1] != '\\')
			continue;
		to[-1] = *p->at++;
		if (to[-1] == 'x' && isxdigit(p->at[0]) && isxdigit(p->at[1])) {
			memcpy(digits, p->at, 2);
			p->at += 2;
			to[-1] = (char)strtoul(digits, NULL, 16);
		} else if (to[-1] != '"' && to[-1] != '\\') {
			return refuse(p, begin, "has an escape other than \\\" \\\\ \\xNN");
		}
	}
	p->at++;
	return true;
}

/* Read the reference at p->at, whose value belongs to TO. */
static bool read_reference(struct program *p, struct line *line, char *to)
{
	struct reference *ref = &line->references[line->n_references];
	const char *begin = p->at++;
	uint64_t from = read_number(p, 10, p->n), word = 0;

	if (line->n_references++ == PROGRAM_REFERENCES)
		return refuse(p, begin, "is beyond the 32 references of a line");
	if (!from)
		return refuse(p, begin, "refers to no earlier line");
	*ref = (struct reference){ to, 8, &p->lines[from - 1], -1 };
	if (*p->at == '.') {
		p->at++;
		word = (uint64_t)*p->at - '0';
		p->at += word < PROGRAM_WORDS;
		ref->word = (int64_t)word;
	}
	if (word >= PROGRAM_WORDS)
		return refuse(p, begin, "refers to none of the words 0 to 3");
	return ref->word < 0 || ref->line->memory ||
	       refuse(p, begin, "refers to a line without an address");
}

static bool read_value(struct program *p, struct line *line, char *to);

/* Read the item at p->at into TO, of which SIZE bytes are left. Return its size, or 0. */
static size_t read_item(struct program *p, struct line *line, char *to, size_t size)
{
	const char *begin = p->at;
	bool is_text = *begin == '"';
	size_t bytes = 8;

	if (is_text && !read_text(p, to, size))
		return 0;
	if (is_text && *p->at != ':') {
		memset(to, 0, (size_t)(p->at - begin));
		p->at = begin;
		is_text = false;
	}
	if (!is_text && (size < 8 ? !refuse(p, begin, "is too long") : !read_value(p, line, to)))
		return 0;
	if (*p->at == ':') {
		begin = p->at++;
		bytes = read_number(p, 10, is_text ? size : 4);
		if (!bytes || (!is_text && bytes == 3))
			return refuse(p, begin, "is no size for this item"), 0;
		if (line->n_references && line->references[line->n_references - 1].to == to)
			line->references[line->n_references - 1].bytes = bytes;
		memset(to + bytes, 0, size - bytes);
	}
	return bytes;
}

static char *read_structure(struct program *p, struct line *line)
{
	const char *begin = p->at++;
	char *memory = allocate(p, STRUCTURE_MAX);
	size_t n = 0, bytes;

	while (memory && !is_end(p) && *p->at != ']') {
		bytes = read_item(p, line, memory + n, STRUCTURE_MAX - n);
		if (!bytes || (!strchr(" \n]", *p->at) && !refuse(p, p->at, "is too much")))
			return NULL;
		n += bytes;
	}
	if (memory && *p->at++ != ']')
		return refuse(p, begin, "has no end"), NULL;
	return memory;
}

/* Read the memory, text or structure at p->at. Return its address, or NULL. */
static char *read_memory(struct program *p, struct line *line)
{
	const char *begin = p->at;
	size_t size = strcspn(begin, "\n");
	char *memory;

	if (*begin == '[')
		return read_structure(p, line);
	if (*begin == '"') {
		memory = allocate(p, size);
		return memory && read_text(p, memory, size - 1) ? memory : NULL;
	}
	p->at++;
	size = read_number(p, 0, MEMORY_MAX);
	return size ? allocate(p, size) :
		      (refuse(p, begin, "is not memory of 1 to 1048576 bytes"), NULL);
}

/* Read the argument at p->at into the 8 bytes TO. */
static bool read_value(struct program *p, struct line *line, char *to)
{
	const char *begin = p->at;
	uint64_t value;
	char *end;

	if (*begin == '$')
		return read_reference(p, line, to);
	if (strchr("*\"[", *begin)) {
		value = (uint64_t)read_memory(p, line);
		memcpy(to, &value, sizeof(value));
		return value;
	}
	errno = 0;
	value = strtoull(begin, &end, 0);
	if (!isdigit(begin[*begin == '-']) || errno || !strchr(" \n]:", *end))
		return refuse(p, begin, "is no argument");
	p->at = end;
	memcpy(to, &value, sizeof(value));
	return true;
}

/* Read the name at p->at, and find the system call's number. */
static bool read_name(struct program *p, struct line *line)
{
	/* These end or replace the process, or harm other processes. */
	static const char refused[] =
		" exit exit_group execve execveat clone clone3 vfork rt_sigreturn kill reboot kexec_load "
		"kexec_file_load init_module finit_module delete_module iopl ioperm swapon swapoff acct "
		"settimeofday clock_settime clock_adjtime adjtimex pivot_root ";
	const char *begin = p->at;
	char spaced[sizeof(line->name) + 2];
	size_t n = strcspn(begin, " \n");

	snprintf(line->name, sizeof(line->name), "%.*s", (int)n, begin);
	snprintf(spaced, sizeof(spaced), " %s ", line->name);
	p->at += n;
	if (strstr(refused, spaced))
		return refuse(p, begin, "is not allowed");
	if (!strcmp(line->name, "sh")) {
		line->number = PROGRAM_SHELL;
		p->has_shell = true;
		return true;
	}
	line->number = seccomp_syscall_resolve_name(line->name);
	if (n >= sizeof(line->name) || line->number < 0)
		return refuse(p, begin, "is no system call");
	if (strstr(line->name, "mount") || strstr(line->name, "open_tree"))
		p->namespaces |= CLONE_NEWNS;
	snprintf(spaced, sizeof(spaced), "%.3s", line->name);
	if (strstr("msg sem shm mq_", spaced))
		p->namespaces |= CLONE_NEWIPC;
	p->uses_keys |= strstr(line->name, "key") != NULL;
	return true;
}

/* Read the line at p->at. */
static bool read_line(struct program *p, struct line *line)
{
	const char *begin;

	*line = (struct line){ .count = 1 };
	line->args = allocate(p, PROGRAM_ARGS * sizeof(*line->args));
	if (!line->args || !read_name(p, line))
		return false;
	while (!is_end(p) && strncmp(p->at, "x ", 2)) {
		char *arg = (char *)&line->args[line->n_args++], kind = *p->at;

		if (line->n_args > PROGRAM_ARGS)
			return refuse(p, p->at, "is beyond the 6 arguments of a call");
		if (!read_value(p, line, arg))
			return false;
		if (!strchr(" \n", *p->at))
			return refuse(p, p->at, "is too much");
		if (!line->memory && strchr("*\"[", kind))
			line->memory = (char *)line->args[line->n_args - 1];
	}
	if (line->number == PROGRAM_SHELL && !line->memory)
		return refuse(p, line->name, "needs a command line as text");
	if (!is_end(p)) {
		p->at += 2;
		begin = p->at += strspn(p->at, " ");
		line->count = (uint32_t)read_number(p, 10, COUNT_MAX);
		if (!line->count || !is_end(p))
			return refuse(p, begin, "is no count from 1 to 4096 at the end of a line");
	}
	line->results = allocate(p, line->count * sizeof(*line->results));
	line->words = allocate(p, line->count * sizeof(*line->words));
	return line->results && line->words;
}

bool program_read(struct program *p, const char *text)
{
	memset(p->arena, 0, p->used);
	p->used = 0;
	p->n = 0;
	p->namespaces = 0;
	p->has_shell = false;
	p->uses_keys = false;
	*p->error = '\0';
	for (p->at = text; p->at += strspn(p->at, " \n"), *p->at;) {
		if (*p->at == '#') {
			p->at += strcspn(p->at, "\n");
			continue;
		}
		if (p->n == CALLS_LINES)
			return refuse(p, p->at, "is beyond the 8 lines of a program");
		if (!read_line(p, &p->lines[p->n]))
			return false;
		p->n++;
	}
	return p->n || refuse(p, text, "has no call");
}
