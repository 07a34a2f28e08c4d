/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * command.h - the one table of commands, and a call: a command with its parsed arguments.
 *
 * The parser, completion, help, the man page, shell completion and the screen's keys all use this
 * table.
 */
#ifndef CAIRN_COMMAND_COMMAND_H
#define CAIRN_COMMAND_COMMAND_H

#include "analysis/describe/describe.h"
#include "command/parse/parse.h"
#include "command/session/session.h"

enum argument_kind {
	ARG_END,
	ARG_OBJECT,  /* 0xADDR, #ID, %N */
	ARG_OBJECTS, /* the same, or a set; argument.objects says which */
	ARG_VALUE,   /* an object, or a global variable or a part of one */
	ARG_CLASS,   /* a class pattern: exact, glob, /regex/, bare last part, 0xADDR of a class object;
	                or anything else that is a set */
	ARG_SET,     /* objects: the grammar of sets is in words/words.h */
	ARG_THREAD,  /* name, number, or object */
	ARG_REGEX,
	ARG_FILE,
	ARG_DUMP,    /* the number of a dump of the session, as a word */
	ARG_DUMPS,   /* numbers or files of such dumps: call->words; the first other word belongs to the next argument */
	ARG_COMMAND, /* a command's name */
	ARG_WORD,
	ARG_WORDS,   /* one or more: call->words */
	ARG_REST,    /* the rest of the line as it is */
};

struct argument {
	enum argument_kind kind;
	const char *name; /* "OBJ", "PAT" as help writes it */
	bool optional;
};

/* Every option that some command has, and its word, in alphabetical order. */
#define OPTION_WORDS(OPTION) \
	OPTION(DASH_ALL, "-all") \
	OPTION(DASH_ARGS, "-args") \
	OPTION(DASH_ARRAYS, "-arrays") \
	OPTION(DASH_BASE, "-base") \
	OPTION(DASH_BRIEF, "-brief") \
	OPTION(DASH_BY, "-by") \
	OPTION(DASH_CLASS, "-class") \
	OPTION(DASH_CORE, "-core") \
	OPTION(DASH_DEAD, "-dead") \
	OPTION(DASH_DEADLOCK, "-deadlock") \
	OPTION(DASH_DEPTH, "-depth") \
	OPTION(DASH_DIR, "-dir") \
	OPTION(DASH_EACH, "-each") \
	OPTION(DASH_ENV, "-env") \
	OPTION(DASH_FAIL_OVER, "-fail-over") \
	OPTION(DASH_FIELDS, "-fields") \
	OPTION(DASH_FILL, "-fill") \
	OPTION(DASH_FIT, "-fit") \
	OPTION(DASH_GONE, "-gone") \
	OPTION(DASH_GREW, "-grew") \
	OPTION(DASH_HASH, "-hash") \
	OPTION(DASH_HEAP, "-heap") \
	OPTION(DASH_HEX, "-hex") \
	OPTION(DASH_HPROF, "-hprof") \
	OPTION(DASH_I, "-i") \
	OPTION(DASH_IN, "-in") \
	OPTION(DASH_LENGTH, "-length") \
	OPTION(DASH_LIMITS, "-limits") \
	OPTION(DASH_LIVE, "-live") \
	OPTION(DASH_MAX, "-max") \
	OPTION(DASH_MIN, "-min") \
	OPTION(DASH_N, "-n") \
	OPTION(DASH_NAMES, "-names") \
	OPTION(DASH_NATIVE, "-native") \
	OPTION(DASH_NEW, "-new") \
	OPTION(DASH_NO_NAMES, "-no-names") \
	OPTION(DASH_NOT, "-not") \
	OPTION(DASH_O, "-o") \
	OPTION(DASH_ONLY, "-only") \
	OPTION(DASH_OOM, "-oom") \
	OPTION(DASH_OUT, "-out") \
	OPTION(DASH_PACKED, "-packed") \
	OPTION(DASH_PARTITION, "-partition") \
	OPTION(DASH_PLAN, "-plan") \
	OPTION(DASH_R, "-r") \
	OPTION(DASH_REDACT, "-redact") \
	OPTION(DASH_RETAINED, "-retained") \
	OPTION(DASH_SCHEMA, "-schema") \
	OPTION(DASH_SECONDS, "-seconds") \
	OPTION(DASH_SHARE, "-share") \
	OPTION(DASH_SHRANK, "-shrank") \
	OPTION(DASH_SKIP, "-skip") \
	OPTION(DASH_SORT, "-sort") \
	OPTION(DASH_START, "-start") \
	OPTION(DASH_STEADY, "-steady") \
	OPTION(DASH_STRINGS, "-strings") \
	OPTION(DASH_SUB, "-sub") \
	OPTION(DASH_SUSPECT, "-suspect") \
	OPTION(DASH_TREE, "-tree") \
	OPTION(DASH_UNFOLDED, "-unfolded") \
	OPTION(DASH_UNREACHABLE, "-unreachable") \
	OPTION(DASH_WEAK, "-weak") \
	OPTION(DASH_WHERE, "-where")

