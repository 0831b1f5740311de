// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/annotated.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "output/text.h"
#include "profile/resolve.h"
#include "symbol/kallsyms.h"
#include "symbol/kcore.h"

enum {
	KEY_SOURCE = 2000,
	KEY_CONTEXT,
	KEY_COLOR,
	KEY_ALL
};

static const struct argp_option options[] = {
	{ "all", KEY_ALL, NULL, 0, "All of it, not only what has samples" },
	{ "color", KEY_COLOR, "WHEN", 0, "auto (default), always or never" },
	{ "context", KEY_CONTEXT, "CONTEXT", 0,
	  "Samples of this syscall or context alone (clone, [page_fault])" },
	{ "source", KEY_SOURCE, "DIR", 0,
	  "The kernel's source tree, where it is not where it was built from" },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const colors[] = { "auto", "always", "never" };
	struct annotated_options *o = state->input;
	unsigned int i;

	switch (key) {
	case KEY_ALL:
		o->all = true;
		break;
	case KEY_COLOR:
		for (i = 0; i < 3 && strcmp(arg, colors[i]); i++)
			;
		if (i == 3)
			argp_error(state, "--color is auto, always or never, not '%s'", arg);
		o->color = i;
		break;
	case KEY_CONTEXT:
		o->context = arg;
		break;
	case KEY_SOURCE:
		o->source = arg;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp annotated_argp = { .options = options, .parser = parse };

/* --- what there is to read ------------------------------------------------------------------- */

/*
 * The running kernel's memory where that is the recorded one, with its _stext; NULL where it is another, or
 * this user may not read it.
 */
static struct symbol_kcore *open_kcore(const struct symbol_build_id *id, uint64_t *stext)
{
	struct symbol_kallsyms *ks = NULL;
	struct symbol_kcore *kcore = NULL;
	struct symbol_build_id running;

	*stext = 0;
	if (symbol_build_id_read(SYMBOL_NOTES_PATH, &running) ||
	    !symbol_build_id_equal(&running, id) || symbol_kcore_open(SYMBOL_KCORE_PATH, &kcore))
		return NULL;
	if (symbol_kallsyms_load(SYMBOL_KALLSYMS_PATH, &ks)) {
		symbol_kcore_destroy(kcore);
		return NULL;
	}
	*stext = symbol_kallsyms_stext(ks);
	symbol_kallsyms_destroy(ks);
	return kcore;
}

static int open_kernel(struct annotated *f, const char *vmlinux, const struct annotated_options *o)
{
	const char *release = profile_env_get(f->p, PROFILE_ENV_RELEASE);
	struct symbol_build_id id;
	uint64_t stext;
	char *why_not;
	int err = profile_image(f->p, vmlinux, &f->image, &why_not);

	if (!err && !f->image) {
		char *kernel = output_text_escape(release ? release : "of unknown release");

		log_error("%s: no vmlinux of its kernel %s: name it with %s (%s)", f->path, kernel,
			  o->vmlinux_option ? o->vmlinux_option : "--vmlinux", why_not);
		free(kernel);
		err = -ENOENT;
	}
	free(why_not);
	if (err)
		return err;
	profile_build_id(f->p, &id);
	err = symbol_index_get(id.len ? &id : NULL, f->image, &f->index);
	if (err)
		log_error("cannot read %s: %s", symbol_image_path(f->image), log_strerror(err));
	if (!err && !symbol_index_has_dwarf(f->index))
		log_warn("%s has no DWARF: inlined bodies and lines are not known",
			 symbol_image_path(f->image));
	if (!err) {
		f->kcore = open_kcore(symbol_image_build_id(f->image), &stext);
		err = symbol_code_create(f->image, f->kcore, stext, &f->code);
	}
	if (err == -ENOTSUP)
		log_error("%s is not of x86-64, whose code alone can be read so far",
			  symbol_image_path(f->image));
	return err;
}

static int open_source(struct annotated *f, const char *dir)
{
	const char *release = profile_env_get(f->p, PROFILE_ENV_RELEASE);

	f->objects = symbol_objects_create(f->image);
	f->source = symbol_source_create(f->image, dir);
	if (dir && !symbol_source_dir(f->source)) {
		log_error("cannot read the folder %s: %s", dir, log_strerror(errno));
		return -ENOENT;
	}
	if (!symbol_source_fits(f->source, release))
		log_warn("%s is not the source of %s: its lines are not those of the code",
			 symbol_source_dir(f->source), release);
	return 0;
}

/* --- what can go wrong ----------------------------------------------------------------------- */

/* The module that the samples or sites of P have FUNC in, or NULL. */
static const char *module_of(const struct profile *p, const char *func)
{
	for (uint32_t i = 0; i < p->n_locations; i++) {
		const struct profile_location *l = &p->locations[i];

		if (l->module && l->n_frames && !strcmp(l->frames[l->n_frames - 1].name, func))
			return l->module;
	}
	return NULL;
}

static int ignore_body(const struct symbol_body *body, void *arg)
{
	(void)body;
	(void)arg;
	return 1;
}

static int say_unknown(const struct annotated *f)
{
	const char *known = module_of(f->p, f->name), *path = symbol_image_path(f->image);
	char *module = known ? output_text_escape(known) : NULL;
	bool inlined;

	inlined = symbol_index_bodies_each(f->index, f->name, ignore_body, NULL, NULL) != -ENOENT;
	if (module)
		log_error(
			"%s is in the module %s, whose code is not in vmlinux: only the kernel's own "
			"can be annotated so far",
			f->name, module);
	else if (f->within)
		log_error(
			"%s is not inlined into %s in this kernel; kprotperf list --vmlinux=%s %s "
			"tells where it is",
			f->name, f->within, path, f->name);
	else if (inlined)
		log_error(
			"%s is inlined, and no instruction of it is left in this kernel: annotate "
			"what calls it",
			f->name);
	else
		log_error("no function %s in this kernel, inlined or not; kprotperf list "
			  "--vmlinux=%s '*%.8s*' lists names like it",
			  f->name, path, f->name);
	free(module);
	return CMD_FAILED;
}

/* More than a workload has, and few enough to look at each in a made-up file. */
#define MAX_CONTEXTS 500

/* "clone (31), mmap (2)": the contexts with samples of the function. For free(); empty where none has. */
static char *contexts_with_samples(const struct annotated *f)
{
	struct analyze_annotate_options wanted = { .name = f->name, .within = f->within };
	char *text = alloc_strdup(""), *longer, *name;

	for (uint32_t i = 0; i < f->p->n_contexts && i < MAX_CONTEXTS; i++) {
		struct analyze_annotation a;

		wanted.context = f->p->contexts[i].name;
		if (!analyze_annotation_init(&a, f->p, &f->ranges, f->index, f->code, &wanted) &&
		    a.samples >= 1) {
			name = output_text_escape(wanted.context);
			longer = alloc_printf("%s%s%s (%.0f)", text, *text ? ", " : "", name,
					      a.samples);
			free(name);
			free(text);
			text = longer;
		}
		analyze_annotation_deinit(&a);
	}
	return text;
}

static int say_no_samples(const struct annotated *f, const struct annotated_options *o)
{
	char *contexts;

	if (!f->p->n_samples) {
		log_error(VIEW_NO_SAMPLES, f->path);
		return CMD_FAILED;
	}
	if (!o->context) {
		log_error(
			"%s: no sample in %s, nor in what it calls: record with a higher --freq, or "
			"for longer; --all shows its code without",
			f->path, f->name);
		return CMD_FAILED;
	}
	contexts = contexts_with_samples(f);
	if (*contexts)
		log_error("%s: no sample of %s in %s; there are some in %s", f->path, f->name,
			  o->context, contexts);
	else
		log_error("%s: no sample of %s in %s, nor elsewhere", f->path, f->name, o->context);
	free(contexts);
	return CMD_FAILED;
}

static int annotate(struct annotated *f, const struct annotated_options *o)
{
	const struct analyze_annotate_options wanted = {
		.name = f->name, .within = f->within, .context = o->context, .all = o->all
	};
	const struct analyze_options corrected = { .time = ANALYZE_TIME_ONCPU };
	int err;

	analyze_ranges_init(&f->ranges, f->p, &corrected);
	err = analyze_annotation_init(&f->a, f->p, &f->ranges, f->index, f->code, &wanted);
	f->ready = true;
	if (err && err != -ENOENT) {
		log_error("the code of %s cannot be read from %s", f->name,
			  symbol_image_path(f->image));
		return CMD_FAILED;
	}
	return CMD_DONE;
}

int annotated_check(const struct annotated *f, const struct annotated_options *o)
{
	if (!f->a.n_places)
		return say_unknown(f);
	if (!(f->a.samples > 0) && !f->a.counted && !o->all)
		return say_no_samples(f, o);
	return CMD_DONE;
}

int annotated_open(struct annotated *f, const char *path, const char *func, const char *vmlinux,
		   const struct annotated_options *o)
{
	const char *at = strchr(func, '@');

	memset(f, 0, sizeof(*f));
	f->path = path;
	f->name = at ? alloc_strndup(func, (size_t)(at - func)) : alloc_strdup(func);
	f->within = at ? alloc_strdup(at + 1) : NULL;
	f->p = view_open(path, vmlinux);
	if (!f->p || open_kernel(f, vmlinux, o) || open_source(f, o->source))
		return CMD_FAILED;
	return annotate(f, o);
}

void annotated_close(struct annotated *f)
{
	if (f->ready) {
		analyze_annotation_deinit(&f->a);
		analyze_ranges_deinit(&f->ranges);
	}
	symbol_source_destroy(f->source);
	symbol_objects_destroy(f->objects);
	symbol_code_destroy(f->code);
	symbol_kcore_destroy(f->kcore);
	symbol_index_destroy(f->index);
	symbol_image_destroy(f->image);
	profile_destroy(f->p);
	free(f->name);
	free(f->within);
}

/* --- texts ----------------------------------------------------------------------------------- */

/* SYMBOL+OFFSET, without SYMBOL where that is the place's own. */
static char *address_text(const struct analyze_place *place, const char *symbol, uint64_t offset)
{
	const char *own = place->function.symbol ? place->function.symbol : place->function.name;

	if (!symbol)
		return alloc_strdup("?");
	if (!strcmp(symbol, own))
		return alloc_printf("+0x%" PRIx64, offset);
	return offset ? alloc_printf("%s+0x%" PRIx64, symbol, offset) : alloc_strdup(symbol);
}

char *annotated_address(const struct annotated *f, const struct analyze_place *place,
			const struct analyze_instruction *i)
{
	(void)f;
	if (i->symbol && !i->offset)
		return alloc_printf(
			"%s+0x0", strcmp(i->symbol, place->function.symbol ?: "") ? i->symbol : "");
	return address_text(place, i->symbol, i->offset);
}

bool annotated_is_live(const struct annotated *f, const struct analyze_place *place)
{
	return f->kcore && !(place->problems & SYMBOL_FLOW_NOT_LIVE);
}

/* The bytes of I as they were decoded. */
static bool read_bytes(const struct annotated *f, const struct analyze_place *place,
		       const struct analyze_instruction *i, uint8_t bytes[])
{
	if (annotated_is_live(f, place) && !(i->insn.flags & SYMBOL_INSN_FROM_FILE))
		return !symbol_code_read_live(f->code, i->insn.addr, bytes, i->insn.len);
	return symbol_code_read_file(f->code, i->insn.addr, bytes, i->insn.len);
}

/* What there is to say of an instruction behind its text, for free(); NULL: nothing. */
static char *remark(const struct annotated *f, const struct symbol_disasm *disasm,
		    const struct analyze_place *place, const struct analyze_instruction *i,
		    const char *target, bool is_nop)
{
	uint64_t data, offset;
	const char *name;

	if (i->insn.kind == SYMBOL_INSN_LABEL) {
		/* Of the two that it may be the file has either. */
		const char *other = annotated_is_live(f, place) ? "if switched" : "or";

		return is_nop ? alloc_printf("static key: %s, jumps to %s", other,
					     target ? target : "?") :
				alloc_printf("static key: %s, goes on", other);
	}
	if (target || !symbol_disasm_data(disasm, &data))
		return NULL;
	name = symbol_objects_at(f->objects, data, &offset);
	if (!name)
		return NULL;
	return offset ? alloc_printf("%s+0x%" PRIx64, name, offset) : alloc_strdup(name);
}

char *annotated_text(const struct annotated *f, struct symbol_disasm *disasm,
		     const struct analyze_place *place, const struct analyze_instruction *i)
{
	uint64_t base = symbol_code_file_base(f->code);
	char *target = NULL, *text, *more, *longer;
	uint8_t bytes[16];
	struct symbol_place at;
	bool is_nop;

	if (!disasm || i->insn.len > sizeof(bytes) || !read_bytes(f, place, i, bytes))
		return alloc_strdup("?");
	if (i->insn.target && !symbol_index_at(f->index, i->insn.target, &at))
		target = address_text(place, at.symbol, at.offset);
	is_nop = i->insn.kind == SYMBOL_INSN_LABEL && bytes[0] != 0xe9 && bytes[0] != 0xeb;
	text = symbol_disasm_text(disasm, bytes, i->insn.len, base + i->insn.addr,
				  is_nop ? NULL : target);
	more = remark(f, disasm, place, i, target, is_nop);
	if (more) {
		longer = alloc_printf("%s  # %s", text, more);
		free(more);
		free(text);
		text = longer;
	}
	free(target);
	return text;
}

char *annotated_source(const struct annotated *f, const struct analyze_line *line)
{
	const char *text = symbol_source_line(f->source, line->file, line->line);
	char *plain, *escaped;

	if (!text)
		return NULL;
	plain = alloc_strdup(text + strspn(text, " \t\f"));
	for (char *c = plain; *c; c++)
		if (*c == '\t')
			*c = ' ';
	plain[strcspn(plain, "\r")] = '\0';
	escaped = output_text_escape(plain);
	free(plain);
	return escaped;
}

char *annotated_where(const struct analyze_line *line)
{
	if (!line->file)
		return alloc_strdup("?");
	return line->line ? alloc_printf("%s:%u", line->file, line->line) :
			    alloc_strdup(line->file);
}
