/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cut_words.c - see cut_words.h. */
#include "command/retention/cut_words.h"

#include "analysis/describe/describe.h"
#include "base/mem.h"
#include "base/text.h"
#include "command/commands.h"
#include "command/resolve/resolve.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/value.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void cut_wish_release(struct cut_wish *w)
{
	what_if_edges_release(&w->edges);
	big_free(w->ids);
	*w = (struct cut_wish){.ids = NULL};
}

static int nothing_there(const char *word, struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "no such reference: \"%.150s\"", word);
}

/* --- HOLDER>TARGET ---------------------------------------------------------------------------- */

static bool means_roots(const char *word)
{
	return !strcmp(word, "root") || !strcmp(word, "roots");
}

static int add_roots(struct cut_wish *to, const struct heap *h, const uint32_t *ids, size_t n, struct err *err)
{
	int code = 0;
	for (size_t i = 0; !code && i < n; i++)
		if (heap_is_root(h, ids[i]))
			code = what_if_edges_add(&to->edges, HEAP_NONE, ids[i], err);
	return code;
}

static int add_between(struct cut_wish *to, const struct session *s, const char *word,
    const char *arrow, struct err *err)
{
	uint32_t *holders = NULL, *targets = NULL;
	size_t n_holders = 0, n_targets = 0, before = to->edges.n;
	char *holder = xstrndup(word, (size_t)(arrow - word));
	bool roots = means_roots(holder);
	int code = roots ? 0 : value_set(s, holder, &holders, &n_holders, err);
	if (!code)
		code = value_set(s, arrow + 1, &targets, &n_targets, err);
	if (!code && roots)
		code = add_roots(to, session_heap(s), targets, n_targets, err);
	else if (!code)
		code = what_if_edges_add_between(&to->edges, session_heap(s), holders, n_holders, targets, n_targets, err);
	if (!code && to->edges.n == before)
		code = nothing_there(word, err);
	free(holder);
	big_free(holders);
	big_free(targets);
	return code;
}

/* --- fields ----------------------------------------------------------------------------------- */

static bool names_objects(const char *word)
{
	return strchr("#%$", *word) || !strncasecmp(word, "0x", 2);
}

enum { WAYS_LISTED = 4 };

/* Several fields of the name hold these: ERR_USAGE, with the ways to write each.  of_class: its name, or NULL where
 * the holder is an object. */
static int say_several(const struct what_if_edges *edges, const struct heap *h, const char *of, const char *of_class,
    const char *field, struct err *err)
{
	struct text ways = TEXT_INIT, way = TEXT_INIT;
	unsigned n = 0;
	for (size_t i = 0; i < edges->n && n < WAYS_LISTED && !progress_own_stops(i); i++) {
		const struct what_if_edge *e = &edges->edge[i];
		text_clear(&way);
		if (of_class)
			text_addf(&way, " %.150s>%.150s", of_class, heap_class_of(h, e->target)->name);
		else
			text_addf(&way, " 0x%" PRIx64 ">0x%" PRIx64, heap_address(h, e->holder), heap_address(h, e->target));
		if (ways.len && strstr(ways.s, way.s))
			continue;
		text_addf(&ways, "%s%s", n++ ? "," : "", way.s);
	}
	int code = err_set(err, ERR_USAGE, "\"%.150s\" has several fields \"%.60s\" (use%s%s)", of, field,
	    n > 1 ? " one of" : "", n ? ways.s : " HOLDER>TARGET");
	text_release(&ways);
	text_release(&way);
	return code;
}

static int add_field_of_objects(struct cut_wish *to, const struct session *s, const char *objects,
    const char *field, struct err *err)
{
	const struct heap *h = session_heap(s);
	uint32_t *ids;
	size_t n;
	bool any = false;
	int code = value_set(s, objects, &ids, &n, err);
	if (code)
		return code;
	for (size_t i = 0; !code && i < n; i++) {
		unsigned found;
		code = what_if_edges_add_field_of(&to->edges, h, ids[i], field, false, &found, err);
		any |= !code && found;
		if (code || found < 2)
			continue;
		struct what_if_edges each = {.edge = NULL};
		code = what_if_edges_add_field_of(&each, h, ids[i], field, true, &found, err);
		if (!code && each.n > 1)
			code = say_several(&each, h, objects, NULL, field, err);
		else if (!code && each.n) /* all others are null */
			code = what_if_edges_add(&to->edges, each.edge[0].holder, each.edge[0].target, err);
		what_if_edges_release(&each);
	}
	if (!code && !any)
		code = err_set(err, ERR_NOT_FOUND, "\"%.100s\" has no %s \"%.60s\"", objects,
		    *field == '[' ? "element" : "field", field);
	big_free(ids);
	return code;
}

