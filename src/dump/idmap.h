/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idmap.h - a map from the numbers that a dump uses as names (identifiers, serials) to cairn's own numbers.
 *
 * Open addressing, at most half full: 32 to 64 bytes an entry.  Sized by the dump, so its memory is
 * big memory and can be refused.  One thread while it grows; any thread afterwards.
 */
#ifndef CAIRN_DUMP_IDMAP_H
#define CAIRN_DUMP_IDMAP_H

#include "base/err.h"

#include <stdint.h>

#define IDMAP_NONE UINT64_MAX

struct idmap {
	struct idmap_slot {
		uint64_t key, value_plus_1; /* 0: empty */
	} *slots;
	uint64_t n, n_slots; /* n_slots: a power of two, or 0 */
};

/* Set or overwrite; value < IDMAP_NONE.  0, or ERR_NOMEM. */
MUST_CHECK int idmap_put(struct idmap *m, uint64_t key, uint64_t value, struct err *err);
/* The value of key, or IDMAP_NONE. */
uint64_t idmap_get(const struct idmap *m, uint64_t key);
void idmap_release(struct idmap *m);

#endif
