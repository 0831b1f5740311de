/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections and figures as JSON. Functions that return JSON return a new reference. */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "output/section.h"

/* An array with an object a row; an object of a group that has nothing in a row is null. */
json_t *output_json_rows(const struct output_section *section);

/* Null for NULL; text that is not UTF-8 is escaped as in tables, since JSON cannot hold it. */
json_t *output_json_text(const char *text);

/* An integer where the number is whole; null for NAN and what JSON cannot hold. */
json_t *output_json_number(double number);

/* Null for PROFILE_NOT_COUNTED. */
json_t *output_json_count(uint64_t count);

/* OBJECT[KEY] = VALUE, whose reference is taken; a key that is not UTF-8 is escaped. */
void output_json_set(json_t *object, const char *key, json_t *value);

/* A file: an object of which no more than a row is in memory. All zero but OUT is the empty one. */
struct output_json {
	FILE *out;
	size_t n_members;
	bool compact; /* members that are not rows without white space: for programs alone */
};

/* Writes KEY, which no other member has, and VALUE, which it frees; or the rows of SECTION, as output_json_rows() has them. */
void output_json_member(struct output_json *json, const char *key, json_t *value);
void output_json_member_rows(struct output_json *json, const char *key,
			     const struct output_section *section);
void output_json_end(struct output_json *json);

/* ---- a section as comma-separated values, RFC 4180: one header line, all rows, all columns ---- */

/* Control bytes in text are escaped as in tables, so that a file is one line a row. */
void output_csv_write(FILE *out, const struct output_section *section);
