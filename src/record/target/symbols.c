// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/target/symbols.h"

#include <errno.h>
#include <linux/types.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/log.h"
#include "kernel/code/arguments.h"
#include "kernel/code/flow_function.h"
#include "kernel/image/tracing.h"
#include "kprotperf/try.h"
#include "record/engine/features.h"
#include "record/engine/kprobe_event.h"

const char record_symbols_vmlinux_missing[] =
	"the index of this kernel was found, but not the vmlinux it was created from: names of "
	"inlined bodies and lines are known and bodies are estimated from samples, but timing "
	"bodies (--range) and --blocks need the vmlinux";

static int load_kallsyms(struct record_symbols *s)
{
	const struct kernel_kcore *kcore = record_symbols_live(s);
	const struct btf *btf = s->btf ? kernel_btf_raw(s->btf) : NULL;
	int err = kcore ? kernel_kallsyms_read(kcore, btf, &s->ks) : -ENOENT;

	if (!err)
		return 0;
	log_verbose(1, "cannot read symbols from the kernel's memory: %s", log_strerror(err));
	return kernel_kallsyms_load(KERNEL_KALLSYMS_PATH, &s->ks);
}

int record_symbols_init(struct record_symbols *s, const char *vmlinux, struct kernel_btf *btf)
{
	struct utsname uts;
	int err;

	*s = (struct record_symbols){ .vmlinux = vmlinux, .notrace = 1, .btf = btf };
	if (uname(&uts) == 0)
		snprintf(s->release, sizeof(s->release), "%s", uts.release);
	if (kernel_build_id_read(KERNEL_NOTES_PATH, &s->kernel.build_id))
		s->kernel.build_id.len = 0;
	if (!btf && kernel_btf_load(KERNEL_BTF_PATH, &s->btf))
		s->btf = NULL;
	err = load_kallsyms(s);
	if (!err)
		s->kernel.base = s->ks->stext;
	return err;
}

static void image_deinit(struct record_image *in)
{
	kernel_code_destroy(in->code);
	kernel_index_destroy(in->index);
	kernel_image_destroy(in->image);
	kernel_btf_destroy(in->btf);
	if (in->btf)
		close(in->btf_fd);
	free(in->why_not);
}

void record_symbols_deinit(struct record_symbols *s)
{
	decoder_destroy(s->decoder);
	image_deinit(&s->kernel);
	for (uint32_t i = 0; i < s->n_modules; i++) {
		image_deinit(s->modules[i]);
		free(s->modules[i]);
	}
	free(s->modules);
	kernel_kcore_destroy(s->live);
	kernel_btf_destroy(s->btf);
	kernel_tracing_destroy(s->tracing);
	kernel_livepatches_deinit(&s->livepatches);
	kernel_kallsyms_destroy(s->ks);
}

const struct kernel_kcore *record_symbols_live(struct record_symbols *s)
{
	if (!s->live_tried && kernel_kcore_open(s->kcore ?: KERNEL_KCORE_PATH, &s->live))
		s->live = NULL;
	s->live_tried = true;
	return s->live;
}

/* Return the addresses of the *N ftrace locations, which the caller frees; NULL: the kernel's memory cannot be read. */
static uint64_t *read_locations(struct record_symbols *s, size_t *n)
{
	const struct kernel_kcore *kcore = record_symbols_live(s);
	uint64_t *addrs = NULL;
	int err = -ENOENT;

	*n = 0;
	if (s->btf && kcore)
		err = kernel_ftrace_read(kcore, kernel_btf_raw(s->btf), s->ks, &addrs, n);
	if (err)
		log_verbose(1, "cannot read the kernel's table of ftrace locations: %s",
			    log_strerror(err));
	return addrs;
}

int record_symbols_load_functions(struct record_symbols *s)
{
	scoped_free uint64_t *locations = NULL;
	size_t n;

	if (s->tracing)
		return 0;
	kernel_livepatches_load(KERNEL_LIVEPATCH_DIR, &s->livepatches);
	locations = read_locations(s, &n);
	return kernel_tracing_load(s->ks, locations, n, kernel_tracefs_find(),
				   KERNEL_BLACKLIST_PATH, &s->tracing);
}

const char *record_symbols_why_patched(const struct record_symbols *s, const struct kernel_sym *sym)
{
	return kernel_livepatch_of(&s->livepatches, sym) ?
		       "a livepatch (/sys/kernel/livepatch) has replaced it, so that its own code is "
		       "not executed; fentry times the replacement" :
		       NULL;
}

