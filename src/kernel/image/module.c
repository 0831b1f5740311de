// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel modules are relocatable files. The functions here lay out a module's code like the kernel's module loader, and let
 * libdwfl link the module in memory. Then the module can be used like a vmlinux.
 */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fts.h>
#include <glob.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "kernel/image/image_impl.h"

/* Address of a module's code. It is not 0, because libdwfl takes 0 for "none". */
#define MODULE_TEXT 0x1000000u
/* Gap between the code and all other sections (data and init code). */
#define MODULE_GAP 0x100000u

/* Return whether S has code that stays after init. The kernel loads such sections one after the other, in the file's order. */
static bool is_core_code(const Elf64_Shdr *s, const char *name)
{
	return s->sh_flags & SHF_ALLOC && s->sh_flags & SHF_EXECINSTR &&
	       strncmp(name, ".init", strlen(".init")) != 0;
}

/* Lay out sections from AT on: if CORE, those with code that stays after init, else the other loaded ones. Return their end. */
static uint64_t lay_out(struct kernel_image *img, bool core, uint64_t at)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(img->elf, &names))
		return at;
	while ((scn = elf_nextscn(img->elf, scn)) != NULL) {
		const Elf64_Shdr *s = elf64_getshdr(scn);
		const char *name = s ? elf_strptr(img->elf, names, s->sh_name) : NULL;
		uint64_t align = s && s->sh_addralign ? s->sh_addralign : 1;

		if (!name || !(s->sh_flags & SHF_ALLOC) || is_core_code(s, name) != core)
			continue;
		if (align > MODULE_GAP || s->sh_size > MODULE_TEXT)
			continue; /* damaged file: no real section is so large */
		at = (at + align - 1) / align * align;
		img->layout[elf_ndxscn(scn)] = at;
		at += s->sh_size;
	}
	return at;
}

static int find_elf(Dwfl_Module *mod, void **image, const char *name, Dwarf_Addr base, char **file,
		    Elf **elf)
{
	const struct kernel_image *img = *image;

	(void)mod;
	(void)name;
	(void)base;
	*file = strdup(img->path);
	*elf = elf_begin(-1, ELF_C_READ, img->elf); /* libdwfl drops this reference */
	return -1;
}

static int section_address(Dwfl_Module *mod, void **image, const char *name, Dwarf_Addr base,
			   const char *section, GElf_Word index, const GElf_Shdr *s,
			   Dwarf_Addr *addr)
{
	const struct kernel_image *img = *image;

	(void)mod;
	(void)name;
	(void)base;
	(void)section;
	(void)s;
	*addr = index < img->n_sections && img->layout[index] ? img->layout[index] : (Dwarf_Addr)-1;
	return 0;
}

/* Set *ADDR to the address of symbol NUMBER of SYMTAB in the layout. Return false if the symbol has none. */
static bool symbol_address(const struct kernel_image *img, const Elf_Data *symtab, uint64_t number,
			   uint64_t *addr)
{
	const Elf64_Sym *sym = (const Elf64_Sym *)symtab->d_buf + number;

	if (number >= symtab->d_size / sizeof(*sym) || sym->st_shndx >= img->n_sections)
		return false;
	*addr = sym->st_shndx == SHN_UNDEF ? MODULE_EXTERN + number * MODULE_EXTERN_STEP :
					     img->layout[sym->st_shndx] + sym->st_value;
	return sym->st_shndx == SHN_UNDEF || img->layout[sym->st_shndx];
}

static void relocate_section(struct kernel_image *img, const Elf64_Shdr *s, const Elf_Data *relas)
{
	Elf_Scn *to = elf_getscn(img->elf, s->sh_info), *from = elf_getscn(img->elf, s->sh_link);
	Elf_Data *code = to ? elf_rawdata(to, NULL) : NULL;
	Elf_Data *symtab = from ? elf_getdata(from, NULL) : NULL;
	const uint64_t base = s->sh_info < img->n_sections ? img->layout[s->sh_info] : 0;

	if (!base || !code || !code->d_buf || !symtab || symtab->d_type != ELF_T_SYM)
		return;
	for (size_t i = 0; i < relas->d_size / sizeof(Elf64_Rela); i++) {
		const Elf64_Rela *r = (const Elf64_Rela *)relas->d_buf + i;
		uint64_t value;

		if (code->d_size < sizeof(uint32_t) ||
		    r->r_offset > code->d_size - sizeof(uint32_t) ||
		    !symbol_address(img, symtab, ELF64_R_SYM(r->r_info), &value))
			continue;
		arch_relocate(ELF64_R_TYPE(r->r_info), value + (uint64_t)r->r_addend,
			      base + r->r_offset, (uint8_t *)code->d_buf + r->r_offset);
	}
}

/* Apply the PC-relative relocations of code, which libdwfl leaves out. */
static void relocate(struct kernel_image *img)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(img->elf, scn)) != NULL) {
		const Elf64_Shdr *s = elf64_getshdr(scn);
		Elf_Data *relas = s && s->sh_type == SHT_RELA ? elf_getdata(scn, NULL) : NULL;

		if (relas && relas->d_buf && relas->d_type == ELF_T_RELA)
			relocate_section(img, s, relas);
	}
}

