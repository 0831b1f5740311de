/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command's options and operands as a table: their description for argp, and the places of their values. */
#pragma once

#include <argp.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cmd_kind {
	CMD_CALL, /* parse() takes the argument */
	CMD_FLAG, /* bool: set */
	CMD_TEXT, /* const char * */
	CMD_NUMBER, /* 32 bits: from MIN to MAX, or the index of one of the choices */
	CMD_PERCENT, /* double: above 0 */
	CMD_TIME, /* uint64_t: ns, above 0 */
};

struct cmd_option {
	const char *name, *arg, *help; /* see struct argp_option; HELP NULL: list the choices */
	enum cmd_kind kind;
	size_t offset; /* place of the value in the command's options */
	uint32_t min, max;
	uint32_t zero; /* the value to store instead of 0 */
	const char *const *choices; /* the allowed arguments, ended by NULL; NULL: any */
	/* Parse ARG into the command's options O; only for CMD_CALL. */
	void (*parse)(void *o, char *arg, struct argp_state *state);
	char *(*help_of)(const void *o); /* return the help, for free(), if it depends on O */
	char short_name;
};

/* Store the value in FIELD of struct OF. The type of FIELD determines the kind of the argument. */
#define CMD_SET(of, field) \
	.kind = _Generic(((struct of *)0)->field, bool: CMD_FLAG, const char *: CMD_TEXT, int32_t: \
			 CMD_NUMBER, uint32_t: CMD_NUMBER, double: CMD_PERCENT, uint64_t: CMD_TIME), \
	.offset = offsetof(struct of, field)

/* The option --vmlinux, for the kernel of a recording. */
#define CMD_VMLINUX(of, field)                                                                     \
	{                                                                                          \
		"vmlinux", "FILE", "vmlinux of the recorded kernel, for names", CMD_SET(of, field) \
	}

#define CMD_ANY_NUMBER INT_MAX

struct cmd_syntax {
	const struct cmd_option *options; /* ended by one without a name */
	const char *args_doc, *doc; /* see struct argp */
	int least, most; /* number of operands; MOST 0: none are taken */
	/* Place of a char ** in the command's options: the operands, ended by NULL; set to NULL if there are none. */
	size_t operands;
	const char *too_few, *too_many; /* messages for another number of operands */
	/* Called after all options, to report wrong usage with argp_error(). May be NULL. */
	void (*end)(void *o, struct argp_state *state);
	/* Options that several commands have, and the place of their values; ended by an item without a syntax. */
	const struct cmd_part {
		const struct cmd_syntax *syntax;
		size_t offset;
		const char *header;
		int group;
	} * parts;
	bool in_order; /* words after the first operand are not the command's options */
};

/* The options of commands that take only recordings and the recorded kernel's vmlinux. */
struct cmd_recordings {
	const char *vmlinux;
	char **files;
};

extern const struct cmd_option cmd_recordings_options[];

/* The examples of the running command, for its --help. */
extern const char *cmd_examples;

/* Fill in the command's options O; --help and wrong usage end the program. */
void cmd_parse(const struct cmd_syntax *syntax, int argc, char **argv, void *o);

/* Return the index of ARG, the argument of --OPTION, in CHOICES. If CHOICES lacks ARG, end the program: wrong usage. */
uint32_t cmd_choose(const struct argp_state *state, const char *option, const char *const *choices,
		    const char *arg);

/* Return CHOICES as "a, b or c", for free(). */
char *cmd_choices_text(const char *const *choices);