/*
 * Return the offset behind the last instruction in CODE (LEN bytes) that adds to the stack pointer, and so frees stack; 0: there
 * is none.
 */
static size_t end_of_stack(struct decoder *decoder, const uint8_t *code, size_t len)
{
	struct arch_access access;
	struct decoded insn;
	size_t end = 0;

	for (size_t at = 0; at < len && decode(decoder, code + at, len - at, at, &insn);
	     at += insn.len)
		if (arch_access_of(decoder, code + at, len - at, at, &access) &&
		    access.effect == ARCH_EFFECT_ADD && access.to == ARCH_STACK &&
		    access.number > 0)
			end = at + insn.len;
	return end;
}

/* Set UNWALKABLE (struct record_multi_behaviour) to the end of return_to_handler() or, if its code is unreadable, to all of it. */
static void find_unwalkable(struct record_symbols *s, struct record_multi_behaviour *is)
{
	const struct kernel_sym *const *named;
	uint8_t code[256];
	size_t n, len, at = 0;

	named = kernel_kallsyms_named(s->ks, "return_to_handler", &n);
	if (n != 1)
		return;
	len = kernel_kallsyms_size(s->ks, named[0]);
	len = len < sizeof(code) ? len : sizeof(code);
	s->decoder = s->decoder ?: decoder_create();
	if (s->decoder && record_symbols_live(s) &&
	    !kernel_kcore_read(s->live, named[0]->addr, code, len))
		at = end_of_stack(s->decoder, code, len);
	is->unwalkable = named[0]->addr + at;
	is->unwalkable_len = (uint32_t)(len - at);
}

int record_kernel_try_multi(const struct record_kernel *kernel)
{
	const struct kernel_sym *const *named;
	size_t n;

	if (!kernel->features->multi_is.unwalkable)
		find_unwalkable(kernel->symbols, &kernel->features->multi_is);
	named = kernel_kallsyms_named(kernel->symbols->ks, TRY_FUNCTION, &n);
	return record_features_try_multi(kernel->features, n == 1 ? named[0]->addr : 0);
}

bool record_symbols_is_blacklisted(const struct record_symbols *s, uint64_t addr)
{
	return kernel_tracing_is_blacklisted(s->tracing, addr) == KERNEL_YES;
}

/* Return whether SYM is a clone such as "name.isra.0" while the function "name" has an ftrace location. */
static bool is_copy_of_traced(const struct record_symbols *s, const struct kernel_sym *sym)
{
	const char *dot = strchr(sym->name, '.');
	const struct kernel_sym *const *named;
	scoped_free char *base = NULL;
	size_t n;

	if (!dot)
		return false;
	base = alloc_strndup(sym->name, (size_t)(dot - sym->name));
	named = kernel_kallsyms_named(s->ks, base, &n);
	return n && kernel_tracing_is_ftrace(s->tracing, named[0]) != KERNEL_NO;
}

bool record_symbols_is_notrace(struct record_symbols *s, const struct kernel_sym *sym)
{
	if (kernel_tracing_is_ftrace(s->tracing, sym) != KERNEL_NO || is_copy_of_traced(s, sym))
		return false;
	if (s->notrace > 0)
		s->notrace = record_kprobe_try(sym->addr);
	return s->notrace == -EINVAL;
}

struct record_image *record_symbols_image_of(struct record_symbols *s, const struct kernel_sym *sym)
{
	struct record_image *in;

	if (!sym->module)
		return &s->kernel;
	for (uint32_t i = 0; i < s->n_modules; i++)
		if (s->modules[i]->module == sym->module)
			return s->modules[i];
	in = alloc_new(struct record_image);
	in->module = sym->module;
	in->base = kernel_kallsyms_base(s->ks, sym);
	vec_push(s, modules, in);
	return in;
}

char *record_image_name(const struct record_image *in, const char *name)
{
	return in->module ? alloc_printf("%s [%s]", name, in->module) : alloc_strdup(name);
}

static void load_btf(const struct record_symbols *s, struct record_image *in)
{
	scoped_free char *path = alloc_printf(KERNEL_BTF_DIR "%s", in->module);

	in->btf_tried = true;
	if (s->btf && !kernel_btf_load_split(path, s->btf, &in->btf)) {
		in->btf_fd = kernel_btf_module_open(in->module);
		if (in->btf_fd < 0) {
			kernel_btf_destroy(in->btf);
			in->btf = NULL;
		}
	}
}

