/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sets.c - words of a command line into sets of objects.
 *
 * The one place that turns words into sets.  A set is a bit for each object while it is put together
 * and a list of ids afterwards.
 */
#include "command/resolve/resolve.h"

#include "analysis/search.h"
#include "base/mem.h"
#include "heap/heap.h"
#include "heap/roots.h"
#include "memory/big.h"
#include "result/cursor.h"

#include <stdlib.h>
#include <string.h>

enum { PARENTHESES_DEEP = 16 };

int ids_of_bits(const struct bits *b, uint32_t **out, size_t *n, struct err *err)
{
	size_t count = bits_ones_of(b), at = 0;
	uint32_t *ids = big_alloc(count, sizeof *ids, err);
	if (!ids)
		return ERR_NOMEM;
	for (uint64_t w = 0; w <= b->n / 64 && at < count && !progress_own_stops(16 * w); w++) {
		for (uint64_t left = b->word[w]; left; left &= left - 1)
			ids[at++] = (uint32_t)(w * 64 + (unsigned)__builtin_ctzll(left));
	}
	*n = count;
	*out = ids;
	return 0;
}

/* --- one set ---------------------------------------------------------------------------------- */

const struct kept_set *set_find(const struct session *s, const char *name)
{
	name += *name == '$';
	for (size_t i = 0; s->dump && i < s->dump->n_sets; i++) {
		if (!strcmp(s->dump->sets[i].name, name))
			return &s->dump->sets[i];
	}
	return NULL;
}

static int kept(const struct session *s, const char *word, struct bits *to, struct err *err)
{
	if (!strcmp(word, "$_")) {
		const struct result *r = session_rows(s);
		if (!r)
			return err_set(err, ERR_NOT_FOUND, "$_: no last result");
		int other = session_not_of_other(s, r->opened, word, "the last result", err);
		return other ? other : result_members(r, NULL, to, err);
	}
	const struct kept_set *set = set_find(s, word);
	if (!set)
		return strpbrk(word, "+&-") ? err_set(err, ERR_NOT_FOUND,
		    "no set \"%.60s\" (put blanks around + - and &: $a + $b)", word) :
		    err_set(err, ERR_NOT_FOUND, "no set \"%.60s\" (%.60s = COMMAND keeps one)", word, word);
	for (size_t i = 0; i < set->n; i++)
		bits_set(to, set->ids[i]);
	return 0;
}

/* "%3", "%3-7", "%1,4-6": the rows' bits. */
static int mark_rows(
    const struct result *r, const char *word, struct bits *rows, struct err *err)
{
	const char *s = word + 1;
	do {
		size_t n = strspn(s, "0123456789");
		uint64_t first = strtoull(s, NULL, 10), last = first;
		bool good = n && n < 19;
		s += n;
		if (*s == '-') {
			n = strspn(++s, "0123456789");
			last = strtoull(s, NULL, 10);
			good = good && n && n < 19;
			s += n;
		}
		if (!good || !first || last < first || (*s && (*s != ',' || !s[1])))
			return err_set(err, ERR_USAGE,
			    "\"%.60s\" is not a row (%%1 is the first of the last table, %%2-5 and %%1,4 are several)",
			    word);
		if (last > r->n_rows)
			return err_set(err, ERR_NOT_FOUND, "%.60s: the last table has %zu row%s", word,
			    r->n_rows, r->n_rows == 1 ? "" : "s");
		for (; first <= last; first++)
			bits_set(rows, first - 1);
	} while (*s++ == ',');
	return 0;
}

static int rows_of_table(const struct session *s, const char *word, struct bits *to, struct err *err)
{
	struct result *r = session_rows(s);
	struct bits rows;
	if (!r || !r->n_columns)
		return err_set(err, ERR_NOT_FOUND, "%.60s: no last table", word);
	int code = session_not_of_other(s, r->opened, word, "the last table", err);
	if (code)
		return code;
	code = bits_init(&rows, r->n_rows, err);
	if (!code)
		code = mark_rows(r, word, &rows, err);
	if (!code)
		code = result_members(r, &rows, to, err);
	if (!code && !bits_ones_of(to))
		code = err_set(err, ERR_NOT_FOUND, "row %.60s counts no objects", word);
	bits_release(&rows);
	return code;
}