enum option_word {
	DASH_NONE, /* the end of a table */
#define OPTION(id, word) id,
	OPTION_WORDS(OPTION)
#undef OPTION
	DASH_COUNT
};

enum option_kind {
	OPT_FLAG,
	OPT_SAME,    /* another word for the option that `value` names; it works, and no help has it */
	OPT_CHOICE,  /* one of the words that `value` lists between '|' */
	OPT_COLUMN,  /* a column of the result, perhaps with a sign before it */
	OPT_CLASSES, /* a class pattern, as a word */
	OPT_WORDS,   /* one word, which may be several between commas */
	OPT_SIZE,
	OPT_COUNT,
	OPT_HASH,    /* hexadecimal, with or without 0x, at most 32 bits */
	OPT_SET,
};

struct option_spec {
	enum option_word word; /* several commands may have it, each with a meaning of its own */
	enum option_kind kind;
	const char *value;   /* "class|package|loader|super" or the value's name, NULL for a flag */
	const char *summary;
};

/* The sample dumps in data/ that examples run on; help_sample (help.c) names their files. */
enum sample { ON_ANY, ON_PHD, ON_SHOP, ON_GO, ON_SERIES, ON_PROCESS };

/*
 * A command line to try.  It finds something in the sample that it names; tests/cli/examples.py
 * runs it there.  The examples of one command run in order, so an example can use what those before
 * it left behind.
 */
struct example {
	const char *line;
	enum sample on;
	const char *answers; /* what it answers, in a few words; NULL: the line says it */
};
#define COMMAND_EXAMPLES 23 /* the most a command can have */

/* "-by" */
const char *option_name(const struct option_spec *o);

/* Other words for commands, most of them from other tools: one list, args/aliases.txt. */
struct alias {
	const char *word;  /* or several; those that begin with - may be anywhere after the first */
	const char *means; /* the words of cairn that replace them */
	const char *tool;  /* the tool that has the word; NULL: several; ALIAS_EARLIER */
	const char *with;  /* what it means if other words follow; NULL: the same */
};
#define ALIAS_EARLIER "" /* an earlier name of a command: it works in this spelling only, and no list has it */
const struct alias *alias_list(void); /* ended by a NULL word; any thread */
/* Is it an earlier name?  Is it a word of another tool? */
bool alias_is_earlier(const struct alias *a);
bool alias_is_of_tool(const struct alias *a);

#define COMMAND_ARGUMENTS 3 /* the most a command can have; a table with more does not compile */

struct call; /* below */
/* A candidate for the end of what is typed. */
typedef void command_offer(void *context, const char *word);

