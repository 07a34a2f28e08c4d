/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * complete.c - what the word under the cursor could become.
 */
#include "command/args/args.h"
#include "command/commands.h"
#include "command/table_options.h"
#include "command/help/help.h"
#include "command/parse/parse.h"
#include "command/resolve/resolve.h"
#include "dump/reader.h"
#include "dump/registry.h"
#include "dump/source/source.h"
#include "heap/heap.h"
#include "heap/threads.h"

#include "algorithms/sort.h"
#include "base/mem.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct completion {
	const struct session *s;
	const char *word;
	size_t limit;
	char **found;
	size_t n, cap;
	const char *typed;  /* the line up to the cursor */
	const char *behind; /* and what stands behind it */
};

/* Enough, or nobody wants them any more. */
static bool full(const struct completion *c)
{
	return c->n >= c->limit || progress_cancelled(progress_own());
}

static void offer(struct completion *c, const char *candidate)
{
	if (full(c) || strncmp(candidate, c->word, strlen(c->word)))
		return;
	if (c->n && !strcmp(c->found[c->n - 1], candidate))
		return;
	VEC_PUSH(c->found, c->n, c->cap) = xstrdup(candidate);
}

/* One that the command has found to fit, though it need not begin with the same letters. */
static void offer_word(void *completion, const char *word)
{
	struct completion *c = completion;
	bool told = full(c);
	for (size_t i = 0; !told && i < c->n; i++)
		told = !strcmp(c->found[i], word);
	if (!told)
		VEC_PUSH(c->found, c->n, c->cap) = xstrdup(word);
}

/* Words parted by one character. */
static void offer_list(struct completion *c, const char *list, char between)
{
	const char parts[2] = {between, '\0'};
	while (list && *list) {
		size_t n = strcspn(list, parts);
		char *one = xstrndup(list, n);
		offer(c, one);
		free(one);
		list += n + (list[n] != '\0');
	}
}

/* --- kinds of candidates ---------------------------------------------------------------------- */

static void offer_sets(struct completion *c)
{
	struct text name = TEXT_INIT;
	if (*c->word != '$')
		return;
	offer(c, "$_");
	for (size_t i = 0; c->s->dump && i < c->s->dump->n_sets; i++) {
		text_clear(&name);
		text_addf(&name, "$%s", c->s->dump->sets[i].name);
		offer(c, name.s);
	}
	text_release(&name);
}

/* Words of other tools: the first ones, or those that follow this first word. */
static void offer_aliases(struct completion *c, const char *first)
{
	for (const struct alias *a = alias_list(); a->word; a++) {
		size_t n = strcspn(a->word, " ");
		const char *rest = a->word + n + strspn(a->word + n, " ");
		if (alias_is_earlier(a))
			continue;
		if (first && (strlen(first) != n || strncmp(a->word, first, n) != 0))
			continue;
		char *one = first ? xstrndup(rest, strcspn(rest, " ")) : xstrndup(a->word, n);
		if (*one)
			offer(c, one);
		free(one);
	}
}

static void offer_settings(struct completion *c)
{
	for (size_t i = 0; setting_at(i); i++)
		offer(c, setting_at(i)->name);
}

static void offer_commands(struct completion *c)
{
	if (*c->word == '$')
		offer_sets(c);
	for (size_t i = 0; commands[i]; i++)
		offer(c, commands[i]->name);
	if (!c->n && *c->word) /* nothing of ours fits */
		offer_aliases(c, NULL);
}

/* Whole names that begin with the word; where there are none, names whose last part does. */
static void offer_classes(struct completion *c)
{
	if (!session_heap(c->s))
		return;
	const struct name_index *ix = opened_names(c->s->dump, NULL);
	if (!ix)
		return;
	uint32_t first, n = name_index_prefix(ix, c->word, &first);
	for (uint32_t i = 0; i < n && !full(c); i++)
		offer(c, name_index_name(ix, first + i));
	const char *last = NULL;
	for (uint32_t i = 0; !n && *c->word && i < ix->n && !full(c); i++) {
		const char *name = name_index_name(ix, i);
		if (strncmp(class_last_part(name), c->word, strlen(c->word)))
			continue;
		if (!last || strcmp(last, name))
			VEC_PUSH(c->found, c->n, c->cap) = xstrdup(name);
		last = name;
	}
}

