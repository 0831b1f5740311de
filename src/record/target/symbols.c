// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/target/symbols.h"

#include <errno.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kernel/code/ftrace.h"
#include "kprotperf/try.h"
#include "record/engine/features.h"
#include "record/engine/kprobe_event.h"

const char record_symbols_index_alone[] =
	"the index of this kernel is there, but not the vmlinux it was made of: inlined bodies and lines have their "
	"names and bodies are estimated from samples; timing them (--range) and --blocks need the vmlinux too";

int record_symbols_init(struct record_symbols *s, const char *vmlinux)
{
	struct utsname uts;

	*s = (struct record_symbols){ .vmlinux = vmlinux, .notrace = 1 };
	if (uname(&uts) == 0)
		snprintf(s->release, sizeof(s->release), "%s", uts.release);
	if (kernel_build_id_read(KERNEL_NOTES_PATH, &s->build_id))
		s->build_id.len = 0;
	return kernel_kallsyms_load(KERNEL_KALLSYMS_PATH, &s->ks);
}

void record_symbols_deinit(struct record_symbols *s)
{
	kernel_kcore_destroy(s->live);
	kernel_index_destroy(s->index);
	kernel_image_destroy(s->image);
	for (uint32_t i = 0; i < s->n_modules; i++) {
		kernel_btf_destroy(s->modules[i].btf);
		if (s->modules[i].fd >= 0)
			close(s->modules[i].fd);
	}
	free(s->modules);
	kernel_btf_destroy(s->btf);
	kernel_tracing_destroy(s->tracing);
	kernel_kallsyms_destroy(s->ks);
	free(s->image_why_not);
}

const struct kernel_kcore *record_symbols_live(struct record_symbols *s)
{
	if (!s->live_tried && kernel_kcore_open(s->kcore ?: KERNEL_KCORE_PATH, &s->live))
		s->live = NULL;
	s->live_tried = true;
	return s->live;
}

/* The addresses of the ftrace locations, for free(); NULL: the kernel's memory does not tell. */
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
	uint64_t *locations;
	size_t n;
	int err;

	if (s->tracing)
		return 0;
	if (!s->btf && kernel_btf_load(KERNEL_BTF_PATH, &s->btf))
		s->btf = NULL;
	locations = read_locations(s, &n);
	err = kernel_tracing_load(s->ks, locations, n, kernel_tracefs_find(), KERNEL_BLACKLIST_PATH,
				  &s->tracing);
	free(locations);
	return err;
}

int record_kernel_try_multi(const struct record_kernel *kernel)
{
	const struct kernel_sym *const *named;
	size_t n;

	named = kernel_kallsyms_named(kernel->symbols->ks, TRY_FUNCTION, &n);
	return record_features_try_multi(kernel->features, n == 1 ? named[0]->addr : 0);
}

bool record_symbols_is_blacklisted(const struct record_symbols *s, uint64_t addr)
{
	return kernel_tracing_is_blacklisted(s->tracing, addr + kernel_kallsyms_stext(s->ks)) ==
	       KERNEL_YES;
}

int record_code_open(struct record_symbols *s, struct record_code *out)
{
	struct kernel_image *image;
	int err = record_symbols_load_functions(s);

	*out = (struct record_code){};
	err = err ?: record_symbols_image(s, &image);
	if (err || !image)
		return err ?: -ENODATA;
	if (kernel_kcore_open(s->kcore ?: KERNEL_KCORE_PATH, &out->kcore))
		out->kcore = NULL;
	return kernel_code_create(image, out->kcore, kernel_kallsyms_stext(s->ks), &out->code);
}

void record_code_close(struct record_code *c)
{
	kernel_code_destroy(c->code);
	kernel_kcore_destroy(c->kcore);
	*c = (struct record_code){};
}

/* SYM is "name.isra.0" or the like, and there is a "name" that has an ftrace location. */
static bool is_copy_of_traced(const struct record_symbols *s, const struct kernel_sym *sym)
{
	const char *dot = strchr(sym->name, '.');
	const struct kernel_sym *const *named;
	char *base;
	size_t n;

	if (!dot)
		return false;
	base = alloc_strndup(sym->name, (size_t)(dot - sym->name));
	named = kernel_kallsyms_named(s->ks, base, &n);
	free(base);
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

static struct record_module_btf module_btf_load(const struct record_symbols *s, const char *module)
{
	struct record_module_btf m = { .module = module, .fd = -ENOENT };
	char *path = alloc_printf(KERNEL_BTF_DIR "%s", module);

	if (s->btf && !kernel_btf_load_split(path, s->btf, &m.btf)) {
		m.fd = kernel_btf_module_open(module);
		if (m.fd < 0) {
			kernel_btf_destroy(m.btf);
			m.btf = NULL;
		}
	}
	free(path);
	return m;
}

static const struct record_module_btf *record_symbols_module_btf(struct record_symbols *s,
								 const char *module)
{
	uint32_t i;

	for (i = 0; i < s->n_modules; i++)
		if (s->modules[i].module == module)
			break;
	if (i == s->n_modules)
		vec_push(s, modules, module_btf_load(s, module));
	return s->modules[i].btf ? &s->modules[i] : NULL;
}

const struct kernel_btf *record_symbols_btf(struct record_symbols *s, const struct kernel_sym *sym,
					    int *fd)
{
	const struct record_module_btf *m;

	*fd = 0;
	if (!sym->module)
		return s->btf;
	m = record_symbols_module_btf(s, sym->module);
	if (!m)
		return NULL;
	*fd = m->fd;
	return m->btf;
}

int record_symbols_image(struct record_symbols *s, struct kernel_image **image)
{
	int err = 0;

	if (!s->image_tried) {
		s->image_tried = true;
		err = kernel_image_find(s->vmlinux, s->release, &s->build_id, &s->image,
					&s->image_why_not);
	}
	*image = s->image;
	return err;
}

int record_symbols_index(struct record_symbols *s, const struct kernel_index **index)
{
	struct kernel_image *image;
	int err = 0;

	if (!s->index_tried) {
		s->index_tried = true;
		err = record_symbols_image(s, &image);
		if (!err && kernel_index_get(&s->build_id, image, &s->index))
			s->index = NULL;
	}
	*index = s->index;
	return err;
}
