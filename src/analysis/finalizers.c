/* SPDX-License-Identifier: GPL-3.0-or-later */
/* finalizers.c - the lists of finalizers, walked; see finalizers.h. */
#include "analysis/finalizers.h"

#include "algorithms/sort.h"
#include "dump/facts.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "heap/value.h"
#include "memory/big.h"

#include <string.h>

static const char reference[] = "java.lang.ref.Reference", queue_class[] = "java.lang.ref.ReferenceQueue";

/* How a class library has its lists. */
static const struct library {
	const char *class;                 /* of finalizers: next and the list of all are its own */
	const char *all;                   /* static: the first of all */
	const char *after_in_queue;        /* of Reference */
	const char *pending_of, *pending;  /* class and static: the first of those that are pending */
	const char *after_pending[2];      /* of Reference; the second where the first is null */
	const char *kept_as;               /* where the object is once the referent was cleared; or NULL */
	const char *calls;                 /* how the frame begins that calls finalize() */
	const char *thread;                /* the class of the thread that does */
} libraries[] = {
	{"java.lang.ref.Finalizer", "unfinalized", "next", "java.lang.ref.Reference", "pending", {"discovered", "next"},
	    NULL, "java.lang.ref.Finalizer.runFinalizer", "java.lang.ref.Finalizer$FinalizerThread"},
	{"java.lang.ref.FinalizerReference", "head", "queueNext", "java.lang.ref.ReferenceQueue", "unenqueued",
	    {"pendingNext", NULL}, "zombie", "java.lang.Daemons$FinalizerDaemon.doFinalize",
	    "java.lang.Daemons$FinalizerDaemon"},
};

struct search {
	const struct heap *h;
	const struct library *library;
	uint32_t class;        /* library->class */
	uint8_t *state;        /* by place in ids */
	uint32_t *ids;         /* the instances of the class, ascending */
	uint64_t n, cap;
	struct bits met;       /* by object id: on the list that is walked */
	struct finalizers *out;
	struct progress *progress;
	uint64_t rounds;
};

/* In search.state besides enum finalizer_state: on no list, so its finalize() was called, or it is garbage. */
#define ON_NO_LIST FINALIZER_STATES

const char *finalizer_state_name(enum finalizer_state state)
{
	static const char *const names[FINALIZER_STATES] = {"running", "queued", "pending", "registered"};
	return state < FINALIZER_STATES ? names[state] : "?";
}

static const struct library *library_of(const struct heap *h, uint32_t *class)
{
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		if ((*class = values_class_named(h, libraries[i].class)) != HEAP_NONE)
			return &libraries[i];
	return NULL;
}

uint32_t finalizers_class(const struct heap *h)
{
	uint32_t class;
	return library_of(h, &class) ? class : HEAP_NONE;
}

/* --- fields --------------------------------------------------------------------------------------- */

/* A field as the code of a class sees it; HEAP_NONE: null, or there is none. */
static uint32_t field_of(const struct search *s, uint32_t id, const char *class, const char *name)
{
	struct values v;
	struct value field;
	if (!name || values_open(&v, s->h, id, NULL) || !values_as_named(&v, class) || !values_field(&v, name, &field))
		return HEAP_NONE;
	return value_object_id(s->h, &field);
}

static uint32_t static_of(const struct search *s, const char *class, const char *name)
{
	struct value field;
	return values_static(s->h, class, name, &field) ? value_object_id(s->h, &field) : HEAP_NONE;
}

/* --- lists ---------------------------------------------------------------------------------------- */

/* The place among the finalizers; s->n: it is none. */
static uint64_t place_of(const struct search *s, uint32_t id)
{
	uint64_t from = 0, to = s->n;
	while (from < to) {
		uint64_t mid = from + (to - from) / 2;
		if (s->ids[mid] < id)
			from = mid + 1;
		else
			to = mid;
	}
	return from < s->n && s->ids[from] == id ? from : s->n;
}

/* Walk a list from its first element; firmer states are walked first and stay.  The last element has no next one,
 * or itself; round: or the first one.  Returns how many finalizers it has. */
