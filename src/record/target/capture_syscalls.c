// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/target/capture_syscalls.h"

#include <bpf/btf.h>
#include <errno.h>
#include <glob.h>
#include <seccomp.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "kernel/image/btf.h"

#define EVENTS         "/sys/kernel/tracing/events/syscalls/sys_enter_"
#define FORMAT         "/format"
#define FORMAT_BYTES   (1 << 16)
#define FIRST_ARGUMENT 16 /* where an event has it, each in 8 bytes */

/* Set the size and sign of V by TYPE, as the source has it; BTF has other names for types that are not typedefs. */
static void note_type(struct record_value *v, const struct btf *btf, const char *type)
{
	int32_t id = btf__resolve_type(btf, (uint32_t)btf__find_by_name(btf, type));
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	uint32_t bytes = strstr(type, "long") || strchr(type, '*') ? 8 : 4;

	v->is_signed = !strstr(type, "unsigned") && !strchr(type, '*');
	if (t && btf_is_int(t)) {
		bytes = t->size;
		v->is_signed = btf_int_encoding(t) & BTF_INT_SIGNED;
	}
	v->bytes = bytes > v->bytes ? bytes : v->bytes;
}

/* Adds the syscall whose event has its format at PATH, if it has the argument NAME. False: there is no room. */
static bool add_syscall(struct record_value *v, const struct btf *btf, const char *path,
			const char *name)
{
	static const char *const regs[] = ARCH_SYSCALL_REGS;
	scoped_free char *field = alloc_printf(" %s;\toffset:", name), *text = NULL,
			 *syscall =
				 alloc_printf("%.*s", (int)(strlen(path) - strlen(EVENTS FORMAT)),
					      path + strlen(EVENTS));
	char *at, *type;
	int nr = seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86_64, syscall);
	bool full = v->n_syscalls == RECORD_CAPTURE_SYSCALLS, found = false;
	size_t length;

	if (nr >= 0 && nr < ENGINE_SYSCALLS && !file_read(path, FORMAT_BYTES, &text, &length) &&
	    (at = strstr(text, field))) {
		size_t i = (strtoul(at + strlen(field), NULL, 10) - FIRST_ARGUMENT) / 8;
		int offset =
			i < ARRAY_SIZE(regs) ? kernel_btf_offset(btf, "pt_regs", regs[i]) : -ENOENT;

		*at = '\0';
		type = strrchr(text, ':');
		found = type && offset >= 0;
		if (found && !full) {
			note_type(v, btf, type + 1);
			v->syscalls[v->n_syscalls++] =
				(struct record_syscall){ (uint16_t)nr, (int16_t)offset };
		}
	}
	return !full || !found;
}

int record_capture_syscall(struct record_value *v, const struct btf *btf, const char *expression,
			   const char **text)
{
	size_t n = strcspn(*text, ".& "), m = (*text)[n] == '.' ? strcspn(*text + n + 1, "& ") : 0;
	scoped_free char *path =
		alloc_printf(EVENTS "%.*s" FORMAT, m ? (int)n : 1, m ? *text : "*");
	scoped_free char *name = alloc_printf("%.*s", (int)(m ? m : n), m ? *text + n + 1 : *text);
	glob_t found = {};
	bool room = true;

	*text += m ? n + 1 + m : n;
	glob(path, 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc && room; i++)
		room = add_syscall(v, btf, found.gl_pathv[i], name);
	if (!room)
		log_error("--capture=%s: more than %d syscalls have an argument '%s': name one, as "
			  "in sys.read.count",
			  expression, RECORD_CAPTURE_SYSCALLS, name);
	else if (!v->n_syscalls)
		log_error(
			"--capture=%s: no matching syscall has an argument '%s', according to this "
			"kernel's trace events",
			expression, name);
	globfree(&found);
	return room && v->n_syscalls ? 0 : -EINVAL;
}
