/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pattern_match.c - follows the steps of a regular expression, all of its ways at once (Thompson).
 *
 * For each character there is the list of steps that may take it; each step is in it once, whatever led
 * there.  Steps that take nothing are followed until such a step comes.
 */
#include "algorithms/pattern.h"

#include "algorithms/pattern_steps.h"
#include "base/progress.h"
#include "base/text.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

enum { NO_POINT = -2 }; /* in front of a text, and behind it */

/* --- characters --------------------------------------------------------------------------------- */

/* "[:alpha:]", "[=a=]", "[.-.]" or a character at s: is the character in it?  *point gets it where it is a
 * character.  Returns what is behind. */
static const char *read_item(const char *s, int32_t point, int32_t *item, bool *has)
{
	*item = -1;
	if (*s == '[' && s[1] && strchr(":.=", s[1])) {
		const char close[] = { s[1], ']', '\0' };
		const char *name = s + 2, *end = *name ? strstr(name + 1, close) : NULL;
		char word[16];
		if (!end)
			return s + strlen(s);
		size_t n = (size_t)(end - name);
		if (s[1] == ':' && n < sizeof word) {
			memcpy(word, name, n);
			word[n] = '\0';
			*has |= iswctype((wint_t)point, wctype(word)) != 0;
		} else {
			utf8_decode(name, n, item);
		}
		return end + 2;
	}
	return s + utf8_decode(s, strlen(s), item);
}

/* Is there a class whose name begins at s and ends with ":]"? */
static bool class_is_known(const char *s)
{
	const char *end = strstr(s, ":]");
	char word[16];
	size_t n = end ? (size_t)(end - s) : sizeof word;
	if (n >= sizeof word)
		return false;
	memcpy(word, s, n);
	word[n] = '\0';
	return wctype(word) != 0;
}

static bool class_names(const char *s, int32_t point)
{
	bool has = false;
	s += *s == '^';
	for (bool first = true; *s && (*s != ']' || first) && !has; first = false) {
		int32_t low, high;
		s = read_item(s, point, &low, &has);
		high = low;
		if (low >= 0 && *s == '-' && s[1] && s[1] != ']')
			s = read_item(s + 1, point, &high, &has);
		has |= low >= 0 && point >= low && point <= high;
	}
	return has;
}

bool pattern_class_has(const char *class, int32_t point, bool any_case)
{
	return class_names(class, point) || (any_case && (class_names(class, (int32_t)towlower((wint_t)point)) ||
	    class_names(class, (int32_t)towupper((wint_t)point))));
}

const char *pattern_class_wrong(const char *s)
{
	s += *s == '^';
	for (bool first = true; *s && (*s != ']' || first); first = false) {
		int32_t low, high;
		bool has = false, named = *s == '[' && s[1] && strchr(":.=", s[1]);
		const char *item = s;
		s = read_item(s, 'a', &low, &has);
		if (named && item[1] == ':' && !class_is_known(item + 2))
			return "unknown character class";
		if (low < 0 && !(named && item[1] == ':'))
			return "a class contains an invalid character";
		if (*s != '-' || !s[1] || s[1] == ']')
			continue;
		s = read_item(s + 1, 'a', &high, &has);
		if (low < 0 || high < low)
			return "a range ends before it begins";
	}
	return *s ? NULL : "a [ without ]";
}

static bool is_word(int32_t point)
{
	return point == '_' || (point >= 0 && iswalnum((wint_t)point));
}

/* May a step that takes a character take this one? */
static bool takes(const struct pattern *p, const struct step *s, int32_t point)
{
	if (point < 0) /* bytes that are no character */
		return false;
	switch (s->does) {
	case STEP_CHARACTER:
		return point == s->a || (p->any_case && s->a >= 0 &&
		    towupper((wint_t)point) == towupper((wint_t)s->a));
	case STEP_ANY:
		return true;
	case STEP_CLASS:
		return (point < 128 ? s->ascii[point / 64] >> point % 64 & 1
		                    : pattern_class_has(s->class, point, p->any_case)) != s->negated;
	case STEP_WORD:
		return is_word(point) != s->negated;
	default:
		return (iswspace((wint_t)point) != 0) != s->negated;
	}
}

