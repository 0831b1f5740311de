// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/code/kcore.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

struct segment {
	uint64_t start, len, offset;
};

struct kernel_kcore {
	int fd;
	struct segment *segments;
	uint32_t n_segments, cap_segments;
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
	/* e_phnum has 16 bits: that bounds the work. */
	for (unsigned int i = 0; i < ehdr.e_phnum; i++) {
		struct segment s;

		if (ehdr.e_phoff > UINT64_MAX - (uint64_t)i * sizeof(phdr))
			return -ENOEXEC;
		err = read_at(kc->fd, ehdr.e_phoff + (uint64_t)i * sizeof(phdr), &phdr,
			      sizeof(phdr));
		if (err)
			return err == -EFAULT ? -ENOEXEC : err;
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
