/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sub-commands: each takes its own argument vector, argv[0] being its name, and returns the
 * process's exit status.
 */
#pragma once

/* Exit statuses that scripts rely on; `record` otherwise ends with the workload's. */
#define CMD_DONE   0
#define CMD_FAILED 1
#define CMD_USAGE  2 /* also what argp exits with */
#define CMD_ABOVE  3 /* diff --fail-above */

#define CMD_DEFAULT_FILE "kprotperf.data"

int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_fold(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_annotate(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_resolve(int argc, char **argv);
int cmd_index(int argc, char **argv);
int cmd_exact(int argc, char **argv);
int cmd_changes(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
