// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/misses.h"

#define EVENT(type, key, event, text, ...) \
	COLUMN(key, type, analyze_misses_side, events[event], .header = text, ##__VA_ARGS__)
#define EVENTS(type, header_of)                                                \
	COLUMN("instructions", type, analyze_misses_side, instructions,        \
	       .header = header_of("INSNS")),                                  \
		COLUMN("cycles", type, analyze_misses_side, cycles,            \
		       .header = header_of("CYCLES")),                         \
		COLUMN("data_cycles", type, analyze_misses_side, data,         \
		       .header = header_of("DATA")),                           \
		EVENT(type, "l1i", MODEL_L1I, header_of("L1I")),               \
		EVENT(type, "l1d", MODEL_L1D, header_of("L1D")),               \
		EVENT(type, "l2", MODEL_L2, header_of("L2")),                  \
		EVENT(type, "llc", MODEL_LLC, header_of("LLC")),               \
		EVENT(type, "itlb", MODEL_ITLB, header_of("ITLB"), .rank = 3), \
		EVENT(type, "dtlb", MODEL_DTLB, header_of("DTLB"), .rank = 1), \
		EVENT(type, "stlb", MODEL_STLB, header_of("STLB"), .rank = 2), \
		EVENT(type, "branch", MODEL_BRANCH, header_of("BRANCH"), .rank = 1)
#define SHOWN(text)  text
#define HIDDEN(text) NULL

const struct output_column view_misses[] = { EVENTS(COUNT, SHOWN) };
const struct output_column view_misses_delta[] = { EVENTS(DELTA, SHOWN) };
const struct output_column view_misses_data[] = { EVENTS(COUNT, HIDDEN) };

const struct output_column view_misses_place[] = {
	COLUMN("name", TEXT, analyze_misses_row, function, .header = "FUNCTION ITSELF"),
	COLUMN("syscall", TEXT, analyze_misses_row, context, .header = "CONTEXT"),
};
