/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guarded_alloc.h - is every piece of memory an allocation of its own?
 *
 * In builds that look for bytes read or written too far (address sanitizer, fuzzing), blocks of big
 * memory, pieces of arenas and the bytes of a dump are each an allocation of their own, of exactly the
 * size asked for.  In other builds they are in pages and in larger blocks, whose slack hides such a fault.
 */
#ifndef CAIRN_MEMORY_GUARDED_ALLOC_H
#define CAIRN_MEMORY_GUARDED_ALLOC_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CAIRN_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define CAIRN_ADDRESS_SANITIZER 1
#endif
#ifndef CAIRN_ADDRESS_SANITIZER
#define CAIRN_ADDRESS_SANITIZER 0
#endif

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define CAIRN_EXACT 1
#else
#define CAIRN_EXACT CAIRN_ADDRESS_SANITIZER
#endif

#endif
