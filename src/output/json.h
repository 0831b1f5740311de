/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections and figures as JSON. Functions that return JSON return a new reference. */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "output/section.h"

/* Return an array with one object per row. If a group has no value in a row, its object is null. */
json_t *output_json_rows(const struct output_section *section);

/* Return TEXT, or null for NULL. Text that is not UTF-8 is escaped as in tables, since JSON cannot hold it. */
json_t *output_json_text(const char *text);

/* Return an integer if NUMBER is whole; null for NAN and infinity. */
json_t *output_json_number(double number);

/* Return COUNT, or null for PROFILE_NOT_COUNTED. */
json_t *output_json_count(uint64_t count);

/* Set OBJECT[KEY] to VALUE and take over its reference. Escape a key that is not UTF-8. */
void output_json_set(json_t *object, const char *key, json_t *value);

/* A file with one object, written piece by piece: at most a row is in memory. Set OUT, and all else to zero. */
struct output_json {
	FILE *out;
	size_t n_members;
	bool compact; /* no white space in members other than rows: for programs only */
};

/* Write member KEY, which must be unique: VALUE, whose reference is dropped, or SECTION's rows, as in output_json_rows(). */
void output_json_member(struct output_json *json, const char *key, json_t *value);
void output_json_member_rows(struct output_json *json, const char *key,
			     const struct output_section *section);
void output_json_end(struct output_json *json);

/* ---- a section as comma-separated values, RFC 4180: one header line, all rows, all columns ---- */

/* Write SECTION. Control bytes in text are escaped as in tables, so that each row is one line. */
void output_csv_write(FILE *out, const struct output_section *section);
