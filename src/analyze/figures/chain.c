// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/figures/chain.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"

char *analyze_chain_join(const struct profile_frame *frames, uint32_t n)
{
	char *chain = NULL;

	for (uint32_t i = 0; i < n; i++)
		alloc_append(&chain, "%s%s", i ? PROFILE_CHAIN : "", frames[i].name);
	return chain;
}

char *analyze_chain_of(const struct profile_location *l)
{
	uint32_t n = 0;

	while (n < l->n_frames && l->frames[n].inlined)
		n++;
	return analyze_chain_join(l->frames, n);
}

char *analyze_chain_add(const char *name, const char *chain)
{
	return alloc_printf("%s%s%s", name, chain ? PROFILE_CHAIN : "", chain ? chain : "");
}

char *analyze_chain_place(const struct profile_location *l)
{
	if (!l->n_frames || !l->frames->file)
		return NULL;
	return alloc_printf("%s:%" PRIu32, l->frames->file, l->frames->line);
}
