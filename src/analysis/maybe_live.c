/* SPDX-License-Identifier: GPL-3.0-or-later */
/* maybe_live.c - see maybe_live.h. */
#include "analysis/maybe_live.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "base/progress.h"
#include "heap/classes.h"
#include "heap/references.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <string.h>

/* Could an object of this class stand in a field of java.lang.Class, or be a thread of the VM's own? */
enum could { NO, YES, IF_NAME, IF_REFLECTION, IF_CONSTANTS, IF_HANDLES, IF_EMPTY, IF_RUNNING };

struct search {
	const struct heap *heap;
	const struct model *model;
	const struct bits *reached;
	struct maybe_live *out;
	uint8_t *could;   /* by class: enum could */
	uint32_t *named, *in_package; /* classes, sorted by name; by name without the package */
	struct text text;
	struct string_walk walk;
	uint32_t *stack;
};

/* --- what a class holds ---------------------------------------------------------------------------- */

static bool extends_enum(const struct heap *h, uint32_t class)
{
	uint32_t super = class == HEAP_NONE ? HEAP_NONE : h->classes[class].superclass;
	for (unsigned up = 0; up < 2 && super != HEAP_NONE; up++, super = h->classes[super].superclass)
		if (!strcmp(h->classes[super].name, "java.lang.Enum")) /* or above, of a constant with a body */
			return true;
	return false;
}

static bool is_of_invoke(const struct heap_class *c)
{
	static const char invoke[] = "java.lang.invoke.";
	return !strncmp(c->name, invoke, sizeof invoke - 1);
}

/* The fields of java.lang.Class from JDK 5 to 28 and what they lead to.  Hidden classes that the JDK makes
 * have data, too: method handles and the like, or an immutable list of some (InvokerBytecodeGenerator). */
static enum could could_be_held(const struct heap *h, uint32_t class)
{
	static const struct {
		const char *name;
		enum could could;
	} kinds[] = {
		{ "java.lang.String", IF_NAME }, { "java.lang.ref.SoftReference", IF_REFLECTION },
		{ "java.util.HashMap", IF_CONSTANTS }, { "int[]", IF_EMPTY },
		{ "java.util.ImmutableCollections$List12", IF_HANDLES },
		{ "java.util.ImmutableCollections$ListN", IF_HANDLES },
		{ "java.lang.reflect.Constructor", YES }, { "java.lang.Module", YES },
		{ "java.lang.Class$AnnotationData", YES }, { "sun.reflect.annotation.AnnotationType", YES },
		{ "sun.reflect.generics.repository.ClassRepository", YES },
		{ "java.lang.ClassValue$ClassValueMap", YES },
	};
	const struct heap_class *c = &h->classes[class];
	if (!strcmp(c->name, "java.lang.Thread"))
		return IF_RUNNING;
	if (class == h->java_lang_class || (c->kind == CLASS_OBJECT_ARRAY && extends_enum(h, c->component)))
		return YES;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(c->name, kinds[i].name))
			return kinds[i].could;
	return is_of_invoke(c) ? YES : NO;
}

static int by_name(const void *x, const void *y, void *context)
{
	const struct heap *h = context;
	return heap_class_order(h->classes, *(const uint32_t *)x, *(const uint32_t *)y);
}

static const char *in_package(const struct heap_class *c)
{
	const char *dot = strrchr(c->name, '.');
	return dot ? dot + 1 : c->name;
}

static int by_name_in_package(const void *x, const void *y, void *context)
{
	const struct heap *h = context;
	return strcmp(in_package(&h->classes[*(const uint32_t *)x]), in_package(&h->classes[*(const uint32_t *)y]));
}

static int list_names(struct search *s, struct err *err)
{
	const struct heap *h = s->heap;
	uint32_t n = h->n_classes;
	s->named = big_alloc(n, sizeof *s->named, err);
	s->in_package = s->named ? big_alloc(n, sizeof *s->in_package, err) : NULL;
	for (uint32_t i = 0; s->in_package && i < n; i++)
		s->named[i] = s->in_package[i] = i;
	if (!s->in_package)
		return ERR_NOMEM;
	int code = sort_with(s->named, n, sizeof *s->named, by_name, (void *)h, err);
	return code ? code : sort_with(s->in_package, n, sizeof *s->in_package, by_name_in_package, (void *)h, err);
}

