/* SPDX-License-Identifier: GPL-3.0-or-later */
/* same.c - equal objects as waste: all but one of each. */
#include "analysis/waste/work.h"

#include "memory/big.h"

struct finding {
	const struct waste_same *what;
	struct waste_stretch of[EQUAL_TASKS]; /* what each task found */
};

static int add_same(void *context, unsigned task, struct equal_print *same, size_t n, struct err *err)
{
	struct finding *f = context;
	struct waste_stretch *s = &f->of[task];
	int code = 0;
	if (f->what->found)
		return f->what->found(s, same, n, err);
	for (size_t i = 0; i < n && !code; i++) {
		uint64_t bytes = heap_shallow(s->work->heap, same[i].id);
		code = waste_add(s, f->what->kind, same[i].id, bytes, i ? bytes : 0, err);
	}
	return code;
}

int waste_find_same(struct waste_work *w, const struct waste_same *what, struct err *err)
{
	struct finding *f = big_alloc(1, sizeof *f, err);
	struct equal_objects e = {.heap = w->heap, .order = w->order, .kind_of = w->role, .kinds = 1U << what->role,
	    .read = what->read, .source = w, .found = add_same, .context = f, .constants = true,
	    .reading = PHASE_LOOK_AT_OBJECTS, .comparing = PHASE_COMPARE_OBJECTS};
	if (!f)
		return ERR_NOMEM;
	f->what = what;
	for (unsigned t = 0; t < EQUAL_TASKS; t++)
		f->of[t].work = w;
	int code = equal_objects_find(&e, err);
	code = code ? code : waste_join(w, f->of, EQUAL_TASKS, err);
	waste_stretches_release(f->of, EQUAL_TASKS);
	big_free(f);
	return code;
}
