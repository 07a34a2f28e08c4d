/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bt_noted.c - see bt_noted.h.
 *
 * Of deferred calls Go records those that it keeps in a list; calls that the compiler put into the function
 * itself (open-coded ones) are in no record.
 */
#include "command/browse/bt_noted.h"

#include "analysis/describe/describe.h"
#include "base/progress.h"
#include "dump/reader.h"
#include "dump/types.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/noted.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "heap/waits.h"
#include "result/objects.h"

#include <inttypes.h>
#include <string.h>

void bt_add_row(struct result *r, const struct bt_row *row)
{
	result_add_row(r, (struct cell[]){
	    [BT_FRAME] = row->frame == HEAP_NONE ? cell_blank() : cell_plain(row->frame),
	    [BT_METHOD] = cell_text_or_blank(row->method),
	    [BT_KIND] = cell_text_or_blank(row->kind),
	    [BT_ADDRESS] = row->address ? cell_address(row->address) : cell_blank(),
	    [BT_CLASS] = cell_text_or_blank(row->class),
	    [BT_SHALLOW] = row->object == HEAP_NONE ? cell_blank() : cell_bytes(heap_size(r->heap, row->object)),
	    [BT_RETAINED] = cell_blank(), /* when looked at */
	    [BT_VALUE] = row->value,
	    [BT_VARIABLE] = cell_text_or_blank(row->variable)},
	    row->object == HEAP_NONE ? NULL : &(struct target){.kind = TARGET_OBJECT, .id = row->object});
}

/* Of no frame, with what is said of the value. */
static void add_row(struct result *r, const char *kind, uint64_t address, uint32_t object,
    const char *class, const char *value)
{
	bt_add_row(r, &(struct bt_row){.frame = HEAP_NONE, .object = object, .kind = kind, .class = class,
	    .address = address, .value = cell_text_or_blank(value)});
}

static const char *class_name(const struct heap *h, uint32_t object)
{
	return object == HEAP_NONE ? NULL : heap_class_of(h, object)->name;
}

/* --- deferred calls ----------------------------------------------------------------------------- */

/* The one frame of the function that a pc is in, or HEAP_NONE: a function that calls itself has several. */
static uint32_t frame_of(const struct heap *h, const struct heap_thread *t, uint64_t pc)
{
	struct text name = TEXT_INIT;
	uint32_t found = HEAP_NONE, n = 0;
	size_t length = heap_symbol(h, pc, &name) ? strcspn(name.s, "+") : 0;
	for (uint32_t f = 0; length && f < t->n_frames; f++) {
		if (strncmp(t->frames[f], name.s, length) || (t->frames[f][length] && t->frames[f][length] != '+'))
			continue;
		found = f;
		n++;
	}
	text_release(&name);
	return n == 1 ? found : HEAP_NONE;
}

static void add_deferred(struct result *r, const struct heap_thread *t, const struct noted *n)
{
	const struct heap *h = r->heap;
	struct text function = TEXT_INIT, words = TEXT_INIT;
	uint32_t closure = heap_target(h, n->closure);
	struct cell value = cell_blank();
	heap_noted_function(h, n, &function);
	if (closure != HEAP_NONE)
		object_cell(r->opened, closure, OBJECT_VALUE, &value, &words);
	bt_add_row(r, &(struct bt_row){.frame = frame_of(h, t, n->made_at), .object = closure, .method = function.s,
	    .kind = "Deferred call", .class = class_name(h, closure), .value = cell_text_or_blank(words.s),
	    .address = closure == HEAP_NONE ? n->closure : heap_address(h, closure)});
	text_release(&function);
	text_release(&words);
}

/* --- panics ------------------------------------------------------------------------------------- */

static void put_word(const struct heap *h, uint8_t *to, uint64_t word)
{
	unsigned n = typed_word_size(h);
	for (unsigned i = 0; i < n; i++)
		to[i] = (uint8_t)(word >> 8 * (h->facts.big_endian ? n - 1 - i : i));
}

/* runtime.Goexit runs deferred calls as a panic does, and is recorded as one that has no value. */
static bool is_goexit(const struct heap *h, const struct noted *n)
{
	uint32_t type = h->dump->types ? types_by_name(h->dump->types, "runtime._panic") : TYPE_NONE;
	struct typed panic, goexit;
	return type != TYPE_NONE && n->address && typed_at(h, n->address, type, &panic) &&
	    typed_field(&panic, "goexit", &goexit) && goexit.bytes[0];
}

