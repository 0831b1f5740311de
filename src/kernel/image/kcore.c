// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/image/kcore.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/number.h"

#define VMCOREINFO "VMCOREINFO"
#define NOTES_MAX  (1u << 20)

struct segment {
	uint64_t start, len, offset;
};

struct kernel_kcore {
	int fd;
	vec_of(struct segment, segments);
	char *vmcoreinfo; /* text of vmcoreinfo, or NULL */
};

static int read_at(int fd, uint64_t offset, void *buf, size_t len)
{
	char *p = buf;

	while (len) {
		ssize_t n;

		if (offset > INT64_MAX)
			return -EFAULT;
		n = pread(fd, p, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EFAULT;
		p += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static void find_vmcoreinfo(struct kernel_kcore *kc, char *notes, size_t len)
{
	GElf_Nhdr nhdr;
	size_t name, desc;
	Elf_Data data = {
		.d_buf = notes, .d_size = len, .d_type = ELF_T_NHDR, .d_version = EV_CURRENT
	};

	for (size_t at = 0; (at = gelf_getnote(&data, at, &nhdr, &name, &desc)) > 0;)
		if (nhdr.n_namesz == sizeof(VMCOREINFO) &&
		    !memcmp(notes + name, VMCOREINFO, sizeof(VMCOREINFO)))
			kc->vmcoreinfo =
				kc->vmcoreinfo ?: alloc_strndup(notes + desc, nhdr.n_descsz);
}

/* Set kc->vmcoreinfo by the notes. After an error it stays NULL. */
static void read_notes(struct kernel_kcore *kc, const Elf64_Phdr *phdr)
{
	scoped_free char *notes = NULL;

	if (phdr->p_filesz > NOTES_MAX)
		return;
	notes = alloc_array(phdr->p_filesz, 1);
	if (!read_at(kc->fd, phdr->p_offset, notes, phdr->p_filesz))
		find_vmcoreinfo(kc, notes, phdr->p_filesz);
}

static int read_headers(struct kernel_kcore *kc)
{
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr;
	int err = read_at(kc->fd, 0, &ehdr, sizeof(ehdr));

	if (err)
		return err == -EFAULT ? -ENOEXEC : err;
	if (memcmp(ehdr.e_ident, ELFMAG, SELFMAG) || ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
	    ehdr.e_type != ET_CORE || ehdr.e_phentsize != sizeof(phdr))
		return -ENOEXEC;
	/* This loop ends soon, since e_phnum has 16 bits. */
	for (unsigned int i = 0; i < ehdr.e_phnum; i++) {
		struct segment s;

		if (ehdr.e_phoff > UINT64_MAX - (uint64_t)i * sizeof(phdr))
			return -ENOEXEC;
		err = read_at(kc->fd, ehdr.e_phoff + (uint64_t)i * sizeof(phdr), &phdr,
			      sizeof(phdr));
		if (err)
			return err == -EFAULT ? -ENOEXEC : err;
		if (phdr.p_type == PT_NOTE)
			read_notes(kc, &phdr);
		if (phdr.p_type != PT_LOAD)
			continue;
		s = (struct segment){ phdr.p_vaddr, phdr.p_memsz, phdr.p_offset };
		vec_push(kc, segments, s);
	}
	return 0;
}

int kernel_kcore_open(const char *path, struct kernel_kcore **out)
{
	struct kernel_kcore *kc;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	*out = NULL;
	if (fd < 0)
		return -errno;
	kc = alloc_new(struct kernel_kcore);
	kc->fd = fd;
	err = read_headers(kc);
	if (err) {
		kernel_kcore_destroy(kc);
		return err;
	}
	*out = kc;
	return 0;
}

void kernel_kcore_destroy(struct kernel_kcore *kc)
{
	if (!kc)
		return;
	close(kc->fd);
	free(kc->segments);
	free(kc->vmcoreinfo);
	free(kc);
}

int kernel_kcore_read(const struct kernel_kcore *kc, uint64_t addr, void *buf, size_t len)
{
	vec_each(const struct segment, s, kc, segments) {
		uint64_t at = addr - s->start;

		if (addr < s->start || at >= s->len || len > s->len - at)
			continue;
		if (s->offset > UINT64_MAX - at)
			return -EFAULT;
		return read_at(kc->fd, s->offset + at, buf, len);
	}
	return -EFAULT;
}

uint64_t kernel_kcore_symbol(const struct kernel_kcore *kc, const char *name)
{
	scoped_free char *start = alloc_printf("\nSYMBOL(%s)=", name);
	const char *at = kc->vmcoreinfo ? strstr(kc->vmcoreinfo, start) : NULL;
	uint64_t addr = 0;

	if (!at)
		return 0;
	at += strlen(start);
	return number_scan_hex(&at, &addr) ? addr : 0;
}
