// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/debuginfo/source.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/number.h"
#include "kernel/debuginfo/path.h"
#include "kernel/image/image_elf.h"

/* The kernel's largest source file, generated register descriptions left out, has 0.5 MB. */
#define MAX_FILE ((size_t)32 << 20)

struct file {
	char *name, *text; /* TEXT is NULL where it cannot be read; line ends have become NULs */
	vec_of(char *, lines); /* [0] is the first */
};

struct kernel_source {
	/* With a slash at their end: files beside the image, the tree, what was generated; NULL: not known. */
	char *beside, *dirs[2];
	vec_of(struct file, files);
};

/* --- where it is ---------------------------------------------------------------------------- */

/* Has P been told of the tree's place by this unit? */
static bool tell_unit(struct paths *p, Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	kernel_paths_unit(p, dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attr)),
			  dwarf_diename(die));
	return kernel_paths_source_root(p) != NULL;
}

/* The folder of the source DIE of a module, which may be apart from the kernel's, as "/home/me/module/"; else NULL. */
static char *folder_of(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die), *slash = name ? strrchr(name, '/') : NULL;

	return slash && *name == '/' ? alloc_strndup(name, (size_t)(slash - name) + 1) : NULL;
}

/* The kernel's units come with init/main.c among the first, so this reads little. */
static void find_dirs(struct kernel_source *s, struct kernel_image *img)
{
	bool is_module = elf64_getehdr(kernel_image_elf(img))->e_type == ET_REL;
	struct paths *p = kernel_paths_create();
	Dwarf *dw = kernel_image_dwarf(img);
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (dw && !dwarf_get_units(dw, cu, &cu, NULL, &type, &die, NULL)) {
		if (type == DW_UT_compile && tell_unit(p, &die))
			break;
		if (type == DW_UT_compile && is_module && !s->dirs[0])
			s->dirs[0] = folder_of(&die);
	}
	if (kernel_paths_source_root(p) && !s->dirs[0])
		s->dirs[0] = alloc_strdup(kernel_paths_source_root(p));
	if (s->dirs[0] && kernel_paths_build_root(p))
		s->dirs[1] = alloc_strdup(kernel_paths_build_root(p));
	kernel_paths_destroy(p);
}

/* The folder "source" beside IMG has files that are not in the tree as they were compiled. */
static char *find_beside(const struct kernel_image *img)
{
	const char *path = kernel_image_path(img), *slash = strrchr(path, '/');

	return alloc_printf("%.*ssource/", slash ? (int)(slash - path) + 1 : 0, path);
}

struct kernel_source *kernel_source_create(struct kernel_image *img, const char *dir)
{
	struct kernel_source *s = alloc_new(struct kernel_source);

	if (dir) {
		s->dirs[0] = alloc_printf("%s/", dir);
	} else {
		s->beside = find_beside(img);
		find_dirs(s, img);
	}
	if (s->dirs[0] && access(s->dirs[0], R_OK | X_OK)) {
		free(s->dirs[0]);
		s->dirs[0] = NULL;
	}
	return s;
}

static void file_deinit(struct file *f)
{
	free(f->name);
	free(f->text);
	free(f->lines);
}

void kernel_source_destroy(struct kernel_source *s)
{
	if (!s)
		return;
	while (s->n_files)
		file_deinit(&s->files[--s->n_files]);
	free(s->files);
	free(s->beside);
	free(s->dirs[0]);
	free(s->dirs[1]);
	free(s);
}

const char *kernel_source_dir(const struct kernel_source *s)
{
	return s->dirs[0];
}

/* The number in the Makefile's TEXT that the line "NAME = " sets; UINT64_MAX where there is none. */
static uint64_t makefile_number(const char *text, const char *name)
{
	size_t len = strlen(name);
	uint64_t number;

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (strncmp(text, name, len))
			continue;
		text += len;
		text += strspn(text, " \t=");
		if (number_scan(&text, &number))
			return number;
	}
	return UINT64_MAX;
}

bool kernel_source_fits(const struct kernel_source *s, const char *release)
{
	scoped_free char *path = s->dirs[0] ? alloc_printf("%sMakefile", s->dirs[0]) : NULL,
			 *text = NULL;
	unsigned int want[3];
	bool fits = true;
	size_t len;

	if (path && release && number_version(release, want) >= 2 &&
	    !file_read(path, MAX_FILE, &text, &len)) {
		uint64_t version = makefile_number(text, "VERSION");

		fits = version == UINT64_MAX ||
		       (version == want[0] && makefile_number(text, "PATCHLEVEL") == want[1] &&
			makefile_number(text, "SUBLEVEL") == want[2]);
	}
	return fits;
}

/* --- lines ---------------------------------------------------------------------------------- */

/* A name that comes out of a file of ours must not lead out of the tree. */
static bool is_within(const char *name)
{
	size_t len = strlen(name);

	return *name && *name != '/' && strncmp(name, "../", 3) && !strstr(name, "/../") &&
	       !(len >= 3 && !strcmp(name + len - 3, "/.."));
}

static void split_lines(struct file *f, size_t len)
{
	char *line = f->text, *end = f->text + len;

	while (line < end) {
		char *newline = memchr(line, '\n', (size_t)(end - line));

		if (!newline)
			newline = end;
		*newline = '\0';
		vec_push(f, lines, line);
		line = newline + 1;
	}
}

static bool read_below(const struct kernel_source *s, const char *name, char **text, size_t *len)
{
	const char *const dirs[] = { s->beside, s->dirs[0], s->dirs[1] };
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(dirs) && !found && is_within(name); i++) {
		scoped_free char *path = dirs[i] ? alloc_printf("%s%s", dirs[i], name) : NULL;

		found = path && !file_read(path, MAX_FILE, text, len);
	}
	return found;
}

/* A module's DWARF does not tell where the tree is, and where its source was: the end of that name is looked for. */
static struct file *open_file(struct kernel_source *s, const char *name)
{
	struct file f = { .name = alloc_strdup(name) };
	const char *end = name;
	bool found;
	size_t len;

	while (!(found = read_below(s, end, &f.text, &len)) && *name == '/' && strchr(end, '/'))
		end = strchr(end, '/') + 1;
	if (!found)
		f.text = NULL;
	else
		split_lines(&f, len);
	vec_push(s, files, f);
	return &s->files[s->n_files - 1];
}

const char *kernel_source_line(struct kernel_source *s, const char *file, uint32_t line)
{
	struct file *f = NULL;

	if (!file || !line || !s->dirs[0])
		return NULL;
	for (uint32_t i = 0; i < s->n_files && !f; i++)
		if (!strcmp(s->files[i].name, file))
			f = &s->files[i];
	if (!f)
		f = open_file(s, file);
	return line <= f->n_lines ? f->lines[line - 1] : NULL;
}
