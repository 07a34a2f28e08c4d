/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * aliases.c - words of other tools: the one table of them, and a line's words turned into ours.
 */
#include "command/args/args.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ALIAS_WORDS 7 /* the most that one has */

/* By command, in the order of help. */
const struct alias aliases[] = {
    {"overview", "info", NULL, NULL},
    {"heap_dump_overview", "info", "MAT", NULL},
    {"info heap", "info", "jdmpview", NULL},
    {"info heap *", "info", "jdmpview", NULL},
    {"info system", "info", "jdmpview", NULL},
    {"eeheap", "info", "SOS", NULL},
    {"eeheap -gc", "info", "SOS", NULL},
    {"jmap -heap", "info", "jmap", NULL},
    {"GC.heap_info", "info", "jcmd", NULL},
    {"summary", "info", NULL, NULL},

    {"histogram", "histo", "MAT, viewcore", NULL},
    {"classes", "histo", NULL, NULL},
    {"dumpheap -stat", "histo", "SOS", NULL},
    {"dumpheap -stat -type", "histo", "SOS", NULL},
    {"info class", "histo", "jdmpview", NULL},
    {"info types", "histo", "gdb", NULL},
    {"jmap -histo", "histo", "jmap", NULL},
    {"jmap -histo:live", "histo -live", "jmap", NULL},
    {"GC.class_histogram", "histo -live", "jcmd", NULL},
    {"unreachable_objects", "histo -dead", "MAT", NULL},
    {"retained", "histo -retained", NULL, "size"},
    {"delta_histogram", "diff -by class", "MAT", NULL},
    {"compare", "diff", NULL, NULL},

    {"instances", "ls", NULL, NULL},
    {"list_objects", "ls", "MAT", NULL},
    {"objects", "ls *", "viewcore", "ls"},
    {"dumpheap", "ls *", "SOS", "ls *"},
    {"dumpheap -type", "ls", "SOS", NULL},
    {"dumpheap -mt", "ls", "SOS", NULL},

    {"do", "x", "SOS", NULL},
    {"inspect", "x", NULL, NULL},
    {"x/j", "x", "jdmpview", NULL},
    {"x/s", "x", "gdb, jdmpview", NULL},
    {"x/d", "x", "gdb, jdmpview", NULL},
    {"x/x", "x -hex", "gdb, jdmpview", NULL},
    {"hexdump", "x -hex", "jdmpview", NULL},
    {"print", "x", "gdb, delve", NULL},
    {"ptype", "x", "gdb", NULL},
    {"dumpobj", "x", "SOS", NULL},
    {"dumparray", "x", "SOS", NULL},
    {"da", "x", "SOS", NULL},
    {"dumpclass", "x", "SOS", NULL},
    {"dumpmt", "x", "SOS", NULL},
    {"class", "x", "jhat", NULL},
    {"p", "x", "gdb, delve", NULL},
    {"statics", "x", NULL, NULL},
    {"fields", "x", NULL, NULL},

    {"contents", "entries", NULL, NULL},
    {"map", "entries", NULL, NULL},
    {"list", "entries", NULL, NULL},
    {"hash_entries", "entries", "MAT", NULL},
    {"hash_set_values", "entries", "MAT", NULL},
    {"extract_list_values", "entries", "MAT", NULL},

    {"whatis", "find", "SOS, jdmpview", NULL},
    {"search", "find", NULL, NULL},
    {"grep", "strings", NULL, NULL},
    {"find_strings", "strings", "MAT", NULL},
    {"duplicate_strings", "dups", NULL, NULL},
    {"duplicates", "dups", NULL, NULL},
    {"group_by_value", "dups", "MAT", NULL},
    {"dumpheap -strings", "dups", "SOS", NULL},
    {"system_properties", "props", "MAT", NULL},
    {"jinfo", "props", "jinfo", NULL},
    {"jinfo -sysprops", "props", "jinfo", NULL},
    {"VM.system_properties", "props", "jcmd", NULL},

    {"goroutines", "threads", "viewcore, delve", NULL},
    {"clrthreads", "threads", "SOS", NULL},
    {"thread_overview", "threads", "MAT", NULL},
    {"info thread", "threads", "jdmpview", "bt"},
    {"info thread *", "threads", "jdmpview", NULL},
    {"info threads", "threads", "gdb", NULL},
    {"info goroutines", "threads", "gdb", NULL},
    {"thread list", "threads", "lldb", NULL},
    {"eestack", "threads -by stack", "SOS", NULL},
    {"pstacks", "threads -by stack", "SOS", NULL},
    {"parallelstacks", "threads -by stack", "SOS", NULL},
    {"thread apply all bt", "threads -by stack", "gdb", NULL},
    {"jstack", "threads -by stack", "jstack", NULL},
    {"Thread.print", "threads -by stack", "jcmd", NULL},

    {"clrstack", "bt", "SOS", NULL},
    {"clrstack -a", "bt", "SOS", NULL},
    {"dso", "bt", "SOS", NULL},
    {"info locals", "bt", "gdb", NULL},
    {"dumpstackobjects", "bt", "SOS", NULL},
    {"backtrace", "bt", "gdb", NULL},
    {"stack", "bt", NULL, NULL},
    {"oom", "bt -oom", NULL, NULL},
    {"thread", "bt", "gdb", NULL},
    {"goroutine", "bt", "delve", NULL},
    {"thread_details", "bt", "MAT", NULL},
    {"thread_stack", "bt", "MAT", NULL},

    {"finalizequeue", "finalizers", "SOS", NULL},
    {"finalizer_overview", "finalizers", "MAT", NULL},
    {"finalizer_queue", "finalizers", "MAT", NULL},
    {"references_statistics", "references", "MAT", NULL},
    {"soft_references_statistics", "references soft", "MAT", NULL},
    {"weak_references_statistics", "references weak", "MAT", NULL},
    {"phantom_references_statistics", "references phantom", "MAT", NULL},
    {"reference_leak", "references -only", "MAT", NULL},
    {"maps", "collections", NULL, NULL},
    {"collection_fill_ratio", "collections -fill", "MAT", NULL},
    {"collections_grouped_by_size", "collections", "MAT", NULL},
    {"map_collision_ratio", "waste chains", "MAT", NULL},
    {"array_fill_ratio", "waste sparse", "MAT", NULL},
    {"primitive_arrays_with_a_constant_value", "waste constant", "MAT", NULL},
    {"waste_in_char_arrays", "waste tails", "MAT", NULL},
    {"deadlock", "locks -deadlock", "jdmpview", NULL},
    {"info lock", "locks", "jdmpview", NULL},
    {"syncblk", "locks", "SOS", NULL},
    {"allocations", "sites", NULL, NULL},
    {"classloaders", "loaders", NULL, NULL},
    {"classloader_explorer", "loaders", "MAT", NULL},
    {"jmap -clstats", "loaders", "jmap", NULL},
    {"VM.classloaders", "loaders", "jcmd", NULL},
    {"duplicate_classes", "duplicate-classes", "MAT", NULL},
    {"packages", "tree -by package", NULL, NULL},
    {"hierarchy", "tree", NULL, NULL},
    {"subclasses", "tree", NULL, NULL},
    {"VM.class_hierarchy", "tree", "jcmd", NULL},

    {"objectrefs", "refs", "jdmpview", NULL},
    {"class_references", "refs -by class", "MAT", NULL},
    {"outbounds", "refs -out", NULL, NULL},
    {"inbounds", "refs -in", NULL, NULL},
    {"referrers", "refs -in", ALIAS_EARLIER, NULL},
    {"users", "refs -in", NULL, NULL},
    {"retainers", "refs -in", "DevTools", NULL},
    {"outgoing_references", "refs -out", "MAT", NULL},
    {"incoming_references", "refs -in", "MAT", NULL},
    {"findptr", "refs -in", "jdmpview", NULL},

    {"gc_roots", "roots", "MAT", NULL},
    {"gcroots", "roots", NULL, NULL},
    {"gchandles", "roots -by kind", "SOS", NULL},
    {"globals", "roots -by variable", ALIAS_EARLIER, NULL},
    {"vars", "roots -by variable", "delve", NULL},
    {"info variables", "roots -by variable", "gdb", NULL},

    {"gcroot", "path", "SOS", NULL},
    {"gcroot -all", "path -n 10", "SOS", NULL},
    {"path2gc", "path", "MAT", NULL},
    {"pathto", "path", "SOS", NULL},
    {"rootpathfind", "path", "jdmpview", NULL},
    {"strongrootpathfind", "path", "jdmpview", NULL},
    {"reachable", "path", "viewcore", NULL},
    {"merge_shortest_paths", "paths", "MAT", NULL},

    {"dominator_tree", "dom", "MAT", NULL},
    {"show_dominator_tree", "dom", "MAT", NULL},
    {"dominators", "dom", NULL, NULL},
    {"immediate_dominators", "holders", "MAT", NULL},

    {"top_consumers", "top", "MAT", NULL},
    {"top_components", "top", "MAT", NULL},
    {"biggest", "top", NULL, NULL},
    {"largest", "top", NULL, NULL},
    {"fattest", "top", NULL, NULL},
    {"huge", "top", NULL, NULL},
    {"objsize", "size", "SOS", NULL},
    {"show_retained_set", "size", "MAT", NULL},
    {"customized_retained_set", "size", "MAT", NULL},
    {"component_report", "about", "MAT", NULL},
    {"whatif", "cut", "jafar", NULL},
    {"leakhunter", "leaks", "MAT", NULL},
    {"find_leaks", "leaks", "MAT", NULL},
    {"leak_suspects", "leaks", "MAT", NULL},
    {"suspects", "leaks", NULL, NULL},
    {"find-leaks", "leaks", "memlab", NULL},
    {"big_drops_in_dominator_tree", "leaks -share 1", "MAT", NULL},
    {"export_hprof", "redact", "MAT", NULL},
    {"verifyheap", "check", "SOS", NULL},

    {"describe", "sql -schema", "other SQL", NULL},
    {"desc", "sql -schema", "other SQL", NULL},
    {"show tables", "sql", "other SQL", NULL},
    {".tables", "sql", "sqlite3", NULL},
    {".schema", "sql -schema", "sqlite3", NULL},

    {"?", "help", NULL, NULL},
    {"man", "help", NULL, NULL},
    {"keys", "help keys", NULL, NULL},
    {"mouse", "help mouse", NULL, NULL},
    {"theme", "help theme", NULL, NULL},
    {"config", "set", "delve", NULL},
    {"configuration", "set", NULL, NULL},
    {"preferences", "set", NULL, NULL},
    {"settings", "set", NULL, NULL},
    {".", "source", NULL, NULL},
    {"cmdfile", "source", "jdmpview", NULL},
    {"exit", "quit", NULL, NULL},
    {"q!", "quit", "vim", NULL},
    {"wq", "quit", "vim", NULL},

    {"dom -up", "holders", ALIAS_EARLIER, NULL},
    {"dom -u", "holders", ALIAS_EARLIER, NULL},
    {"dominators -up", "holders", ALIAS_EARLIER, NULL},
    {"dominator_tree -up", "holders", ALIAS_EARLIER, NULL},
    {"show_dominator_tree -up", "holders", ALIAS_EARLIER, NULL},
    {"locals", "threadlocals", ALIAS_EARLIER, NULL},
    {"weak", "references", ALIAS_EARLIER, NULL},
    {"take", "bundle", ALIAS_EARLIER, NULL},
    {"course", "path-history", ALIAS_EARLIER, NULL},
    {"dupclasses", "duplicate-classes", ALIAS_EARLIER, NULL},
    {"refe", "refs -in", ALIAS_EARLIER, NULL}, /* referrers, before references came */
    {"refer", "refs -in", ALIAS_EARLIER, NULL},
    {NULL, NULL, NULL, NULL},
};

