// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/image/image.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "kernel/image/image_impl.h"

/* Maximum size of a file of notes in bytes. /sys/kernel/notes has a few hundred. */
#define MAX_NOTES (1u << 20)
/* Maximum length of a kernel release, as in uname(). */
#define RELEASE_MAX 64

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_DATA ELFDATA2LSB
#else
#define NATIVE_DATA ELFDATA2MSB
#endif

static bool find_build_id(void *notes, size_t len, struct kernel_build_id *id)
{
	Elf_Data data = {
		.d_buf = notes, .d_size = len, .d_type = ELF_T_NHDR, .d_version = EV_CURRENT
	};
	GElf_Nhdr note;
	size_t name, desc;

	for (size_t at = 0; (at = gelf_getnote(&data, at, &note, &name, &desc)) > 0;) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU) ||
		    memcmp((char *)notes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) ||
		    !note.n_descsz || note.n_descsz > sizeof(id->bytes))
			continue;
		id->len = note.n_descsz;
		memcpy(id->bytes, (char *)notes + desc, id->len);
		return true;
	}
	return false;
}

int kernel_build_id_read(const char *notes, struct kernel_build_id *id)
{
	scoped_free char *text = NULL;
	size_t len;
	int err = file_read(notes, MAX_NOTES, &text, &len);

	memset(id, 0, sizeof(*id));
	return err ?: find_build_id(text, len, id) ? 0 : -ENODATA;
}

bool kernel_build_id_equal(const struct kernel_build_id *a, const struct kernel_build_id *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

const char *kernel_build_id_format(const struct kernel_build_id *id, char *buf, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < id->len && n + 3 <= size; i++, n += 2)
		snprintf(buf + n, 3, "%02x", id->bytes[i]);
	if (size)
		buf[n] = '\0';
	return buf;
}

/* If the file is compressed, as modules of distributions are, unpack it, and let img->map be the unpacked contents. */
static int unpack(struct kernel_image *img, int fd, size_t *size)
{
	Elf *packed = dwelf_elf_begin(fd);
	const char *bytes = packed ? elf_rawfile(packed, size) : NULL;
	const Elf64_Ehdr *ehdr = bytes ? elf64_getehdr(packed) : NULL;
	void *map = NULL;
	int err = -ENOEXEC;

	if (ehdr && ehdr->e_type == ET_REL)
		err = map_copy(bytes, *size, img->path, &map);
	elf_end(packed);
	map_release(img->map);
	img->map = map;
	return err;
}

/*
 * Map and open the ELF file FD. The map ends with zeros, because libdw assumes that strings in .debug_info end with a NUL, which a
 * damaged file may lack. The map is writable, because libelf changes the headers of sections that it unpacks.
 */
static int open_elf(struct kernel_image *img, int fd)
{
	size_t size;
	int err = map_file(fd, img->path, sizeof(Elf64_Ehdr), INT64_MAX, &img->map, &size);

	elf_version(EV_CURRENT);
	if (!err && memcmp(img->map, ELFMAG, SELFMAG))
		err = unpack(img, fd, &size);
	if (err)
		return err;
	img->elf = elf_memory(img->map, size);
	return img->elf ? 0 : -ENOEXEC;
}

static void read_section(struct kernel_image *img, Elf_Scn *scn, const char *name)
{
	const Elf64_Shdr *shdr = elf64_getshdr(scn);
	Elf_Data *data;

	if (!shdr)
		return;
	img->has_code |= shdr->sh_flags & SHF_EXECINSTR && shdr->sh_type != SHT_NOBITS;
	if (!strcmp(name, ".text"))
		img->text_addr = shdr->sh_addr;
	else if (!strcmp(name, ".gnu.linkonce.this_module"))
		img->is_module = true;
	else if (shdr->sh_type == SHT_SYMTAB || (shdr->sh_type == SHT_DYNSYM && !img->symtab_scn))
		img->symtab_scn = scn;
	else if (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info"))
		img->has_dwarf = shdr->sh_type != SHT_NOBITS && shdr->sh_size > 0;
	else if (shdr->sh_type == SHT_NOTE && !img->id.len) {
		data = elf_rawdata(scn, NULL);
		if (data && data->d_buf)
			find_build_id(data->d_buf, data->d_size, &img->id);
	}
}

static int read_sections(struct kernel_image *img)
{
	const char *ident = elf_getident(img->elf, NULL);
	const Elf64_Ehdr *ehdr;
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_kind(img->elf) != ELF_K_ELF || !ident || ident[EI_CLASS] != ELFCLASS64 ||
	    ident[EI_DATA] != NATIVE_DATA)
		return -ENOEXEC;
	ehdr = elf64_getehdr(img->elf);
	if (!ehdr || (ehdr->e_type != ET_EXEC && ehdr->e_type != ET_DYN && ehdr->e_type != ET_REL))
		return -ENOEXEC;
	/* libelf returns pointers into the map, so section headers must be aligned. */
	if (ehdr->e_shoff % sizeof(uint64_t))
		return -ENOEXEC;
	if (elf_getshdrstrndx(img->elf, &names))
		return -ENOEXEC;
	while ((scn = elf_nextscn(img->elf, scn)) != NULL) {
		const Elf64_Shdr *shdr = elf64_getshdr(scn);
		const char *name = shdr ? elf_strptr(img->elf, names, shdr->sh_name) : NULL;

		read_section(img, scn, name ? name : "");
	}
	return ehdr->e_type != ET_REL ? 0 : img->is_module ? kernel_image_link(img) : -ENOEXEC;
}