/* What the runtime holds in an interface of its own: "main.Pair {A: 13, …}". */
static void add_panic(struct result *r, const struct noted *n)
{
	const struct heap *h = r->heap;
	const struct types *types = h->dump->types;
	uint8_t bytes[16] = {0};
	struct any_value v = {.heap = h};
	struct text name = TEXT_INIT, words = TEXT_INIT;
	uint32_t object = heap_target(h, n->value[1]);
	if (is_goexit(h, n)) {
		add_row(r, "Goexit", 0, HEAP_NONE, NULL, NULL);
		return;
	}
	put_word(h, bytes, n->value[0]);
	put_word(h, bytes + typed_word_size(h), n->value[1]);
	v.memory.value = (struct typed){h, types ? types_by_name(types, "interface {}") : TYPE_NONE, bytes,
	    2 * typed_word_size(h), 0};
	if (v.memory.value.type != TYPE_NONE && types->type[v.memory.value.type].kind == TYPE_EMPTY_INTERFACE) {
		struct typed value;
		inspect_value(&v, DESCRIBE_SHORT, &words);
		(void)typed_dynamic(&v.memory.value, &value, &name);
	} else if (h->dump->reader->memory) {
		(void)h->dump->reader->memory->type_name(h->dump, n->value[0], &name);
	}
	add_row(r, root_kind_name(ROOT_PANIC), object == HEAP_NONE ? n->value[1] : heap_address(h, object), object,
	    name.len ? name.s : class_name(h, object), words.s);
	text_release(&name);
	text_release(&words);
}

/* --- channels ----------------------------------------------------------------------------------- */

static void add_sent(struct result *r, const struct wait *w)
{
	const struct heap *h = r->heap;
	struct any_value v = {.heap = h, .memory = {.value = w->sent}};
	struct text words = TEXT_INIT;
	struct value_target to = inspect_target(&v);
	uint64_t address = to.id != HEAP_NONE ? heap_address(h, to.id) : to.address ? to.address : w->sent.address;
	inspect_value(&v, DESCRIBE_SHORT, &words);
	add_row(r, "Sends", address, to.id, inspect_type(&v), words.s);
	text_release(&words);
}

static void add_wait(struct result *r, const struct wait *w)
{
	static const char *const kinds[] = {
	    [WAIT_EITHER] = "Waits for", [WAIT_SENDS] = "Waits to send", [WAIT_RECEIVES] = "Waits to receive"};
	const struct heap *h = r->heap;
	uint32_t channel = heap_target(h, w->channel);
	struct text words = TEXT_INIT;
	struct cell value = cell_blank();
	if (channel != HEAP_NONE)
		object_cell(r->opened, channel, OBJECT_VALUE, &value, &words);
	add_row(r, kinds[w->how], w->channel, channel, class_name(h, channel), words.s);
	text_release(&words);
	if (w->sent.bytes)
		add_sent(r, w);
}

/* --- all ---------------------------------------------------------------------------------------- */

bool bt_is_noted(const struct heap *h, const struct heap_root *root)
{
	const char *class = heap_class_of(h, root->object)->name;
	return heap_has_notes(h) && ((root->kind == ROOT_PANIC && strcmp(class, "runtime._panic") != 0) ||
	    (root->kind == ROOT_DEFER && !strncmp(class, "closure of ", 11)));
}

void bt_add_noted(struct result *r, uint32_t thread)
{
	const struct heap *h = r->heap;
	const struct heap_thread *t = &h->threads[thread];
	struct waits_walk waits = {.next = 0};
	uint64_t rounds = 0;
	for (struct wait w; t->waits_for && !progress_own_stops(rounds++) && waits_next(h, thread, &waits, &w);)
		add_wait(r, &w);
	for (unsigned panics = 0; panics < 2; panics++) {
		struct noted_walk walk = {.run = 0};
		struct noted n;
		while (!progress_own_stops(rounds++) &&
		    heap_next_noted(h, panics ? NOTED_PANIC : NOTED_DEFER, &walk, &n)) {
			if (n.of != t->address)
				continue;
			if (panics)
				add_panic(r, &n);
			else
				add_deferred(r, t, &n);
		}
	}
}
