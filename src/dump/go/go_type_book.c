/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_type_book.c - what a walk must know of each type: where its pointers are and what they lead to.
 *
 * The slots of a struct are those of its fields, moved by the offset of each field.  So they are
 * built from the inside out (types contain each other at most TYPE_DEPTH deep).  The structs inside
 * maps and channels are known by the names that the linker gives them: hash<K,V> and bucket<K,V>
 * (before 1.24), map<K,V> and table<K,V> (since), hchan<T>, sudog<T>.
 */
#include "dump/go/go_typing.h"

#include "algorithms/sort.h"
#include "base/text.h"
#include "dump/types.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SLOTS = 1 << 22, MOST_SLOTS_OF_ONE = 1 << 16, UNROLL = 64 };

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static void add_slot(struct type_book *g, struct type_facts *of, struct slot s)
{
	if (of->n_slots >= MOST_SLOTS_OF_ONE || g->n_slots >= MOST_SLOTS)
		return;
	struct slot *to = g->refused ? NULL : BIG_PUSH(g->slot, g->n_slots, g->cap_slots, g->err);
	g->refused |= !to;
	if (!to)
		return;
	*to = s;
	of->n_slots++;
	of->pointers = true;
}

/* --- the insides of maps and channels ------------------------------------------------------------ */

/* Where another field of the struct lies, seen from this one; *found false: there is none. */
static int64_t aside(const struct types *t, uint32_t type, const struct type_field *from,
    const char *name, bool *found)
{
	uint32_t other = types_field(t, type, name);

	*found = other != UINT32_MAX;
	return *found ? (int64_t)(t->field[other].offset - from->offset) : 0;
}

static uint32_t pointed(const struct types *t, uint32_t type)
{
	return type != TYPE_NONE && t->type[type].kind == TYPE_POINTER ? t->type[type].element : TYPE_NONE;
}

/* group<K,V>, from table<K,V>. */
static uint32_t group_of(const struct types *t, uint32_t table)
{
	uint32_t groups = types_field(t, table, "groups");
	uint32_t data = groups == UINT32_MAX ? UINT32_MAX : types_field(t, t->field[groups].type, "data");

	return data == UINT32_MAX ? TYPE_NONE : pointed(t, t->field[data].type);
}

/* Of the insides of maps, before Go 1.24 and since. */
static bool map_slot(const struct types *t, uint32_t type, const struct type_field *f, struct slot *s)
{
	const char *name = t->type[type].name;
	bool found = false;

	if (begins(name, "hash<") && (!strcmp(f->name, "buckets") || !strcmp(f->name, "oldbuckets"))) {
		s->kind = *f->name == 'b' ? SLOT_BUCKETS : SLOT_OLD_BUCKETS;
		s->aside = aside(t, type, f, "B", &found);
		return found && s->type != TYPE_NONE;
	}
	if (begins(name, "bucket<") && !strcmp(f->name, "overflow")) {
		s->kind = SLOT_OVERFLOW; /* declared uintptr where keys and values hold no pointers */
		s->type = type;
		return true;
	}
	if (begins(name, "map<") && !strcmp(f->name, "dirPtr")) {
		s->kind = SLOT_DIRECTORY;
		s->aside = aside(t, type, f, "dirLen", &found);
		s->other = group_of(t, pointed(t, s->type));
		return found && s->type != TYPE_NONE && s->other != TYPE_NONE;
	}
	if (!strcmp(f->name, "data") && types_field(t, type, "lengthMask") != UINT32_MAX) {
		s->kind = SLOT_MASKED;
		s->aside = aside(t, type, f, "lengthMask", &found);
		return s->type != TYPE_NONE;
	}
	return false;
}

/* The generic type's name with the shapes of its arguments, as far as names tell them: the brackets that stand
 * behind a name of a package's begin at `open`. */
static void add_shaped(struct text *to, const char *name, const char *open)
{
	int depth = 0;

	text_add_n(to, name, (size_t)(open - name));
	for (const char *p = open; *p; p++) {
		text_add_n(to, p, 1);
		depth += strchr("[({", *p) ? 1 : strchr("])}", *p) ? -1 : 0;
		if (p == open || (*p == ',' && depth == 1))
			text_add(to, "go.shape.");
		if (!depth) {
			text_add(to, p + 1);
			return;
		}
	}
}

uint32_t type_book_named(const struct types *t, const char *name)
{
	uint32_t type = types_by_name(t, name);
	const char *dot = strchr(name, '.'), *open = dot ? strchr(dot, '[') : NULL;
	struct text shaped = TEXT_INIT;

	if (type != TYPE_NONE || !open || begins(open, "[go.shape."))
		return type;
	add_shaped(&shaped, name, open);
	type = types_by_name(t, shaped.s);
	text_release(&shaped);
	return type;
}