static int image_open(const char *path, bool owned, struct kernel_image **out)
{
	int fd = file_open(path, owned), err;
	struct kernel_image *img;

	*out = NULL;
	if (fd < 0)
		return fd;
	img = alloc_new(struct kernel_image);
	img->path = alloc_strdup(path);
	err = open_elf(img, fd);
	close(fd);
	if (!err)
		err = read_sections(img);
	if (err) {
		kernel_image_destroy(img);
		return err;
	}
	*out = img;
	return 0;
}

int kernel_image_try(const char *path, struct kernel_image **out)
{
	return image_open(path, true, out);
}

static int report_open(const char *path, int err)
{
	if (err == -ENOEXEC)
		log_error("%s is not a vmlinux: not a linked 64-bit ELF file of this architecture",
			  path);
	else if (err)
		log_error("cannot open %s: %s", path, file_strerror(err));
	return err;
}

int kernel_image_open(const char *path, struct kernel_image **out)
{
	return report_open(path, image_open(path, false, out));
}

void kernel_image_destroy(struct kernel_image *img)
{
	if (!img)
		return;
	dwarf_end(img->dwarf);
	kernel_image_destroy(img->debug);
	kernel_symtab_destroy(img->symtab);
	dwfl_end(img->dwfl);
	elf_end(img->elf);
	free(img->layout);
	map_release(img->map);
	free(img->path);
	free(img);
}

const char *kernel_image_path(const struct kernel_image *img)
{
	return img->path;
}

const struct kernel_build_id *kernel_image_build_id(const struct kernel_image *img)
{
	return &img->id;
}

bool kernel_image_has_symtab(const struct kernel_image *img)
{
	return img->symtab_scn != NULL;
}

bool kernel_image_has_dwarf(const struct kernel_image *img)
{
	return img->has_dwarf;
}

Elf *kernel_image_elf(const struct kernel_image *img)
{
	return img->elf;
}

uint64_t kernel_image_section_address(const struct kernel_image *img, Elf_Scn *scn)
{
	const Elf64_Shdr *s = elf64_getshdr(scn);

	if (!s || !(s->sh_flags & SHF_ALLOC))
		return 0;
	return img->is_module ? img->layout[elf_ndxscn(scn)] : s->sh_addr;
}

Elf *kernel_image_dwarf_elf(const struct kernel_image *img)
{
	return img->dwarf_elf ? img->dwarf_elf : img->elf;
}

Dwarf *kernel_image_dwarf(struct kernel_image *img)
{
	if (!img->dwarf && img->has_dwarf)
		img->dwarf = dwarf_begin_elf(kernel_image_dwarf_elf(img), DWARF_C_READ, NULL);
	return img->dwarf;
}

bool kernel_is_release(const char *name)
{
	return name && *name && *name != '.' && strlen(name) <= RELEASE_MAX &&
	       !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				  "0123456789._+~-")];
}

static bool fits(const struct kernel_image *img, const struct kernel_build_id *id)
{
	return !id || !id->len || kernel_build_id_equal(&img->id, id);
}

static int open_asked(const char *path, bool owned, const char *release,
		      const struct kernel_build_id *id, struct kernel_image **out)
{
	char want[2 * KERNEL_BUILD_ID_MAX + 1], have[2 * KERNEL_BUILD_ID_MAX + 1];
	int err = report_open(path, image_open(path, owned, out));

	if (err || fits(*out, id))
		return err;
	kernel_build_id_format(id, want, sizeof(want));
	kernel_build_id_format(&(*out)->id, have, sizeof(have));
	log_error("%s is of a different build than the kernel%s%s: build-id %s, not %s", path,
		  release ? " " : "", release ? release : "", *have ? have : "none", want);
	kernel_image_destroy(*out);
	*out = NULL;
	return -EINVAL;
}

