/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys.h - the one table of keys.
 *
 * Keys that move and arrange are here; keys that ask something belong to commands and come from
 * the command table, so that a key and a typed line are the same question.  The hints and the help
 * page are made from both tables.  Main thread only.
 */
#ifndef CAIRN_VIEW_KEYS_H
#define CAIRN_VIEW_KEYS_H

#include "base/text.h"
#include "command/command.h"

enum action {
	ACTION_NONE,
	ACTION_UP, ACTION_DOWN, ACTION_PAGE_UP, ACTION_PAGE_DOWN, ACTION_HALF_UP,
	ACTION_HALF_DOWN, ACTION_FIRST, ACTION_LAST,
	ACTION_OPEN, ACTION_INTO, ACTION_OUT,
	ACTION_DROP, ACTION_GROUP, ACTION_BACK, ACTION_ESCAPE, ACTION_FORWARD, ACTION_SIDE, ACTION_CAUSE,
	ACTION_TICKET, ACTION_REFERRERS,
	ACTION_SORT_NEXT, ACTION_SORT_LEFT, ACTION_SORT_RIGHT, ACTION_REVERSE, ACTION_WIDE,
	ACTION_PAN_LEFT, ACTION_PAN_RIGHT,
	ACTION_FILTER, ACTION_CLEAR_FILTER, ACTION_SEARCH, ACTION_SEARCH_NEXT,
	ACTION_SEARCH_BACK,
	ACTION_TAB, ACTION_LAYOUT,
	ACTION_PROMPT, ACTION_ASK, ACTION_WHY, ACTION_PATH, ACTION_COPY, ACTION_COPY_ROW, ACTION_TAG,
	ACTION_WATCH, ACTION_MARK, ACTION_GO_TO_MARK, ACTION_HELP, ACTION_REDRAW, ACTION_SUSPEND,
	ACTION_CANCEL, ACTION_LEAVE, ACTION_QUIT,
	ACTION_FOLD,
};

/* What is shown; a key may act in some places only, or mean one thing here and another there. */
enum place {
	PLACE_TABLE = 1, PLACE_OBJECT = 2, PLACE_TEXT = 4, PLACE_LOADING = 8, PLACE_TREE = 16, PLACE_COLUMNS = 32,
	PLACE_PANE = 64, PLACE_OVERVIEW = 128,
	PLACE_CARDS = 256, /* a table whose rows are suspects, besides PLACE_TABLE */
	ANYWHERE = 511
};

/* What can be done with the selected row, and from where it stands. */
enum row_ability {
	CAN_ROWS = 1,          /* there are rows */
	CAN_OPEN = 2,          /* the row can be opened */
	CAN_OBJECT = 4,        /* it is one object */
	CAN_SEVERAL = 8,       /* it counts several, or any number */
	CAN_CLASS_OBJECT = 16, /* those of a class that has a class object */
	CAN_BRANCH = 32,       /* there are rows below it in a tree */
	CAN_CLOSE = 64,        /* they are shown, or it is below another */
	CAN_ENTRIES = 512,     /* it is a collection that is known */
	CAN_GROUP = 1024,      /* it is, or may be, one row of several similar objects */
	CAN_PANE = 2048,       /* there is a pane about it */
	CAN_FOLD = 8192,       /* it represents several, one below the other, or one of these */
	CAN_TAG = 16384,       /* it is a dump of the session */
	CAN_CUT = 32768,       /* it names references to clear */
	CAN_DUMP = 65536,      /* it is a process, or a class of one */
	CAN_WATCH = 131072,    /* it is a process */
	CAN_GO_BACK = 128, CAN_LEAVE = 256, /* what q does */
};

enum action key_action(int key, unsigned places);
/* Why it does nothing here. */
const char *key_elsewhere(int key);

/* Can the key of a command that asks about rows ask about such a one?  *words: the words to put before it. */
bool key_asks(const struct command *c, unsigned can, const char **words);

/* The command whose key this is, or NULL. */
const struct command *key_command(int key);

struct hint {
	const char *key, *word;
	int pressed; /* the key itself */
	bool always; /* help and the way out: their room is kept */
};
/* The hints of a place, most useful first; false behind the last. */
bool key_hint(enum place place, unsigned can, unsigned i, struct hint *out);

/* What the key of a command asks with these words (key_asks): the summary of the command that they are. */
const char *key_summary(const struct command *c, const char *words);

/* A key that moves or arranges, as help writes it. */
struct key_help {
	const char *keys;         /* "s, F6" */
	const char *brief, *help; /* a few words, or NULL; a sentence */
	const int *pressed;       /* the keys themselves, ended by 0 */
	enum action action;
	bool here;                /* it acts in this place */
	unsigned needs;           /* what the row must be able to do, one of these; 0: nothing */
};
/* The keys in their order in the table; false behind the last. */
bool key_help_at(size_t i, enum place place, struct key_help *out);

/* The help page, for so many columns: an overview of the keys of the place, then these and all others in detail, then
 * commands.  tabs: the keys of the main pages that are there. */
void keys_write_help(enum place place, unsigned can, int width, const char *tabs, struct text *to);

#endif