/* The type in the brackets of a generic one's name: "sync/atomic.Pointer[main.T]". */
static uint32_t argument(const struct types *t, const char *name)
{
	const char *open = strchr(name, '['), *close = strrchr(name, ']');
	struct text inner = TEXT_INIT;

	if (!open || !close || close < open + 2)
		return TYPE_NONE;
	text_add_n(&inner, open + 1, (size_t)(close - open - 1));
	uint32_t type = types_by_name(t, inner.s);
	text_release(&inner);
	return type;
}

/* Atomic pointers are declared unsafe.Pointer inside; what they lead to stands in their name. */
static bool atomic_pointer(const struct types *t, uint32_t type, uint32_t *to)
{
	static const char *const names[] = {"sync/atomic.Pointer[", "internal/runtime/atomic.Pointer[",
	    "runtime/internal/atomic.Pointer["};
	const struct type *of = &t->type[type];

	for (size_t i = 0; of->size == t->word && i < sizeof names / sizeof *names; i++)
		if (begins(of->name, names[i])) {
			*to = argument(t, of->name);
			return true;
		}
	return false;
}

/* A node of the trie in sync.Map is an entry or leads to others (internal/sync, before 1.24
 * internal/concurrent: hashtriemap.go); the same of that in package unique (canonmap.go). */
static const char *const tries[] = {"internal/sync.", "internal/concurrent.", "unique."};

static bool is_node(const char *name)
{
	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
		if (begins(name, tries[i]) && begins(name + strlen(tries[i]), "node["))
			return true;
	return false;
}

/* What leads to others begins with a node of the right type; as the type of its children DWARF may tell only
 * what all nodes have in common. */
static uint32_t node_of(const struct types *t, uint32_t type)
{
	const struct type *of = &t->type[type];
	uint32_t first = of->n_fields ? types_fields(t, of)[0].type : TYPE_NONE;

	return first != TYPE_NONE && is_node(t->type[first].name) ? first : TYPE_NONE;
}

static void find_continued(struct type_book *g, uint32_t type)
{
	const char *name = g->types->type[type].name;
	struct type_facts *f = &g->of[type];

	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
		size_t n = strlen(tries[i]);
		struct text other = TEXT_INIT;
		if (!begins(name, tries[i]) || !begins(name + n, "node["))
			continue;
		text_addf(&other, "%sentry%s", tries[i], name + n + 4);
		f->if_set = type_book_named(g->types, other.s);
		text_clear(&other);
		text_addf(&other, "%sindirect%s", tries[i], name + n + 4);
		f->if_clear = type_book_named(g->types, other.s);
		f->continues = true;
		text_release(&other);
	}
}

/* The slot of a field that says more than its type does; false: it does not. */
static bool special_slot(const struct type_book *g, uint32_t type, const struct type_field *f,
    struct slot *s)
{
	const struct types *t = g->types;
	const char *name = t->type[type].name;
	bool found = false;

	*s = (struct slot){.offset = f->offset, .count = 1, .type = pointed(t, f->type)};
	if (begins(name, "hchan<") && !strcmp(f->name, "buf")) {
		s->kind = SLOT_COUNTED;
		s->aside = aside(t, type, f, "dataqsiz", &found);
		uint32_t chan = g->of[type].shown_as;
		s->type = chan == TYPE_NONE ? TYPE_NONE : t->type[chan].element;
		return found && s->type != TYPE_NONE;
	}
	if (begins(name, "hchan<") && !strcmp(f->name, "sendq")) {
		uint32_t chan = g->of[type].shown_as;
		s->kind = SLOT_SENDERS;
		s->type = types_by_name(t, "runtime.sudog");
		s->other = chan == TYPE_NONE ? TYPE_NONE : t->type[chan].element;
		return s->type != TYPE_NONE && s->other != TYPE_NONE && t->type[f->type].size >= t->word;
	}
	if (t->type[f->type].size == t->word && atomic_pointer(t, type, &s->type)) {
		s->kind = SLOT_POINTER;
		s->offset = 0;
		return s->type != TYPE_NONE;
	}
	if (!strcmp(name, "sync.Pool") && (!strcmp(f->name, "local") || !strcmp(f->name, "victim"))) {
		s->kind = SLOT_COUNTED; /* declared unsafe.Pointer: an array with one for each P */
		s->type = types_by_name(t, "sync.poolLocal");
		s->aside = aside(t, type, f, *f->name == 'l' ? "localSize" : "victimSize", &found);
		return found && s->type != TYPE_NONE;
	}
	if (!strcmp(f->name, "children") && t->type[f->type].kind == TYPE_ARRAY && node_of(t, type) != TYPE_NONE &&
	    t->type[t->type[f->type].element].size == t->word) {
		*s = (struct slot){.offset = f->offset, .kind = SLOT_POINTER, .type = node_of(t, type),
		    .count = t->type[f->type].count, .stride = t->word};
		return s->count > 0;
	}
	return map_slot(t, type, f, s);
}