int kernel_image_link(struct kernel_image *img)
{
	static const Dwfl_Callbacks callbacks = { .find_elf = find_elf,
						  .find_debuginfo = dwfl_standard_find_debuginfo,
						  .section_address = section_address };
	Dwfl_Module *mod;
	Dwarf_Addr bias;
	Dwarf *dwarf;
	void **image;

	if (elf_getshdrnum(img->elf, &img->n_sections))
		return -ENOEXEC;
	img->layout = alloc_array(img->n_sections, sizeof(*img->layout));
	lay_out(img, false, lay_out(img, true, MODULE_TEXT) + MODULE_GAP);
	img->dwfl = dwfl_begin(&callbacks);
	if (!img->dwfl)
		return -ENOMEM;
	mod = dwfl_report_module(img->dwfl, "module", MODULE_TEXT, 2 * MODULE_TEXT);
	if (!mod || !dwfl_module_info(mod, &image, NULL, NULL, NULL, NULL, NULL, NULL))
		return -ENOMEM;
	*image = img;
	dwfl_report_end(img->dwfl, NULL, NULL);
	if (!dwfl_module_getelf(mod, &bias))
		return -ENOEXEC;
	relocate(img);
	dwarf = dwfl_module_getdwarf(mod, &bias);
	img->has_dwarf = dwarf != NULL;
	img->dwarf_elf = dwarf ? dwarf_getelf(dwarf) : NULL;
	return 0;
}

int kernel_module_build_id(const char *name, struct kernel_build_id *id)
{
	scoped_free char *notes = alloc_printf("/sys/module/%s/notes/.note.gnu.build-id", name);

	return kernel_build_id_read(notes, id);
}

/*
 * Return whether FILE is a file of the module NAME, such as "nf_tables.ko", "nf-tables.ko.debug" or "nf-tables.ko.xz". An
 * underscore in NAME may be a hyphen in FILE.
 */
static bool is_of_module(const char *file, const char *name)
{
	while (*name && (*file == *name || (*file == '-' && *name == '_'))) {
		file++;
		name++;
	}
	return !*name && !strncmp(file, ".ko", 3) && (!file[3] || file[3] == '.');
}

/*
 * Join two files of one module. Return the file that has the code. If only the other file has DWARF, the returned file uses that
 * DWARF, and owns the other file. If not, destroy the other file.
 */
static struct kernel_image *join(struct kernel_image *a, struct kernel_image *b)
{
	struct kernel_image *code = a->has_code ? a : b, *other = code == a ? b : a;

	if (code->has_dwarf || !other->has_dwarf) {
		kernel_image_destroy(other);
		return code;
	}
	code->debug = other;
	code->has_dwarf = true;
	code->dwarf_elf = kernel_image_dwarf_elf(other);
	return code;
}

/* Open the file PATH. If its build-id is ID, join the file to *OUT. */
static void try_file(const char *path, const struct kernel_build_id *id, struct kernel_image **out)
{
	struct kernel_image *img;
	int err = kernel_image_try(path, &img);

	if (err && err != -ENOENT)
		log_verbose(1, "cannot read module %s: %s", path,
			    err == -ENOEXEC ? "not an ELF file, or compressed in a way that libdw "
					      "does not support" :
					      file_strerror(err));
	if (err)
		return;
	if (!kernel_build_id_equal(kernel_image_build_id(img), id)) {
		kernel_image_destroy(img);
		return;
	}
	*out = *out ? join(*out, img) : img;
}

static bool is_whole(const struct kernel_image *img)
{
	return img && img->has_code && img->has_dwarf;
}

static void search(const char *folder, const char *name, const struct kernel_build_id *id,
		   struct kernel_image **out)
{
	char *const folders[] = { (char *)folder, NULL };
	FTS *fts = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	FTSENT *entry;

	while (fts && !is_whole(*out) && (entry = fts_read(fts)) != NULL)
		if (is_of_module(entry->fts_name, name))
			try_file(entry->fts_path, id, out);
	if (fts)
		fts_close(fts);
}

/*
 * Search the modules that scripts/lab has built or fetched. Begin below the folders "modules": in a guest the link count of a
 * folder may be out of date, and fts_read() visits only as many subfolders as the link count says.
 */
static void search_lab(const char *name, const char *release, const struct kernel_build_id *id,
		       struct kernel_image **out)
{
	scoped_free char *below = alloc_printf(
		"/{kernels/*/modules/*,stock/versions/*/{lib,debug}/modules/%s}", release);
	scoped_free char *pattern = kernel_lab_path(below);
	glob_t found = { 0 };

	if (!glob(pattern, GLOB_BRACE, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			search(found.gl_pathv[i], name, id, out);
	globfree(&found);
}

struct kernel_image *kernel_module_find(const char *name, const char *release,
					const struct kernel_build_id *id)
{
	/* Folders of modules, and of debug files. From a module, libdwfl also finds a debug file that a package has installed. */
	static const char *const folders[2] = { "/lib/modules", "/usr/lib/debug/lib/modules" };
	struct kernel_image *img = NULL;

	if (id->len < 2 || !kernel_is_release(release))
		return NULL;
	for (int i = 0; i < 2; i++) {
		scoped_free char *folder = alloc_printf("%s/%s", folders[i], release);

		search(folder, name, id, &img);
	}
	search_lab(name, release, id, &img);
	return img;
}
