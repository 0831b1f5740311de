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

char *analyze_chain_of(const struct profile_location *l, uint32_t skip)
{
	uint32_t n = skip;

	while (n < l->n_frames && l->frames[n].inlined)
		n++;
	return analyze_chain_join(&l->frames[skip], n - skip);
}

char *analyze_chain_add(const char *name, const char *chain)
{
	return alloc_printf("%s%s%s", name, chain ? PROFILE_CHAIN : "", chain ? chain : "");
}

bool analyze_chain_is_within(const char *chain, const char *outer)
{
	const char *text = chain ? chain : "";
	size_t n = strlen(text), n_outer, gap = strlen(PROFILE_CHAIN);

	if (!outer)
		return true;
	n_outer = strlen(outer);
	if (n < n_outer || strcmp(text + n - n_outer, outer))
		return false;
	return n == n_outer ||
	       (n >= n_outer + gap && !strncmp(text + n - n_outer - gap, PROFILE_CHAIN, gap));
}

char *analyze_chain_place(const struct profile_location *l, uint32_t number)
{
	if (number >= l->n_frames || !l->frames[number].file)
		return NULL;
	return alloc_printf("%s:%" PRIu32, l->frames[number].file, l->frames[number].line);
}