/* Which struct is the inside of which map or channel. */
static void name_inside(struct type_book *g, uint32_t type, uint32_t shown_as,
    const char *part)
{
	if (type == TYPE_NONE || type >= g->types->n)
		return;
	/* of "chan T" and "<-chan T" the plain one names it */
	uint32_t had = g->of[type].shown_as;
	if (had == TYPE_NONE || (begins(g->types->type[shown_as].name, "chan ") &&
	    !begins(g->types->type[had].name, "chan "))) {
		g->of[type].shown_as = shown_as;
		g->of[type].part = part;
	}
}

static void name_insides(struct type_book *g)
{
	const struct types *t = g->types;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct type *of = &t->type[i];
		if ((of->kind != TYPE_MAP && of->kind != TYPE_CHAN) || of->layout == TYPE_NONE)
			continue;
		name_inside(g, of->layout, i, "");
		g->of[of->layout].open_ended = of->kind == TYPE_CHAN;
		if (of->kind == TYPE_CHAN && of->element != TYPE_NONE)
			g->of[of->element].channel = of->layout;
		if (of->kind == TYPE_CHAN)
			continue;
		uint32_t f = types_field(t, of->layout, "buckets");
		if (f != UINT32_MAX)
			name_inside(g, pointed(t, t->field[f].type), i, " buckets");
		f = types_field(t, of->layout, "dirPtr");
		if (f == UINT32_MAX)
			continue;
		uint32_t table = pointed(t, pointed(t, t->field[f].type));
		name_inside(g, table, i, " table");
		name_inside(g, group_of(t, table), i, " buckets");
	}
}

/* --- slots ---------------------------------------------------------------------------------------- */

static void build(struct type_book *g, uint32_t type);

static void build_struct(struct type_book *g, uint32_t type)
{
	const struct types *t = g->types;
	const struct type *of = &t->type[type];

	for (uint32_t i = 0; i < of->n_fields; i++)
		build(g, types_fields(t, of)[i].type);
	for (uint32_t i = 0; i < of->n_fields; i++)
		g->of[type].unsure |= g->of[types_fields(t, of)[i].type].unsure;
	g->of[type].first_slot = g->n_slots;
	for (uint32_t i = 0; i < of->n_fields; i++) {
		const struct type_field *f = &types_fields(t, of)[i];
		const struct type_facts *inner = &g->of[f->type];
		struct slot s;
		if (special_slot(g, type, f, &s)) {
			add_slot(g, &g->of[type], s);
			continue;
		}
		for (uint32_t k = 0; k < inner->n_slots; k++) {
			s = g->slot[inner->first_slot + k];
			s.offset += f->offset;
			add_slot(g, &g->of[type], s);
		}
	}
}

static void build_array(struct type_book *g, uint32_t type)
{
	const struct type *of = &g->types->type[type];
	struct type_facts *me = &g->of[type];
	uint64_t size = of->element == TYPE_NONE ? 0 : g->types->type[of->element].size;

	if (!size || !of->count)
		return;
	build(g, of->element);
	me->unsure = g->of[of->element].unsure;
	const struct type_facts *inner = &g->of[of->element];
	me->first_slot = g->n_slots;
	if (inner->n_slots == 1 && g->slot[inner->first_slot].count == 1) {
		struct slot s = g->slot[inner->first_slot];
		s.count = of->count;
		s.stride = size;
		add_slot(g, me, s);
	} else if (inner->n_slots && of->count <= UNROLL / inner->n_slots) {
		for (uint64_t i = 0; i < of->count; i++)
			for (uint32_t k = 0; k < inner->n_slots; k++) {
				struct slot s = g->slot[inner->first_slot + k];
				s.offset += i * size;
				add_slot(g, me, s);
			}
	} else if (inner->n_slots) {
		add_slot(g, me, (struct slot){.kind = SLOT_NEST, .type = of->element, .count = of->count,
		    .stride = size});
	}
}

