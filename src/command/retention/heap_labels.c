/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heap_labels.c - see heap_labels.h. */
#include "command/retention/heap_labels.h"

#include "base/text.h"
#include "command/commands.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "heap/weak.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 16, REFERRERS = 64 }; /* objects of a node that are asked, holders of an object */

int heap_labels_init(struct heap_labels *l, const struct heap_tree *tree, struct err *err)
{
	l->tree = tree;
	int code = path_rules_init(&l->rules, tree->retained->heap, false, err);
	if (!code)
		path_rules_give_back(&l->rules);
	return code;
}

void heap_labels_release(struct heap_labels *l)
{
	path_rules_release(&l->rules);
}

const char *heap_brief_name(const struct heap *h, const char *name)
{
	const char *dot = h->java_lang_class != HEAP_NONE ? strrchr(name, '.') : NULL;
	return dot && dot[1] ? dot + 1 : name;
}

/* --- of one object ------------------------------------------------------------------------------ */

static void add_root(const struct heap *h, const struct heap_root *root, struct text *to)
{
	const char *name = root->thread != HEAP_NONE ? h->threads[root->thread].name : NULL;
	if (root->kind == ROOT_THREAD && name)
		text_addf(to, "thread \"%s\"", name);
	else if ((root->kind != ROOT_DATA && root->kind != ROOT_BSS) || !heap_symbol(h, root->slot, to))
		path_root_words(h, root->object, to);
}

/* The frame of a thread, whose object is the holder, that holds it as a local variable. */
static bool add_frame(const struct heap *h, uint32_t holder, uint32_t id, struct text *to)
{
	size_t first, n = heap_roots_of(h, id, &first);
	for (size_t i = first; i < first + n; i++) {
		const struct heap_root *root = &h->roots[i];
		if (dominators_stack_owner(h, root) != holder)
			continue;
		const struct heap_thread *thread = &h->threads[root->thread];
		if (root->frame < thread->n_frames)
			text_addf(to, "in %s", thread->frames[root->frame]);
		else
			text_add(to, root_kind_name(root->kind));
		return true;
	}
	return false;
}

bool heap_reference_label(const struct path_rules *rules, uint32_t holder, uint32_t id, bool brief, struct text *to)
{
	const struct heap *h = rules->heap;
	uint32_t mirrored = heap_class_mirrored(h, holder);
	const char *class = h->classes[mirrored == HEAP_NONE ? heap_class_index(h, holder) : mirrored].name;
	struct text field = TEXT_INIT;
	bool named = path_field(rules, holder, id, &field);
	class = brief ? heap_brief_name(h, class) : class;
	if (named && mirrored != HEAP_NONE && path_static_name(field.s))
		text_addf(to, "static %s.%s", class, path_static_name(field.s));
	else if (mirrored != HEAP_NONE)
		text_addf(to, "class %s%s%s", class, named ? " " : "", named ? field.s : "");
	else if (named)
		text_addf(to, "%s%s%s", class, *field.s == '[' ? "" : ".", field.s);
	text_release(&field);
	return named || mirrored != HEAP_NONE;
}

/* The first holder that counts and has a name for it. */
static void add_referrer(struct heap_labels *l, uint32_t id, struct text *to)
{
	const struct retained *r = l->tree->retained;
	const struct heap *h = r->heap;
	uint64_t k = adjacency_start(&h->in, id), end = adjacency_start(&h->in, id + 1);
	bool named = heap_class_of(h, id)->makes_loaders; /* every class of it holds it */
	if (named)
		text_add(to, "loader");
	for (unsigned n = 0; !named && k < end && n < REFERRERS; k++, n++) {
		uint32_t from = h->in.target[k];
		if (r->dominators.immediate[from] == NOT_REACHABLE || weak_is(r->model.left_out, from, id))
			continue;
		struct text label = TEXT_INIT;
		named = heap_reference_label(&l->rules, from, id, l->brief, &label);
		if (named) /* a class's own is clear from its name; an object's is one of several ways */
			text_addf(to, "%s%s", heap_class_mirrored(h, from) == HEAP_NONE ? "via " : "", label.s);
		text_release(&label);
	}
}

/* The root that says most of the object: that it is a thread says more than what a frame of some thread holds. */
static const struct heap_root *telling_root(const struct heap *h, size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++) {
		if (h->roots[i].kind == ROOT_THREAD)
			return &h->roots[i];
	}
	return &h->roots[first];
}

static void label_of(struct heap_labels *l, uint32_t id, struct text *to)
{
	const struct retained *r = l->tree->retained;
	const struct heap *h = r->heap;
	uint32_t holder = r->dominators.immediate[id];
	size_t first, n;
	if (holder == DOMINATED_BY_ROOTS) {
		if ((n = heap_roots_of(h, id, &first)) > 0 && !heap_class_of(h, id)->makes_loaders)
			add_root(h, telling_root(h, first, n), to);
		else
			add_referrer(l, id, to);
	} else if (heap_class_mirrored(h, holder) != HEAP_NONE) {
		heap_reference_label(&l->rules, holder, id, l->brief, to);
	} else if (!path_field(&l->rules, holder, id, to) && !add_frame(h, holder, id, to)) {
		add_referrer(l, id, to);
	}
}

/* --- of a node ---------------------------------------------------------------------------------- */

void heap_label_fold(struct text *t)
{
	char *old = text_take(t);
	for (const char *s = old; s && *s; s++) {
		size_t n = *s == '[' ? strspn(s + 1, "0123456789") : 0;
		if (n && s[1 + n] == ']') {
			text_add(t, "[…]");
			s += 1 + n;
		} else {
			text_add_n(t, s, 1);
		}
	}
	free(old);
}

/* What the labels of some of the objects have in common, if anything. */
static void common_label(struct heap_labels *l, const uint32_t *ids, uint32_t n, struct text *to)
{
	struct text first = TEXT_INIT, other = TEXT_INIT;
	uint32_t asked = n < SAMPLE ? n : SAMPLE;
	bool same = true, all_static = true;
	for (uint32_t i = 0; i < asked && (same || all_static); i++) {
		struct text *label = i ? &other : &first;
		text_clear(label);
		label_of(l, ids[(uint64_t)i * n / asked], label);
		heap_label_fold(label);
		same &= label->len && first.len && !strcmp(label->s, first.s);
		all_static &= label->len && path_static_name(label->s);
	}
	if (same || all_static)
		text_add(to, same ? first.s : "static fields");
	text_release(&first);
	text_release(&other);
}

void heap_label(struct heap_labels *l, uint32_t number, bool brief, struct text *to)
{
	l->brief = brief;
	const struct heap_tree *t = l->tree;
	const struct heap_node *n = &t->node[number];
	if (n->classes) /* what their static fields hold has rows of its own */
		text_add(to, n->loaders ? "class loaders, own bytes" : "class objects, own bytes");
	else if (n->topmost == 1)
		label_of(l, n->largest, to);
	else
		common_label(l, t->member + n->at, n->topmost, to);
}
