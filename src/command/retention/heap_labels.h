/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heap_labels.h - by which field, variable or frame the rows of `heap` are held.
 *
 * Main thread, or the job that runs the command.
 */
#ifndef CAIRN_COMMAND_RETENTION_HEAP_LABELS_H
#define CAIRN_COMMAND_RETENTION_HEAP_LABELS_H

#include "analysis/heap_tree/heap_tree.h"
#include "analysis/paths/paths.h"
#include "result/objects.h"


struct heap_labels {
	const struct heap_tree *tree;
	struct path_rules rules;
	bool brief; /* what is being asked for */
};

/* tree: borrowed.  0 or ERR_NOMEM; heap_labels_release in either case. */
MUST_CHECK int heap_labels_init(struct heap_labels *l, const struct heap_tree *tree, struct err *err);
void heap_labels_release(struct heap_labels *l);

/* Append the label of a node: "static com.acme.Shop.DB", "sessions", "[…]", "thread \"main\""; nothing where the
 * dump does not tell, or its objects are held by different fields.  brief: classes without their packages. */
void heap_label(struct heap_labels *l, uint32_t node, bool brief, struct text *to);
/* Append one reference as one would name it from outside: "Order.customer", "static com.acme.Shop.DB", "Object[][17]".
 * False: nothing names it, and nothing was appended. */
bool heap_reference_label(const struct path_rules *rules, uint32_t holder, uint32_t id, bool brief, struct text *to);
/* For a label of many: which element it is ("[17]") says nothing then ("[…]"). */
void heap_label_fold(struct text *label);
/* The name of a class without its package; of Go, whose packages are short, all of it. */
const char *heap_brief_name(const struct heap *h, const char *name);

/* The command line that lists the references between an object and those of a class. */
void references_line(struct text *to, const struct heap *h, uint32_t id, enum direction direction,
    uint32_t class);

#endif
