/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of the emulator's CPU model. The plugin's result and data files contain the numbers, so add new events at the end. */
#pragma once

/* Each event is a cache or TLB miss; MODEL_BRANCH is a wrong prediction. */
enum model_event {
	MODEL_L1I,
	MODEL_L1D,
	MODEL_L2,
	MODEL_LLC,
	MODEL_ITLB,
	MODEL_DTLB,
	MODEL_STLB,
	MODEL_BRANCH,
	MODEL_N_EVENTS,
};

/* Names of the events in the model's file and in recordings, in the order of the numbers. */
#define MODEL_EVENT_NAMES "l1i", "l1d", "l2", "llc", "itlb", "dtlb", "stlb", "branch"
