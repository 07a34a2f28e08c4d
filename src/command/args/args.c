/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * args.c - sort the words behind a command into arguments and options, and look values up.
 */
#include "command/args/args.h"

#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "command/table_options.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- options ---------------------------------------------------------------------------------- */

const char *option_name(const struct option_spec *o)
{
	static const char *const words[] = {
#define OPTION(id, word) [id] = word,
	    OPTION_WORDS(OPTION)
#undef OPTION
	};
	return words[o->word];
}

/* The number of an option among those of a command (command_option_at); -1: it has none. */
static int option_number(const struct command *c, enum option_word word)
{
	const struct option_spec *o;
	for (size_t i = 0; (o = command_option_at(c, i)); i++) {
		if (o->word == word)
			return (int)i;
	}
	return -1;
}

const struct option_spec *command_option(const struct command *c, const char *word)
{
	const struct option_spec *found = NULL, *o;
	size_t n = strcspn(word, "=");
	for (size_t i = 0; (o = command_option_at(c, i)); i++) {
		if (strlen(option_name(o)) == n && !strncmp(option_name(o), word, n))
			return o->kind == OPT_SAME ? command_option(c, o->value) : o;
	}
	for (size_t i = 0; n > 1 && (o = command_option_at(c, i)); i++) {
		if (strncmp(option_name(o), word, n))
			continue;
		if (found) /* a command's own option goes before those of every table */
			return option_is_of_tables(o) && !option_is_of_tables(found) ? found : NULL;
		found = o;
	}
	return found && found->kind == OPT_SAME ? command_option(c, found->value) : found;
}

static int unknown_option(const struct command *c, const char *word, struct err *err)
{
	struct text list = TEXT_INIT;
	const struct option_spec *o;
	for (size_t i = 0; (o = command_option_at(c, i)); i++)
		if (o->kind != OPT_SAME)
			text_addf(&list, " %s", option_name(o));
	if (list.len)
		err_set(err, ERR_USAGE, "unknown option \"%.60s\" (options:%s)", word, list.s);
	else
		err_set(err, ERR_USAGE, "unknown option \"%.60s\" (the command has none)", word);
	text_release(&list);
	return ERR_USAGE;
}

/* Index of a word among "a|b|c", by name or unique prefix; -1. */
static int choice_of(const char *choices, const char *word)
{
	size_t n = strlen(word);
	int found = -1, i = 0;
	for (const char *s = choices; n; i++) {
		size_t length = strcspn(s, "|");
		if (length >= n && !strncmp(s, word, n)) {
			if (length == n)
				return i;
			found = found == -1 ? i : -2;
		}
		if (!s[length])
			break;
		s += length + 1;
	}
	return found < 0 ? -1 : found;
}

static int option_value(struct call *call, size_t i, const char *word, struct err *err)
{
	const struct option_spec *o = command_option_at(call->command, i);
	char *end;
	bool prefixed;
	call->option[i].word = word;
	switch (o->kind) {
	case OPT_FLAG:
	case OPT_SAME:
	case OPT_COLUMN:
	case OPT_CLASSES:
	case OPT_WORDS:
	case OPT_SET: /* took its words elsewhere */
		return 0;
	case OPT_CHOICE:
		call->option[i].choice = choice_of(o->value, word);
		if (call->option[i].choice < 0 && o->word == DASH_BY && table_has_columns(call->command, word)) {
			call->option[i] = (struct option_value){.given = false};
			call->by = word;
			return 0;
		}
		if (call->option[i].choice < 0)
			return err_set(err, ERR_USAGE, "%s \"%.60s\": unknown value (use %s%s)", option_name(o), word,
			    o->value, o->word == DASH_BY && command_takes_table_options(call->command) ? ", or a column" : "");
		return 0;
	case OPT_SIZE:
		if (!parse_size(word, &call->option[i].number))
			return err_set(err, ERR_USAGE,
			    "%s \"%.60s\" is not a size (512, 64K, 2M, 1.5G)", option_name(o), word);
		return 0;
	case OPT_COUNT:
		errno = 0;
		call->option[i].number = strtoull(word, &end, 10);
		if (errno || end == word || *end || *word == '-')
			return err_set(err, ERR_USAGE, "%s \"%.60s\" is not a number", option_name(o), word);
		return 0;
	case OPT_HASH:
		if (!value_address(word, &prefixed, &call->option[i].number) ||
		    call->option[i].number > UINT32_MAX)
			return err_set(err, ERR_USAGE, "%s \"%.60s\" is not a hash (0x1b6d3586 or 1b6d3586)",
			    option_name(o), word);
		return 0;
	}
	return 0;
}

