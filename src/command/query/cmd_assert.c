/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_assert.c - assert: claims about a dump, for a job that nobody watches. */
#include "command/commands.h"

#include "command/query/claim.h"
#include "command/exec/exec.h"
#include "dump/source/source.h"
#include "heap/heap.h"

#include <string.h>

static const struct column columns[] = {{.id = COL_EXPRESSION}, {.id = COL_VALUE}, {.id = COL_OK},
    {.id = COL_NUMBER_VALUE, .hidden = true}, {.id = COL_SENTENCE, .hidden = true}};
static const struct shape shape = {SHAPE_COLUMNS(columns)};

/* --- JUnit -------------------------------------------------------------------------------------- */

/* As an attribute's value. */
static void put_attribute(const char *s, FILE *to)
{
	for (; *s; s++) {
		const char *entity = markup_entity(*s);
		if (entity)
			fputs(entity, to);
		else
			putc(*s, to);
	}
}

struct suite {
	const char *dump;
	struct claim *claims;
	char *const *text; /* of each claim, escaped */
	size_t n;
};

/* <testsuites>, as JUnit's own tools and what reads them know it: a failure for each claim that is not true. */
static int write_suite(void *suite, FILE *to, const char *path, struct err *err)
{
	const struct suite *s = suite;
	size_t failed = 0;
	(void)path;
	for (size_t i = 0; i < s->n; i++)
		failed += s->claims[i].answer != CLAIM_TRUE;
	fprintf(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"%zu\" failures=\"%zu\">\n"
	    "  <testsuite name=\"", s->n, failed);
	put_attribute(s->dump, to);
	fprintf(to, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"0\">\n", s->n, failed);
	for (size_t i = 0; i < s->n; i++) {
		fputs("    <testcase classname=\"cairn.assert\" name=\"", to);
		put_attribute(s->text[i], to);
		if (s->claims[i].answer == CLAIM_TRUE) {
			fputs("\"/>\n", to);
			continue;
		}
		fputs("\">\n      <failure message=\"", to);
		put_attribute(s->claims[i].sentence.s, to);
		fputs("\"/>\n    </testcase>\n", to);
	}
	fputs("  </testsuite>\n</testsuites>\n", to);
	return ferror(to) ? err_set(err, ERR_IO, "the file cannot be written") : 0;
}

/* --- the command -------------------------------------------------------------------------------- */

static int judge_all(struct session *s, const struct call *call, struct suite *suite, struct err *err)
{
	int code = 0;
	for (; suite->n < call->n_words && !code; suite->n += !code)
		code = claim_judge(&suite->claims[suite->n], s, call->words[suite->n], err);
	return code;
}

static struct result *tell(struct session *s, const struct suite *suite)
{
	static const struct cell answer[] = {[CLAIM_TRUE] = {.type = CELL_FLAG, .amount = {.n = 1}},
	    [CLAIM_FALSE] = {.type = CELL_FLAG}};
	struct result *r = result_new_rows("claims", s->dump, &shape);
	struct text story = TEXT_INIT, absent = TEXT_INIT; /* absent: to standard error where no sentences are printed */
	for (size_t i = 0; i < suite->n; i++) {
		const struct claim *c = &suite->claims[i];
		result_add_row(r, (struct cell[]){cell_text(suite->text[i]),
		    c->value.len ? cell_text(c->value.s) : cell_blank(),
		    c->answer == CLAIM_UNSURE ? cell_none() : answer[c->answer],
		    c->digits.len ? cell_number(c->digits.s, c->sure.n, c->sure) : cell_blank(),
		    cell_text(c->sentence.s)}, NULL);
		if (c->absent.len)
			text_addf(&absent, "%s%s", absent.len ? "; " : "", c->sentence.s);
		if (c->answer == CLAIM_TRUE && !c->absent.len)
			continue;
		result_mark(r, RESULT_FAILED, result_is(r, RESULT_FAILED) || c->answer != CLAIM_TRUE);
		text_addf(&story, "%s%s\n", story.len ? "" : "\n", c->sentence.s);
	}
	if (story.len)
		r->text_below = arena_strndup(&r->arena, story.s, story.len);
	if (absent.len)
		r->warning = arena_strndup(&r->arena, absent.s, absent.len);
	text_release(&story);
	text_release(&absent);
	return r;
}

