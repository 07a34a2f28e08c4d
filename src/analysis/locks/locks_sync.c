/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locks_sync.c - the locks of Go's package sync, by the goroutines that wait for them.
 *
 * Who waits for a semaphore has a sudog in its frame of runtime.semacquire1, whose elem is the semaphore's address; the
 * function outside of it tells what that belongs to (sync/mutex.go, rwmutex.go, waitgroup.go), and the program's types
 * at which offset it stands there.  Who waits for a sync.Cond has one in sync.runtime_notifyListWait, and stands in the
 * list that the Cond leads to.  The states tell whether a mutex is locked and how many readers there are, but who
 * locked it stands nowhere.  Sources: Go 1.4 to 1.27.
 */
#include "analysis/locks/locks_find.h"

#include "algorithms/sort.h"
#include "base/progress.h"
#include "dump/program/program.h"
#include "dump/reader.h"
#include "dump/types.h"
#include "heap/heap.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "heap/typed/typed.h"
#include "heap/waits.h"
#include "memory/big.h"

#include <inttypes.h>
#include <string.h>

enum owner_type { OF_NOTHING, OF_MUTEX, OF_READERS, OF_WRITER, OF_GROUP, OF_CONDITION };

/* A goroutine, and what it waits for. */
struct sync_wait {
	uint64_t address; /* of the lock; of a Cond 0 until it is found */
	uint32_t thread;
	enum owner_type of;
	bool behind; /* another one, at a Cond */
	struct sudog sudog;
};

struct syncs {
	struct finding *f;
	const struct heap *h;
	const struct types *types;
	struct sync_wait *wait;
	size_t n, cap;
};

/* --- types -------------------------------------------------------------------------------------- */

/* The offset of "mu.sema" in a struct; false: it has no such field. */
static bool offset_of(const struct types *t, const char *type, const char *const *path, uint64_t *offset)
{
	uint32_t at = types_by_name(t, type);
	for (*offset = 0; *path; path++) {
		uint32_t field = at == TYPE_NONE || t->type[at].kind != TYPE_STRUCT ? UINT32_MAX : types_field(t, at, *path);
		if (field == UINT32_MAX)
			return false;
		*offset += t->field[field].offset;
		at = t->field[field].type;
	}
	return true;
}
#define PATH(...) (const char *const []){__VA_ARGS__, NULL}

/* Since Go 1.24 a Mutex is one of internal/sync. */
static bool mutex_offset(const struct types *t, const char *field, uint64_t *offset)
{
	return offset_of(t, "sync.Mutex", PATH(field), offset) || offset_of(t, "sync.Mutex", PATH("mu", field), offset);
}

/* Up to Go 1.19 a WaitGroup has three words of 32 bits, and its counter is in the two that are aligned to 8 bytes. */
static uint64_t group_at(const struct types *t, uint64_t sema)
{
	uint64_t offset;
	if (offset_of(t, "sync.WaitGroup", PATH("sema"), &offset))
		return sema - offset;
	if (!offset_of(t, "sync.WaitGroup", PATH("state1"), &offset))
		return 0;
	return (sema % 8 ? sema : sema - 8) - offset;
}

/* The address of what has this semaphore; 0: types do not tell. */
static uint64_t lock_at(const struct types *t, enum owner_type of, bool inner, uint64_t sema)
{
	uint64_t offset, outer = 0;
	switch (of) {
	case OF_MUTEX:
		return mutex_offset(t, "sema", &offset) ? sema - offset : 0;
	case OF_READERS:
		return offset_of(t, "sync.RWMutex", PATH("readerSem"), &offset) ? sema - offset : 0;
	case OF_WRITER: /* inner: behind another writer, at the Mutex that it is */
		if (inner)
			return mutex_offset(t, "sema", &offset) && offset_of(t, "sync.RWMutex", PATH("w"), &outer) ?
			    sema - offset - outer : 0;
		return offset_of(t, "sync.RWMutex", PATH("writerSem"), &offset) ? sema - offset : 0;
	case OF_GROUP:
		return group_at(t, sema);
	default:
		return sema;
	}
}

/* --- what a goroutine waits for ----------------------------------------------------------------- */

/* Is this a frame of a function that begins so?  Behind its name stands "+0x1f", or a blank and the line. */
static bool frame_is(const struct heap_thread *t, uint32_t frame, const char *function)
{
	return frame < t->n_frames && t->frames[frame] && !strncmp(t->frames[frame], function, strlen(function));
}

static bool is_way_in(const struct heap_thread *t, uint32_t frame)
{
	return frame_is(t, frame, "runtime.") || frame_is(t, frame, "sync.runtime_") ||
	    frame_is(t, frame, "internal/sync.runtime_") || frame_is(t, frame, "internal/poll.runtime_");
}