/* The next word of a list parted by blanks: its length, *s moves to it.  0: there is none. */
static size_t next_word(const char **s)
{
	*s += strspn(*s, " ");
	return strcspn(*s, " ");
}

bool alias_is_earlier(const struct alias *a)
{
	return a->tool && !*a->tool;
}

bool alias_is_of_tool(const struct alias *a)
{
	return a->tool && *a->tool;
}

/* Does the typed word begin with these letters of the alias?  Earlier names leave words in upper case to classes. */
static bool begins(const struct alias *a, const char *typed, const char *letters, size_t n)
{
	return !(alias_is_earlier(a) ? strncmp(typed, letters, n) : strncasecmp(typed, letters, n));
}

static bool is_word(const char *typed, const char *word, size_t n)
{
	return strlen(typed) == n && !strncasecmp(typed, word, n);
}

/* The same, and a semicolon may end it, as other programs' lines. */
static bool stands_for(const struct alias *a, const char *typed, const char *word, size_t n)
{
	return begins(a, typed, word, n) && (!typed[n] || !strcmp(typed + n, ";"));
}

/* The words of the stage that a name with _ is when it is written with blanks: "dominator tree"; 0: it is not.  Names
 * that begin with a command of ours are arguments of that. */
static size_t takes_parted(const struct alias *a, const struct stage *stage)
{
	size_t n = 0;
	for (const char *s = a->word; *s; s += *s == '_') {
		size_t length = strcspn(s, "_");
		if (n == ALIAS_WORDS || n >= stage->n || stage->words[n].quoted || !is_word(stage->words[n].s, s, length) ||
		    (!n && command_named(stage->words[n].s, strlen(stage->words[n].s))))
			return 0;
		s += length;
		n++;
	}
	return n;
}