/* --- arguments -------------------------------------------------------------------------------- */

/* Does a class pattern stand here and nothing that joins it to a set?  A row of a table may be a class,
 * an address a class object. */
static bool only_classes(const struct session *s, const struct stage *stage, size_t at)
{
	const char *word = stage->words[at].s;
	struct target t;
	uint64_t address;
	uint32_t id;
	bool prefixed;
	if (at + 1 < stage->n && set_joins(&stage->words[at + 1]))
		return false;
	if (set_heap(word))
		return false;
	if (*word == '%')
		return !value_row(s, word, &t, NULL) && t.kind == TARGET_CLASS && !t.part;
	bool named = false;
	if (value_named(s, word, &named, &id, NULL) || named) /* null or not known for want of memory, too */
		return false;
	if (!value_address(word, &prefixed, &address) || !prefixed)
		return !strchr("$(#", *word) || stage->words[at].quoted;
	id = heap_find_value(session_heap(s), address);
	return id == HEAP_NONE || heap_class_mirrored(session_heap(s), id) != HEAP_NONE;
}

/* A set may take several words, of which *at is the last afterwards; *word gets a title for it. */
static int take_set(struct call *call, const struct session *s, size_t *at, uint32_t **ids, size_t *n,
    const char **word, struct err *err)
{
	const struct stage *stage = &call->stage;
	struct text title = TEXT_INIT;
	size_t first = *at;
	int code = set_parse(s, stage, at, ids, n, err);
	if (code)
		return code;
	set_title(s, stage, first, *at, &title);
	*word = arena_strndup(&call->arena, title.s, title.len);
	text_release(&title);
	--*at;
	return 0;
}

static int set_value(struct call *call, const struct session *s, size_t i, size_t *at, struct err *err)
{
	call->argument[i].objects = true;
	return take_set(call, s, at, &call->argument[i].ids, &call->argument[i].n_ids, &call->argument[i].word, err);
}

/* One object if the words mean just that, else what they mean together. */
static int objects_value(struct call *call, const struct session *s, size_t i, size_t *at, struct err *err)
{
	const struct stage *stage = &call->stage;
	bool alone = *at + 1 >= stage->n || !set_joins(&stage->words[*at + 1]);
	bool place = strchr("0#%$", stage->words[*at].s[0]) != NULL; /* which no class's name begins with */
	struct err single = ERR_INIT;
	if (alone && !value_object(s, stage->words[*at].s, &call->argument[i].id, &single))
		return 0;
	int code = set_value(call, s, i, at, err);
	if (code && alone && place && single.code) { /* what it means for a single one says more */
		*err = single;
		return single.code;
	}
	return code;
}

static int argument_value(struct call *call, const struct session *s, size_t i, size_t *at, struct err *err)
{
	const struct stage *stage = &call->stage;
	const char *word = stage->words[*at].s;
	enum argument_kind kind = call->command->arguments[i].kind;
	call->argument[i].given = true;
	call->argument[i].word = word;
	switch (kind) {
	case ARG_OBJECT:
		return value_object(s, word, &call->argument[i].id, err);
	case ARG_OBJECTS:
		return objects_value(call, s, i, at, err);
	case ARG_VALUE:
		return value_of(s, word, &call->argument[i].variable, &call->argument[i].is_variable,
		    &call->argument[i].id, err);
	case ARG_THREAD:
		return value_thread(s, word, &call->argument[i].id, err);
	case ARG_SET:
		return set_value(call, s, i, at, err);
	case ARG_CLASS:
		if (!session_heap(s)) /* profiles know names */
			return 0;
		if (!only_classes(s, stage, *at))
			return set_value(call, s, i, at, err);
		return value_classes(s, word, &call->argument[i].ids, &call->argument[i].n_ids, err);
	default:
		return 0;
	}
}

/* How many words a line has, and whether the option is one of them. */
static size_t count_words(const char *line, const char *option, bool *has)
{
	size_t n = 0, wanted = strlen(option);
	for (*has = !wanted; *line; n++) {
		size_t length = strcspn(line, " ");
		*has |= wanted && length == wanted && !strncmp(line, option, length);
		line += length;
		line += strspn(line, " ");
	}
	return n;
}

