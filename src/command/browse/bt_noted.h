/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bt_noted.h - rows of bt that no frame has: deferred calls, panics, channels that are waited for.
 */
#ifndef CAIRN_COMMAND_BROWSE_BT_NOTED_H
#define CAIRN_COMMAND_BROWSE_BT_NOTED_H

#include "result/result.h"

struct heap_root;

/* The columns of bt. */
enum { BT_FRAME, BT_METHOD, BT_KIND, BT_ADDRESS, BT_CLASS, BT_SHALLOW, BT_RETAINED, BT_VALUE, BT_VARIABLE };

/* A row of bt.  object HEAP_NONE: it has none; frame HEAP_NONE, and texts that are NULL: that does not apply. */
struct bt_row {
	uint32_t frame, object;
	const char *method, *kind, *class, *variable;
	uint64_t address;  /* 0: none */
	struct cell value;
};
void bt_add_row(struct result *r, const struct bt_row *row);
/* Add them to the rows of a thread (index in heap->threads). */
void bt_add_noted(struct result *r, uint32_t thread);
/* Does a row of bt_add_noted say the same as this root, and more? */
bool bt_is_noted(const struct heap *h, const struct heap_root *root);

#endif