struct command {
	const char *name;
	struct argument arguments[COMMAND_ARGUMENTS]; /* ended by ARG_END, or full */
	const struct option_spec *options; /* ended by DASH_NONE; NULL: none */
	enum option_word instead;     /* the option that takes the place of the first argument; DASH_NONE: none */
	unsigned flags;               /* enum command_flag */
	enum finding finds;           /* found before it runs (opened/opened.h); FIND_NOTHING: it asks for more, if at
	                                 all, by session_find */
	const char *group;            /* "browse", "session": the heading of help above it */
	const char *summary;          /* one line, lower case, no full stop */
	const struct shape *const *shapes; /* of its results, one for each form, ended by NULL; NULL: it
	                                 has no result */
	const char *description;      /* a paragraph or more */
	void (*more)(struct text *to); /* append the paragraphs after it that are made from tables; NULL: none */
	struct example examples[COMMAND_EXAMPLES + 1]; /* ended by a NULL line */
	const char *key;              /* the screen's key for it, which nothing else has; NULL: none */
	const char *several;          /* the words that ask the same of several objects, for its key on a row
	                                 that counts so many; NULL: there are none */
	/* Does the dump have what the command needs?  0, or ERR_UNSUPPORTED and why not; NULL: every dump does. */
	int (*told)(const struct heap *h, struct err *err);
	/* Run it.  *out, which is NULL before, is the caller's (result_free), after an error, too; NULL: there is
	 * nothing to show.  0, or an error. */
	int (*run)(struct session *s, const struct call *call, struct result **out, struct err *err);
	/* Offer continuations of an argument that is the rest of the line; typed ends at the cursor, and behind is the
	 * text after it.  NULL: nothing. */
	void (*complete)(const struct session *s, const char *typed, const char *behind, command_offer *offer,
	    void *context);
};

enum command_flag {
	COMMAND_NO_DUMP = 1,          /* works without a heap */
	COMMAND_NEEDS_REFERENCES = 2,
	COMMAND_NEEDS_RETAINED = 4,   /* the screen waits until retained sizes are known */
	COMMAND_OBJECTS_ONLY = 8,     /* works even if references did not fit into memory */
	COMMAND_EARLY = 16,           /* answers before references are read: invocation.early */
	COMMAND_COUNTS_VALUES = 32,   /* which rows there are, or what they count, depends on values that are
	                                 read from the dump's file when it runs */
	COMMAND_SHOWS_CLASSES = 64,   /* its key on the row of a class shows the class itself */
	COMMAND_OF_COLLECTIONS = 128, /* its key is about lists, maps and the like only */
	COMMAND_OF_PROFILES = 256,    /* works without a heap where there are profiles */
	COMMAND_COMPARES = 512,       /* reads the other dumps of the session, too */
	COMMAND_EARLY_BY_OPTION = 2048, /* the same where the line has an option */
	COMMAND_OF_SESSION = 8192,    /* about the session, its files or cairn's own work: its rows are no table
	                                 for SQL, and its answer changes from one time to the next */
	COMMAND_WRITES = 4096,        /* writes files, so no question asks it */
	COMMAND_SWITCHES = 1024,      /* changes which dumps are open, or which is current */
	COMMAND_TAGS = 1 << 14,       /* changes which dumps comparisons are about */
	COMMAND_LISTS_DUMPS = 1 << 15, /* its rows are the dumps of the session, which change with it */
	COMMAND_FOR_COMPARISONS = 1 << 16, /* prepares one: it may be about any dump of a folder */
	COMMAND_ARRANGES = 1 << 17,   /* lists the columns of the last table, to choose from */
	COMMAND_SAVED = 1 << 18,      /* changes what is kept of the dump from one run to the next */
	COMMAND_RUNS_LINES = 1 << 19, /* runs lines of a file, which may have several results */
	COMMAND_IN_PARTS = 1 << 21,   /* the screen lays its rows out in parts (view/page/overview_page.c) */
	COMMAND_CUTS = 1 << 22,       /* asks about references: its key on a row that names some asks about these */
	COMMAND_LISTS_OBJECTS = 1 << 23, /* of a class: the screen shows them on the page of the class */
	COMMAND_OF_VM = 1 << 24,      /* works without a heap, too, about running processes */
	COMMAND_NO_REFERRERS = 1 << 25, /* asks for no lists of referrers: with little memory it answers sooner */
	COMMAND_NO_TABLE = 1 << 20,   /* its rows are about another answer: no table for SQL */
};

#define OPTIONS(...) (const struct option_spec[]){__VA_ARGS__, {DASH_NONE, OPT_FLAG, NULL, NULL}}
#define SHAPES(...) (const struct shape *const[]){__VA_ARGS__, NULL}

extern const struct command *const commands[]; /* NULL-terminated, in the order of help */