/* Append to *WHY that the file PATH cannot be used because of WHAT. */
static void tried(char **why, const char *path, const char *what)
{
	alloc_append(why, "%s%s %s", *why ? ", " : "", path, what);
}

/*
 * Try one of the usual paths. *OUT keeps an image without DWARF only until one with DWARF is found. Return true if *OUT has DWARF:
 * the search can end.
 */
static bool try_place(const char *path, const struct kernel_build_id *id, struct kernel_image **out,
		      char **why)
{
	struct kernel_image *img;
	int err = kernel_image_try(path, &img);

	if (err) {
		if (err != -ENOENT && err != -ENOTDIR)
			tried(why, path, err == -ENOEXEC ? "is not a vmlinux" : file_strerror(err));
		return false;
	}
	if (!fits(img, id)) {
		tried(why, path, "is of a different build");
	} else if (img->has_dwarf || !*out) {
		kernel_image_destroy(*out);
		*out = img;
		return img->has_dwarf;
	}
	kernel_image_destroy(img);
	return false;
}

char *kernel_lab_path(const char *below)
{
	const char *lab = getenv("KPROTPERF_LAB"), *home = getenv("HOME");

	return lab && *lab ? alloc_printf("%s%s", lab, below) :
			     alloc_printf("%s/.cache/kprotperf/lab%s", home ? home : "", below);
}

int kernel_image_find(const char *explicit_path, const char *release,
		      const struct kernel_build_id *id, struct kernel_image **out, char **why_not)
{
	static const struct {
		const char *before, *after;
	} places[] = {
		{ "/usr/lib/debug/boot/vmlinux-", "" },
		{ "/usr/lib/debug/lib/modules/", "/vmlinux" },
		{ "/lib/modules/", "/build/vmlinux" },
		{ "/lib/modules/", "/vmlinux" },
		{ "/boot/vmlinux-", "" },
	};
	const char *asked = explicit_path ? explicit_path : getenv("KPROTPERF_VMLINUX");
	char hex[2 * KERNEL_BUILD_ID_MAX + 1];
	scoped_free char *why = NULL;
	bool done = false;

	*out = NULL;
	if (why_not)
		*why_not = NULL;
	if (asked && *asked)
		return open_asked(asked, !explicit_path, release, id, out);
	for (size_t i = 0; kernel_is_release(release) && i < ARRAY_SIZE(places) && !done; i++) {
		scoped_free char *path =
			alloc_printf("%s%s%s", places[i].before, release, places[i].after);

		done = try_place(path, id, out, &why);
	}
	if (!done && id && id->len > 1) {
		scoped_free char *path =
			alloc_printf("/usr/lib/debug/.build-id/%.2s/%s.debug",
				     kernel_build_id_format(id, hex, sizeof(hex)), hex + 2);

		try_place(path, id, out, &why);
	}
	if (!*out && why_not)
		*why_not = alloc_printf("no vmlinux of %s below /usr/lib/debug, /lib/modules or "
					"/boot%s%s%s",
					release ? release : "this kernel", why ? " (" : "",
					why ? why : "", why ? ")" : "");
	return 0;
}

static int read_rule(const Dwarf_Op *ops, size_t n, struct kernel_frame_base *base)
{
	int reg;

	if (n != 1)
		return -ENOTSUP;
	if (ops->atom == DW_OP_bregx) {
		reg = ops->number;
		base->offset = ops->number2;
	} else if (ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31) {
		reg = ops->atom - DW_OP_breg0;
		base->offset = ops->number;
	} else {
		return -ENOTSUP;
	}
	if (reg != ARCH_DWARF_SP && reg != ARCH_DWARF_FP)
		return -ENOTSUP;
	base->from_fp = reg == ARCH_DWARF_FP;
	return 0;
}

int kernel_image_frame_base(struct kernel_image *img, uint64_t addr, struct kernel_frame_base *base)
{
	Dwarf *dwarf = kernel_image_dwarf(img);
	Dwarf_CFI *cfi = dwarf ? dwarf_getcfi(dwarf) : NULL;
	scoped_free Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t n;

	if (!cfi)
		return -ENODATA;
	if (dwarf_cfi_addrframe(cfi, addr + kernel_image_base(img), &frame) ||
	    dwarf_frame_cfa(frame, &ops, &n))
		return -ENOENT;
	return read_rule(ops, n, base);
}