/* Is there a class whose name begins so? */
static bool begins_a_name(const struct search *s, const char *text, size_t n, bool whole)
{
	uint32_t at;
	BISECT(at, s->heap->n_classes, strcmp(s->heap->classes[s->named[at]].name, text) < 0);
	if (at == s->heap->n_classes)
		return false;
	const char *name = s->heap->classes[s->named[at]].name;
	return !strncmp(name, text, n) && (!whole || !name[n]);
}

/* The VM keeps the name of the file that a class was compiled from once a trace has named it: Cart.java,
 * CartKt.kt, of generated classes just Cart$Made.  So there is a class whose name in its package begins so. */
static bool is_source_file(struct search *s)
{
	const struct heap_class *classes = s->heap->classes;
	uint32_t at, n = s->heap->n_classes;
	char *end = strrchr(s->text.s, '.');
	size_t length = end ? (size_t)(end - s->text.s) : s->text.len;
	BISECT(at, n, strncmp(in_package(&classes[s->in_package[at]]), s->text.s, length) < 0);
	return length && at < n && !strncmp(in_package(&classes[s->in_package[at]]), s->text.s, length);
}

/* Does the String say what a class, or a package of classes, is called, or where it was compiled from? */
static bool is_name(struct search *s, uint32_t id)
{
	enum { LONGEST = 1000 };
	struct string_view view;
	if (!inspect_text_along(s->heap, id, &s->walk, &view) || !view.length || view.length > LONGEST)
		return false;
	text_clear(&s->text);
	string_add(&view, 0, view.length, &s->text);
	if (s->text.s[0] == '[') /* [I, [Ljava.lang.Object; */
		return true;
	char *number = strrchr(s->text.s, '/'); /* of a hidden class: p.Outer$$Lambda/0x000000003404f000 */
	if (number) {
		*number = '\0';
		return begins_a_name(s, s->text.s, (size_t)(number - s->text.s), false);
	}
	if (begins_a_name(s, s->text.s, s->text.len, true) || is_source_file(s))
		return true;
	text_add(&s->text, ".");
	return begins_a_name(s, s->text.s, s->text.len, false);
}

/* Among the first of its references: what is looked for stands there, and others may have millions. */
static bool leads_to(const struct heap *h, uint32_t id, bool (*is)(const struct heap *h, uint32_t id))
{
	enum { LOOKED_AT = 64 };
	uint64_t start = adjacency_start(&h->out, id), end = adjacency_start(&h->out, id + 1);
	for (uint64_t k = start; k < end && k - start < LOOKED_AT; k++)
		if (is(h, h->out.target[k]))
			return true;
	return false;
}

static bool is_reflection(const struct heap *h, uint32_t id)
{
	return !strcmp(heap_class_of(h, id)->name, "java.lang.Class$ReflectionData");
}

static bool is_constant(const struct heap *h, uint32_t id)
{
	return extends_enum(h, heap_class_index(h, id));
}

static bool holds_constant(const struct heap *h, uint32_t id)
{
	return leads_to(h, id, is_constant);
}

static bool holds_holder(const struct heap *h, uint32_t id)
{
	return leads_to(h, id, holds_constant);
}

static bool is_handle(const struct heap *h, uint32_t id)
{
	return is_of_invoke(heap_class_of(h, id));
}

static bool holds_handle(const struct heap *h, uint32_t id)
{
	return leads_to(h, id, is_handle);
}

/* The VM keeps threads of its own that it does not list (Service Thread, Monitor Deflation Thread).  Their
 * field eetop leads to what runs. */
static bool is_running(const struct heap *h, uint32_t id)
{
	struct values values;
	struct value eetop;
	struct err err = ERR_INIT;
	return !values_open(&values, h, id, &err) && values_field(&values, "eetop", &eetop) && eetop.bits;
}

