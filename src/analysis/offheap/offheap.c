/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * offheap.c - find the owners of memory outside of the heap; see offheap.h.
 *
 * Classes are given their roles by name first; then only their instances are opened, in the order of ids: at first what
 * owns memory as itself, then cleaners and segments, which may lead to what was counted.
 */
#include "analysis/offheap/offheap_finding.h"

#include "algorithms/sort.h"
#include "analysis/java/java.h"
#include "base/progress.h"
#include "dump/process.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <stdint.h>
#include <string.h>

const char *offheap_kind_name(enum offheap_kind kind)
{
	static const char *const names[OFFHEAP_KINDS] = {
	    [OFFHEAP_DIRECT] = "direct", [OFFHEAP_MAPPED] = "mapped", [OFFHEAP_SEGMENT] = "segment",
	    [OFFHEAP_NETTY] = "netty", [OFFHEAP_LENT] = "lent", [OFFHEAP_CLEANER] = "cleaner",
	    [OFFHEAP_REGISTERED] = "registered", [OFFHEAP_DEFLATER] = "deflater", [OFFHEAP_INFLATER] = "inflater",
	    [OFFHEAP_ZIP] = "zip", [OFFHEAP_STACK] = "stack"};
	return names[kind];
}

/* --- roles -------------------------------------------------------------------------------------- */

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool ends(const char *name, const char *with)
{
	size_t n = strlen(name), m = strlen(with);
	return n >= m && !strcmp(name + n - m, with);
}

static enum role role_of_name(const char *name)
{
	static const struct {
		const char *name;
		enum role role;
	} known[] = {
	    {"sun.misc.Cleaner", ROLE_CLEANER}, {"jdk.internal.ref.Cleaner", ROLE_CLEANER},
	    {"java.nio.BufferCleaner$PhantomCleaner", ROLE_CLEANER},
	    {"jdk.internal.ref.CleanerImpl$PhantomCleanableRef", ROLE_CLEANER},
	    {"java.nio.DirectByteBuffer$Deallocator", ROLE_DEALLOCATOR},
	    {"libcore.util.NativeAllocationRegistry$CleanerThunk", ROLE_THUNK},
	    {"jdk.internal.foreign.NativeMemorySegmentImpl", ROLE_SEGMENT},
	    {"jdk.internal.foreign.MappedMemorySegmentImpl", ROLE_SEGMENT},
	    {"java.util.zip.Deflater", ROLE_DEFLATER}, {"java.util.zip.Inflater", ROLE_INFLATER},
	    {"java.util.zip.ZipFile", ROLE_ZIP}, {"java.lang.Thread", ROLE_THREAD},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(name, known[i].name))
			return known[i].role;
	if (begins(name, "java.nio.Direct") && strstr(name, "Buffer") && !strchr(name, '$') && !strchr(name, '['))
		return ROLE_BUFFER;
	if (begins(name, "sun.nio.ch.FileChannelImpl$") && ends(name, "Unmapper"))
		return ROLE_UNMAPPER;
	if (begins(name, "jdk.internal.foreign.") && ends(name, "ResourceList"))
		return ROLE_LIST;
	return ROLE_NONE;
}

/* A class that has no role by its own name has that of its superclass; virtual threads have no stack of their own. */
static enum role role_of_class(const struct heap *h, uint32_t class)
{
	enum { DEEP = 64 };
	for (unsigned deep = 0; class != HEAP_NONE && deep < DEEP; deep++) {
		const struct heap_class *c = &h->classes[class];
		enum role role = c->kind == CLASS_PLAIN ? role_of_name(c->name) : ROLE_NONE;
		if (role != ROLE_NONE)
			return role;
		if (!strcmp(c->name, "java.lang.BaseVirtualThread") || !strcmp(c->name, "java.lang.VirtualThread"))
			return ROLE_NONE;
		class = c->superclass;
	}
	return ROLE_NONE;
}