const struct kernel_btf *record_symbols_btf(struct record_symbols *s, const struct kernel_sym *sym,
					    int *fd)
{
	struct record_image *in = record_symbols_image_of(s, sym);

	*fd = 0;
	if (!in->module)
		return s->btf;
	if (!in->btf_tried)
		load_btf(s, in);
	*fd = in->btf_fd;
	return in->btf;
}

static void find_module(const struct record_symbols *s, struct record_image *in)
{
	if (kernel_module_build_id(in->module, &in->build_id)) {
		in->why_not = alloc_printf("module %s has no build-id", in->module);
		return;
	}
	in->image = kernel_module_find(in->module, s->release, &in->build_id);
	if (!in->image)
		in->why_not =
			alloc_printf("no file for the loaded module %s below /lib/modules/%s or "
				     "/usr/lib/debug",
				     in->module, s->release);
	else if (!kernel_image_has_dwarf(in->image))
		in->why_not = alloc_printf("%s has no DWARF, and no debug file below "
					   "/usr/lib/debug has any",
					   kernel_image_path(in->image));
}

/*
 * Open the file of the image IN at the first call. Without a file, IN->image stays NULL. Return 0, or -errno, reported, if a file
 * that the user named does not fit the kernel.
 */
static int open_image(struct record_symbols *s, struct record_image *in)
{
	int err = 0;

	if (in->image_tried)
		return 0;
	in->image_tried = true;
	if (in->module)
		find_module(s, in);
	else
		err = kernel_image_find(s->vmlinux, s->release, &in->build_id, &in->image,
					&in->why_not);
	return err;
}

int record_image_index(struct record_symbols *s, struct record_image *in)
{
	int err;

	if (in->index_tried)
		return 0;
	in->index_tried = true;
	err = open_image(s, in);
	if (!err && kernel_index_get(&in->build_id, in->image, &in->index))
		in->index = NULL;
	return err;
}

int record_image_code(struct record_symbols *s, struct record_image *in)
{
	const struct kernel_live live = { record_symbols_live(s), in->base, s->ks };
	int err = record_symbols_load_functions(s);

	err = err ?: open_image(s, in);
	if (err || in->code)
		return err;
	return in->image ? kernel_code_create(in->image, &live, &in->code) : -ENODATA;
}

int record_symbols_image(struct record_symbols *s, struct kernel_image **image)
{
	int err = open_image(s, &s->kernel);

	*image = s->kernel.image;
	return err;
}

int record_symbols_index(struct record_symbols *s, const struct kernel_index **index)
{
	int err = record_image_index(s, &s->kernel);

	*index = s->kernel.index;
	return err;
}

static size_t read_code(uint64_t addr, void *buf, size_t len, void *arg)
{
	const struct record_symbols *s = arg;

	return kernel_kcore_read(s->live, addr, buf, len) ? 0 : len;
}

/* Return whether NAME is a thunk or the trampoline of a static call, and so may lead to different functions at different times. */
static bool is_pointer(const char *name)
{
	return arch_symbol_of_name(name) == ARCH_SYMBOL_INDIRECT_THUNK ||
	       !strncmp(name, "__SCT__", 7);
}

static int takes(uint64_t addr, void *arg)
{
	struct record_symbols *s = arg;
	const struct kernel_btf *btf;
	const struct kernel_sym *sym;
	uint64_t offset;
	int32_t id;
	int fd, n;

	sym = kernel_kallsyms_covering(s->ks, addr, &offset);
	if (!sym || is_pointer(sym->name))
		return -EINVAL;
	if (arch_symbol_of_name(sym->name) == ARCH_SYMBOL_RETURN_THUNK)
		return 0;
	btf = record_symbols_btf(s, sym, &fd);
	id = btf && offset <= ARCH_MAX_FTRACE_OFFSET ? kernel_btf_function(btf, sym->name) :
						       -ENOENT;
	if (id < 0)
		return -ENOENT;
	n = kernel_btf_function_registers(btf, id);
	return n < 0 ? -EINVAL : n < ARCH_MAX_ARGS ? n : ARCH_MAX_ARGS;
}

enum kernel_answer record_arguments_beyond(struct record_symbols *symbols,
					   const struct kernel_sym *sym, unsigned int n)
{
	const struct kernel_arguments_input input = { read_code, takes, symbols };

	if (!record_symbols_live(symbols))
		return KERNEL_UNKNOWN;
	symbols->decoder = symbols->decoder ?: decoder_create();
	return symbols->decoder ? kernel_arguments_beyond(symbols->decoder, &input, sym->addr, n) :
				  KERNEL_UNKNOWN;
}