static bool may_stand_in_class(struct search *s, uint32_t id)
{
	switch ((enum could)s->could[heap_class_index(s->heap, id)]) {
	case NO: return false;
	case YES: return true;
	case IF_NAME: return is_name(s, id);
	case IF_REFLECTION: return leads_to(s->heap, id, is_reflection);
	case IF_CONSTANTS: return leads_to(s->heap, id, holds_holder);
	case IF_HANDLES: return leads_to(s->heap, id, is_handle) || leads_to(s->heap, id, holds_handle);
	case IF_RUNNING: return is_running(s->heap, id);
	case IF_EMPTY: return heap_length(s->heap, id) == 0; /* the lock of a class that is not initialised */
	}
	return false;
}

static int mark_held_by_classes(struct search *s, struct err *err)
{
	const struct heap *h = s->heap;
	s->could = big_alloc(h->n_classes, sizeof *s->could, err);
	int code = s->could ? list_names(s, err) : ERR_NOMEM;
	for (uint32_t c = 0; !code && c < h->n_classes && !progress_own_stops(8 * c); c++)
		s->could[c] = (uint8_t)could_be_held(h, c);
	for (uint32_t id = 0; !code && id < h->n_objects && !progress_own_stops(4 * (uint64_t)id); id++) {
		if (!(id % 64) && h->n_objects - id > 64 && s->out->objects.word[id / 64] == UINT64_MAX)
			id += 63; /* most objects are reachable */
		else if (!bits_get(&s->out->objects, id) && may_stand_in_class(s, id))
			heap_reach(s->model, id, s->out->objects.word, s->stack);
	}
	big_free(s->could);
	big_free(s->named);
	big_free(s->in_package);
	text_release(&s->text);
	return code;
}

/* --- what stacks hold ------------------------------------------------------------------------------- */

static bool is_below(const struct heap *h, uint32_t class, uint32_t super)
{
	enum { CHAIN_MAX = 64 }; /* of a hostile dump the chain may have no end */
	for (unsigned up = 0; up < CHAIN_MAX && class != HEAP_NONE && class != super; up++)
		class = h->classes[class].superclass;
	return class == super;
}

/* Is there a continuation that is no virtual thread's, and that has a stack?  No release writes these. */
static bool stacks_of_continuations(const struct heap *h)
{
	uint32_t base = values_class_named(h, "jdk.internal.vm.Continuation");
	uint32_t threads = values_class_named(h, "java.lang.VirtualThread$VThreadContinuation");
	uint32_t others = 0;
	for (uint32_t c = 0; base != HEAP_NONE && c < h->n_classes; c++)
		if (c != threads && is_below(h, c, base))
			others += h->classes[c].n_objects;
	for (uint32_t id = 0; others && id < h->n_objects && !progress_own_stops(id); id++) {
		uint32_t class = heap_class_index(h, id);
		struct values values;
		struct value tail;
		struct err err = ERR_INIT;
		if (class == threads || !is_below(h, class, base))
			continue;
		others--;
		if (!values_open(&values, h, id, &err) && values_field(&values, "tail", &tail) && tail.bits)
			return true;
	}
	return false;
}

/* Is there a stack that the dump does not tell?  Those of virtual threads the VM writes all, or none. */
static bool stacks_are_missing(const struct heap *h)
{
	if (stacks_of_continuations(h))
		return true;
	for (uint32_t i = 0; i < h->n_threads; i++)
		if (h->threads[i].object != HEAP_NONE &&
		    !strcmp(heap_class_of(h, h->threads[i].object)->name, "java.lang.VirtualThread"))
			return false;
	uint32_t chunk = values_class_named(h, "jdk.internal.vm.StackChunk");
	return chunk != HEAP_NONE && h->classes[chunk].n_objects;
}

/* --- what the program gives to classes -------------------------------------------------------------- */

/* Did the program make a hidden class?  It may have given it an object of any kind, which only the field
 * classData of its class object need hold (Lookup.defineHiddenClassWithClassData).  Those whose names end
 * so the JDK makes in the program's packages. */