static int of_classes(const struct session *s, const char *word, struct bits *to, struct err *err)
{
	struct bits classes;
	uint32_t *chosen;
	size_t n;
	int code = value_classes(s, word, &chosen, &n, err);
	if (code)
		return code;
	code = bits_init(&classes, session_heap(s)->n_classes, err);
	for (size_t i = 0; !code && i < n; i++)
		bits_set(&classes, chosen[i]);
	if (!code)
		objects_mark(session_heap(s), &classes, NULL, to);
	bits_release(&classes);
	big_free(chosen);
	return code;
}

/* An object by its address or id, not a class by its name; of an address that may be a name too, only
 * what begins there. */
static bool names_object(const struct session *s, const char *word)
{
	uint64_t address;
	bool prefixed;
	if (*word == '#')
		return true;
	if (!value_address(word, &prefixed, &address))
		return false;
	return prefixed || heap_find(session_heap(s), address) != HEAP_NONE;
}

/* What a global variable, or a part of one, points to: all pointers that lie in it. */
static bool of_variable(const struct session *s, const char *word, struct bits *to)
{
	const struct heap *h = session_heap(s);
	struct variable v;
	uint32_t id;
	if (inspect_variable(&v, h, word, NULL)) { /* "bss+0x1a40", where no program tells names */
		if (!strchr(word, '+') || value_object(s, word, &id, NULL))
			return false;
		bits_set(to, id);
		return true;
	}
	for (size_t i = 0; i < h->n_roots; i++) {
		const struct heap_root *root = &h->roots[i];
		if ((root->kind == ROOT_DATA || root->kind == ROOT_BSS) && root->slot >= v.address &&
		    root->slot - v.address < v.size)
			bits_set(to, root->object);
	}
	if (v.target.id != HEAP_NONE)
		bits_set(to, v.target.id);
	return bits_ones_of(to);
}

const char *set_heap(const char *word)
{
	static const char heap[] = "heap:";
	return strncmp(word, heap, strlen(heap)) ? NULL : word + strlen(heap);
}

static int of_heap(const struct session *s, const char *name, struct bits *to, struct err *err)
{
	const struct heap *h = session_heap(s);
	unsigned space;
	int code = value_heap(s, name, &space, err);
	for (uint32_t id = 0; !code && id < h->n_objects && !progress_own_stops(id); id++)
		if (h->space_of[id] == space)
			bits_set(to, id);
	return code;
}

static int one_set(const struct session *s, const char *word, struct bits *to, struct err *err)
{
	uint32_t id;
	if (set_heap(word))
		return of_heap(s, set_heap(word), to, err);
	if (*word == '$')
		return kept(s, word, to, err);
	if (*word == '%')
		return rows_of_table(s, word, to, err);
	bool named = false;
	int code = 0;
	if (names_object(s, word))
		code = value_object(s, word, &id, err);
	else
		code = value_static(s, word, &named, &id, err);
	if (!named && !names_object(s, word)) {
		int none = of_classes(s, word, to, err);
		return none == ERR_NOT_FOUND && of_variable(s, word, to) ? 0 : none;
	}
	if (!code)
		bits_set(to, id);
	return code;
}

int value_set(const struct session *s, const char *word, uint32_t **ids, size_t *n, struct err *err)
{
	struct bits b;
	int code = bits_init(&b, session_heap(s)->n_objects, err);
	if (!code)
		code = one_set(s, word, &b, err);
	if (!code)
		code = ids_of_bits(&b, ids, n, err);
	bits_release(&b);
	return code;
}

int set_one_object(const struct session *s, const char *word, uint32_t *id, struct err *err)
{
	uint32_t *ids;
	size_t n;
	int code = value_set(s, word, &ids, &n, err);
	if (code)
		return code;
	*id = ids[0];
	if (n != 1)
		code = err_set(err, ERR_NOT_FOUND, "%.60s has %zu objects, but one is needed", word, n);
	big_free(ids);
	return code;
}

/* --- words into tokens ------------------------------------------------------------------------ */

enum token_kind { TOKEN_OPEN = '(', TOKEN_CLOSE = ')', TOKEN_JOIN = '+', TOKEN_WORD = 'w', TOKEN_END = 0 };

struct token {
	enum token_kind kind;
	char join;  /* '+', '-', '&' */
	char *word;
};

struct set_reader {
	const struct session *s;
	struct token *token; /* ended by TOKEN_END */
	size_t n, cap, at;
	unsigned deep;
	struct err *err;
};

