// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/collect/user.h"

#include <dirent.h>
#include <linux/types.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/sorted.h"
#include "kernel/image/image.h"
#include "kprotperf/engine.h"

#define MAX_MAPS      (16u << 20)
#define MAX_PROCESSES 256 /* whose maps are read */
#define MAX_ENVS      2048 /* of a file's 4096 */
#define PAGE_MASK     4095ull /* files are mapped at whole pages */

/* ---- files of the build-ids that stacks have ---- */

struct search {
	struct profile *p;
	vec_of(const char *, missing); /* build-ids, as the modules of locations have them */
	vec_of(char *, dirs); /* of libraries that this program has itself */
	vec_of(struct stat, tried); /* folders, which have several names: /bin is /usr/bin */
	bool keeps_dirs;
};

static void module_of(const uint8_t *build_id, char *module)
{
	int n = sprintf(module, "%s", PROFILE_MODULE_USER);

	for (int i = 0; i < ENGINE_BUILD_ID; i++)
		n += sprintf(module + n, "%02x", build_id[i]);
}

static void try_file(struct search *s, const char *path)
{
	scoped(kernel_image_destroy_at) struct kernel_image *img = NULL;
	scoped_free char *found = NULL;
	uint8_t id[KERNEL_BUILD_ID_MAX] = { 0 };
	char module[sizeof(PROFILE_MODULE_USER) + 2 * ENGINE_BUILD_ID];

	if (!s->n_missing || kernel_image_try(path, &img))
		return;
	memcpy(id, kernel_image_build_id(img)->bytes, kernel_image_build_id(img)->len);
	module_of(id, module);
	for (uint32_t i = 0; i < s->n_missing; i++) {
		if (strcmp(s->missing[i], module) != 0)
			continue;
		if ((found = realpath(path, NULL)) && s->p->n_envs < MAX_ENVS)
			profile_user_file_set(s->p, module, found);
		s->missing[i] = s->missing[--s->n_missing];
		return;
	}
}

static bool is_tried(struct search *s, DIR *dir)
{
	struct stat st;

	if (fstat(dirfd(dir), &st))
		return true;
	vec_each(const struct stat, t, s, tried)
		if (t->st_dev == st.st_dev && t->st_ino == st.st_ino)
			return true;
	vec_push(s, tried, st);
	return false;
}

static void try_dir(struct search *s, const char *path)
{
	DIR *dir = s->n_missing ? opendir(path) : NULL;
	bool tried = dir && is_tried(s, dir);
	struct dirent *entry;

	while (dir && !tried && s->n_missing && (entry = readdir(dir))) {
		scoped_free char *file = alloc_printf("%s/%s", path, entry->d_name);

		if (entry->d_type == DT_REG)
			try_file(s, file);
	}
	if (dir)
		closedir(dir);
}

/* "55d0-55d1 r-xp 00001000 08:01 1234     /usr/bin/true" */
static void try_mapping(char *line, void *arg)
{
	char *path = strchr(line, '/'), *slash;
	struct search *s = arg;

	if (!path || !strstr(line, " r-xp "))
		return;
	try_file(s, path);
	slash = strrchr(path, '/');
	if (s->keeps_dirs && slash > path)
		vec_push(s, dirs, alloc_strndup(path, slash - path));
}

static void try_maps(struct search *s, const char *maps)
{
	char *text;
	size_t len;

	if (!s->n_missing || file_read(maps, MAX_MAPS, &text, &len))
		return;
	file_lines_each(text, len, try_mapping, s);
	free(text);
}

define_compare(tgid_compare, uint32_t, compare_values(*a, *b));

struct tgids {
	uint32_t *items, n_items, cap_items;
};

/* Processes that go on have the files mapped; of those that have ended this program, its command and the usual folders know. */
static void find_files(struct search *s, const struct tgids *tgids)
{
	const char *command = s->p->n_args ? s->p->args[0] : "", *slash = strrchr(command, '/');
	scoped_free char *path = alloc_strdup(getenv("PATH") ?: "");
	char *dir, *rest = path;

	if (slash)
		try_file(s, command);
	for (uint32_t i = 0; i < tgids->n_items && i < MAX_PROCESSES; i++) {
		scoped_free char *maps = alloc_printf("/proc/%u/maps", tgids->items[i]);

		try_maps(s, maps);
	}
	s->keeps_dirs = true;
	try_maps(s, "/proc/self/maps");
	if (slash) {
		scoped_free char *own = alloc_strndup(command, slash - command);

		try_dir(s, own);
	}
	while ((dir = strsep(&rest, ":")))
		try_dir(s, dir);
	for (uint32_t i = 0; i < s->n_dirs; i++)
		try_dir(s, s->dirs[i]);
}