/* Does a place between two characters meet a step that takes none? */
static bool holds(const struct step *s, int32_t before, int32_t behind)
{
	switch (s->does) {
	case STEP_BEGIN:
		return before == NO_POINT;
	case STEP_END:
		return behind == NO_POINT;
	case STEP_WORD_BEGINS:
		return !is_word(before) && is_word(behind);
	case STEP_WORD_ENDS:
		return is_word(before) && !is_word(behind);
	default:
		return (is_word(before) != is_word(behind)) != s->negated;
	}
}

/* --- following ---------------------------------------------------------------------------------- */

/* Put the steps that may take the character behind this place into now, *n of them.  True: the end of the
 * expression is met. */
static bool follow(struct pattern *p, uint32_t from, int32_t before, int32_t behind, size_t *n)
{
	size_t waiting = 0;
	if (p->met[from] == p->round)
		return false;
	p->met[from] = p->round;
	p->stack[waiting++] = from;
	while (waiting) {
		uint32_t at = p->stack[--waiting], to[2];
		const struct step *s = &p->step[at];
		size_t ways = 0;
		p->work++;
		if (s->does == STEP_FOUND)
			return true;
		if (s->does < STEP_BEGIN)
			p->now[(*n)++] = at;
		else if (s->does == STEP_GO || s->does == STEP_FORK)
			to[ways++] = (uint32_t)((int32_t)at + s->a);
		else if (holds(s, before, behind))
			to[ways++] = at + 1;
		if (s->does == STEP_FORK)
			to[ways++] = (uint32_t)((int32_t)at + s->b);
		while (ways) {
			uint32_t next = to[--ways];
			if (p->met[next] == p->round)
				continue;
			p->met[next] = p->round;
			p->stack[waiting++] = next;
		}
	}
	return false;
}

static void begin_round(struct pattern *p)
{
	if (!++p->round) { /* after 4,294,967,295 characters */
		memset(p->met, 0, p->n * sizeof *p->met);
		p->round = 1;
	}
}

bool pattern_matches(struct pattern *p, const char *text)
{
	struct progress *work = progress_own();
	uint64_t look = p->work + PROGRESS_ROUNDS;
	size_t n_next = 0;
	int32_t before = NO_POINT;
	for (size_t left = strlen(text);;) {
		while (!n_next && !p->anywhere && left && !p->begins[(uint8_t)*text]) {
			text++; /* before does not matter: what a match begins with takes a character */
			left--;
		}
		int32_t behind = NO_POINT;
		size_t used = left ? utf8_decode(text, left, &behind) : 0, n = 0;
		begin_round(p);
		for (size_t i = 0; i < n_next; i++) {
			if (follow(p, p->next[i], before, behind, &n))
				return true;
		}
		if (follow(p, 0, before, behind, &n))
			return true;
		if (!left)
			return false;
		n_next = 0;
		for (size_t i = 0; i < n; i++) {
			if (takes(p, &p->step[p->now[i]], behind))
				p->next[n_next++] = p->now[i] + 1;
		}
		if (p->work >= look) {
			look = p->work + PROGRESS_ROUNDS;
			if (progress_cancelled(work))
				return false;
		}
		before = behind;
		text += used;
		left -= used;
	}
}

/* --- making ------------------------------------------------------------------------------------- */

/* Which bytes a match may begin with. */
static void find_begins(struct pattern *p)
{
	size_t n = 0;
	begin_round(p);
	p->anywhere = follow(p, 0, NO_POINT, NO_POINT, &n);
	for (size_t i = 0; i < p->n; i++) /* what hangs on a place was followed, or not, for this one only */
		p->anywhere |= p->met[i] == p->round && p->step[i].does >= STEP_BEGIN && p->step[i].does < STEP_GO;
	for (int32_t byte = 0; byte < 256; byte++) {
		p->begins[byte] = byte >= 128;
		for (size_t i = 0; i < n && !p->begins[byte]; i++)
			p->begins[byte] = takes(p, &p->step[p->now[i]], byte);
	}
}

int pattern_prepare(struct pattern *p, struct err *err)
{
	p->list = big_alloc(4 * p->n, sizeof *p->list, err);
	if (!p->list)
		return ERR_NOMEM;
	p->now = p->list;
	p->next = p->list + p->n;
	p->stack = p->list + 2 * p->n;
	p->met = p->list + 3 * p->n;
	find_begins(p);
	p->work = 0;
	return 0;
}

uint64_t pattern_steps(const struct pattern *p)
{
	return p->n;
}

uint64_t pattern_work(const struct pattern *p)
{
	return p->work;
}
