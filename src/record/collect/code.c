// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/collect/code.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sorted.h"
#include "base/system/clock.h"
#include "record/engine/engine.h"
#include "record/engine/watch.h"

#define MAX_TABLES   64 /* further tables replace the last one */
#define TABLE_SHARE  20 /* reading tables takes at most 1 / TABLE_SHARE of the time */
#define MAX_JITED    4096 /* maximum number of functions read of a BPF program */
#define MAX_REPORTED 4096 /* maximum number of BPF programs remembered from load events */

/* ---- this recording's own code ---- */

static void add_program(struct record_code *c, int fd)
{
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info), n = 0;
	scoped_free uint64_t *starts = NULL;
	scoped_free uint32_t *lens = NULL;

	if (!bpf_obj_get_info_by_fd(fd, &info, &len))
		n = info.nr_jited_ksyms < MAX_JITED ? info.nr_jited_ksyms : MAX_JITED;
	starts = alloc_array(n, sizeof(*starts));
	lens = alloc_array(n, sizeof(*lens));
	info = (struct bpf_prog_info){ .nr_jited_ksyms = n,
				       .jited_ksyms = (uintptr_t)starts,
				       .nr_jited_func_lens = n,
				       .jited_func_lens = (uintptr_t)lens };
	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		n = 0;
	for (uint32_t i = 0; i < n && starts[i]; i++)
		vec_push(c, own, ((struct record_code_range){ starts[i], starts[i] + lens[i] }));
}

/* kernel.kptr_restrict=2 hides the addresses of own programs. So regard all programs as own that SYMBOLS lack. */
static void add_new_programs(struct record_code *c)
{
	const struct kernel_kallsyms *ks = c->n_tables ? c->tables[0] : c->symbols->ks;
	size_t n;

	vec_each(const struct kernel_sym, sym, ks, syms)
		if (!strncmp(sym->name, "bpf_prog_", 9) && kernel_kallsyms_is_bpf(sym) &&
		    !kernel_kallsyms_named(c->symbols->ks, sym->name, &n))
			vec_push(c, own,
				 ((struct record_code_range){ sym->addr,
							      kernel_kallsyms_end(ks, sym) }));
}

/* Add the name of the trampoline of the link FD: the kernel makes the name from numbers of the traced function. */
static void add_trampoline(struct record_code *c, int fd)
{
	struct bpf_link_info info = {};
	uint32_t len = sizeof(info);

	if (!bpf_obj_get_info_by_fd(fd, &info, &len) && info.type == BPF_LINK_TYPE_TRACING &&
	    info.tracing.target_btf_id)
		alloc_keep(&c->own_names,
			   alloc_printf("bpf_trampoline_%" PRIu64,
					(uint64_t)info.tracing.target_obj_id << 32 | 1u << 31 |
						info.tracing.target_btf_id));
}

/* Find this recording's programs and trampolines among its open descriptors. */
static void find_own(struct record_code *c)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char what[32] = "";

		if (readlinkat(dirfd(dir), entry->d_name, what, sizeof(what) - 1) < 0)
			continue;
		if (!strcmp(what, "anon_inode:bpf-prog"))
			add_program(c, atoi(entry->d_name));
		else if (!strncmp(what, "anon_inode:bpf_link", 19))
			add_trampoline(c, atoi(entry->d_name));
	}
	if (dir)
		closedir(dir);
}

static bool is_own_program(const struct record_code *c, uint64_t addr)
{
	vec_each(const struct record_code_range, r, c, own)
		if (addr >= r->start && addr < r->end)
			return true;
	return false;
}

static bool is_own_trampoline(const struct record_code *c, const struct kernel_sym *sym)
{
	for (uint32_t i = 0; kernel_kallsyms_is_bpf(sym) && i < c->own_names.n_texts; i++) {
		const char *own = c->own_names.texts[i];
		size_t n = strlen(own);

		if (!strncmp(sym->name, own, n) && (!sym->name[n] || sym->name[n] == '_'))
			return true;
	}
	return false;
}

static struct record_place look_up(const struct kernel_kallsyms *ks, uint64_t addr)
{
	struct record_place place = { .ks = ks };

	place.sym = kernel_kallsyms_covering(ks, addr, &place.offset);
	return place;
}

/* Return the latest epoch, EPOCH or earlier, that has its own table. Epoch 0 always has one. */
static uint32_t last_table(const struct record_code *c, uint32_t epoch)
{
	while (!c->tables[epoch])
		epoch--;
	return epoch;
}