define_compare(name_compare, char *const, strcmp(*a, *b));

static void note_files(const struct record_user *u, struct profile *p, struct tgids *tgids)
{
	struct search s = { .p = p };

	vec_each(const struct record_user_base, b, u, bases)
		if (!profile_user_file(p, b->module))
			vec_push(&s, missing, b->module);
	vec_unite(&s, missing, name_compare, NULL);
	vec_unite(tgids, items, tgid_compare, NULL);
	find_files(&s, tgids);
	while (s.n_dirs)
		free(s.dirs[--s.n_dirs]);
	free(s.dirs);
	free(s.tried);
	free(s.missing);
}

/* ---- addresses ---- */

define_compare(base_compare, struct record_user_base,
	       compare_values(a->layout, b->layout) ?: compare_values(a->start, b->start));

static bool is_placed(const struct engine_user_stack *s, uint32_t i)
{
	return s->placed && s->places[i].status == ENGINE_PLACE_KNOWN &&
	       !((s->ips[i] - s->places[i].offset) & PAGE_MASK);
}

static void add_bases(struct record_user *u, const struct engine_user_stack *s)
{
	for (uint32_t i = 0; i < s->n && i < ENGINE_USER_FRAMES; i++) {
		struct record_user_base base = {
			.layout = s->layout,
			.start = s->ips[i] - s->places[i].offset,
		};

		if (!is_placed(s, i))
			continue;
		module_of(s->places[i].build_id, base.module);
		vec_push(u, bases, base);
	}
}

void record_user_init(struct record_user *u, const struct engine_user_stack *stacks,
		      struct profile *p)
{
	struct tgids tgids = { 0 };
	struct stat st;

	*u = (struct record_user){ .stacks = stacks };
	for (uint32_t i = 0; stacks && i < ENGINE_USER_STACKS; i++) {
		if (!stacks[i].key)
			continue;
		add_bases(u, &stacks[i]);
		vec_push(&tgids, items, stacks[i].tgid);
	}
	vec_unite(u, bases, base_compare, NULL);
	if (u->n_bases)
		note_files(u, p, &tgids);
	free(tgids.items);
	vec_each(struct record_user_base, b, u, bases) {
		const char *path = profile_user_file(p, b->module);

		b->size = path && !stat(path, &st) ? (uint64_t)st.st_size : 0;
	}
}

void record_user_deinit(struct record_user *u)
{
	free(u->bases);
}

/* The file that IP is in, by where other stacks of the layout show that files begin; NULL: none. */
static const struct record_user_base *base_of(const struct record_user *u, uint64_t layout,
					      uint64_t ip)
{
	const struct record_user_base at = { .layout = layout, .start = ip };
	uint32_t n = bisect(u->n_bases, i, base_compare(&u->bases[i], &at) <= 0);
	const struct record_user_base *b = n ? &u->bases[n - 1] : NULL;

	return b && b->layout == layout && ip - b->start < b->size ? b : NULL;
}

uint32_t record_user_locations(const struct record_user *u, struct profile *p, uint32_t number,
			       bool is_exact, uint32_t *locations)
{
	const struct engine_user_stack *s;
	uint32_t n = 0;

	if (!u->stacks || !number || number > ENGINE_USER_STACKS)
		return 0;
	for (s = &u->stacks[number - 1]; n < s->n && n < ENGINE_USER_FRAMES; n++) {
		uint64_t ip = s->ips[n] - !(is_exact && !n);
		const struct record_user_base *b = base_of(u, s->layout, ip);
		struct record_user_base own;

		if (!b && is_placed(s, n)) {
			own.start = s->ips[n] - s->places[n].offset;
			module_of(s->places[n].build_id, own.module);
			b = &own;
		}
		locations[n] = b ? profile_location_add(p, ip - b->start, b->module) :
				   profile_location_add(p, 0, PROFILE_MODULE_USER);
	}
	return n;
}
