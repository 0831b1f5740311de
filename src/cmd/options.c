// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/options.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/log.h"

const char *cmd_examples = "";

#define KEY_FIRST 256 /* argp's key of the first option without a letter */

/* A command's syntax as data for argp, and the options to set. */
struct parser {
	const struct cmd_syntax *syntax;
	void *o;
	int n_operands;
	struct argp argp;
	vec_of(struct argp_option, options);
	vec_of(struct argp_child, children);
	vec_of(struct parser, parts); /* parsers of the syntax's PARTS, one for each of CHILDREN */
};

const struct cmd_option cmd_recordings_options[] = {
	CMD_VMLINUX(cmd_recordings, vmlinux),
	{ 0 },
};

char *cmd_choices_text(const char *const *choices)
{
	char *text = NULL;

	for (size_t i = 0; choices[i]; i++)
		alloc_append(&text, "%s%s", !i ? "" : choices[i + 1] ? ", " : " or ", choices[i]);
	return text;
}

uint32_t cmd_choose(const struct argp_state *state, const char *option, const char *const *choices,
		    const char *arg)
{
	uint32_t i = 0;
	scoped_free char *text = NULL;

	while (choices[i] && strcmp(choices[i], arg) != 0)
		i++;
	if (choices[i])
		return i;
	text = cmd_choices_text(choices);
	argp_error(state, "--%s is %s, not '%s'", option, text, arg);
	return 0;
}

static void set(const struct cmd_option *option, void *o, char *arg, struct argp_state *state)
{
	void *at = (char *)o + option->offset;
	uint64_t number =
		option->choices ? cmd_choose(state, option->name, option->choices, arg) : 0;

	switch (option->kind) {
	case CMD_CALL:
		option->parse(o, &(struct cmd_argument){ option, arg, state });
		break;
	case CMD_FLAG:
		*(bool *)at = option->choices ? number : true;
		break;
	case CMD_TEXT:
		*(const char **)at = arg;
		break;
	case CMD_NUMBER:
		if (!option->choices && !number_unsigned(arg, option->min, option->max, &number))
			argp_error(state, "--%s: '%s' is not a number from %u to %u", option->name,
				   arg, option->min, option->max);
		*(uint32_t *)at = number ? (uint32_t)number : option->zero;
		break;
	case CMD_PERCENT:
		if (!number_double(arg, 0, INFINITY, at) || *(double *)at == 0)
			argp_error(state, "--%s is a percentage above 0, not '%s'", option->name,
				   arg);
		break;
	case CMD_TIME:
		if (!number_time(arg, at))
			argp_error(state,
				   "--%s: '%s' is not a time, such as 10s, 1.5s, 500ms or 2m",
				   option->name, arg);
		break;
	}
}

static const struct cmd_option *option_of(const struct parser *p, int key)
{
	for (uint32_t i = 0; p->syntax->options[i].name; i++)
		if (p->options[i].key == key)
			return &p->syntax->options[i];
	return NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct parser *p = state->input;
	const struct cmd_syntax *s = p->syntax;
	const struct cmd_option *option = option_of(p, key);

	if (option) {
		set(option, p->o, arg, state);
	} else if (key == ARGP_KEY_INIT) {
		for (uint32_t i = 0; i < p->n_parts; i++)
			state->child_inputs[i] = &p->parts[i];
	} else if (key == ARGP_KEY_ARGS && s->most) {
		*(char ***)(void *)((char *)p->o + s->operands) = state->argv + state->next;
		p->n_operands = state->argc - state->next;
		if (p->n_operands > s->most)
			argp_error(state, "%s", s->too_many);
	} else if (key == ARGP_KEY_END) {
		if (p->n_operands < s->least)
			argp_error(state, "%s", s->too_few);
		if (s->end)
			s->end(p->o, state);
	} else {
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static char *help(int key, const char *text, void *input)
{
	const struct parser *p = input;
	const struct cmd_option *option = p ? option_of(p, key) : NULL;

	if (option && option->help_of)
		return option->help_of(p->o);
	return option && !option->help ? cmd_choices_text(option->choices) : (char *)text;
}

static struct parser parser_of(const struct cmd_syntax *syntax, void *o)
{
	struct parser p = { .syntax = syntax, .o = o };

	for (uint32_t i = 0; syntax->options[i].name; i++) {
		const struct cmd_option *option = &syntax->options[i];

		vec_push(&p, options,
			 ((struct argp_option){
				 .name = option->name,
				 .key = option->short_name ?: KEY_FIRST + (int)i,
				 .arg = option->arg,
				 .doc = option->help,
			 }));
	}
	vec_push(&p, options, ((struct argp_option){ 0 }));
	for (const struct cmd_part *part = syntax->parts; part && part->syntax; part++)
		vec_push(&p, parts, parser_of(part->syntax, (char *)o + part->offset));
	for (uint32_t i = 0; i < p.n_parts; i++)
		vec_push(&p, children,
			 ((struct argp_child){ &p.parts[i].argp, 0, syntax->parts[i].header,
					       syntax->parts[i].group }));
	vec_push(&p, children, ((struct argp_child){ 0 }));
	/* argp leaks memory if a list of options is empty. */
	p.argp = (struct argp){ p.n_options > 1 ? p.options : NULL,
				parse,
				syntax->args_doc,
				syntax->doc,
				p.children,
				help };
	return p;
}

static void parser_deinit(struct parser *p)
{
	for (uint32_t i = 0; i < p->n_parts; i++)
		parser_deinit(&p->parts[i]);
	free(p->parts);
	free(p->children);
	free(p->options);
}

/* Write N bytes of TEXT, which are whole lines, to ERRORS. Escape characters that control a terminal. */
static ssize_t put_safe(void *errors, const char *text, size_t n)
{
	char *lines = alloc_printf("%.*s", (int)n, text), *rest = lines, *line;

	while ((line = strsep(&rest, "\n"))) {
		scoped_free char *safe = terminal_text(line);

		fprintf(errors, "%s%s", safe, rest ? "\n" : "");
	}
	free(lines);
	return (ssize_t)n;
}

void cmd_parse(const struct cmd_syntax *syntax, int argc, char **argv, void *o)
{
	scoped(parser_deinit) struct parser p = parser_of(syntax, o);
	scoped_free char *doc =
		alloc_printf("%s%sExamples:\n\n%s", syntax->doc,
			     strchr(syntax->doc, '\v') ? "\n\n" : "\v", cmd_examples);
	FILE *errors = stderr;

	/* argp and getopt print arguments without escapes, and then call exit(), which flushes this stream. */
	stderr = fopencookie(errors, "w", (cookie_io_functions_t){ .write = put_safe }) ?: errors;
	p.argp.doc = doc;
	argp_parse(&p.argp, argc, argv, syntax->in_order ? ARGP_IN_ORDER : 0, NULL, &p);
	if (stderr != errors)
		fclose(stderr);
	stderr = errors;
}
