/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locales.c - ssh carries LANG to hosts, and into containers, that have no files of that locale.
 */
#include "base/locales.h"

#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Does the locale that the environment names for characters end with UTF-8? */
static bool names_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *name = NULL;
	for (size_t i = 0; i < 3 && (!name || !*name); i++)
		name = getenv(variables[i]);
	const char *charset = name ? strchr(name, '.') : NULL;
	return charset && (!strncasecmp(charset, ".UTF-8", 6) || !strncasecmp(charset, ".UTF8", 5));
}

void locale_take(void)
{
	/* one category that is not there takes all with it */
	if (!setlocale(LC_ALL, "") && !setlocale(LC_CTYPE, "") && names_utf8())
		setlocale(LC_CTYPE, "C.UTF-8");
	setlocale(LC_NUMERIC, "C");
}