static uint64_t walk_list(struct search *s, uint32_t first, const char *class, const char *const next[2],
    enum finalizer_state state, bool round)
{
	uint64_t found = 0;
	for (uint32_t id = first, after; id != HEAP_NONE; id = after) {
		if (progress_stops(s->progress, 16 * s->rounds++))
			return found;
		if (bits_get(&s->met, id)) {
			s->out->broken |= !round || id != first;
			break;
		}
		bits_set(&s->met, id);
		uint64_t place = place_of(s, id);
		found += place < s->n;
		if (place < s->n && s->state[place] == ON_NO_LIST)
			s->state[place] = (uint8_t)state;
		after = field_of(s, id, class, next[0]);
		if (after == HEAP_NONE)
			after = field_of(s, id, class, next[1]);
		if (after == id)
			break;
	}
	bits_clear(&s->met);
	return found;
}

static void walk_queue(struct search *s)
{
	struct values v;
	struct value length;
	uint32_t queue = static_of(s, s->library->class, "queue");
	if (queue == HEAP_NONE)
		return;
	s->out->states_length = !values_open(&v, s->h, queue, NULL) && values_as_named(&v, queue_class) &&
	    values_field(&v, "queueLength", &length) && length.type != VALUE_OBJECT;
	s->out->stated = s->out->states_length ? length.bits : 0;
	s->out->in_queue = walk_list(s, field_of(s, queue, queue_class, "head"), reference,
	    (const char *const[2]){s->library->after_in_queue, NULL}, FINALIZER_QUEUED, false);
}

/* Those of a list of the VM are linked by a field that is null otherwise. */
static void count_linked(struct search *s)
{
	struct value pending;
	if (values_static(s->h, s->library->pending_of, s->library->pending, &pending))
		return;
	for (uint64_t i = 0; i < s->n && !progress_stops(s->progress, 16 * s->rounds++); i++)
		s->out->linked += s->state[i] == FINALIZER_REGISTERED &&
		    field_of(s, s->ids[i], reference, s->library->after_pending[0]) != HEAP_NONE;
}

/* --- threads -------------------------------------------------------------------------------------- */

static int find_threads(struct search *s, struct err *err)
{
	const struct heap *h = s->h;
	uint64_t n = 0, cap = 0;
	s->out->idle = HEAP_NONE;
	for (uint32_t t = 0; t < h->n_threads; t++) {
		const struct heap_thread *thread = &h->threads[t];
		uint32_t frame = 0;
		size_t length = strlen(s->library->calls);
		if (progress_stops(s->progress, 16 * s->rounds++))
			return err_cancelled(err);
		while (frame < thread->n_frames && strncmp(thread->frames[frame], s->library->calls, length))
			frame++;
		if (frame == thread->n_frames) {
			if (thread->object != HEAP_NONE && !strcmp(heap_class_of(h, thread->object)->name, s->library->thread))
				s->out->idle = t;
			continue;
		}
		if (BIG_ADD(s->out->thread, n, cap, err, (struct finalizing){t, HEAP_NONE, frame}))
			return ERR_NOMEM;
		s->out->n_threads = (uint32_t)n;
	}
	return 0;
}

/* The object of a finalizer, or HEAP_NONE. */
static uint32_t object_of(const struct search *s, uint32_t finalizer)
{
	uint32_t object = field_of(s, finalizer, reference, "referent");
	return object == HEAP_NONE && s->library->kept_as
	    ? field_of(s, finalizer, s->library->class, s->library->kept_as) : object;
}

/* The finalizer that the frame has which calls finalize() is taken off all lists. */
static void find_running(struct search *s)
{
	const struct heap *h = s->h;
	for (size_t i = 0; s->out->n_threads && i < h->n_roots && !progress_stops(s->progress, i); i++) {
		const struct heap_root *root = &h->roots[i];
		uint64_t place = root->thread == HEAP_NONE ? s->n : place_of(s, root->object);
		for (uint32_t k = 0; place < s->n && k < s->out->n_threads; k++) {
			struct finalizing *f = &s->out->thread[k];
			if (f->thread != root->thread || root->frame < f->below)
				continue;
			s->state[place] = FINALIZER_RUNNING;
			f->object = object_of(s, root->object);
		}
	}
}

/* --- rows ----------------------------------------------------------------------------------------- */

static int by_state_and_class(const void *x, const void *y, void *classes)
{
	const struct finalizer *a = x, *b = y;
	if (a->state != b->state)
		return a->state < b->state ? -1 : 1;
	if (a->class == b->class)
		return (a->object > b->object) - (a->object < b->object);
	if (a->class == HEAP_NONE || b->class == HEAP_NONE)
		return a->class == HEAP_NONE ? 1 : -1;
	return heap_class_order(classes, a->class, b->class);
}