/* query_keep_rows: keep the rows for which a condition in SQL holds.  A question runs commands, so these cannot know
 * query/ by name. */
extern int (*const command_keep_rows)(struct session *s, struct result *r, const char *condition, struct err *err);

/* Find a command by name, alias or unique prefix.  NULL: *err is ERR_USAGE and names candidates. */
const struct command *command_find(const char *word, struct err *err);
/* Is it another word for this command? */
bool alias_is_of(const struct alias *a, const struct command *c);
/* Is its key about the selected row?  The others are about the whole dump. */
bool command_of_row(const struct command *c);
/* "histogram, dumpheap -stat": append the command's other words.  Appends nothing if there are none. */
void command_other_words(const struct command *c, struct text *to);

/* List every column that results of the command may have, each once; with heads, the values of
 * their heads before these.  Returns how many; `to` needs room for COL_COUNT_OF_ALL. */
unsigned command_columns(const struct command *c, bool heads, enum column_id *to);

/* An invocation against a session: a value for each argument and option of the command's table. */
struct call {
	const struct command *command;
	const struct invocation *asked; /* borrowed */
	struct arena arena;
	struct stage stage;           /* the words, with what "." and the selected row mean in their places */
	bool shown;                   /* shown on the screen as it is, where a note says which rows are left out */
	const char **words;           /* ARG_WORDS, ARG_DUMPS */
	size_t n_words, cap_words;
	struct {
		bool given;
		const char *word;     /* as typed; for a set, a title for it */
		uint32_t id;          /* ARG_OBJECT: object id; ARG_THREAD: thread index; ARG_VALUE: object
		                         id, or HEAP_NONE if there is no object */
		bool is_variable;     /* ARG_VALUE: the word names this variable; id is what it points to */
		struct variable variable;
		uint32_t *ids;        /* ARG_SET: object ids, sorted; ARG_CLASS: class indices */
		size_t n_ids;
		bool objects;         /* ids are object ids: ARG_SET, or ARG_CLASS if a set was given */
	} argument[COMMAND_ARGUMENTS];
	struct option_value {
		bool given;
		const char *word;
		uint64_t number;      /* OPT_SIZE, OPT_COUNT, OPT_HASH */
		int choice;           /* OPT_CHOICE: index among the words */
		uint32_t *ids;        /* OPT_SET: object ids, sorted; word is a title for it */
		size_t n_ids;
	} *option;                    /* by the number of the option (command_option_at) */
	const char *by;               /* the columns that -by names instead of one of the command's own words; or NULL */
};

/* The number of this option (command_option_at); -1: the command has no such option. */
int call_option(const struct call *call, enum option_word word);
/* Was the option given?  What word (NULL: it was not), which number, and which of its words was chosen (its index;
 * `otherwise` if it was not given)? */
bool call_has(const struct call *call, enum option_word word);
const char *call_word(const struct call *call, enum option_word word);
uint64_t call_number(const struct call *call, enum option_word word, uint64_t otherwise);
int call_choice(const struct call *call, enum option_word word, int otherwise);

/* ERR_USAGE: what ("SET is missing"), with an example of help that has the option ("": any) and at least so many words
 * behind the command's name. */
int call_missing(const struct command *c, const char *what, const char *option, size_t words, struct err *err);

/* Help and manual, made from the table.  Each appends to `to`. */
void command_usage(const struct command *c, struct text *to);        /* "refs OBJ [-out|-in] …" */
void command_description(const struct command *c, struct text *to);  /* its paragraphs; perhaps none */
/* What its description says of a column ("objects, shallow\tMEANING").  False: nothing. */
bool command_defines(const struct command *c, const char *word, struct text *meaning);
/* The words of the columns of a shape, or of the values of its head: "kind roots objects
 * shallow". */
void shape_words(const struct shape *shape, bool head, struct text *to);
/* "kind objects; hidden: meaning": its columns, first those that text shows unless a row has no use for them. */
void shape_columns(const struct shape *shape, struct text *to);
/* A JSON Schema of what the commands print with --format json. */
void command_write_schema(struct text *to);
/* The table as JSON: names, arguments, options, flags and examples. */
void command_write_table(struct text *to);

#endif