/* By the function that asked for the semaphore, else by the way it took: RLock and Wait may be inlined. */
static enum owner_type asked_by(const struct heap_thread *t, uint32_t frame, bool *inner)
{
	uint32_t way = frame;
	while (is_way_in(t, frame + 1))
		frame++;
	way = frame_is(t, frame, "runtime.") ? way : frame;
	bool mutex = false;
	for (frame++; frame_is(t, frame, "sync.(*Mutex).") || frame_is(t, frame, "internal/sync.(*Mutex)."); frame++)
		mutex = true;
	*inner = mutex && frame_is(t, frame, "sync.(*RWMutex).Lock");
	if (frame_is(t, frame, "sync.(*RWMutex).Lock"))
		return OF_WRITER;
	if (mutex)
		return OF_MUTEX;
	if (frame_is(t, frame, "sync.(*RWMutex).RLock") || frame_is(t, way, "sync.runtime_SemacquireRWMutexR"))
		return OF_READERS;
	if (frame_is(t, way, "sync.runtime_SemacquireRWMutex"))
		return OF_WRITER;
	if (frame_is(t, frame, "sync.(*WaitGroup).Wait") || frame_is(t, way, "sync.runtime_SemacquireWaitGroup"))
		return OF_GROUP;
	return frame_is(t, way, "sync.runtime_SemacquireMutex") ? OF_READERS : OF_NOTHING;
}

/* A sudog in a frame that waits with it: it says which goroutine it is of. */
static bool read_wait(const struct syncs *s, const struct heap_root *root, struct sync_wait *out)
{
	const struct heap *h = s->h;
	const struct heap_thread *t = &h->threads[root->thread];
	bool condition = frame_is(t, root->frame, "sync.runtime_notifyListWait"), inner = false;
	if (!condition && !frame_is(t, root->frame, "runtime.semacquire") &&
	    !frame_is(t, root->frame, "sync.runtime_Semacquire"))
		return false;
	*out = (struct sync_wait){ .thread = root->thread, .of = OF_CONDITION };
	if (!sudog_at(h, heap_address(h, root->object), &out->sudog) || out->sudog.channel ||
	    out->sudog.goroutine != t->address)
		return false;
	if (condition)
		return true;
	out->of = asked_by(t, root->frame, &inner);
	out->address = out->sudog.elem ? lock_at(s->types, out->of, inner, out->sudog.elem) : 0;
	if (out->sudog.elem && !out->address) { /* no type: what is known is the semaphore */
		out->of = OF_NOTHING;
		out->address = out->sudog.elem;
	}
	return out->address != 0;
}

static int collect(struct syncs *s)
{
	const struct heap *h = s->h;
	uint32_t type = types_by_name(s->types, "runtime.sudog");
	for (size_t i = 0; type != TYPE_NONE && i < h->n_roots && !progress_stops(s->f->progress, i); i++) {
		const struct heap_root *root = &h->roots[i];
		struct sync_wait one;
		if (root->thread == HEAP_NONE || root->frame == HEAP_NONE || !read_wait(s, root, &one))
			continue;
		struct sync_wait *to = BIG_PUSH(s->wait, s->n, s->cap, s->f->err);
		if (!to)
			return ERR_NOMEM;
		*to = one;
	}
	return 0;
}

/* --- conditions --------------------------------------------------------------------------------- */

/* The Cond that has the head of its list at an address; 0: there is none. */
static uint64_t condition_at(const struct syncs *s, uint64_t slot, uint64_t head)
{
	uint64_t notify, first;
	struct typed v, list, word;
	uint32_t type = types_by_name(s->types, "sync.Cond");
	if (!offset_of(s->types, "sync.Cond", PATH("notify"), &notify) ||
	    !offset_of(s->types, "sync.Cond", PATH("notify", "head"), &first) ||
	    !typed_at(s->h, slot - first, type, &v) || !typed_field(&v, "notify", &list) ||
	    !typed_field(&list, "head", &word) || typed_word(&word, 0) != head || !typed_field(&list, "tail", &word) ||
	    !typed_word(&word, 0))
		return 0;
	return slot - first;
}

/* Who leads to the first of a list: objects, else variables. */
static uint64_t condition_of(const struct syncs *s, uint64_t head)
{
	enum { MOST_HOLDERS = 256, MOST_SLOTS = 1 << 16 };
	const struct heap *h = s->h;
	uint32_t id = heap_find(h, head);
	uint64_t found = 0;
	if (id == HEAP_NONE || h->no_references)
		return 0;
	uint64_t begin = adjacency_start(&h->in, id), n = adjacency_degree(&h->in, id);
	for (uint64_t k = 0; !found && k < n && k < MOST_HOLDERS; k++) {
		struct typed_object o;
		struct slot_walk walk = { .offset = 0 };
		if (!typed_open(&o, h, h->in.target[begin + k]))
			continue;
		for (unsigned i = 0; !found && i < MOST_SLOTS && typed_next_slot(&o, &walk); i++)
			if (typed_number(&o.value, walk.offset, typed_word_size(h)) == head)
				found = condition_at(s, o.value.address + walk.offset, head);
	}
	size_t first, roots = heap_roots_of(h, id, &first);
	for (size_t i = first; !found && i < first + roots && i < first + MOST_HOLDERS; i++)
		if (h->roots[i].kind == ROOT_DATA || h->roots[i].kind == ROOT_BSS)
			found = condition_at(s, h->roots[i].slot, head);
	return found;
}

