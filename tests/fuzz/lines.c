/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lines.c - see lines.h. */
#include "lines.h"

#include "base/text.h"
#include "heap/classes.h"
#include "heap/threads.h"
#include "promise.h"

#include <string.h>

const char *const lines_begun[] = {"x ", "x j", "ls ", "histo -", "refs 0x", "size $", "cut ", "bt ",
    "why ", "histo | so", "top | sort ", "set we", NULL};

/* --- words -------------------------------------------------------------------------------------- */

/* In quotes where that is possible, else `otherwise`. */
static void quoted(char *to, size_t room, const char *name, const char *otherwise)
{
	if (!name || strchr(name, '\'') || strlen(name) + 3 > room)
		snprintf(to, room, "%s", otherwise);
	else
		snprintf(to, room, "'%s'", name);
}

static void find_field(struct words *w, const struct heap *h)
{
	char plain[sizeof w->field];
	snprintf(w->field, sizeof w->field, "#1");
	for (uint32_t i = 0; i < h->n_classes; i++) {
		const struct heap_class *c = &h->classes[i];
		for (uint32_t k = 0; k < c->n_statics; k++) {
			if (c->statics[k].type != VALUE_OBJECT)
				continue;
			int n = snprintf(plain, sizeof plain, "%s.%s", c->name, c->statics[k].name);
			if (n > 0 && (size_t)n < sizeof plain)
				quoted(w->field, sizeof w->field, plain, "#1");
			return;
		}
	}
}

void words_find(struct words *w, const struct session *s)
{
	const struct heap *h = session_heap(s);
	uint32_t last = h->n_objects ? h->n_objects - 1 : 0;
	const char *class = h->n_objects ? h->classes[heap_class_index(h, last)].name : NULL;
	snprintf(w->last, sizeof w->last, "#%u", (unsigned)last);
	snprintf(w->address, sizeof w->address, "0x%llx",
	    h->n_objects ? (unsigned long long)heap_address(h, last / 2) : 0);
	quoted(w->class, sizeof w->class, class, "*");
	quoted(w->thread, sizeof w->thread, h->n_threads ? h->threads[0].name : NULL, "1");
	find_field(w, h);
}

/* --- arguments and values ----------------------------------------------------------------------- */

enum { MOST_CHOICES = 8 };

/* The words worth a try for an argument, ended by NULL; "" where it may be left out. */
static void choices_of(const struct words *w, const struct argument *a, const char *to[MOST_CHOICES])
{
	unsigned n = 0;
	if (a->optional)
		to[n++] = "";
	switch (a->kind) {
	case ARG_OBJECT:
		to[n++] = "#0", to[n++] = w->last, to[n++] = w->address, to[n++] = "%1";
		break;
	case ARG_VALUE:
		to[n++] = "#0", to[n++] = w->last, to[n++] = w->address, to[n++] = w->class, to[n++] = w->field;
		break;
	case ARG_CLASS:
		to[n++] = "*", to[n++] = w->class, to[n++] = "$kept", to[n++] = "/a/", to[n++] = w->last;
		break;
	case ARG_SET:
		to[n++] = "*", to[n++] = "#0", to[n++] = "( * - #0 ) & $kept", to[n++] = "$_", to[n++] = w->class;
		break;
	case ARG_THREAD:
		to[n++] = "0", to[n++] = w->thread, to[n++] = "1";
		break;
	case ARG_REGEX:
		to[n++] = ".", to[n++] = "^.*a";
		break;
	case ARG_COMMAND:
		to[n++] = "x";
		break;
	case ARG_DUMP:
		to[n++] = "1", to[n++] = "9", to[n++] = "-1";
		break;
	case ARG_WORD:
		to[n++] = "%1", to[n++] = "shallow", to[n++] = "retained";
		break;
	case ARG_WORDS:
		to[n++] = "#0", to[n++] = "*", to[n++] = w->field, to[n++] = "'#0>#1'", to[n++] = w->class;
		break;
	case ARG_REST:
		to[n++] = "SELECT *, path(address), size(address), text(address) FROM objects ORDER BY retained DESC LIMIT 3";
		to[n++] = "SELECT class, setof(source), min(field) FROM objects JOIN refs ON target = address GROUP BY 1";
		to[n++] = "SELECT * FROM histo, roots, entries(address) LIMIT 9";
		to[n++] = "CREATE TEMP TABLE a AS SELECT x'636169726e207365740000000000000001000000', *";
		break;
	default:
		break;
	}
	to[n] = NULL;
}