/* What is seen on the screen: "." and the rows' words.  Of names those that begin so are offered anyway. */
static void offer_screen(struct completion *c)
{
	const struct session *s = c->s;
	const struct selection *seen = s->results.selection;
	const struct result *r = session_table(s);
	if (!seen || !r || (*c->word && strncmp(c->word, "0x", 2)))
		return;
	if (seen->page || seen->row)
		offer(c, ".");
	render_lock_enter(s->hooks.turns);
	for (size_t row = seen->first; row < seen->last && row < r->n_rows && !full(c); row++) {
		struct text word = TEXT_INIT;
		render_lock_offer();
		if (row_word(s, r, row, &word) && (!c->n || strcmp(c->found[c->n - 1], word.s)))
			offer(c, word.s);
		text_release(&word);
	}
	render_lock_leave(s->hooks.turns);
}

static void offer_name(void *context, const char *name)
{
	offer(context, name);
}

/* Static fields, global variables and their fields. */
static void offer_names(struct completion *c)
{
	if (session_heap(c->s) && *c->word && *c->word != '$')
		value_names(c->s, c->word, offer_name, c);
}

/* Is it among the first n candidates? */
static bool is_offered(const struct completion *c, size_t n, const char *candidate)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(c->found[i], candidate))
			return true;
	return false;
}

/* Objects whose address begins with the digits typed, by address. */
static void offer_addresses(struct completion *c)
{
	size_t on_screen = c->n;
	const struct heap *h = session_heap(c->s);
	uint64_t typed;
	bool prefixed;
	if (!h || !h->n_objects || !value_address(c->word, &prefixed, &typed) || !prefixed || !typed)
		return;
	size_t digits = strlen(c->word) - 2 - strspn(c->word + 2, "0");
	uint64_t highest = heap_address(h, h->n_objects - 1);
	for (unsigned shift = 0; digits + shift / 4 <= 16 && !full(c); shift += 4) {
		uint64_t from = typed << shift, to = from + ((UINT64_C(1) << shift) - 1);
		if (from > highest)
			break;
		uint32_t id = heap_find_below(h, from);
		if (id == HEAP_NONE || heap_address(h, id) < from)
			id = id == HEAP_NONE ? 0 : id + 1;
		for (; id < h->n_objects && heap_address(h, id) <= to && !full(c); id++) {
			char address[20];
			snprintf(address, sizeof address, "0x%" PRIx64, heap_address(h, id));
			if (is_offered(c, on_screen, address))
				continue;
			VEC_PUSH(c->found, c->n, c->cap) = xstrdup(address);
		}
	}
}

