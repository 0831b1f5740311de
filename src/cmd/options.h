/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options and operands of a command as a table. It describes them for argp, and locates the variables for their values. */
#pragma once

#include <argp.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cmd_kind {
	CMD_CALL, /* parse() sets the variable */
	CMD_FLAG, /* bool: set to true */
	CMD_TEXT, /* const char * */
	CMD_NUMBER, /* 32 bits: a number from MIN to MAX, or an index into CHOICES */
	CMD_PERCENT, /* double: a percentage above 0 */
	CMD_TIME, /* uint64_t: ns, above 0 */
};

/* An option on the command line. */
struct cmd_argument {
	const struct cmd_option *option;
	char *text; /* its argument, which may be changed; NULL: the option takes none */
	struct argp_state *state; /* for argp_error() */
};

struct cmd_option {
	const char *name, *arg, *help; /* as in struct argp_option; HELP NULL: list the choices */
	enum cmd_kind kind;
	size_t offset; /* offset of the variable in the command's options */
	uint32_t min, max;
	uint32_t zero; /* value to store instead of 0 */
	const char *const *choices; /* allowed arguments, with NULL at the end; NULL: any */
	/* Parse ARGUMENT into the command's options O. Only for CMD_CALL. */
	void (*parse)(void *o, const struct cmd_argument *argument);
	char *(*help_of)(const void *o); /* return a help text that depends on O, for free() */
	char short_name;
};

/* Store the argument in the member FIELD of struct OF. The type of FIELD determines the kind of argument. */
#define CMD_SET(of, field) \
	.kind = _Generic(((struct of *)0)->field, bool: CMD_FLAG, const char *: CMD_TEXT, int32_t: \
			 CMD_NUMBER, uint32_t: CMD_NUMBER, double: CMD_PERCENT, uint64_t: CMD_TIME), \
	.offset = offsetof(struct of, field)

/* The option --vmlinux, for the recorded kernel. */
#define CMD_VMLINUX(of, field)                                                                     \
	{                                                                                          \
		"vmlinux", "FILE", "vmlinux of the recorded kernel, for names", CMD_SET(of, field) \
	}

#define CMD_ANY_NUMBER INT_MAX

struct cmd_syntax {
	const struct cmd_option *options; /* the last has no name */
	const char *args_doc, *doc; /* as in struct argp */
	int least, most; /* limits on the number of operands */
	/* Offset of a char ** in the command's options, for the operands with NULL at the end; NULL: no operands. */
	size_t operands;
	const char *too_few, *too_many; /* messages for a wrong number of operands */
	/* Check the options after all are set, and report wrong usage by argp_error(); may be NULL. */
	void (*end)(void *o, struct argp_state *state);
	/* Syntaxes that several commands share, each with the offset of its values in the options. The last has no syntax. */
	const struct cmd_part {
		const struct cmd_syntax *syntax;
		size_t offset;
		const char *header;
		int group;
	} * parts;
	bool in_order; /* words after the first operand are no options of the command */
};

/* Options of commands that take only recordings, and the vmlinux of the recorded kernel. */
struct cmd_recordings {
	const char *vmlinux;
	char **files;
};

extern const struct cmd_option cmd_recordings_options[];

/* The examples in the running command's --help. */
extern const char *cmd_examples;

/* Set the command's options O from ARGV. Options such as --help, and wrong usage, end the program. */
void cmd_parse(const struct cmd_syntax *syntax, int argc, char **argv, void *o);

/* Return the index of ARG, the argument of --OPTION, in CHOICES. End the program with a usage error if CHOICES lacks ARG. */
uint32_t cmd_choose(const struct argp_state *state, const char *option, const char *const *choices,
		    const char *arg);

/* Return CHOICES as "a, b or c", for free(). */
char *cmd_choices_text(const char *const *choices);