static void add_token(struct set_reader *r, enum token_kind kind, char join, const char *s, size_t n)
{
	VEC_PUSH(r->token, r->n, r->cap) =
	    (struct token){.kind = kind, .join = join, .word = s ? xstrndup(s, n) : NULL};
}

bool set_joins(const struct word *w)
{
	return !w->quoted && w->s[0] && strchr("+-&", w->s[0]) && !w->s[1];
}

/* Closing parentheses at a word's end that it does not open itself, at most so many. */
static size_t closes(const char *s, size_t n, size_t most)
{
	size_t open = 0, close = 0, found = 0;
	for (size_t i = 0; i < n; i++) {
		open += s[i] == '(';
		close += s[i] == ')';
	}
	while (found < n && found < most && found + open < close && s[n - 1 - found] == ')')
		found++;
	return found;
}

/* A set's word, and the parentheses that touch it. */
static void operand(struct set_reader *r, const struct word *w, bool *wanted)
{
	const char *s = w->s;
	for (; !w->quoted && *s == '('; s++, r->deep++)
		add_token(r, TOKEN_OPEN, 0, NULL, 0);
	size_t n = strlen(s), ends = w->quoted ? 0 : closes(s, n, r->deep);
	if (n > ends || w->quoted)
		add_token(r, TOKEN_WORD, 0, s, n - ends);
	*wanted = !n && !w->quoted;
	for (; ends; ends--, r->deep--)
		add_token(r, TOKEN_CLOSE, 0, NULL, 0);
}

static int tokenize(struct set_reader *r, const struct stage *stage, size_t *at)
{
	bool wanted = true; /* an operand comes next */
	const char *last = "";
	for (; *at < stage->n; ++*at) {
		const struct word *w = &stage->words[*at];
		if (wanted) {
			operand(r, w, &wanted);
		} else if (set_joins(w)) {
			add_token(r, TOKEN_JOIN, w->s[0], NULL, 0);
			wanted = true;
		} else if (!w->quoted && r->deep && strspn(w->s, ")") == strlen(w->s) &&
		           strlen(w->s) <= r->deep) {
			for (size_t i = strlen(w->s); i; i--, r->deep--)
				add_token(r, TOKEN_CLOSE, 0, NULL, 0);
		} else {
			break;
		}
		last = w->s;
	}
	add_token(r, TOKEN_END, 0, NULL, 0);
	if (wanted)
		return err_set(r->err, ERR_USAGE, "no set after \"%.60s\"", last);
	if (r->deep)
		return err_set(r->err, ERR_USAGE, "unclosed parenthesis");
	return 0;
}

static void release_tokens(struct set_reader *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->token[i].word);
	free(r->token);
}

/* --- tokens into a set ------------------------------------------------------------------------ */

static void join_bits(struct bits *to, const struct bits *with, char how)
{
	for (uint64_t w = 0; w <= to->n / 64; w++) {
		if (how == '+')
			to->word[w] |= with->word[w];
		else if (how == '-')
			to->word[w] &= ~with->word[w];
		else
			to->word[w] &= with->word[w];
	}
}

static int read_sum(struct set_reader *r, struct bits *out, unsigned depth);

/* Recursive as deep as the line has parentheses, which is limited. */
static int read_factor(struct set_reader *r, struct bits *out, unsigned depth)
{
	const struct token *t = &r->token[r->at++];
	if (t->kind == TOKEN_WORD) {
		int code = bits_init(out, session_heap(r->s)->n_objects, r->err);
		return code ? code : one_set(r->s, t->word, out, r->err);
	}
	*out = (struct bits){.word = NULL};
	if (t->kind != TOKEN_OPEN || depth == PARENTHESES_DEEP)
		return err_set(r->err, ERR_USAGE, t->kind == TOKEN_OPEN ? "too many parentheses" :
		    "no set before a parenthesis");
	int code = read_sum(r, out, depth + 1);
	if (!code)
		r->at++; /* tokenize saw that it is closed */
	return code;
}

/* Sets joined by '&' (closely), or by '+' and '-'. */
static int read_joined(struct set_reader *r, struct bits *out, unsigned depth, bool closely)
{
	int code = closely ? read_factor(r, out, depth) : read_joined(r, out, depth, true);
	while (!code && r->token[r->at].kind == TOKEN_JOIN &&
	       (r->token[r->at].join == '&') == closely) {
		char how = r->token[r->at++].join;
		struct bits other;
		code = closely ? read_factor(r, &other, depth) : read_joined(r, &other, depth, true);
		if (!code)
			join_bits(out, &other, how);
		bits_release(&other);
	}
	return code;
}