static int by_sudog(const void *x, const void *y)
{
	const struct sync_wait *a = x, *b = y;
	return (a->sudog.address > b->sudog.address) - (a->sudog.address < b->sudog.address);
}

static struct sync_wait *wait_behind(const struct syncs *s, const struct sync_wait *w)
{
	struct sync_wait key = { .sudog.address = w->sudog.next };
	return w->of == OF_CONDITION && w->sudog.next ? find_sorted(&key, s->wait, s->n, sizeof key, by_sudog) : NULL;
}

/* From the first of each list on all that follow; each gets its address once, so that circles end. */
static int find_conditions(struct syncs *s)
{
	int code = sort(s->wait, s->n, sizeof *s->wait, by_sudog, s->f->err);
	for (size_t i = 0; !code && i < s->n && !progress_stops(s->f->progress, i); i++) {
		struct sync_wait *next = wait_behind(s, &s->wait[i]);
		if (next)
			next->behind = true;
	}
	for (size_t i = 0; !code && i < s->n && !progress_stops(s->f->progress, i); i++) {
		struct sync_wait *w = &s->wait[i];
		uint64_t condition = w->of == OF_CONDITION && !w->behind ? condition_of(s, w->sudog.address) : 0;
		for (; condition && w && w->of == OF_CONDITION && !w->address; w = wait_behind(s, w))
			w->address = condition;
	}
	return code;
}

/* --- states ------------------------------------------------------------------------------------- */

/* False: the dump lacks that memory, as it does variables without pointers. */
static bool open_at(const struct syncs *s, const char *type, uint64_t address, struct typed *out)
{
	uint32_t is = types_by_name(s->types, type);
	return is != TYPE_NONE && typed_at(s->h, address, is, out);
}

/* A writer that is in, or waits to be, takes 2^30 from the number of readers; readerWait counts those that it still
 * waits for. */
static void read_readers(const struct syncs *s, struct lock *lock)
{
	enum { MOST_READERS = 1 << 30 };
	uint64_t count, wait;
	struct typed v;
	if (!offset_of(s->types, "sync.RWMutex", PATH("readerCount"), &count) ||
	    !offset_of(s->types, "sync.RWMutex", PATH("readerWait"), &wait) ||
	    !open_at(s, "sync.RWMutex", lock->address, &v))
		return;
	int32_t readers = (int32_t)typed_number(&v, count, 4), leaving = (int32_t)typed_number(&v, wait, 4);
	if (readers < 0 && leaving <= 0) {
		lock->holds = amount_exact(1);
		return;
	}
	readers = readers < 0 ? leaving : readers;
	lock->kind = readers ? LOCK_READ : LOCK_WRITE;
	lock->holds = amount_exact((uint64_t)readers);
}

static void read_group(const struct syncs *s, struct lock *lock)
{
	uint64_t offset;
	struct typed v;
	const struct types *t = s->types;
	if (!open_at(s, "sync.WaitGroup", lock->address, &v))
		return;
	if (offset_of(t, "sync.WaitGroup", PATH("state1"), &offset)) /* aligned by hand */
		offset += (8 - (lock->address + offset) % 8) % 8;
	else if (!offset_of(t, "sync.WaitGroup", PATH("state"), &offset))
		return;
	lock->holds = amount_exact(typed_number(&v, offset, 8) >> 32);
}

static void read_state(const struct syncs *s, struct lock *lock, enum owner_type of)
{
	uint64_t offset;
	struct typed v;
	if (of == OF_MUTEX && mutex_offset(s->types, "state", &offset) && open_at(s, "sync.Mutex", lock->address, &v))
		lock->holds = amount_exact(typed_number(&v, offset, 4) & 1);
	else if (of == OF_READERS || of == OF_WRITER)
		read_readers(s, lock);
	else if (of == OF_GROUP)
		read_group(s, lock);
}

/* --- where it is ---------------------------------------------------------------------------------- */

