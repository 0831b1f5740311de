/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command's options and operands as a table: what argp is told of them, and where their values go. */
#pragma once

#include <argp.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cmd_kind {
	CMD_CALL, /* the option's function takes the argument */
	CMD_FLAG, /* bool: set */
	CMD_TEXT, /* const char * */
	CMD_NUMBER, /* 32 bits: from MIN to MAX, or the place of one of the choices */
	CMD_PERCENT, /* double: above 0 */
	CMD_TIME, /* uint64_t: ns, above 0 */
};

struct cmd_option {
	const char *name, *arg, *help; /* as in struct argp_option; no HELP: the choices */
	enum cmd_kind kind;
	size_t offset; /* of the value in the command's options */
	uint32_t min, max;
	uint32_t zero; /* what 0 is taken for */
	const char *const *choices; /* what it must be one of, ended by NULL; NULL: anything */
	/* For CMD_CALL: parse ARG into the command's options O. */
	void (*parse)(void *o, char *arg, struct argp_state *state);
	char *(*help_of)(const void *o); /* the help, for free(), where that depends on O */
	char short_name;
};

/* The value goes into FIELD of struct OF, whose type says what the argument is. */
#define CMD_SET(of, field) \
	.kind = _Generic(((struct of *)0)->field, bool: CMD_FLAG, const char *: CMD_TEXT, int32_t: \
			 CMD_NUMBER, uint32_t: CMD_NUMBER, double: CMD_PERCENT, uint64_t: CMD_TIME), \
	.offset = offsetof(struct of, field)

/* The row of --vmlinux, for a recording. */
#define CMD_VMLINUX(of, field)                                                                     \
	{                                                                                          \
		"vmlinux", "FILE", "vmlinux of the recorded kernel, for names", CMD_SET(of, field) \
	}

#define CMD_ANY_NUMBER INT_MAX

struct cmd_syntax {
	const struct cmd_option *options; /* ended by one without a name */
	const char *args_doc, *doc; /* as in struct argp */
	int least, most; /* operands; MOST 0: none are taken */
	size_t operands; /* where in the options they go, a char **: ended by NULL; NULL for none at all */
	const char *too_few, *too_many; /* what is said of others */
	/* After all options: wrong usage is for argp_error(). NULL: nothing is to be done. */
	void (*end)(void *o, struct argp_state *state);
	/* Options that several commands have, and where theirs are; ended by one without a syntax. */
	const struct cmd_part {
		const struct cmd_syntax *syntax;
		size_t offset;
		const char *header;
		int group;
	} * parts;
	bool in_order; /* what follows the first operand is no option of the command */
};

/* Recordings, and where the recorded kernel is: what some commands take and no more. */
struct cmd_recordings {
	const char *vmlinux;
	char **files;
};

extern const struct cmd_option cmd_recordings_options[];

/* The examples of the running command, for its --help. */
extern const char *cmd_examples;

/* Fills the command's options O in; --help and wrong usage end the program. */
void cmd_parse(const struct cmd_syntax *syntax, int argc, char **argv, void *o);

/* The place of ARG, of --OPTION, among CHOICES; any other is wrong usage. */
uint32_t cmd_choose(const struct argp_state *state, const char *option, const char *const *choices,
		    const char *arg);

/* "a, b or c", for free(). */
char *cmd_choices_text(const char *const *choices);
