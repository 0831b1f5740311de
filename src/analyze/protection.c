// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/environment.h"
#include "catalogue/catalogue.h"

bool analyze_protection_is(const char *name, size_t n)
{
	return catalogue_has_option(name, n);
}