static int give_roles(struct finding *f, bool *any)
{
	const struct heap *h = f->heap;
	f->role = big_alloc(h->n_classes, sizeof *f->role, f->err);
	*any = false;
	for (uint32_t i = 0; f->role && i < h->n_classes; i++) {
		if (progress_stops(f->progress, i))
			return err_cancelled(f->err);
		f->role[i] = h->classes[i].n_objects ? (uint8_t)role_of_class(h, i) : ROLE_NONE;
		*any |= f->role[i] != ROLE_NONE;
	}
	return f->role ? 0 : ERR_NOMEM;
}

/* --- fields ------------------------------------------------------------------------------------- */

static void find_fields(struct fields *set, const struct values *v)
{
	uint32_t class = heap_class_index(v->heap, v->id);
	if (set->known && set->class == class)
		return;
	set->known = true;
	set->class = class;
	for (unsigned i = 0; i < FIELDS_MOST && set->names[i]; i++)
		set->has[i] = values_place(v->heap, class, set->names[i], &set->place[i]);
}

bool offheap_number(struct fields *set, const struct values *v, unsigned which, uint64_t *out)
{
	struct value value;
	find_fields(set, v);
	if (!set->has[which] || !values_at(v, &set->place[which], &value) ||
	    (value.type != VALUE_LONG && value.type != VALUE_INT))
		return false;
	*out = value.bits;
	return true;
}

uint32_t field_object(struct fields *set, const struct values *v, unsigned which)
{
	struct value value;
	find_fields(set, v);
	return set->has[which] && values_at(v, &set->place[which], &value) ? value_object_id(v->heap, &value) : HEAP_NONE;
}

bool field_is_null(struct fields *set, const struct values *v, unsigned which)
{
	struct value value;
	find_fields(set, v);
	return set->has[which] && values_at(v, &set->place[which], &value) && value.type == VALUE_OBJECT && !value.bits;
}

/* --- owners ------------------------------------------------------------------------------------- */

int offheap_add(struct finding *f, uint32_t object, enum offheap_kind kind, struct amount capacity, uint64_t limit,
    uint64_t address)
{
	return BIG_ADD(f->out->owner, f->out->n, f->out->cap, f->err, (struct offheap_owner){.object = object,
	    .kind = kind, .capacity = capacity, .limit = limit, .address = address,
	    .reserved = kind == OFFHEAP_DIRECT || kind == OFFHEAP_SEGMENT});
}

int offheap_add_stretch(struct finding *f, const struct stretch *s)
{
	return BIG_ADD(f->stretch, f->n_stretches, f->cap_stretches, f->err, *s);
}

/* What zlib says that it takes by its defaults, which the JDK does not change (zconf.h, "memory requirements"). */
enum { DEFLATER_BYTES = 256 << 10, INFLATER_BYTES = (32 + 7) << 10 };
enum { Z_REFERENCE, Z_STREAM, Z_HANDLE, Z_ADDRESS };
static const char *const stream_names[] = {"zsRef", "strm", "streamHandle", NULL};

static int take_stream(struct finding *f, uint32_t id, enum offheap_kind kind)
{
	struct values v, reference;
	struct value address;
	uint64_t at = 0;
	if (values_open_along(&v, f->heap, id, &f->walk, NULL))
		return 0;
	uint32_t held = field_object(&f->stream, &v, Z_REFERENCE);
	if (held != HEAP_NONE && !values_open(&reference, f->heap, held, NULL) &&
	    values_field(&reference, "address", &address))
		at = address.bits;
	else if (!offheap_number(&f->stream, &v, Z_STREAM, &at) && !offheap_number(&f->stream, &v, Z_HANDLE, &at))
		return 0;
	if (!at || at == UINT64_MAX) {
		f->out->freed++;
		return 0;
	}
	return offheap_add(f, id, kind, offheap_usual(kind == OFFHEAP_DEFLATER ? DEFLATER_BYTES : INFLATER_BYTES),
	    OFFHEAP_NO_LIMIT, at);
}

