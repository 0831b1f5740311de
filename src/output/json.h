/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections and figures as JSON. Each function returns a new reference. */
#ifndef KPROTPERF_OUTPUT_JSON_H
#define KPROTPERF_OUTPUT_JSON_H

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

/* Prints and frees ROOT. Returns 0 or -EIO. */
int output_json_write(FILE *out, json_t *root);

#endif
