/* SPDX-License-Identifier: GPL-3.0-or-later */
/* count_report.c - what the parts of the first reading found besides objects. */
#include "heap/build/build.h"

#include "dump/source/source.h"
#include "memory/big.h"

#include <inttypes.h>
#include <string.h>

/* Warnings, stated counts and damage of all parts, in their order, to the heap. */
int count_pass_report(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	uint64_t lost = 0;
	for (unsigned i = 0; i < b->n_parts; i++) {
		struct count_pass_part *p = &b->parts[i];
		lost += p->lost;
		uint64_t kept = p->n_warnings < HEAP_WARNINGS_KEPT ? p->n_warnings : HEAP_WARNINGS_KEPT;
		for (uint64_t k = 0; k < kept && h->n_warnings + k < HEAP_WARNINGS_KEPT; k++) {
			struct heap_warning w = p->warnings[k];
			w.text = arena_strndup(&h->arena, w.text, strlen(w.text));
			h->warnings[h->n_warnings + k] = w;
		}
		h->n_warnings += p->n_warnings;
		for (size_t k = 0; k < p->n_stated; k++) {
			struct heap_stated *to = BIG_PUSH(h->stated, h->n_stated, h->cap_stated, err);
			if (!to)
				return ERR_NOMEM;
			*to = (struct heap_stated){
				arena_strndup(&h->arena, p->stated[k].what, strlen(p->stated[k].what)),
				p->stated[k].unit, p->stated[k].count
			};
		}
		h->n_references += p->sums.n_references;
		if (p->result < 0 && !h->damaged) {
			h->damaged = h->incomplete = true;
			h->damage = p->err;
			err_context(&h->damage, "%s", h->source->path);
		}
	}
	if (lost && !h->damaged) {
		h->damaged = h->incomplete = true;
		err_set(&h->damage, ERR_FORMAT, "%s: %" PRIu64 " bytes of the heap are neither objects nor free",
		    h->source->path, lost);
	}
	return 0;
}
