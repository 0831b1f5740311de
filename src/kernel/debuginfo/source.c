// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/debuginfo/source.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/number.h"
#include "kernel/image/image_elf.h"

/*
 * Names of source files relative to the kernel's tree. DWARF names files as the compiler's command line does: absolute, relative
 * to the build's folder, through "..", or without a prefix that an option removes, as in distributions. Recordings of two kernels
 * can be compared if "/build/linux-6.1/obj/../mm/slub.c", "./mm/slub.c" and "mm/slub.c" all become "mm/slub.c".
 */

/* Each kernel has this file; its path tells where the tree is. */
#define ANCHOR "init/main.c"

/* Maximum length of a file's name in bytes. PATH_MAX is smaller. */
#define MAX_PATH 8192

struct entry {
	char *raw, *relative;
};

struct paths {
	char *source_root, *build_root; /* normalized, with a slash at the end; NULL: not known */
	vec_of(struct entry, entries);
	struct hash_index by_raw; /* finds an entry by its RAW */
};

struct paths *kernel_paths_create(void)
{
	return alloc_new(struct paths);
}

void kernel_paths_destroy(struct paths *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->n_entries; i++) {
		free(p->entries[i].raw);
		free(p->entries[i].relative);
	}
	free(p->entries);
	hash_deinit(&p->by_raw);
	free(p->source_root);
	free(p->build_root);
	free(p);
}

/* Return PATH without "//" and ".", and without each folder that ".." follows. The caller frees the result. */
static char *normalize(const char *path)
{
	char *out = alloc_array(strlen(path) + 2, 1), *end = out;
	bool absolute = *path == '/';

	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && !memcmp(path, "..", 2)) {
			char *last = end;

			/* END is after a slash, or at the start. */
			while (last > out && last[-1] == '/')
				last--;
			while (last > out && last[-1] != '/')
				last--;
			if (end == out || (end - last == 3 && !memcmp(last, "../", 3))) {
				if (!absolute) {
					memcpy(end, "../", 3);
					end += 3;
				}
			} else {
				end = last;
			}
		} else if (len && !(len == 1 && *path == '.')) {
			if (absolute && end == out)
				*end++ = '/';
			memcpy(end, path, len);
			end += len;
			*end++ = '/';
		}
		path += len;
		path += strspn(path, "/");
	}
	if (end > out && end[-1] == '/')
		end--;
	*end = '\0';
	return out;
}

static char *join(const char *dir, const char *name)
{
	scoped_free char *joined =
		*name == '/' || !dir ? alloc_strdup(name) : alloc_printf("%s/%s", dir, name);

	return normalize(joined);
}

void kernel_paths_unit(struct paths *p, const char *dir, const char *name)
{
	size_t len = name ? strlen(name) : 0, anchor = strlen(ANCHOR);
	bool is_anchor = len >= anchor && !strcmp(name + len - anchor, ANCHOR) &&
			 (len == anchor || name[len - anchor - 1] == '/');
	char *path;

	if (p->source_root || len > MAX_PATH || (dir && strlen(dir) > MAX_PATH))
		return;
	if (dir && (is_anchor || !p->build_root)) {
		path = normalize(dir);
		free(p->build_root);
		p->build_root = alloc_printf("%s/", path);
		free(path);
	}
	if (!is_anchor)
		return;
	path = join(dir, name);
	path[strlen(path) - anchor] = '\0';
	p->source_root = path;
}

static bool has_prefix(const char *path, const char *prefix)
{
	return prefix && !strncmp(path, prefix, strlen(prefix));
}

static char *relative(const struct paths *p, const char *raw)
{
	char *path = normalize(raw);
	size_t skip = 0;

	if (has_prefix(path, p->source_root))
		skip = strlen(p->source_root);
	else if (has_prefix(path, p->build_root))
		skip = strlen(p->build_root);
	memmove(path, path + skip, strlen(path + skip) + 1);
	return path;
}

static bool is_raw(const void *ctx, uint32_t item, const void *raw)
{
	const struct paths *p = ctx;

	return !strcmp(p->entries[item].raw, raw);
}

const char *kernel_paths_relative(struct paths *p, const char *raw)
{
	uint32_t found;

	if (strnlen(raw, MAX_PATH) == MAX_PATH)
		return NULL;
	found = hash_find_or_add(&p->by_raw, hash_string(raw), is_raw, p, raw, p->n_entries);
	if (found == p->n_entries)
		vec_push(p, entries, ((struct entry){ alloc_strdup(raw), relative(p, raw) }));
	return p->entries[found].relative;
}

/* Maximum size of a source file in bytes. The kernel's largest has 0.5 MB, apart from generated register descriptions. */
#define MAX_FILE ((size_t)32 << 20)

struct file {
	char *name, *text; /* TEXT, with a NUL at each line's end; TEXT is NULL if unreadable */
	vec_of(char *, lines); /* lines[0] is line 1 */
};

struct kernel_source {
	/* Folders with a slash at the end, or NULL: BESIDE is next to the image; DIRS are the tree and the generated files. */
	char *beside, *dirs[2];
	vec_of(struct file, files);
};

/* Tell P the file and folder of the unit DIE. Return whether P now knows the folder of the kernel's tree. */
static bool tell_unit(struct paths *p, Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	kernel_paths_unit(p, dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attr)),
			  dwarf_diename(die));
	return p->source_root != NULL;
}

/* Return the folder of a module's source file DIE, such as "/home/me/module/", or NULL if its name is not absolute. */
static char *folder_of(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die), *slash = name ? strrchr(name, '/') : NULL;

	return slash && *name == '/' ? alloc_strndup(name, (size_t)(slash - name) + 1) : NULL;
}

/* Find the folders of the tree and of generated files. The unit of init/main.c, which tells them, is among the first. */
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
	if (p->source_root && !s->dirs[0])
		s->dirs[0] = alloc_strdup(p->source_root);
	if (s->dirs[0] && p->build_root)
		s->dirs[1] = alloc_strdup(p->build_root);
	kernel_paths_destroy(p);
}

/* Return the folder "source" next to the file of IMG. Files there replace tree files that do not match the compiled version. */
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

/* Return the number in the line "NAME = " of TEXT, a Makefile; UINT64_MAX: no such line. */
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

/* Return whether NAME, which comes from an untrusted file, stays within the tree. */
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

/* Open the file NAME. If NAME is absolute, also try NAME without its first folders: a module's DWARF does not tell the tree. */
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

	if (!file || !line)
		return NULL;
	for (uint32_t i = 0; i < s->n_files && !f; i++)
		if (!strcmp(s->files[i].name, file))
			f = &s->files[i];
	if (!f)
		f = open_file(s, file);
	return line <= f->n_lines ? f->lines[line - 1] : NULL;
}