/* An example of help with this option and so many words behind the command's name; NULL: there is none. */
static const char *example_with(const struct command *c, const char *option, size_t words)
{
	size_t name = strlen(c->name);
	bool has;
	for (const struct example *e = c->examples; e->line; e++) {
		bool of_command = !strncmp(e->line, c->name, name) && e->line[name] == ' ';
		if (of_command && count_words(e->line, option, &has) > words && has)
			return e->line;
	}
	return NULL;
}

int call_missing(const struct command *c, const char *what, const char *option, size_t words, struct err *err)
{
	const char *example = example_with(c, option, words);
	return example ? err_set(err, ERR_USAGE, "%s (for example: %.200s; help %s explains it)", what, example, c->name) :
	    err_set(err, ERR_USAGE, "%s (help %s explains it)", what, c->name);
}

static int option_without_value(const struct command *c, const struct option_spec *o, struct err *err)
{
	struct text what = TEXT_INIT;
	text_addf(&what, "%s needs %s", option_name(o), o->value);
	if (!example_with(c, option_name(o), 0))
		text_addf(&what, ": %s", o->summary);
	bool column = o->word == DASH_BY && command_takes_table_options(c);
	int code = o->kind == OPT_CHOICE ? err_set(err, ERR_USAGE, "%s needs a value (use %s%s)", option_name(o), o->value,
	    column ? ", or a column" : "") : call_missing(c, what.s, option_name(o), 0, err);
	text_release(&what);
	return code;
}

static int take_option(struct call *call, const struct session *s, size_t *at, struct err *err)
{
	const struct stage *stage = &call->stage;
	const char *word = stage->words[*at].s, *value = strchr(word, '=');
	const struct option_spec *o = command_option(call->command, word);
	if (!o)
		return unknown_option(call->command, word, err);
	size_t i = (size_t)option_number(call->command, o->word);
	bool again = call->option[i].given || (o->word == DASH_BY && call->by);
	if (again && o->kind != OPT_FLAG && (option_is_of_tables(o) || o->word == DASH_BY))
		return err_set(err, ERR_USAGE, "%s is given twice%s", option_name(o),
		    o->word == DASH_WHERE ? " (join conditions with AND)" : "");
	call->option[i].given = true;
	if (o->kind == OPT_FLAG)
		return value ? err_set(err, ERR_USAGE, "%s takes no value", option_name(o)) : 0;
	if (value && o->kind == OPT_SET)
		return err_set(err, ERR_USAGE, "%s takes a set without =", option_name(o));
	if (value)
		return option_value(call, i, value + 1, err);
	if (*at + 1 >= stage->n)
		return option_without_value(call->command, o, err);
	++*at;
	if (o->kind == OPT_SET)
		return take_set(call, s, at, &call->option[i].ids, &call->option[i].n_ids, &call->option[i].word, err);
	return option_value(call, i, stage->words[*at].s, err);
}

static void add_option_usage(const struct option_spec *o, struct text *to)
{
	if (o->kind == OPT_SAME)
		return;
	text_addf(to, " [%s", option_name(o));
	if (o->value)
		text_addf(to, " %s", o->value);
	text_add(to, "]");
}

void command_usage(const struct command *c, struct text *to)
{
	bool rest = c->arguments[0].kind == ARG_REST; /* options stand in front of what goes on to the line's end */
	text_add(to, c->name);
	for (const struct option_spec *o = c->options; rest && o && o->word; o++)
		add_option_usage(o, to);
	for (size_t i = 0; i < COMMAND_ARGUMENTS && c->arguments[i].kind != ARG_END; i++)
		text_addf(to, c->arguments[i].optional ? " [%s]" : " %s", c->arguments[i].name);
	for (const struct option_spec *o = c->options; !rest && o && o->word; o++)
		add_option_usage(o, to);
}

static int wrong_number(const struct command *c, const char *what, struct err *err)
{
	struct text usage = TEXT_INIT;
	command_usage(c, &usage);
	err_set(err, ERR_USAGE, "%s (%s)", what, usage.s);
	text_release(&usage);
	return ERR_USAGE;
}

/* No option begins with a digit: that is a number below 0. */
static bool looks_like_option(const struct word *w)
{
	return !w->quoted && w->s[0] == '-' && w->s[1] && strcmp(w->s, "--") && !isdigit((unsigned char)w->s[1]);
}

