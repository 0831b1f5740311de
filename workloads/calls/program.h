/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program of system calls, given as text. Each line is a call: NAME ARGUMENT... [x COUNT]. Two names are no system calls: `fork`
 * makes a process that ends at once, `sh "COMMAND"` one that executes a command line, for which the limits of programs do not hold.
 * Arguments are:
 *
 *	-100			an integer, as in C
 *	$1			the result of line 1; in repetition k, the result of its repetition k modulo its count
 *	$1.2			the third 32-bit word, of four, at the first address among the arguments of line 1, after the call
 *	*4096			the address of 4096 bytes for this line alone, which are 0 at first
 *	"text"			the address of a string. Escapes are \" \\ and \xNN.
 *	[7:2 $1:4 "a":6 5]	the address of a structure, without padding. Items have 8 bytes, or 1, 2 or 4 after a colon. A text
 *				with a size is part of the structure; without a size, it is an address.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kprotperf/calls.h"

#define PROGRAM_SHELL      (-1) /* number of `sh` */
#define PROGRAM_ARGS       6
#define PROGRAM_REFERENCES 32
#define PROGRAM_WORDS      4
#define PROGRAM_ARENA      (64 << 20)

/* A value that is copied to TO before each call. */
struct reference {
	char *to;
	uint64_t bytes;
	const struct line *line;
	int64_t word; /* -1: the result */
};

struct line {
	char name[32];
	long number; /* of the system call */
	uint32_t count, n_args, n_references;
	struct reference references[PROGRAM_REFERENCES];
	uint64_t *args;
	int64_t *results; /* of all repetitions */
	char *memory; /* first address among the arguments, or NULL */
	uint32_t (*words)[PROGRAM_WORDS]; /* at MEMORY after each repetition */
};

struct program {
	struct line lines[CALLS_LINES];
	uint32_t n;
	bool has_shell;
	int namespaces; /* flags of unshare(): namespaces that the calls may change */
	bool uses_keys;
	char *arena; /* PROGRAM_ARENA bytes for arguments and results; 0 before the first program is read */
	size_t used; /* bytes of the arena */
	const char *at; /* position in the text that is being read */
	char error[160];
};

/* Read TEXT into P. If it is invalid, return false, and set P->error to one line. */
bool program_read(struct program *p, const char *text);