bool alias_is_of(const struct alias *a, const struct command *c)
{
	const char *s = a->means;
	return is_word(c->name, s, next_word(&s));
}

/* Debuggers have their extensions' commands behind a !. */
static const char *without_mark(const char *word)
{
	return *word == '!' && word[1] ? word + 1 : word;
}

static bool is_taken(const size_t *taken, size_t n, size_t at)
{
	for (size_t i = 0; i < n; i++) {
		if (taken[i] == at)
			return true;
	}
	return false;
}

/* Which words of the stage this alias takes; how many: 0 if it does not stand there.  Its options may
 * stand anywhere behind the first word, as those tools allow. */
static size_t takes(const struct alias *a, const struct stage *stage, size_t taken[ALIAS_WORDS])
{
	const char *s = a->word;
	size_t n = strchr(s, '_') && !strchr(s, ' ') ? takes_parted(a, stage) : 0;
	for (size_t i = 0; i < n; i++)
		taken[i] = i;
	if (n)
		return n;
	for (size_t length; (length = next_word(&s)); s += length) {
		bool anywhere = n && *s == '-';
		size_t at = anywhere ? 1 : n;
		if (n == ALIAS_WORDS)
			return 0;
		while (at < stage->n && (is_taken(taken, n, at) || stage->words[at].quoted ||
		    !stands_for(a, at ? stage->words[at].s : without_mark(stage->words[at].s), s, length))) {
			if (!anywhere)
				return 0;
			at++;
		}
		if (at >= stage->n)
			return 0;
		taken[n++] = at;
	}
	return n;
}