static int run_assert(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	int o = call_option(call, DASH_O);
	struct arena arena = ARENA_INIT;
	struct text escaped = TEXT_INIT;
	char **text = arena_alloc(&arena, call->n_words * sizeof *text);
	struct suite suite = {.dump = s->dump ? session_heap(s)->source->path : "live",
	    .claims = arena_alloc(&arena, call->n_words * sizeof *suite.claims), .text = text};
	for (size_t i = 0; i < call->n_words; i++) {
		text_clear(&escaped);
		text_add_escaped(&escaped, call->words[i], strlen(call->words[i]));
		text[i] = arena_strndup(&arena, escaped.len ? escaped.s : "", escaped.len);
	}
	int code = judge_all(s, call, &suite, err);
	if (!code && call->option[o].given)
		code = session_write_whole(s, &(struct new_file){.path = call->option[o].word}, write_suite, &suite, err);
	if (!code)
		*out = tell(s, &suite);
	for (size_t i = 0; i < suite.n; i++)
		claim_release(&suite.claims[i]);
	text_release(&escaped);
	arena_release(&arena);
	return code;
}

static const struct option_spec options[] = {
    {DASH_O, OPT_WORDS, "FILE.xml", "also write the results as a JUnit file"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

const struct command cmd_assert = {
    .name = "assert",
    .arguments = {{ARG_WORDS, "EXPR...", false}},
    .options = options,
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NO_TABLE | COMMAND_OF_VM,
    .group = "query and export",
    .summary = "check conditions and set the exit status",
    .shapes = SHAPES(&shape),
    .description = "For unattended jobs: each argument, best in quotes, is a condition. The exit status is 1 unless "
	"all are true; a sentence below the table explains each that is not.\n"
	"TABLE.COLUMN < NUMBER\ttrue for every row of a command, also without rows, or for the value of info, size "
	"and the like; put a command line into double quotes\n"
	"objects(\"CLASS\")\tthe number of objects of a class or any other set; also shallow(\"CLASS\") and "
	"retained(\"CLASS\")\n"
	"rows(\"LINE\")\tthe number of rows of a command line\n"
	"other\tan SQL expression (sql), true if it is not 0\n"
	"live.COLUMN\tof a running VM; also (SELECT ... FROM live); without a dump, with --live PID; processes.COLUMN of "
	"those of this host\n"
	"A class that the dump does not have is an error (status 2): its name may be misspelt. If it may be missing, "
	"use = 0, < 1 or a pattern (\"com.acme.Leak*\"): then it counts as 0, and a sentence has the nearest names.\n"
	"Operators are < <= > >= = and !=. A number may be 10M or 30%, a text needs quotes, a time is in seconds "
	"since 1970. A lower bound or an unknown number may leave a condition undecided (?); then the status is 1, "
	"too.\n",
    .examples = {{"assert 'leaks.share < 60' 'objects(\"com.acme.shop.Session\") < 10000'", ON_SHOP,
	"is each suspect below 60 percent, and are there few sessions"},
	{"assert '\"leaks -share 5\".retained < 150K' 'rows(duplicate-classes) < 3'", ON_SHOP,
	"does each suspect of 5 percent retain under 150K; few duplicate classes"},
	{"assert '(SELECT count(*) FROM \"com.acme.shop.Order\" WHERE total < 0) = 0'", ON_SHOP,
	"does no order have a negative total"},
	{"assert 'info.shallow < 100M'", ON_ANY}},
    .key = "",
    .run = run_assert,
};