static bool ends_arguments(const struct command *c, size_t n)
{
	return n + 1 >= COMMAND_ARGUMENTS || c->arguments[n + 1].kind == ARG_END;
}

/* May a word for objects stand there? */
static bool takes_objects(const struct command *c, size_t n)
{
	static const bool takes[] = {[ARG_OBJECT] = true, [ARG_OBJECTS] = true, [ARG_VALUE] = true,
	    [ARG_CLASS] = true, [ARG_SET] = true, [ARG_THREAD] = true, [ARG_WORDS] = true};
	enum argument_kind kind = n < COMMAND_ARGUMENTS ? c->arguments[n].kind : ARG_END;
	/* the words of a command that is about no dump are just words */
	return kind < sizeof takes / sizeof *takes && takes[kind] &&
	       !(kind == ARG_WORDS && c->flags & COMMAND_NO_DUMP);
}

bool command_of_row(const struct command *c)
{
	return takes_objects(c, 0) && (c->several || !c->arguments[0].optional);
}

/* The argument that words for objects may be, where dumps can stand before them. */
static size_t behind_dumps(const struct command *c)
{
	return c->arguments[0].kind == ARG_DUMPS;
}

/* "." among the words that stand for objects. */
static int put_here(const struct command *c, const struct session *s, struct stage *stage, size_t first,
    struct err *err)
{
	int code = 0;
	for (size_t at = first; !code && at < stage->n; at++) {
		const struct option_spec *o = at > first ? command_option(c, stage->words[at - 1].s) : NULL;
		if (at - first < COMMAND_ARGUMENTS && c->arguments[at - first].kind == ARG_REST)
			return 0;
		if (takes_objects(c, behind_dumps(c)) || (o && o->kind == OPT_SET))
			code = word_here(s, &stage->words[at], err);
	}
	return code;
}

/* On the screen an argument that is missing is the selected row. */
static bool put_row(const struct command *c, const struct session *s, struct stage *stage, size_t n)
{
	struct selection *selection = s->results.selection;
	if (!selection || !selection->row || n > 0 || !takes_objects(c, n))
		return false;
	VEC_PUSH(stage->words, stage->n, stage->cap) = (struct word){.s = selection->row};
	return selection->used = true;
}

struct taking {
	struct call *call;
	const struct session *s;
	size_t at; /* the word */
	size_t n;  /* the argument that it may be */
	bool no_options; /* -- stood before it */
	bool done;
};

/* What was meant may be one word: two that stand behind each other where one is looked for. */
static int one_too_many(const struct command *c, const struct call *call, const struct taking *t,
    const struct stage *stage, struct err *err)
{
	bool looks = t->n == 1 && c->arguments[0].kind == ARG_REGEX && t->at && !stage->words[t->at - 1].quoted;
	struct text words = TEXT_INIT, what = TEXT_INIT;
	if (looks && call->argument[0].word && !strcmp(call->argument[0].word, stage->words[t->at - 1].s)) {
		text_addf(&words, "%s %s", stage->words[t->at - 1].s, stage->words[t->at].s);
		text_addf(&what, "too many arguments: quote words with blanks, %s '%.100s'", c->name, words.s);
	}
	int code = wrong_number(c, what.len ? what.s : "too many arguments", err);
	text_release(&words);
	text_release(&what);
	return code;
}

static int take_word(struct taking *t, struct err *err)
{
	struct call *call = t->call;
	const struct command *c = call->command;
	const struct stage *stage = &call->stage;
	const struct word *w = &stage->words[t->at];
	enum argument_kind kind = t->n < COMMAND_ARGUMENTS ? c->arguments[t->n].kind : ARG_END;
	if (kind == ARG_REST && !(looks_like_option(w) && command_option(c, w->s))) {
		call->argument[t->n].given = t->done = true;
		call->argument[t->n++].word = command_line_rest(&call->arena, call->asked->text, stage, t->at);
		return 0;
	}
	if (!t->no_options && !strcmp(w->s, "--") && !w->quoted) {
		t->no_options = true;
		return 0;
	}
	bool names_option = kind == ARG_COMMAND && !strncmp(w->s, "--", 2); /* of the program */
	if (!t->no_options && looks_like_option(w) && !names_option)
		return take_option(call, t->s, &t->at, err);
	if (kind == ARG_DUMPS && !word_is_dump(t->s, w))
		kind = ++t->n < COMMAND_ARGUMENTS ? c->arguments[t->n].kind : ARG_END;
	if (kind == ARG_END)
		return one_too_many(c, call, t, stage, err);
	if (kind == ARG_WORDS || kind == ARG_DUMPS) {
		VEC_PUSH(call->words, call->n_words, call->cap_words) = w->s;
		call->argument[t->n].given = true;
		return 0;
	}
	if (kind == ARG_CLASS && session_heap(t->s) && ends_arguments(c, t->n) && only_classes(t->s, stage, t->at) &&
	    t->at + 1 < stage->n && !looks_like_option(&stage->words[t->at + 1]))
		return wrong_number(c, "too many arguments", err); /* else the first is said to be no class */
	return argument_value(call, t->s, t->n++, &t->at, err);
}

