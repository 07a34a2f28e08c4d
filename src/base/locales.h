/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locales.h - the user's locale, also on a host that does not have it.
 */
#ifndef CAIRN_BASE_LOCALES_H
#define CAIRN_BASE_LOCALES_H

/*
 * Take the locale of the environment, but numbers with a point.  Where the host lacks it and its name says UTF-8,
 * characters are UTF-8 nonetheless (C.UTF-8, which a C library needs no file for).  Before the first thread.
 */
void locale_take(void);

#endif