/* The value of an option that the n-th try gives it; NULL: behind the last. */
static const char *value_of(const struct words *w, const struct option_spec *o, unsigned n,
    struct text *scratch)
{
	const char *choice = o->value;
	const char *const columns[] = {"shallow", "-retained", "objects", "name", "address", NULL};
	const char *const sizes[] = {"1", "1K", NULL}, *const counts[] = {"0", "3", NULL};
	const char *const hashes[] = {"0", "0x7fffffff", NULL};
	const char *const sets[] = {"*", w->last, NULL}, *const classes[] = {"*", w->class, NULL};
	switch (o->kind) {
	case OPT_CHOICE:
		for (; n && choice; n--) {
			const char *bar = strchr(choice, '|');
			choice = bar ? bar + 1 : NULL;
		}
		if (!choice)
			return NULL;
		text_clear(scratch);
		text_add_n(scratch, choice, strcspn(choice, "|"));
		return scratch->s;
	case OPT_COLUMN: return columns[n];
	case OPT_SIZE: return sizes[n];
	case OPT_COUNT: return counts[n];
	case OPT_HASH: return hashes[n];
	case OPT_SET: return sets[n];
	case OPT_CLASSES: return classes[n];
	default: return n ? NULL : "";
	}
}

/* --- lines -------------------------------------------------------------------------------------- */

struct each {
	const struct words *words;
	void (*run)(void *context, const struct command *c, const char *line);
	void *context;
	struct text line;
	unsigned stage;
};

static unsigned count(const char *const *list)
{
	unsigned n = 0;
	while (list[n])
		n++;
	return n;
}

/* Each value of an option with one of the arguments, in turn. */
static void with_options(struct each *e, const struct command *c, const char *const *arguments)
{
	struct text scratch = TEXT_INIT;
	unsigned turn = 0;
	for (const struct option_spec *o = c->options; o && o->word != DASH_NONE; o++) {
		const char *value;
		for (unsigned n = 0; (value = value_of(e->words, o, n, &scratch)) != NULL; n++) {
			const char *argument = arguments[0] ? arguments[turn % count(arguments)] : "";
			turn++;
			text_clear(&e->line);
			text_addf(&e->line, "%s %s %s %s", c->name, argument, option_name(o), value);
			e->run(e->context, c, e->line.s);
		}
	}
	text_release(&scratch);
}

/* Behind each command another stage. */
static void with_stages(struct each *e, const struct command *c, const char *argument)
{
	static const char *const stages[] = {"head 3", "sort -shallow", "grep- a | cut objects,shallow"};
	text_clear(&e->line);
	text_addf(&e->line, "%s %s | %s", c->name, argument, stages[e->stage++ % (sizeof stages / sizeof *stages)]);
	e->run(e->context, c, e->line.s);
}

static void with_arguments(struct each *e, const struct command *c)
{
	const char *first[MOST_CHOICES], *second[MOST_CHOICES];
	choices_of(e->words, &c->arguments[0], first);
	choices_of(e->words, &c->arguments[1], second);
	for (unsigned i = 0; i == 0 || (first[0] && first[i]); i++) {
		text_clear(&e->line);
		text_addf(&e->line, "%s %s", c->name, first[0] ? first[i] : "");
		e->run(e->context, c, e->line.s);
	}
	for (unsigned i = 1; second[0] && second[i]; i++) {
		text_clear(&e->line);
		text_addf(&e->line, "%s %s %s", c->name, first[0], second[i]);
		e->run(e->context, c, e->line.s);
	}
	with_options(e, c, first);
	with_stages(e, c, first[0] ? first[0] : "");
}

/* Between two words without blanks, > stands for a reference. */
static bool stays_inside(const char *line)
{
	return !strchr(line, '!') && !strstr(line, " >") && !strstr(line, "> ");
}

void lines_each(const struct words *w, void (*run)(void *context, const struct command *c,
    const char *line), void *context)
{
	struct each e = {w, run, context, TEXT_INIT, 0};
	static const char *const left_out[] = {"save", "index", "source", "quit", "set", "help", "history"};
	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		bool out = false;
		for (unsigned k = 0; k < sizeof left_out / sizeof *left_out; k++)
			out |= !strcmp(c->name, left_out[k]);
		if (out)
			continue;
		with_arguments(&e, c);
		for (unsigned k = 0; k < 6 && c->examples[k].line; k++)
			if (stays_inside(c->examples[k].line))
				run(context, c, c->examples[k].line);
	}
	text_release(&e.line);
}