static void build(struct type_book *g, uint32_t type)
{
	const struct type *of = &g->types->type[type];
	struct type_facts *me = &g->of[type];
	struct slot s = {.count = 1, .type = of->element};

	if (me->built)
		return;
	me->built = true;
	me->first_slot = g->n_slots;
	switch (of->kind) {
	case TYPE_POINTER:
		s.kind = of->element == TYPE_NONE || g->of[of->element].ignored ? SLOT_BLIND : SLOT_POINTER;
		break;
	case TYPE_STRING:
		s.kind = g->bytes == TYPE_NONE ? SLOT_BLIND : SLOT_STRING;
		s.type = g->bytes;
		break;
	case TYPE_SLICE:
		s.kind = of->element == TYPE_NONE ? SLOT_BLIND : SLOT_SLICE;
		break;
	case TYPE_INTERFACE: s.kind = SLOT_INTERFACE; break;
	case TYPE_EMPTY_INTERFACE: s.kind = SLOT_EMPTY; break;
	case TYPE_MAP: case TYPE_CHAN:
		s.kind = of->layout == TYPE_NONE ? SLOT_BLIND : SLOT_POINTER;
		s.type = of->layout;
		break;
	case TYPE_FUNC: s.kind = SLOT_FUNC; break;
	case TYPE_STRUCT:
		build_struct(g, type);
		return;
	case TYPE_ARRAY:
		build_array(g, type);
		return;
	case TYPE_UNKNOWN:
		me->unsure = of->size > 0;
		return;
	default:
		return;
	}
	/* since 1.23 it is the beginning of what the runtime allocates */
	if (s.kind == SLOT_POINTER && (!strcmp(g->types->type[s.type].name, "time.Timer") ||
	    !strcmp(g->types->type[s.type].name, "time.Ticker"))) {
		uint32_t whole = types_by_name(g->types, "runtime.timeTimer");
		s.type = whole == TYPE_NONE ? s.type : whole;
	}
	if (s.kind == SLOT_POINTER && begins(g->types->type[s.type].name, "sudog<")) {
		uint32_t plain = types_by_name(g->types, "runtime.sudog");
		s.type = plain == TYPE_NONE ? s.type : plain;
	}
	add_slot(g, me, s);
}

/* --- preference ------------------------------------------------------------------------------------ */

struct preference { uint64_t key; uint32_t type; };

static int by_key(const void *a, const void *b)
{
	const struct preference *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->type < y->type) - (x->type > y->type); /* the first of equals ranks highest */
}

/* Of two types that fill an object equally well the one that says more: with pointers before without,
 * structs before what they may begin with, named before unnamed, the larger. */
static int rank_types(struct type_book *g)
{
	const struct types *t = g->types;
	struct preference *all = big_alloc(t->n, sizeof *all, g->err);

	g->by_rank = all ? big_alloc(t->n, sizeof *g->by_rank, g->err) : NULL;
	if (!g->by_rank) {
		big_free(all);
		return ERR_NOMEM;
	}
	for (uint32_t i = 0; i < t->n; i++) {
		const struct type *of = &t->type[i];
		bool plain = begins(of->name, "struct {") || begins(of->name, "noalg.") ||
		    begins(of->name, "go.shape.struct {");
		uint64_t size = of->size < UINT64_C(1) << 56 ? of->size : (UINT64_C(1) << 56) - 1;
		all[i] = (struct preference){.type = i, .key = (uint64_t)g->of[i].pointers << 59 |
		    (uint64_t)(of->kind == TYPE_STRUCT) << 58 | (uint64_t)!plain << 57 | size};
	}
	sort_array(all, t->n, sizeof *all, by_key);
	for (uint32_t i = 0; i < t->n; i++) {
		g->by_rank[i] = all[i].type;
		g->of[all[i].type].rank = i;
	}
	big_free(all);
	return 0;
}

int type_book_build(struct type_book *g, const struct types *types, struct err *err)
{
	*g = (struct type_book){.types = types, .err = err};
	g->of = big_alloc(types->n, sizeof *g->of, err);
	if (!g->of)
		return ERR_NOMEM;
	g->bytes = types_by_name(types, "uint8");
	g->any_channel = types_by_name(types, "runtime.hchan");
	for (uint32_t i = 0; i < types->n; i++) {
		g->of[i].shown_as = g->of[i].channel = TYPE_NONE;
		/* the first bytes of any bucket whatever its type */
		find_continued(g, i);
		/* it is padded so far that its address has room for a counter */
		g->of[i].open_ended = !strcmp(types->type[i].name, "runtime.gcBgMarkWorkerNode");
		g->of[i].ignored = !strcmp(types->type[i].name, "runtime.bmap") || !types->type[i].size;
	}
	name_insides(g);
	for (uint32_t i = 0; i < types->n; i++)
		build(g, i);
	return g->refused ? ERR_NOMEM : rank_types(g);
}

void type_book_release(struct type_book *g)
{
	for (uint32_t i = 0; g->of && i < g->types->n; i++)
		big_free(g->of[i].mask);
	big_free(g->of);
	big_free(g->slot);
	big_free(g->by_rank);
	*g = (struct type_book){.types = NULL};
}
