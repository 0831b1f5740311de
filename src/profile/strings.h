/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pool of strings, each kept once and numbered in the order of arrival. Internal to profile/.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct profile_strings;

struct profile_strings *profile_strings_create(void);
void profile_strings_destroy(struct profile_strings *pool); /* accepts NULL */

/* The number of the string of LEN bytes (no NUL among them) at S, which is copied if it is new. */
uint32_t profile_strings_add(struct profile_strings *pool, const char *s, size_t len);
/* The pool's own copy: stays where it is until the pool is destroyed. */
const char *profile_strings_get(const struct profile_strings *pool, uint32_t number);
size_t profile_strings_length(const struct profile_strings *pool, uint32_t number);
uint32_t profile_strings_count(const struct profile_strings *pool);