static int by_state_and_number(const void *x, const void *y)
{
	const struct finalizers_row *a = x, *b = y;
	uint64_t m = a->end - a->first, n = b->end - b->first;
	return a->state != b->state ? (a->state > b->state) - (a->state < b->state) : (n > m) - (n < m);
}

static int make_rows(struct search *s, struct err *err)
{
	struct finalizers *out = s->out;
	uint64_t rows = 0, cap = 0, kept = 0;
	out->at = big_alloc(s->n, sizeof *out->at, err);
	if (!out->at)
		return ERR_NOMEM;
	for (uint64_t i = 0; i < s->n; i++) {
		if (progress_stops(s->progress, 16 * i))
			return err_cancelled(err);
		if (s->state[i] == ON_NO_LIST)
			continue;
		uint32_t object = object_of(s, s->ids[i]);
		out->at[out->n_at++] = (struct finalizer){s->state[i],
		    object == HEAP_NONE ? HEAP_NONE : heap_class_index(s->h, object),
		    object == HEAP_NONE ? s->ids[i] : object};
	}
	int code = sort_with(out->at, out->n_at, sizeof *out->at, by_state_and_class, s->h->classes, err);
	for (uint64_t i = 0; !code && i < out->n_at; i++) {
		const struct finalizer f = out->at[i];
		struct finalizers_row *row = rows ? &out->row[rows - 1] : NULL;
		if (row && kept && !memcmp(&out->at[kept - 1], &f, sizeof f))
			continue;
		if (!row || row->state != f.state || row->class != f.class) {
			row = BIG_PUSH(out->row, rows, cap, err);
			if (!row)
				return ERR_NOMEM;
			*row = (struct finalizers_row){.state = f.state, .class = f.class, .first = kept};
		}
		out->at[kept++] = f;
		row->end = kept;
	}
	out->n_at = kept;
	out->n = (uint32_t)rows;
	return code ? code : sort(out->row, rows, sizeof *out->row, by_state_and_number, err);
}

/* --- all of it ------------------------------------------------------------------------------------ */

static int list_finalizers(struct search *s, struct err *err)
{
	for (uint32_t id = 0; id < s->h->n_objects; id++) {
		if (progress_stops(s->progress, id))
			return err_cancelled(err);
		if (heap_class_index(s->h, id) != s->class)
			continue;
		if (BIG_ADD(s->ids, s->n, s->cap, err, id))
			return ERR_NOMEM;
	}
	s->state = big_alloc(s->n, sizeof *s->state, err);
	if (!s->state)
		return ERR_NOMEM;
	memset(s->state, ON_NO_LIST, s->n);
	return bits_init(&s->met, s->h->n_objects, err);
}

int finalizers_find(struct finalizers *out, const struct heap *h, struct progress *progress, struct err *err)
{
	struct search s = {.h = h, .out = out, .progress = progress};
	struct value enabled;
	*out = (struct finalizers){.idle = HEAP_NONE};
	s.library = library_of(h, &s.class);
	if (!s.library)
		return 0;
	out->switched_off = values_static(h, s.library->class, "ENABLED", &enabled) && enabled.type == VALUE_BOOLEAN &&
	    !enabled.bits;
	int code = list_finalizers(&s, err);
	if (!code)
		code = find_threads(&s, err);
	if (!code) {
		find_running(&s);
		walk_queue(&s);
		(void)walk_list(&s, static_of(&s, s.library->pending_of, s.library->pending), reference,
		    s.library->after_pending, FINALIZER_PENDING, true);
		(void)walk_list(&s, static_of(&s, s.library->class, s.library->all), s.library->class,
		    (const char *const[2]){"next", NULL}, FINALIZER_REGISTERED, false);
		count_linked(&s);
		code = progress_check(progress, err);
	}
	if (!code)
		code = make_rows(&s, err);
	bits_release(&s.met);
	big_free(s.ids);
	big_free(s.state);
	if (code)
		finalizers_release(out);
	return code;
}

void finalizers_release(struct finalizers *f)
{
	big_free(f->at);
	big_free(f->row);
	big_free(f->thread);
	*f = (struct finalizers){.n = 0};
}