static bool has_hidden_class(const struct heap *h)
{
	static const char *const made[] = { "$$Lambda", "$$InjectedInvoker", "$$TypeSwitch" };
	struct bits other; /* by rank of a name: it is none of a hidden class; a long one may be shared by many */
	struct err err = ERR_INIT;
	bool memo = bits_init(&other, h->n_classes, &err) == 0, found = false;
	for (uint32_t c = 0; !found && c < h->n_classes && !progress_own_stops(8 * c); c++) {
		const struct heap_class *class = &h->classes[c];
		if (class->kind != CLASS_PLAIN || heap_class_has_no_loader(class) ||
		    (memo && bits_get(&other, class->name_rank)))
			continue;
		found = strstr(class->name, "+0x") || strstr(class->name, "/0x");
		for (size_t i = 0; found && i < sizeof made / sizeof *made; i++)
			found = !strstr(class->name, made[i]);
		if (!found && memo)
			bits_set(&other, class->name_rank);
	}
	bits_release(&other);
	return found;
}

/* --- all -------------------------------------------------------------------------------------------- */

/* Nothing ever holds what the collector fills gaps with. */
static void leave_out_fillers(struct search *s)
{
	const struct heap *h = s->heap;
	uint32_t filler = h->fillers_told ? values_class_named(h, "<filler>") : HEAP_NONE;
	for (uint32_t id = 0; filler != HEAP_NONE && id < h->n_objects && !progress_own_stops(id); id++)
		if (heap_class_index(h, id) == filler)
			bits_unset(&s->out->objects, id);
}

static int mark(struct search *s, struct err *err)
{
	const struct heap *h = s->heap;
	struct maybe_live *out = s->out;
	int code = 0;
	for (size_t i = 0; i < h->n_in_frames && !progress_own_stops(i); i++)
		heap_reach(s->model, h->in_frames[i], out->objects.word, s->stack);
	if (out->reason == REASON_CLASS_FIELDS)
		code = mark_held_by_classes(s, err);
	for (uint64_t w = 0; w < bits_words(&out->objects); w++)
		out->objects.word[w] = out->reason == REASON_STACKS_MISSING || out->reason == REASON_CLASS_DATA
		    ? ~s->reached->word[w] : out->objects.word[w] & ~s->reached->word[w];
	if (out->objects.n % 64)
		out->objects.word[out->objects.n / 64] &= (UINT64_C(1) << out->objects.n % 64) - 1;
	else
		out->objects.word[out->objects.n / 64] = 0;
	leave_out_fillers(s);
	for (uint64_t w = 0; w <= out->objects.n / 64; w++)
		out->n += bits_ones(out->objects.word[w]);
	return code ? code : progress_check(progress_own(), err);
}

enum reason maybe_live_reason(const struct heap *h, const struct bits *reached)
{
	size_t i = 0;
	while (reached && i < h->n_in_frames && bits_get(reached, h->in_frames[i]) && !progress_own_stops(i))
		i++;
	return i < h->n_in_frames ? REASON_FRAMES
		: !h->facts.class_fields_missing ? REASON_NONE
		: stacks_are_missing(h) ? REASON_STACKS_MISSING
		: has_hidden_class(h) ? REASON_CLASS_DATA : REASON_CLASS_FIELDS;
}

int maybe_live_find(struct maybe_live *out, const struct model *m, const struct bits *reached, struct err *err)
{
	const struct heap *h = m->heap;
	struct search s = { .heap = h, .model = m, .reached = reached, .out = out, .text = TEXT_INIT };
	*out = (struct maybe_live){ .reason = maybe_live_reason(h, reached) };
	if (out->reason == REASON_NONE)
		return 0;
	s.stack = big_alloc(h->n_objects, sizeof *s.stack, err);
	int code = s.stack ? bits_init(&out->objects, h->n_objects, err) : ERR_NOMEM;
	for (uint64_t w = 0; !code && w < bits_words(reached); w++)
		out->objects.word[w] = reached->word[w];
	if (!code)
		code = mark(&s, err);
	big_free(s.stack);
	if (code || !out->n)
		maybe_live_release(out);
	return code;
}

void maybe_live_release(struct maybe_live *u)
{
	bits_release(&u->objects);
	*u = (struct maybe_live){ .n = 0 };
}
