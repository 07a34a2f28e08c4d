/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands.h - the commands that table.c collects, and what they share. */
#ifndef CAIRN_COMMAND_COMMANDS_H
#define CAIRN_COMMAND_COMMANDS_H

#include "base/arena.h"
#include "command/command.h"

extern const struct command cmd_info, cmd_check;                      /* cmd_overview.c */
extern const struct command cmd_histo, cmd_dupclasses, cmd_loaders; /* cmd_classes.c */
extern const struct command cmd_tree;                                /* cmd_tree.c */
extern const struct command cmd_ls, cmd_find;                        /* cmd_objects.c */
extern const struct command cmd_x, cmd_entries;                      /* cmd_inspect.c */
extern const struct command cmd_strings, cmd_dups, cmd_props;        /* cmd_strings.c */
extern const struct command cmd_sites;                              /* cmd_sites.c */
extern const struct command cmd_refs, cmd_roots;                      /* cmd_references.c */
extern const struct command cmd_path, cmd_paths;                      /* cmd_paths.c */
extern const struct command cmd_threads, cmd_bt;                      /* cmd_threads.c */
extern const struct command cmd_help;                                     /* help.c */
extern const struct command cmd_history, cmd_source, cmd_save, cmd_set,
    cmd_quit;                                                             /* cmd_session.c */

extern const struct command cmd_why;                                 /* cmd_why.c */
extern const struct command cmd_sets;                                /* cmd_sets.c */
extern const struct command cmd_dom, cmd_size, cmd_top;              /* cmd_dominators.c */
extern const struct command cmd_cut;                                 /* cmd_cut.c */
extern const struct command cmd_leaks;                               /* cmd_leaks.c */

/*
 * Order rows as -sort COL and -r say, otherwise by a default column: numbers largest first, all else
 * smallest first.  natural: the rows come in that order already.
 */
int command_sort(const struct session *s, struct result *r, const struct call *call,
    const char *column, bool natural, struct err *err);


/* "~ roots are inferred (PHD records none)" and the like; NULL when there is nothing to say. */
const char *command_roots_note(const struct opened *o, struct arena *arena);

/* "Java local, thread "main", … (and 2 more)": what makes an object a root; nothing if it is none. */
void command_root_words(const struct heap *h, uint32_t id, struct text *to);

/* So many bytes as a percentage of all that is reachable. */
struct cell command_share(const struct retained *r, struct amount bytes);

struct retained_sum; /* analysis/dominators/dominators.h */
/* What a group retains, as far as that is known. */
struct cell command_retained_sum(const struct opened *o, const struct retained_sum *sum);

extern const struct shape command_holders_shape;
/* Who holds these objects (cmd_holders.c); set: what the title calls them; skipped: a class pattern, or
 * NULL. */
int command_holders(struct session *s, const struct retained *known, const char *set,
    const uint32_t *ids, size_t n, const char *skipped, struct result **out, struct err *err);

/* What -live, -dead and -unreachable ask for. */
enum reach_wish { REACH_ALL, REACH_LIVE, REACH_DEAD };
#define REACH_OPTIONS                                                                              \
	{DASH_LIVE, OPT_FLAG, NULL, "only what some root reaches"},                                  \
	{DASH_DEAD, OPT_FLAG, NULL, "only what no root reaches: garbage that was not collected yet"}, \
	{DASH_UNREACHABLE, OPT_SAME, "-dead", "the same as -dead"}
/* 0 or ERR_USAGE. */
int command_reach(const struct call *call, enum reach_wish *out, struct err *err);

/* What would be freed if all these objects went at once, by a walk that can be watched and stopped. */
int command_set_retained(struct session *s, const uint32_t *ids, size_t n, struct amount *objects,
    struct amount *bytes, struct err *err);
/* Find retained sizes if the line asks for them (-retained, or -sort retained).  0, or an error. */
int command_retained(struct session *s, const struct call *call, struct err *err);
/* Show the column "retained" where these sizes are known. */
void command_show_retained(struct result *r);
/* What a stage of a pipe needs of rows that come to it: to be ordered by what they retain, that must be
 * found, as -sort retained does. */
struct stage;
int command_before_stage(struct session *s, struct result *r, const struct stage *stage,
    struct err *err);

extern const struct shape root_names_shape;
/* Roots (n numbers of h->roots) summed by variable, thread or kind; globals: variables alone. */
struct result *command_roots_by_name(
    const struct opened *o, const size_t *roots, size_t n, bool globals);

/* strings_matching of a word: checked, and without the slashes around it. */
struct string_list;
int command_strings_matching(
    struct string_list *out, const struct heap *h, const char *word, bool any_case, struct err *err);

/* How deep a tree is open (-depth N; otherwise, when it was not given), and how many children get a
 * row at once: all, but on the screen. */
uint32_t command_depth(const struct call *call, uint32_t otherwise);
uint32_t command_at_once(const struct session *s);

/* Name of the i-th setting, NULL after the last. */
const char *setting_name(size_t i);

#endif