const struct alias *alias_named(const char *word)
{
	for (const struct alias *a = aliases; a->word; a++) {
		if (begins(a, word, a->word, strlen(a->word) + 1))
			return a;
	}
	return NULL;
}

void alias_add_meaning(const struct alias *a, struct text *to)
{
	text_add(to, a->means);
	if (a->with && strcmp(a->with, a->means) != 0)
		text_addf(to, ", %s with more words", a->with);
}

/* A tool's word works only when it is complete: a beginning such as "back" or "array" means something else. */
const struct alias *alias_begun(const char *word, const struct alias **other)
{
	const struct alias *found = NULL;
	*other = NULL;
	for (const struct alias *a = aliases; a->word && *word; a++) {
		if (alias_is_of_tool(a) || !begins(a, a->word, word, strlen(word)) || strchr(a->word, ' '))
			continue;
		if (!found)
			found = a;
		else if (!*other && strcmp(found->means, a->means) != 0)
			*other = a;
	}
	return found;
}

static bool is_command(const char *word)
{
	for (size_t i = 0; commands[i]; i++) {
		if (!strncmp(commands[i]->name, word, strlen(word)))
			return true;
	}
	return false;
}

/* The alias that the stage begins with, the one that takes the most of its words. */
static const struct alias *alias_at(const struct stage *stage, size_t taken[ALIAS_WORDS], size_t *n)
{
	const struct alias *found = NULL, *other;
	*n = 0;
	for (const struct alias *a = aliases; a->word; a++) {
		size_t own[ALIAS_WORDS], m = takes(a, stage, own);
		if (m <= *n)
			continue;
		found = a;
		*n = m;
		memcpy(taken, own, sizeof own);
	}
	if (found || is_command(stage->words[0].s))
		return found;
	found = alias_begun(stage->words[0].s, &other);
	taken[0] = 0;
	*n = 1;
	return other ? NULL : found;
}

const struct alias *call_expand(struct command_line *l, bool more, const char **means)
{
	struct stage *stage = &l->stages[0];
	size_t taken[ALIAS_WORDS], n_taken, n = 0, cap = 0;
	if (!l->n || !stage->n || stage->words[0].quoted)
		return NULL;
	const struct alias *a = alias_at(stage, taken, &n_taken);
	if (!a)
		return NULL;
	struct word *words = NULL, first = stage->words[0];
	char *rest;
	const char *s = a->with && (more || n_taken < stage->n) ? a->with : a->means;
	if (means)
		*means = s;
	l->ours = xstrdup(s);
	for (char *ours = strtok_r(l->ours, " ", &rest); ours; ours = strtok_r(NULL, " ", &rest)) {
		first.s = ours;
		VEC_PUSH(words, n, cap) = first;
	}
	for (size_t i = 1; i < stage->n; i++) {
		if (!is_taken(taken, n_taken, i))
			VEC_PUSH(words, n, cap) = stage->words[i];
	}
	free(stage->words);
	stage->words = words;
	stage->n = n;
	stage->cap = cap;
	return a;
}