static int add_field_of_class(struct cut_wish *to, const struct heap *h, uint32_t class, const char *field, bool *any,
    struct err *err)
{
	const char *name = h->classes[class].name;
	struct what_if_edges each = {.edge = NULL};
	unsigned found;
	int code = what_if_edges_add_field(&to->edges, h, class, field, false, &found, err);
	*any |= !code && found;
	if (code || found < 2)
		return code;
	code = what_if_edges_add_field(&each, h, class, field, true, &found, err);
	if (!code)
		code = say_several(&each, h, name, name, field, err);
	what_if_edges_release(&each);
	return code;
}

static int no_reference_field(const struct session *s, const char *pattern, const char *field, struct err *err)
{
	struct text word = TEXT_INIT, near = TEXT_INIT;
	text_addf(&word, "%s.%s", pattern, field);
	value_add_near_name(s, word.s, true, &near);
	int code = err_set(err, ERR_NOT_FOUND, "\"%.100s\" has no reference field \"%.60s\"%s", pattern, field,
	    near.len ? near.s : "");
	text_release(&word);
	text_release(&near);
	return code;
}

static int add_field_of_classes(struct cut_wish *to, const struct session *s, const char *pattern,
    const char *field, struct err *err)
{
	uint32_t *classes;
	size_t n;
	bool any = false;
	int code = value_classes(s, pattern, &classes, &n, err);
	if (code)
		return code;
	if (!values_held(session_heap(s)) && !values_away(session_heap(s))) /* of these static fields are known */
		code = heap_holds_no_values(session_heap(s), err);
	for (size_t i = 0; !code && i < n; i++)
		code = add_field_of_class(to, session_heap(s), classes[i], field, &any, err);
	if (!code && !any)
		code = no_reference_field(s, pattern, field, err);
	big_free(classes);
	return code;
}

static int add_field(struct cut_wish *to, const struct session *s, const char *word,
    const char *field, struct err *err)
{
	size_t before = to->edges.n;
	char *holder = xstrndup(word, (size_t)(field - word));
	bool objects = names_objects(word);
	field += *field == '.';
	int code = objects ? add_field_of_objects(to, s, holder, field, err)
	                   : add_field_of_classes(to, s, holder, field, err);
	if (!code && to->edges.n == before)
		code = err_set(err, ERR_NOT_FOUND, "\"%.150s\" is null", word);
	free(holder);
	return code;
}

/* --- sets ------------------------------------------------------------------------------------- */

static int add_set(struct cut_wish *to, const struct session *s, const char *word, struct err *err)
{
	uint32_t *ids;
	size_t n;
	int code = value_set(s, word, &ids, &n, err);
	if (code)
		return code;
	if (!to->n_ids) {
		big_free(to->ids); /* of a set without objects */
		to->ids = ids;
		to->n_ids = n;
		return 0;
	}
	uint32_t *more = big_resize(to->ids, to->n_ids + n, sizeof *more, err);
	if (more) {
		memcpy(more + to->n_ids, ids, n * sizeof *ids);
		to->ids = more;
		to->n_ids += n;
	}
	big_free(ids);
	return more ? 0 : ERR_NOMEM;
}

