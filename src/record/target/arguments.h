/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "record/target/symbols.h"

/*
 * Does the running kernel's function SYM read an argument register beyond the first N? UNKNOWN where its code cannot be
 * read either. Of what it calls BTF is believed.
 */
enum kernel_answer record_arguments_beyond(struct record_symbols *symbols,
					   const struct kernel_sym *sym, unsigned int n);