static int take_zip(struct finding *f, uint32_t id)
{
	struct values v;
	struct value file;
	if (values_open_along(&v, f->heap, id, &f->walk, NULL) || !values_field(&v, "jzfile", &file))
		return 0;
	if (!file.bits) {
		f->out->freed++;
		return 0;
	}
	return offheap_add(f, id, OFFHEAP_ZIP, amount_unknown(REASON_OUTSIDE), OFFHEAP_NO_LIMIT, file.bits);
}

enum { T_TOP, T_NATIVE, T_REFERENCE, T_SIZE, T_HOLDER };
static const char *const thread_names[] = {"eetop", "nativePeer", "threadRef", "stackSize", "holder", NULL};

/* -Xss512k, -XX:ThreadStackSize=512: of several the last counts. */
static uint64_t stack_of_options(const struct heap *h)
{
	static const char bytes[] = "-Xss", kilobytes[] = "-XX:ThreadStackSize=";
	struct err err = ERR_INIT;
	struct process_facts *own = h->process ? NULL : java_process(h, &err);
	const struct process_facts *p = h->process ? h->process : own;
	uint64_t found = 0, n;
	for (size_t i = 0; p && i < p->arguments.n && !progress_own_stops(i); i++) {
		const char *value = p->arguments.list[i].value;
		if (value && begins(value, bytes) && parse_size(value + sizeof bytes - 1, &n))
			found = n;
		else if (value && begins(value, kilobytes) && parse_size(value + sizeof kilobytes - 1, &n))
			found = n <= SIZE_MOST / 1024 ? n * 1024 : 0;
	}
	process_free(own);
	return found <= SIZE_MOST ? found : 0;
}

static int take_thread(struct finding *f, uint32_t id)
{
	struct values v, held;
	struct value of_holder;
	uint64_t running = 0, size = 0;
	if (values_open_along(&v, f->heap, id, &f->walk, NULL) ||
	    (!offheap_number(&f->thread, &v, T_TOP, &running) && !offheap_number(&f->thread, &v, T_NATIVE, &running) &&
	        !offheap_number(&f->thread, &v, T_REFERENCE, &running)) || !running)
		return 0;
	uint32_t holder = field_object(&f->thread, &v, T_HOLDER);
	if ((!offheap_number(&f->thread, &v, T_SIZE, &size) || !size) && holder != HEAP_NONE &&
	    !values_open(&held, f->heap, holder, NULL) && values_field(&held, "stackSize", &of_holder))
		size = of_holder.bits;
	if (!size && !f->stack_asked) {
		f->stack_asked = true;
		f->stack = stack_of_options(f->heap);
	}
	size = size ? size : f->stack;
	return offheap_add(f, id, OFFHEAP_STACK, size && size <= SIZE_MOST ? offheap_usual(size) :
	    amount_unknown(REASON_OUTSIDE), OFFHEAP_NO_LIMIT, 0);
}

static int take(struct finding *f, uint32_t id, unsigned round)
{
	switch ((enum role)f->role[heap_class_index(f->heap, id)]) {
	case ROLE_BUFFER: return round ? 0 : offheap_take_buffer(f, id);
	case ROLE_LIST: return round ? 0 : offheap_take_list(f, id);
	case ROLE_DEFLATER: return round ? 0 : take_stream(f, id, OFFHEAP_DEFLATER);
	case ROLE_INFLATER: return round ? 0 : take_stream(f, id, OFFHEAP_INFLATER);
	case ROLE_ZIP: return round ? 0 : take_zip(f, id);
	case ROLE_THREAD: return round ? 0 : take_thread(f, id);
	case ROLE_CLEANER: return round ? offheap_take_cleaner(f, id) : 0;
	case ROLE_SEGMENT: return round ? offheap_take_segment(f, id) : 0;
	default: return 0;
	}
}