/* Return the code that was at ADDR when EPOCH began. The name of removed code counts until other code takes the address. */
static struct record_place known_at_start(const struct record_code *c, uint32_t epoch,
					  uint64_t addr)
{
	uint32_t table = last_table(c, epoch), i = c->n_reports;
	struct record_place place = {}, listed = look_up(c->tables[table], addr);

	while (i && !place.sym) {
		const struct record_code_report *r = &c->reports[--i];

		if (listed.sym && r->epoch < table)
			return listed;
		if (r->epoch < epoch)
			place = look_up(r->ks, addr);
	}
	return place.sym ? place : listed;
}

/* If PLACE has no symbol, set PLACE to OTHER. Return false if both have symbols, and these differ. */
static bool agrees(struct record_place *place, struct record_place other)
{
	if (!place->sym)
		*place = other;
	return !other.sym ||
	       (place->sym->addr == other.sym->addr && !strcmp(place->sym->name, other.sym->name));
}

/* Keep SYM, the symbol of a new program: the kernel may remove the program before the next table is read. */
static void note_reported(struct record_code *c, const struct kernel_sym *sym)
{
	struct record_code_report report = { .epoch = c->n_tables - 1 };
	const uint64_t ends[] = { sym->addr, sym->addr + sym->size - 1 };

	if (!c->n_tables || c->n_reports == MAX_REPORTED)
		return;
	report.ks = kernel_kallsyms_of(sym, 1);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		struct record_place before = record_code_at(c, report.epoch, ends[i]);

		c->replaced |= !agrees(&before, look_up(report.ks, ends[i]));
	}
	vec_push(c, reports, report);
}

/* Ignore removals of code: removed code keeps its name until an event reports new code at the same address. */
static enum bpf_perf_event_ret on_event(void *arg, int cpu, struct perf_event_header *event)
{
	const struct record_ksymbol *e = (const void *)event;
	struct record_code *c = arg;
	size_t room = event->size > sizeof(*e) ? event->size - sizeof(*e) : 0;

	(void)cpu;
	if (event->type != PERF_RECORD_KSYMBOL || strnlen(e->name, room) == room) {
		c->changed = true;
	} else if (!(e->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER)) {
		c->changed = true;
		if (e->type == PERF_RECORD_KSYMBOL_TYPE_BPF)
			note_reported(c, &(struct kernel_sym){ .addr = e->addr,
							       .name = e->name,
							       .module = "bpf",
							       .size = e->len,
							       .type = 't' });
	}
	return LIBBPF_PERF_EVENT_CONT;
}

/* Let input at FD wake the recorder, which polls record_code_fd(). */
static int watch(struct record_code *c, int fd)
{
	struct epoll_event input = { .events = EPOLLIN };

	return epoll_ctl(perf_buffer__epoll_fd(c->events), EPOLL_CTL_ADD, fd, &input);
}

/* The kernel reports BPF programs, trampolines and kprobes' code by ksymbol records, and modules by uevents. */
static void open_events(struct record_code *c)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.ksymbol = 1,
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	const struct sockaddr_nl all = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int n_cpus = libbpf_num_possible_cpus();

	c->map = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, NULL, 4, 4, n_cpus, NULL);
	c->uevents =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
	c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (c->map >= 0)
		c->events = perf_buffer__new_raw(c->map, 1, &attr, on_event, c, NULL);
	if (!c->events)
		log_verbose(1, "the kernel does not report new code: %s", log_strerror(errno));
	else if (bind(c->uevents, (const struct sockaddr *)&all, sizeof(all)) ||
		 watch(c, c->uevents) || watch(c, c->timer))
		log_verbose(1, "the kernel does not report new modules: %s", log_strerror(errno));
}

/* Handle TEXT, a uevent of a module. If the last table lacks a removed module, set MODULE_MISSED: its code has no name. */
static void note_module(struct record_code *c, const char *text)
{
	const char *name = strstr(text, "remove@/module/");
	const struct kernel_kallsyms *ks =
		c->n_tables ? c->tables[last_table(c, c->n_tables - 1)] : NULL;
	bool found = !name || !ks;

	c->changed = c->modules_changed = true;
	for (size_t i = 0; !found && i < ks->n_syms; i++)
		found = same_text(ks->syms[i].module, name + strlen("remove@/module/"));
	c->module_missed |= !found;
}

/* Begin an epoch with the symbol table KS. NULL: use the previous table, and symbols of the programs reported since. */
static void begin_epoch(struct record_code *c, struct kernel_kallsyms *ks)
{
	vec_push(c, tables, ks);
	record_engine_set_code_epoch(c->engine, c->n_tables - 1);
}