static int missing(const struct command *c, const struct session *s, size_t n, struct err *err)
{
	const struct selection *selection = s->results.selection;
	struct text what = TEXT_INIT;
	text_addf(&what, "%s is missing%s", c->arguments[n].name, selection && !selection->row && takes_objects(c, n)
	    ? ", and no such row is selected" : "");
	int code = call_missing(c, what.s, "", n + 1, err);
	text_release(&what);
	return code;
}

static int take_words(struct call *call, const struct session *s, struct err *err)
{
	const struct command *c = call->command;
	struct stage *stage = &call->stage;
	struct taking t = {.call = call, .s = s};
	size_t first = call->asked->words;
	int code = put_here(c, s, stage, first, err);
	for (t.at = first; !code && !t.done && t.at < stage->n; t.at++) {
		size_t begins = t.at;
		code = take_word(&t, err);
		if (code && err)
			err_place(err, stage->words[begins].begin, stage->words[t.at < stage->n ? t.at : stage->n - 1].end);
	}
	t.n += t.n < COMMAND_ARGUMENTS && call->n_words > 0;
	if (code || t.n == COMMAND_ARGUMENTS || c->arguments[t.n].kind == ARG_END || c->arguments[t.n].optional ||
	    (!t.n && c->instead && call_has(call, c->instead)))
		return code;
	if (!put_row(c, s, stage, t.n))
		return missing(c, s, t.n, err);
	t.at = stage->n - 1;
	return take_word(&t, err);
}

static size_t count_options(const struct command *c)
{
	size_t n = 0;
	while (command_option_at(c, n))
		n++;
	return n;
}

int call_parse(struct call *call, const struct session *s, const struct command *c, const struct invocation *asked,
    struct err *err)
{
	const struct stage *typed = &asked->line.stages[0];
	*call = (struct call){.command = c, .asked = asked, .arena = ARENA_INIT,
	    .shown = !s->output.stream && invocation_is_plain(asked) && !asked->line.keep};
	for (size_t i = 0; i < typed->n; i++)
		VEC_PUSH(call->stage.words, call->stage.n, call->stage.cap) = typed->words[i];
	call->stage.end = typed->end;
	call->option = xcalloc(count_options(c) + 1, sizeof *call->option);
	int code = take_words(call, s, err);
	if (code)
		call_release(call);
	return code;
}

void call_release(struct call *call)
{
	for (size_t i = 0; i < COMMAND_ARGUMENTS; i++)
		big_free(call->argument[i].ids);
	for (size_t i = 0; call->option && i < count_options(call->command); i++)
		big_free(call->option[i].ids);
	free(call->option);
	free(call->words);
	free(call->stage.words);
	arena_release(&call->arena);
	*call = (struct call){.command = NULL};
}

int call_option(const struct call *call, enum option_word word)
{
	return option_number(call->command, word);
}

static const struct option_value *given(const struct call *call, enum option_word word)
{
	int i = call_option(call, word);
	return i >= 0 && call->option[i].given ? &call->option[i] : NULL;
}

bool call_has(const struct call *call, enum option_word word)
{
	return given(call, word);
}

const char *call_word(const struct call *call, enum option_word word)
{
	const struct option_value *o = given(call, word);
	return o ? o->word : NULL;
}

uint64_t call_number(const struct call *call, enum option_word word, uint64_t otherwise)
{
	const struct option_value *o = given(call, word);
	return o ? o->number : otherwise;
}

int call_choice(const struct call *call, enum option_word word, int otherwise)
{
	const struct option_value *o = given(call, word);
	return o ? o->choice : otherwise;
}