static int take_all(struct finding *f)
{
	const struct heap *h = f->heap;
	int code = 0;
	for (unsigned round = 0; !code && round < 2; round++) {
		f->walk = (struct view_walk){.run = 0};
		for (uint32_t id = 0; !code && id < h->n_objects; id++) {
			if (progress_stops(f->progress, id))
				code = err_cancelled(f->err);
			else if (f->role[heap_class_index(h, id)] != ROLE_NONE)
				code = take(f, id, round);
		}
	}
	return code;
}

/* --- dumps without values ----------------------------------------------------------------------- */

/* The first object of this role that an object leads to, or that such a one leads to; HEAP_NONE. */
static uint32_t led_to(const struct finding *f, uint32_t id, enum role role)
{
	const struct adjacency *out = &f->heap->out;
	for (uint64_t i = adjacency_start(out, id); i < adjacency_start(out, id + 1); i++)
		if (f->role[heap_class_index(f->heap, out->target[i])] == role)
			return out->target[i];
	return HEAP_NONE;
}

/* A buffer that leads to a cleaner owns memory; a deflater or an inflater may have been ended. */
static int take_by_references(struct finding *f, uint32_t id)
{
	const struct amount capacity = amount_unknown(values_away(f->heap) ? REASON_DUMP_AWAY : REASON_SILENT);
	enum role role = f->role[heap_class_index(f->heap, id)];
	if (role == ROLE_DEFLATER || role == ROLE_INFLATER)
		return offheap_add(f, id, role == ROLE_DEFLATER ? OFFHEAP_DEFLATER : OFFHEAP_INFLATER, capacity,
		    OFFHEAP_NO_LIMIT, 0);
	if (role != ROLE_BUFFER)
		return 0;
	uint32_t cleaner = led_to(f, id, ROLE_CLEANER);
	if (cleaner == HEAP_NONE) {
		f->out->views++;
		return 0;
	}
	bool mapped = led_to(f, cleaner, ROLE_UNMAPPER) != HEAP_NONE;
	return offheap_add(f, id, mapped ? OFFHEAP_MAPPED : OFFHEAP_DIRECT, capacity, OFFHEAP_NO_LIMIT, 0);
}

static int take_all_by_references(struct finding *f)
{
	int code = 0;
	f->out->told_by_references = true;
	for (uint32_t id = 0; !code && id < f->heap->n_objects; id++)
		code = progress_stops(f->progress, id) ? err_cancelled(f->err) : take_by_references(f, id);
	return code;
}

/* --- all of it ---------------------------------------------------------------------------------- */

static int by_kind(const void *x, const void *y)
{
	const struct offheap_owner *a = x, *b = y;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

static bool may_tell(const struct heap *h)
{
	return h->facts.values != TYPED_MEMORY && !h->facts.no_class_objects;
}

int offheap_find(struct offheap *out, const struct heap *h, struct progress *progress, struct err *err)
{
	struct finding f = {.out = out, .heap = h, .progress = progress, .stream.names = stream_names,
	    .thread.names = thread_names, .err = err};
	bool any = false;
	*out = (struct offheap){.n = 0};
	if (!may_tell(h))
		return err_set(err, ERR_UNSUPPORTED, "%s holds no Java objects that own off-heap memory",
		    h->facts.title);
	offheap_name_fields(&f);
	progress_phase(progress, PHASE_FOLLOW_REFERENCES, 0);
	int code = give_roles(&f, &any);
	if (!code && any)
		code = bits_init(&f.taken, h->n_objects, err);
	if (!code && any)
		code = h->facts.values == DECLARED_FIELDS ? take_all(&f) : take_all_by_references(&f);
	if (!code && any)
		code = offheap_settle_stretches(&f);
	if (!code)
		code = sort(out->owner, out->n, sizeof *out->owner, by_kind, err);
	bits_release(&f.taken);
	big_free(f.role);
	big_free(f.stretch);
	if (code)
		offheap_release(out);
	return code;
}

void offheap_release(struct offheap *o)
{
	big_free(o->owner);
	*o = (struct offheap){.n = 0};
}
