/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * commands.h - the commands that table.c collects, and the functions that several commands share.
 *
 * Main thread, or the job that runs the command (session_work); never two threads at once.
 */
#ifndef CAIRN_COMMAND_COMMANDS_H
#define CAIRN_COMMAND_COMMANDS_H

#include "command/command.h"
#include "memory/arena.h"

/* All commands in the order of help: NAME is cmd_NAME, in the file of a folder of its topic. */
#define COMMANDS(X) \
	X(overview) X(info) X(histo) X(ls) X(x) X(entries) X(find) X(strings) X(dups) X(props) X(threads) X(bt) \
	X(sites) X(loaders) X(duplicate_classes) X(tree) X(refs) X(roots) X(path) X(paths) X(heap) X(about) \
	X(dom) X(holders) X(top) X(size) X(cut) X(leaks) X(waste) X(collections) X(offheap) X(locks) \
	X(references) X(finalizers) X(threadlocals) X(report) X(dumps) X(use) X(open) X(close) X(tag) \
	X(diff) X(growth) X(trend) X(path_history) X(profile) X(processes) X(attach) X(live) \
	X(sql) X(assert) X(export) X(check) X(help) \
	X(apropos) X(alias) X(history) X(source) X(save) X(index) X(redact) X(bundle) X(set) X(sets) \
	X(note) X(columns) X(why) X(quit)
#define COMMAND(name) extern const struct command cmd_##name;
COMMANDS(COMMAND)
#undef COMMAND

/* Sort new rows by a column of numbers that they have, largest first: the order that a command's rows come in.  0,
 * ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int command_order(const struct session *s, struct result *r, enum column_id column, struct err *err);

/* Find what the rows of a table retain, which is found only when somebody asks, and show the column.  0 or what
 * session_find returns. */
MUST_CHECK int command_find_retained(struct session *s, struct result *r, struct err *err);

/* Add to the note "~ roots are inferred (PHD records none)" and the like, if there is anything to say. */
void command_add_roots_note(struct result *r);

/* The bytes that roots reach, and the others.  False: not known yet. */
bool command_live(const struct opened *o, struct cell *live, struct cell *garbage);
/* Append how much of the dump roots reach: "live 694M · garbage 1K", or "497M of 498M is garbage" where that is
 * the larger part.  Appends nothing while that is not known.  dot: what parts the two. */
void command_live_words(const struct opened *o, const char *dot, struct text *to);

/* The first alert of overview, which the screen shows on other pages too: a cause of the dump that nobody asked for,
 * damage, a deadlock.  *sentence and *line, a command with more about it, are the caller's.  *line NULL: there is none,
 * and *sentence is the event by which a user asked for the dump, or NULL.
 * References must be read.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int command_alert(struct session *s, char **sentence, char **line, struct err *err);

/* What cairn infers about the current dump, as why shows it below the numbers of a table; *out is the caller's. */
MUST_CHECK int command_facts(struct session *s, struct result **out, struct err *err);

/* A number of bytes as a percentage of all that is reachable. */
struct cell command_share(const struct retained *r, struct amount bytes);

struct retained_sum; /* analysis/dominators/dominators.h */
/* What a group that roots reach retains; unknown while retained sizes are not known. */
struct cell command_retained_sum(const struct opened *o, const struct retained_sum *sum);
/* The same of so many objects, which may be garbage, as retained_of_members. */
struct cell command_retained_members(const struct opened *o, struct amount objects, const struct retained_sum *sum);

/* What -live, -dead and -unreachable ask for. */
enum reach_wish { REACH_ALL, REACH_LIVE, REACH_DEAD };
#define REACH_OPTIONS                                                                              \
	{DASH_LIVE, OPT_FLAG, NULL, "only reachable objects"},                                     \
	{DASH_DEAD, OPT_FLAG, NULL, "only unreachable objects (garbage)"},                         \
	{DASH_UNREACHABLE, OPT_SAME, "-dead", NULL}
/* Read these options off the call.  0, or ERR_USAGE if they contradict each other. */
MUST_CHECK int command_reach(const struct call *call, enum reach_wish *out, struct err *err);
#define HEAP_OPTION {DASH_HEAP, OPT_WORDS, "NAME", "only objects of this Android heap: app, zygote, image"}
/* The objects that the first argument of a call names (ARG_CLASS; with -sub those of subclasses, too), or all.  *ids is
 * the caller's (big_free).  0 or ERR_NOMEM. */
MUST_CHECK int command_objects(const struct session *s, const struct call *call, uint32_t **ids, size_t *n,
    struct err *err);
/* Keep of such ids those that -live, -dead, -heap and -where let through, if the command has them.  0, or an error of
 * these; *ids stays the caller's. */
MUST_CHECK int command_narrow(struct session *s, const struct call *call, uint32_t **ids, size_t *n, struct err *err);
/* Find what would be freed if all these objects went at once, by a walk with progress that ^C
 * stops.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int command_set_retained(struct session *s, const uint32_t *ids, size_t n,
    struct amount *objects, struct amount *bytes, struct err *err);
/* Find retained sizes if the line asks for them (-retained, or -sort retained).  0, or an error. */
MUST_CHECK int command_retained(struct session *s, const struct call *call, struct err *err);
/* The same for an answer that, if it is of_classes, has what whole classes retain, and nothing of single objects: an
 * index may have these numbers without all else. */
MUST_CHECK int command_class_sums(struct session *s, const struct call *call, bool of_classes, struct err *err);
/* Append a paragraph in lines of at most so many columns; 78 where no window is known. */
void command_add_wrapped(struct text *to, const char *s, size_t most);
/* Find retained sizes for a command that shows them only beside its answer, unless the screen finds
 * them in the background.  Without memory, or if the user stops it, they stay unknown. */