int cut_wish_add(struct cut_wish *to, const struct session *s, const char *word, struct err *err)
{
	const char *arrow = strchr(word, '>');
	if (*word == '<' && arrow) /* <unknown 0x…> */
		arrow = strchr(arrow + 1, '>');
	if (arrow && arrow > word && arrow[1])
		return add_between(to, s, word, arrow, err);
	bool is_static;
	uint32_t id;
	/* of a static field the reference is meant, not all others to its object */
	int code = value_static(s, word, &is_static, &id, err);
	if (code == ERR_NOMEM)
		return code;
	code = is_static ? ERR_NOT_FOUND : add_set(to, s, word, err);
	const char *field = strrchr(word, '.'), *element = strrchr(word, '[');
	if (element && (!field || element > field) && element[1] != ']')
		field = element;
	if (names_objects(word)) /* the name of a reference may have dots and brackets itself */
		field = *(word + strcspn(word, ".[")) ? word + strcspn(word, ".[") : NULL;
	bool unknown = code == ERR_NOT_FOUND || code == ERR_USAGE; /* #5.next is no object either */
	if (!unknown || !field || field == word || !field[1])
		return code;
	/* no set is called so: a field, if what stands before it means something */
	struct err other = ERR_INIT;
	int second = add_field(to, s, word, field, &other);
	/* a hidden field has a dot itself: "Derived.Base.next" */
	for (const char *dot = field; second == ERR_NOT_FOUND && !names_objects(word) && dot-- > word;)
		if (*dot == '.' && dot > word)
			second = add_field(to, s, word, dot, NULL);
	if (second && second != ERR_NOT_FOUND && second != ERR_UNSUPPORTED && err)
		*err = other;
	else if (second && err && other.reason != ERR_NO_CLASS)
		*err = other;
	return second;
}

/* --- back into words ---------------------------------------------------------------------------- */

void cut_class_word(struct text *to, const struct session *s, uint32_t class)
{
	const struct heap_class *c = &session_heap(s)->classes[class];
	const struct name_index *ix = opened_names(s->dump, NULL);
	uint32_t first;
	/* for want of memory nobody knows whether the name is one class's alone */
	if (c->object != HEAP_NONE && (!ix || name_index_exact(ix, c->name, &first) > 1))
		text_addf(to, "0x%" PRIx64, c->address);
	else
		text_add(to, c->name);
}

/* Does the word HOLDER.field mean this reference, and no other field of the same name? */
static bool means(const struct heap *h, const struct what_if_edge *e, const char *field)
{
	struct what_if_edges edges = {.edge = NULL};
	unsigned found;
	if (*field == '[' || !inspect_declares_fields(h))
		return true;
	int code = what_if_edges_add_field_of(&edges, h, e->holder, field, false, &found, NULL);
	bool is = code || (edges.n == 1 && edges.edge[0].target == e->target) || !found;
	what_if_edges_release(&edges);
	return is;
}

void cut_word_of_field(struct text *to, const struct session *s, const struct what_if_edge *e, const char *field)
{
	const struct heap *h = session_heap(s);
	uint32_t class = heap_class_mirrored(h, e->holder);
	bool is_static = class != HEAP_NONE && path_static_name(field);
	field = is_static ? path_static_name(field) : field;
	if (!means(h, e, field)) {
		text_addf(to, "0x%" PRIx64 ">0x%" PRIx64, heap_address(h, e->holder), heap_address(h, e->target));
	} else if (is_static) {
		cut_class_word(to, s, class);
		text_addf(to, ".%s", field);
	} else {
		text_addf(to, "0x%" PRIx64 "%s%s", heap_address(h, e->holder), *field == '[' ? "" : ".", field);
	}
}

void cut_word_of(struct text *to, struct text *field, const struct session *s,
    const struct path_rules *rules, const struct what_if_edge *e)
{
	const struct heap *h = session_heap(s);
	if (e->holder == HEAP_NONE) {
		text_addf(to, "root>0x%" PRIx64, heap_address(h, e->target));
		path_root_words(h, e->target, field);
	} else if (!path_field(rules, e->holder, e->target, field)) {
		text_addf(to, "0x%" PRIx64 ">0x%" PRIx64, heap_address(h, e->holder),
		    heap_address(h, e->target));
	} else {
		cut_word_of_field(to, s, e, field->s);
	}
}

void cut_word_quote(struct text *name)
{
	if (!strpbrk(name->s, " \"|"))
		return;
	char *plain = text_take(name);
	text_addf(name, "'%s'", plain);
	free(plain);
}