static void offer_threads(struct completion *c)
{
	for (uint32_t t = 0; session_heap(c->s) && t < session_heap(c->s)->n_threads && !full(c); t++) {
		const char *name = session_heap(c->s)->threads[t].name;
		struct text quoted = TEXT_INIT;
		if (!name || strncmp(name, c->word, strlen(c->word)))
			continue;
		text_addf(&quoted, strpbrk(name, " |>'\\") ? "\"%s\"" : "%s", name);
		VEC_PUSH(c->found, c->n, c->cap) = text_take(&quoted);
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void offer_dumps(struct completion *c)
{
	char number[24];
	for (size_t i = 0; i < c->s->n_dumps; i++) {
		snprintf(number, sizeof number, "%zu", c->s->dumps[i]->number);
		offer(c, number);
	}
}

/* A file's name as a word of a command line.  A folder's quote stays open: more is to come. */
static void offer_file(struct completion *c, const char *path, bool folder)
{
	struct text word = TEXT_INIT;
	bool quoted = *path == '-' || path[strcspn(path, " \t\r\n|>\"'\\")];
	char quote = strchr(path, '\'') ? '"' : '\'';
	if (quoted)
		text_add_char(&word, quote);
	for (const char *s = path; *s; s++) {
		if (quoted && quote == '"' && (*s == '"' || *s == '\\'))
			text_add_char(&word, '\\');
		text_add_char(&word, *s);
	}
	if (folder)
		text_add_char(&word, '/');
	else if (quoted)
		text_add_char(&word, quote);
	offer(c, word.s);
	text_release(&word);
}

/* The dumps and archives in an archive: "dumps.zip::heap.hprof".  Not in one that had to be unpacked for that. */
static void offer_members(struct completion *c, const char *name)
{
	uint8_t head[SOURCE_HEAD];
	struct source_members *m = NULL;
	char *file = xstrndup(c->word, (size_t)(name - c->word));
	int fd = source_is_standard_input(file) ? -1 : source_peek(file);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof head, 0);
	if (fd >= 0)
		close(fd);
	if (n > 0 && source_is_archive(head, (size_t)n) && source_members(&m, file, dump_label_of_member, NULL, NULL))
		m = NULL;
	for (size_t i = 0; m && i < m->n && !full(c); i++) {
		const struct source_member *one = &m->member[i];
		struct text path = TEXT_INIT;
		text_addf(&path, "%s::%s", file, one->name);
		if ((one->label || one->archive) && !one->encrypted && !strncmp(path.s, c->word, strlen(c->word)))
			offer_file(c, path.s, false);
		text_release(&path);
	}
	source_members_free(m);
	free(file);
	sort_array(c->found, c->n, sizeof *c->found, by_text);
}

static void offer_files(struct completion *c)
{
	const char *member = strstr(c->word, "::");
	if (member) {
		offer_members(c, member);
		if (c->n)
			return;
	}
	const char *slash = strrchr(c->word, '/');
	const char *name = slash ? slash + 1 : c->word;
	char *folder = slash ? xstrndup(c->word, (size_t)(slash - c->word) + 1) : xstrdup("");
	DIR *d = opendir(*folder ? folder : ".");
	struct dirent *e;
	while (d && (e = readdir(d)) && !full(c)) {
		struct text path = TEXT_INIT;
		struct stat st;
		if (strncmp(e->d_name, name, strlen(name)) || (*e->d_name == '.' && *name != '.'))
			continue;
		text_addf(&path, "%s%s", folder, e->d_name);
		offer_file(c, path.s, !stat(path.s, &st) && S_ISDIR(st.st_mode));
		text_release(&path);
	}
	if (d)
		closedir(d);
	sort_array(c->found, c->n, sizeof *c->found, by_text);
	free(folder);
}

/* --- which kind ------------------------------------------------------------------------------- */

static void offer_argument(struct completion *c, enum argument_kind kind)
{
	switch (kind) {
	case ARG_OBJECT:
	case ARG_VALUE:
		offer_screen(c);
		offer_sets(c);
		offer_addresses(c);
		if (*c->word && *c->word != '$' && !c->n)
			offer_classes(c);
		offer_names(c);
		break;
	case ARG_OBJECTS:
	case ARG_SET:
	case ARG_CLASS:
	case ARG_WORDS:
		offer_screen(c);
		offer_sets(c);
		offer_addresses(c);
		offer_classes(c);
		offer_names(c);
		if (kind == ARG_WORDS && session_heap(c->s) && *c->word && *c->word != '$')
			value_fields(c->s, c->word, offer_name, c);
		break;
	case ARG_THREAD:
		offer_threads(c);
		break;
	case ARG_FILE:
		offer_files(c);
		break;
	case ARG_DUMP:
	case ARG_DUMPS:
		offer_dumps(c);
		break;
	case ARG_COMMAND:
		offer_commands(c);
		for (const struct help_page *p = help_pages; p->name; p++)
			offer(c, p->name);
		break;
	case ARG_REGEX:
		offer_classes(c);
		break;
	case ARG_WORD:
		offer_settings(c);
		break;
	case ARG_END:
	case ARG_REST:
		break;
	}
}

/* Columns of the command's results, and the values of their heads where those stand as well, behind the
 * first so many characters of the word. */
static void offer_columns(
    struct completion *c, const struct command *command, size_t before, bool heads)
{
	enum column_id columns[COL_COUNT_OF_ALL];
	unsigned n = command_columns(command, heads, columns);
	for (unsigned i = 0; i < n; i++) {
		struct text candidate = TEXT_INIT;
		text_add_n(&candidate, c->word, before);
		text_add(&candidate, column_kinds[columns[i]].word);
		offer(c, candidate.s);
		text_release(&candidate);
	}
}

static void offer_option_value(
    struct completion *c, const struct command *command, const struct option_spec *o)
{
	if (o->kind == OPT_CHOICE)
		offer_list(c, o->value, '|');
	else if (o->kind == OPT_SET)
		offer_argument(c, ARG_SET);
	else if (o->kind == OPT_CLASSES)
		offer_classes(c);
	else if (o->kind == OPT_COLUMN)
		offer_columns(c, command, 0, false);
}

/* Word number at (the last) of a command's stage. */
static void complete_command(struct completion *c, const struct stage *stage, size_t at)
{
	size_t words;
	const struct command *command = call_command(stage, &words, NULL);
	size_t n = 0;
	if (!command)
		return;
	for (size_t i = words; i < at; i++) {
		const struct word *w = &stage->words[i];
		const struct option_spec *o =
		    !w->quoted && *w->s == '-' ? command_option(command, w->s) : NULL;
		if (i > words && set_joins(w) && n) {
			n--; /* what comes next is of the same set */
		} else if (!o) {
			n++;
		} else if (o->kind != OPT_FLAG && !strchr(w->s, '=')) {
			if (i + 1 == at) {
				offer_option_value(c, command, o);
				return;
			}
			i++;
		}
	}
	if (*c->word == '-') {
		const struct option_spec *o;
		for (size_t i = 0; (o = command_option_at(command, i)); i++)
			if (o->kind != OPT_SAME)
				offer(c, option_name(o));
	} else if (command->arguments[0].kind == ARG_DUMPS) { /* of which there may be several, and none */
		offer_argument(c, ARG_DUMPS);
		offer_argument(c, command->arguments[1].kind);
	} else if (command->complete) {
		command->complete(c->s, c->typed, c->behind, offer_word, c);
	} else if (n < COMMAND_ARGUMENTS) {
		offer_argument(c, command->arguments[n].kind);
	}
}

/* Word number at (the last, or the one to come) of a line's only stage. */
static void complete_words(struct completion *c, struct command_line *l, size_t at)
{
	struct stage *stage = &l->stages[0];
	struct word typed = {.s = c->word};
	bool in_word = at < stage->n;
	if (in_word)
		typed = stage->words[at];
	stage->n = at; /* what is typed now is no word of another tool yet */
	if (at == 1)
		offer_aliases(c, stage->words[0].s);
	(void)call_expand(l, true, NULL);
	at = stage->n;
	if (in_word)
		VEC_PUSH(stage->words, stage->n, stage->cap) = typed;
	complete_command(c, stage, at);
}

/* The stage behind a pipe: its name, then columns of the command in front. */
static void complete_pipe(struct completion *c, const struct command_line *l, size_t at)
{
	const struct stage *stage = &l->stages[l->n - 1];
	if (at == 0) {
		for (const struct pipe_stage *p = pipe_stages; p->name; p++)
			offer(c, p->name);
		return;
	}
	size_t words;
	const struct command *command =
	    l->stages[0].n ? call_command(&l->stages[0], &words, NULL) : NULL;
	if (!command || (strcmp(stage->words[0].s, "sort") && strcmp(stage->words[0].s, "cut")))
		return;
	/* "sort -sh" and "cut a,b,c": only the last name is completed */
	const char *comma = strrchr(c->word, ',');
	size_t before = *c->word == '-' ? 1 : comma ? (size_t)(comma + 1 - c->word) : 0;
	offer_columns(c, command, before, !strcmp(stage->words[0].s, "cut"));
}

char **session_complete(const struct session *s, const char *line, size_t end, size_t limit,
    size_t *start, size_t *n)
{
	struct command_line l;
	struct completion c = {.s = s, .word = "", .limit = limit, .behind = line + end};
	char *typed = xstrndup(line, end);
	c.typed = typed;
	(void)!command_line_parse(&l, typed, true, NULL); /* the words before a mistake are there */
	const struct stage *stage = l.n ? &l.stages[l.n - 1] : NULL;
	*start = end;
	if (l.file.s) {
		if (l.file.end == end) {
			c.word = l.file.s;
			*start = l.file.begin;
			offer_files(&c);
		}
	} else if (stage && !stage->shell) {
		size_t at = stage->n;
		if (at && stage->words[at - 1].end == end) { /* the cursor stands in a word */
			at--;
			c.word = stage->words[at].s;
			*start = stage->words[at].begin;
		}
		if (l.n > 1) {
			(void)call_expand(&l, false, NULL);
			complete_pipe(&c, &l, at);
		} else if (at == 0) {
			offer_commands(&c);
		} else {
			complete_words(&c, &l, at);
		}
	}
	command_line_release(&l);
	free(typed);
	*n = c.n;
	return c.found;
}