static int read_sum(struct set_reader *r, struct bits *out, unsigned depth)
{
	return read_joined(r, out, depth, false);
}

int set_parse(const struct session *s, const struct stage *stage, size_t *at, uint32_t **ids,
    size_t *n, struct err *err)
{
	struct set_reader r = {.s = s, .err = err};
	struct bits set = {.word = NULL};
	int code = tokenize(&r, stage, at);
	if (!code)
		code = read_sum(&r, &set, 0);
	if (!code)
		code = ids_of_bits(&set, ids, n, err);
	bits_release(&set);
	release_tokens(&r);
	return code;
}

bool set_begins(const struct stage *stage)
{
	const struct word *w = stage->words;
	if (!stage->n || w->quoted)
		return false;
	return *w->s == '$' || *w->s == '(' || set_heap(w->s) || (stage->n > 2 && set_joins(w + 1));
}

bool row_title(const struct result *r, size_t row, struct text *out)
{
	static const enum cell_type kinds[] = {CELL_TEXT, CELL_ADDRESS};
	struct cursor cursor; /* the screen may be drawing the same table */
	struct cell c;
	bool found = false;
	cursor_init(&cursor, r);
	for (size_t k = 0; !found && k < sizeof kinds / sizeof *kinds; k++) {
		for (unsigned column = 0; !found && column < r->n_columns; column++) {
			if (column_type(&r->columns[column]) != kinds[k])
				continue;
			cursor_cell(&cursor, row, column, &c);
			found = c.type == kinds[k];
			if (found)
				cell_print_plain(&c, out);
		}
	}
	cursor_release(&cursor);
	return found;
}

void set_word_title(const struct session *s, const char *word, struct text *out)
{
	struct result *r = session_rows(s);
	if (*word == '%' && r && strspn(word + 1, "0123456789") == strlen(word + 1)) {
		size_t row = strtoull(word + 1, NULL, 10);
		if (row && row <= r->n_rows && row_title(r, row - 1, out))
			return;
	}
	text_add(out, word);
}

void set_title(const struct session *s, const struct stage *stage, size_t from, size_t to,
    struct text *out)
{
	if (to == from + 1) {
		set_word_title(s, stage->words[from].s, out);
		return;
	}
	for (size_t i = from; i < to; i++)
		text_addf(out, "%s%s", i > from ? " " : "", stage->words[i].s);
}

/* --- keeping ---------------------------------------------------------------------------------- */

struct keeping {
	const struct opened *dump;
	const struct result *r;
	struct kept_set set;
};

static int find_members(void *context, struct progress *progress, struct err *err)
{
	struct keeping *k = context;
	struct bits members;
	progress_phase(progress, PHASE_LOOK_AT_ROWS, 0);
	int code = bits_init(&members, k->dump->heap->n_objects, err);
	if (!code && k->r->opened == k->dump)
		code = result_members(k->r, NULL, &members, err);
	if (!code)
		code = ids_of_bits(&members, &k->set.ids, &k->set.n, err);
	bits_release(&members);
	if (!code && progress_cancelled(progress)) {
		big_free(k->set.ids);
		code = err_cancelled(err);
	}
	return code;
}

int set_keep(struct session *s, const char *name, const struct result *r, struct err *err)
{
	struct keeping keeping = {.dump = s->dump, .r = r};
	if (!session_heap(s))
		return session_no_dump(s, err);
	bool quick = s->dump->heap->n_objects < PROGRESS_ROUNDS;
	int code = quick ? find_members(&keeping, NULL, err) : session_work(s, find_members, &keeping, err);
	if (code)
		return code;
	struct kept_set set = keeping.set;
	struct kept_set *old = (struct kept_set *)set_find(s, name);
	struct text n = TEXT_INIT, before = TEXT_INIT;
	text_add_count(&n, set.n);
	if (old) {
		text_add(&before, ", replacing ");
		text_add_count(&before, old->n);
	}
	session_say(s, "$%s keeps %s object%s%s", name, n.s, set.n == 1 ? "" : "s", old ? before.s : "");
	text_release(&n);
	text_release(&before);
	if (old) {
		big_free(old->ids);
		old->ids = set.ids;
		old->n = set.n;
		return 0;
	}
	set.name = xstrdup(name);
	VEC_PUSH(s->dump->sets, s->dump->n_sets, s->dump->cap_sets) = set;
	return 0;
}
