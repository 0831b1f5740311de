/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommands. Each takes its argument vector, with argv[0] as its name, and returns the exit status. */
#pragma once

/* Exit statuses that scripts rely on. Except for errors, `record` returns the exit status of the workload. */
#define CMD_DONE   0
#define CMD_FAILED 1
#define CMD_USAGE  2 /* also argp's exit status */
#define CMD_ABOVE  3 /* the limit of `diff --fail-above` is exceeded */

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