static void read_events(struct record_code *c)
{
	static const struct itimerspec never;
	char text[2048];
	ssize_t n;

	timerfd_settime(c->timer, 0, &never, NULL);
	c->replaced = false;
	perf_buffer__consume(c->events);
	if (c->replaced && c->n_read < MAX_TABLES)
		begin_epoch(c, NULL);
	while ((n = recv(c->uevents, text, sizeof(text) - 1, 0)) >= 0 || errno == ENOBUFS) {
		text[n > 0 ? n : 0] = '\0';
		if (n < 0 || strstr(text, "@/module/"))
			note_module(c, text);
	}
}

int record_code_fd(const struct record_code *c)
{
	return c->events ? perf_buffer__epoll_fd(c->events) : -1;
}

static struct kernel_kallsyms *read_table(struct record_symbols *s)
{
	const struct kernel_kcore *kcore = record_symbols_live(s);
	const struct btf *btf = s->btf ? kernel_btf_raw(s->btf) : NULL;
	struct kernel_kallsyms *ks = NULL;

	if (!kcore || kernel_kallsyms_read_dynamic(kcore, btf, s->ks, &ks))
		kernel_kallsyms_load(KERNEL_KALLSYMS_PATH, &ks);
	return ks;
}

void record_code_look(struct record_code *c, bool now)
{
	uint64_t start = clock_ns(), wait = c->due > start ? c->due - start : 0;
	const struct itimerspec again = { .it_value = { .tv_sec = wait / 1000000000,
							.tv_nsec = wait % 1000000000 } };
	struct kernel_kallsyms *ks;

	if (!c->symbols)
		return;
	if (c->events)
		read_events(c);
	else
		c->changed |= now;
	if (!c->changed)
		return;
	/* After a change of modules, read the table without a delay: modules change rarely, and may soon be removed again. */
	if (wait && !now && !c->modules_changed) {
		timerfd_settime(c->timer, 0, &again, NULL);
		return;
	}
	c->changed = c->modules_changed = false;
	ks = read_table(c->symbols);
	if (!ks)
		return;
	if (c->n_read == MAX_TABLES)
		kernel_kallsyms_destroy(c->tables[--c->n_tables]);
	else
		c->n_read++;
	begin_epoch(c, ks);
	c->due = clock_ns() + TABLE_SHARE * (clock_ns() - start);
	log_verbose(2, "read symbols of modules and BPF programs in %.1f ms",
		    (clock_ns() - start) / 1e6);
}

void record_code_begin(struct record_code *c, struct record_symbols *symbols,
		       struct record_engine *e)
{
	c->symbols = symbols;
	c->engine = e;
	find_own(c);
	open_events(c);
	c->changed = true;
	record_code_look(c, true);
	if (!c->n_own)
		add_new_programs(c);
}

void record_code_deinit(struct record_code *c)
{
	if (!c->symbols)
		return;
	perf_buffer__free(c->events);
	if (c->map >= 0)
		close(c->map);
	if (c->uevents >= 0)
		close(c->uevents);
	if (c->timer >= 0)
		close(c->timer);
	while (c->n_tables)
		kernel_kallsyms_destroy(c->tables[--c->n_tables]);
	free(c->tables);
	alloc_texts_free(&c->own_names);
	free(c->own);
	while (c->n_reports)
		kernel_kallsyms_destroy(c->reports[--c->n_reports].ks);
	free(c->reports);
}

struct record_place record_code_at(const struct record_code *c, uint32_t epoch, uint64_t addr)
{
	const struct kernel_kallsyms *image = c->symbols->ks;
	struct record_place place;
	bool several = false;

	if (kernel_kallsyms_in_image(image, addr) || epoch >= c->n_tables)
		return look_up(image, addr);
	place = known_at_start(c, epoch, addr);
	/* A change of code is noticed late: this sample may have hit code of the next epoch. If that differs, the code is unknown. */
	vec_each(const struct record_code_report, r, c, reports)
		if (r->epoch == epoch)
			several |= !agrees(&place, look_up(r->ks, addr));
	if (epoch + 1 < c->n_tables && c->tables[epoch + 1])
		several |= !agrees(&place, look_up(c->tables[epoch + 1], addr));
	if (several)
		place.sym = NULL;
	place.own = is_own_program(c, addr) || (place.sym && is_own_trampoline(c, place.sym));
	/* SYM is an own program, but ADDR is behind the program's end: the symbol table does not give the program's size. */
	if (!place.own && place.sym && is_own_program(c, place.sym->addr))
		place.sym = NULL;
	return place;
}
