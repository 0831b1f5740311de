/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows and figures as JSON. Functions that return json_t return a new reference. */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "output/section.h"

/* Return an array with one object per row. The JSON object of a group is null if the group has no value in the row. */
json_t *output_json_rows(const struct output_section *section);

/* Return TEXT as a JSON string; null if TEXT is NULL. Text that is not UTF-8 is escaped, since JSON cannot contain it. */
json_t *output_json_text(const char *text);

/* Return a JSON integer if NUMBER is whole, else a real; null for NAN and infinity. */
json_t *output_json_number(double number);

/* Return COUNT as a JSON number; null for PROFILE_NOT_COUNTED. */
json_t *output_json_count(uint64_t count);

/* Set OBJECT[KEY] to VALUE, and take ownership of the reference. Escape KEY if it is not UTF-8. */
void output_json_set(json_t *object, const char *key, json_t *value);

/* A JSON file that is written member by member, so that at most one row is in memory. Set OUT; initialize all else with 0. */
struct output_json {
	FILE *out;
	size_t n_members;
	bool compact; /* write values without white space, but still indent rows */
};

/* Write the member KEY with VALUE (and drop its reference) or an array of SECTION's rows. Do not write the same KEY twice. */
void output_json_member(struct output_json *json, const char *key, json_t *value);
void output_json_member_rows(struct output_json *json, const char *key,
			     const struct output_section *section);
void output_json_end(struct output_json *json);

/* ---- comma-separated values, RFC 4180: a header line, then all rows with all columns ---- */

/* Write SECTION as CSV. Control bytes in text are escaped, so that each row is one line. */
void output_csv_write(FILE *out, const struct output_section *section);