void command_retained_beside(const struct session *s);
/* Show the column "retained" if retained sizes are known. */
void command_show_retained(struct result *r);
void command_show_class_sums(struct result *r); /* the same of rows that are classes: see command_class_sums */
/* Find what a stage of a pipe needs of the result before it: retained sizes, if it sorts by the
 * column "retained".  0, or an error. */
struct stage;
MUST_CHECK int command_before_stage(struct session *s, struct result *r, const struct stage *stage,
    struct err *err);

/* Has an answer of leaks any, or are all rows the largest holders?  Rows in the order of the answer (cmd_leaks.c). */
bool command_has_suspects(struct result *leaks);

/* What older dumps have about objects of the current one, for commands about it (compare/since.c). */
struct since;
/* Compare with the older dumps; those not read yet are.  0: *out is the caller's (since_free), NULL where there are
 * none; ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int since_new(struct since **out, struct session *s, struct err *err);
void since_free(struct since *since); /* NULL is fine */
/* Append a sentence, with a blank before it, about what objects on the way to this one, the largest of n, kept in each
 * dump, and what of it grew; nothing where that is not known.  it: what the sentence calls a single one. */
void since_add(const struct since *since, uint32_t id, uint32_t n, const char *it, struct text *to);
/* For a card about it: append "20 -> 40 -> 60 com.acme.Session over 3 dumps" with arrows, without the class if `said`
 * names it, and those numbers as a plot; its bytes where it did not grow; nothing where that is not known. */
void since_add_course(const struct since *since, uint32_t id, uint32_t n, const char *said, struct text *course,
    struct text *plot);
/* Add to the note what the comparison is no surer of, or why there is none. */
void since_add_note(const struct since *since, struct result *r);

extern const struct shape root_names_shape;
/* A result that sums roots by variable, thread or kind.  roots: n indices in heap->roots; globals:
 * only those that are global variables.  0, or ERR_NOMEM. */
int command_roots_by_name(struct result **out, const struct opened *o, const size_t *roots, size_t n,
    bool globals, struct err *err);

/* Call strings_matching with a word of the command line as the regular expression: checks it, and
 * takes off slashes around it. */
struct string_list;
struct string_watcher;
MUST_CHECK int command_strings_matching(struct string_list *out, const struct heap *h,
    const char *word, bool any_case, const struct string_watcher *told, struct err *err);

/* For tree results: how many levels are open at first (-depth N, else `otherwise`), and how many
 * children get a row at once (on the screen a limited number, elsewhere 0: all). */
uint32_t command_depth(const struct call *call, uint32_t otherwise);
uint32_t command_at_once(const struct session *s);

/*
 * The answers of `about`, for a screen that asks again and again (cmd_about.c).  A struct about keeps what answers need
 * of an opened dump and its retained sizes as they are now, and must be freed before these change.  Any
 * thread, one at a time for each.
 */
struct about;
struct about *about_new(const struct opened *o); /* about_free; its dump must have its references */
void about_free(struct about *a);                /* NULL is fine */

/* What is asked about: n objects, ids ascending, or a thread whose object is not in the dump. */
struct about_what {
	const char *title;
	const uint32_t *ids;
	size_t n;
	uint32_t thread; /* n is 0: its index */
	bool every_step; /* the plumbing of the path is not folded */
};
/* quick: within some ten milliseconds, and what takes longer is left out.  0: *out is the caller's
 * (result_free); ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int about_find(struct about *a, const struct about_what *what, bool quick, struct result **out,
    struct progress *progress, struct err *err);
/* Note in the retained sizes what the last answer says exactly of a class: while nothing sorts by them. */
void about_note(struct about *a);
/* The parts of an answer, in the order of their rows.  Those before ABOUT_INSIDE tell what holds the objects, the
 * others what they are; all of one stand together. */
enum about_part {
	ABOUT_PATH, /* the path from a root */
	ABOUT_THREADS, /* whose stacks hold the beginning of the path */
	ABOUT_HOLDERS, /* what else references them, by class */
	ABOUT_CUT,     /* the reference to clear */
	ABOUT_INSIDE,
	ABOUT_STACK = ABOUT_INSIDE, /* of a thread */
	ABOUT_FIELDS,
	ABOUT_ENTRIES,
	ABOUT_SAMPLE,  /* some of many objects */
	ABOUT_IF_CUT,  /* what goes with them, by class */
	ABOUT_PARTS
};
/* That of a row; how it is headed; and what its things are called ("frames", or ""). */
enum about_part about_part(struct result *r, size_t row);
const char *about_heading(enum about_part part);
const char *about_thing(enum about_part part);
/* The first row about what the objects are and hold; those before it are about what holds them. */
size_t about_inside(struct result *r);
/* How many things n rows of a part are about, including those that the last row counts as left out. */
size_t about_things(const struct result *r, size_t first, size_t n);
/* The command line that a row proposes, or NULL; valid until the next cell of r is asked for. */
const char *about_line(struct result *r, size_t row);

/* A setting of `set`. */
struct setting {
	const char *name, *values, *meaning;
	bool lasts; /* it may stand in the configuration: it is about no dump and no machine */
	void (*show)(const struct setting *of, const struct session *s, struct text *to);
	int (*set)(const struct setting *of, struct session *s, const char *value, struct err *err);
	size_t flag; /* of one with two words: where the bool stands in a session, and its words */
	const char *yes, *no;
};
/* Setting number i; NULL after the last. */
const struct setting *setting_at(size_t i);
/* ERR_USAGE: no setting has this name, or it takes no such value. */
MUST_CHECK int setting_set(struct session *s, const char *name, const char *value, struct err *err);

#endif