/* From a type down to what begins at the offset and is of package sync. */
static bool add_part(const struct types *t, uint32_t type, uint64_t offset, struct text *to)
{
	for (unsigned depth = 0; depth <= 2 * TYPE_DEPTH && type != TYPE_NONE; depth++) {
		const struct type *of = &t->type[type];
		if (!offset && !strncmp(of->name, "sync.", 5))
			return true;
		if (of->kind == TYPE_ARRAY && of->count && t->type[of->element].size) {
			uint64_t width = t->type[of->element].size;
			text_addf(to, "[%" PRIu64 "]", offset / width);
			offset %= width;
			type = of->element;
			continue;
		}
		const struct type_field *f = of->kind == TYPE_STRUCT ? types_fields(t, of) : NULL, *found = NULL;
		for (uint32_t i = 0; f && i < of->n_fields; i++)
			if (f[i].offset <= offset && offset - f[i].offset < t->type[f[i].type].size)
				found = &f[i];
		if (!found)
			return false;
		text_addf(to, ".%s", found->name);
		offset -= found->offset;
		type = found->type;
	}
	return false;
}

bool lock_part(const struct heap *h, uint64_t address, struct text *to)
{
	const struct program *p = h->dump ? h->dump->program : NULL;
	const struct program_variable *variable = p ? program_variable_at(p, address) : NULL;
	struct typed_reference at = typed_resolve(h, address);
	struct typed_object o;
	struct text words = TEXT_INIT;
	bool found = false;
	if (at.id == HEAP_NONE && variable) {
		text_add(&words, variable->name);
		found = add_part(h->dump->types, variable->type, address - variable->address, &words);
	} else if (at.id != HEAP_NONE && typed_open(&o, h, at.id) && o.value.type != TYPE_NONE && o.stride) {
		const char *name = typed_type_name(h, o.value.type);
		text_add(&words, name);
		if (o.array)
			text_addf(&words, "[%" PRIu64 "]", at.offset / o.stride);
		found = strncmp(name, "sync.", 5) != 0 && add_part(h->dump->types, o.value.type, at.offset % o.stride,
		    &words);
	}
	if (found)
		text_add(to, words.s);
	text_release(&words);
	return found;
}

/* --- all ---------------------------------------------------------------------------------------- */

static enum owner_type lock_type(enum owner_type of)
{
	return of == OF_READERS ? OF_WRITER : of;
}

static int by_lock(const void *x, const void *y)
{
	const struct sync_wait *a = x, *b = y;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (lock_type(a->of) != lock_type(b->of))
		return lock_type(a->of) < lock_type(b->of) ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static void add_lock(const struct syncs *s, const struct sync_wait *wait, size_t n)
{
	static const enum lock_kind kinds[] = { [OF_NOTHING] = LOCK_SEMAPHORE, [OF_MUTEX] = LOCK_MUTEX,
		[OF_READERS] = LOCK_WRITE, [OF_WRITER] = LOCK_WRITE, [OF_GROUP] = LOCK_GROUP, [OF_CONDITION] = LOCK_CONDITION };
	const struct heap *h = s->h;
	uint32_t object = heap_target(h, wait->address), at = lock_add(s->f, object, object, kinds[wait->of]);
	if (at == HEAP_NONE)
		return;
	struct lock *lock = &s->f->locks->lock[at];
	lock->address = wait->address;
	read_state(s, lock, wait->of);
	bool nobodys = wait->of == OF_GROUP || wait->of == OF_CONDITION;
	bool free = lock->holds.certainty == EXACT && !lock->holds.n;
	lock->owner_is = nobodys || free ? EXACT : UNKNOWN;
	for (size_t i = 0; i < n && !s->f->lost; i++)
		if (!i || wait[i - 1].thread != wait[i].thread)
			lock_add_wait(s->f, &(struct lock_wait){ .lock = at, .thread = wait[i].thread,
			    .object = h->threads[wait[i].thread].object,
			    .how = wait->of == OF_CONDITION ? WAIT_TO_BE_NOTIFIED : wait[i].of == OF_READERS ? WAIT_TO_READ :
			        wait[i].of == OF_WRITER ? WAIT_TO_WRITE : WAIT_TO_ENTER });
}

int locks_find_sync(struct finding *f)
{
	struct syncs s = { .f = f, .h = f->heap, .types = f->heap->dump ? f->heap->dump->types : NULL };
	int code = s.types ? collect(&s) : 0;
	if (!code)
		code = find_conditions(&s);
	if (!code)
		code = sort(s.wait, s.n, sizeof *s.wait, by_lock, f->err);
	for (size_t i = 0, end; !code && i < s.n && !progress_stops(f->progress, i); i = end) {
		for (end = i + 1; end < s.n && s.wait[end].address == s.wait[i].address &&
		     lock_type(s.wait[end].of) == lock_type(s.wait[i].of); end++)
			;
		if (s.wait[i].address)
			add_lock(&s, s.wait + i, end - i);
		else
			f->locks->n_unplaced += (uint32_t)(end - i);
	}
	big_free(s.wait);
	return code;
}
