// SPDX-License-Identifier: GPL-2.0-or-later
/* The processes of record --by=comm. */
#include <math.h>
#include <string.h>

#include "base/sorted.h"
#include "view/page/columns.h"
#include "view/report.h"

struct process {
	const char *comm;
	double pid, tasks, cpu, share, calls;
};

static const struct output_column columns[] = {
	COLUMN("comm", TEXT, process, comm, .header = "COMM", .is_raw = true),
	COLUMN("pid", COUNT, process, pid, .header = "PID"),
	COLUMN("tasks", COUNT, process, tasks, .header = "TASKS"),
	COLUMN("cpu", TIME, process, cpu, .header = "CPU TIME"),
	COLUMN("share", FRACTION, process, share, .header = "SHARE"),
	COLUMN("calls", COUNT, process, calls, .header = "CALLS"),
};

define_compare(by_name, struct process,
	       compare_values(a->pid, b->pid) ?: strcmp(a->comm ?: "", b->comm ?: ""));
define_compare(by_cpu, struct process, compare_values(b->cpu, a->cpu) ?: by_name(a, b));

static void merge(void *to, void *from)
{
	struct process *a = to, *b = from;

	a->tasks += b->tasks;
	a->cpu += b->cpu;
	a->calls += b->calls;
}

static void rows(struct view_rows *rows, const void *data)
{
	const struct profile *p = ((const struct view_data *)data)->p[0];
	struct process *of = view_rows_new(rows, p->n_processes, sizeof(*of));
	double sum = 0;

	for (uint32_t i = 0; i < p->n_processes; i++) {
		const struct profile_process *from = &p->processes[i];

		of[i] = (struct process){ .comm = from->comm,
					  .pid = from->pid,
					  .tasks = from->tasks ? (double)from->tasks : NAN,
					  .cpu = (double)from->oncpu,
					  .calls = (double)from->calls };
		sum += of[i].cpu;
	}
	rows->section.n_rows = unite_array(of, p->n_processes, sizeof(*of), by_name, merge);
	for (size_t i = 0; i < rows->section.n_rows; i++) {
		of[i].share = of[i].cpu / sum;
		of[i].pid = of[i].pid > 0 ? of[i].pid : NAN;
	}
	sort_array(of, rows->section.n_rows, sizeof(*of), by_cpu);
}

const struct view_table report_processes = {
	.name = "processes",
	.first = 8,
	.title = "Processes, by CPU time, including probe cost",
	.legend = "-: tasks of which the process is not known",
	ONE_GROUP(columns),
	.rows = rows,
};
