/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pattern.c - measures a regular expression and compiles it to steps.
 *
 * Steps lead from one to the next, or by distances that count from the step itself: so what a repeat is
 * about can be copied as it stands.  pattern_match.c follows them.
 */
#include "algorithms/pattern.h"

#include "algorithms/pattern_steps.h"
#include "base/mem.h"
#include "base/text.h"
#include "memory/big.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TOO_MANY = 1 << 20 }; /* parts beyond this are not counted: nested repeats would overflow */

static uint32_t at_most(uint64_t n)
{
	return n < TOO_MANY ? (uint32_t)n : TOO_MANY;
}

/* Behind "[…]", of which s is what follows the bracket; "]" may stand first, and in "[:…:]". */
static const char *behind_class(const char *s)
{
	s += *s == '^';
	s += *s == ']';
	for (; *s && *s != ']'; s++) {
		if (*s != '[' || !s[1] || !strchr(":.=", s[1]))
			continue;
		const char close[] = {s[1], ']', '\0'};
		const char *end = strstr(s + 2, close);
		if (!end)
			return s + strlen(s);
		s = end + 1;
	}
	return s + (*s == ']');
}

/* How often a part is written out for the repeat at s, which behind it gets; 1: there is none. */
static uint32_t repeats(const char *s, const char **behind)
{
	*behind = s + 1;
	if (*s == '+') /* once, and then any number */
		return 2;
	if (*s == '*' || *s == '?')
		return 1;
	*behind = s;
	const char *comma = s + 1 + strspn(s + 1, "0123456789");
	const char *last = *comma == ',' ? comma + 1 : comma;
	const char *end = last + strspn(last, "0123456789");
	if (*s != '{' || *end != '}' || end == s + 1)
		return 1;
	*behind = end + 1;
	if (last > comma && last == end) /* "{3,}" */
		return at_most(strtoull(s + 1, NULL, 10) + 1);
	uint32_t most = at_most(strtoull(last > comma ? last : s + 1, NULL, 10));
	return most ? most : 1;
}

/* The parts of a pattern of at most PATTERN_BYTES once its repeats are written out. */
static uint32_t count_parts(const char *s)
{
	uint32_t sum[PATTERN_BYTES + 1] = {0}; /* of each group that is open, the whole first */
	uint32_t last = 0;                     /* of the part that a repeat is about */
	size_t open = 0;
	for (const char *next; *s; s = next) {
		next = s + 1;
		uint32_t times = repeats(s, &next);
		if (next > s + 1 || strchr("*+?", *s)) {
			sum[open] = at_most(sum[open] + (uint64_t)last * (times - 1));
			last = at_most((uint64_t)last * times);
			continue;
		}
		next = s + 1;
		last = 1;
		if (*s == '(') {
			sum[++open] = 1;
			last = 0;
			continue;
		}
		if (*s == ')' && open)
			last = sum[open--];
		else if (*s == '[')
			next = behind_class(next);
		else if (*s == '\\' && s[1])
			next = s + 2;
		sum[open] = at_most((uint64_t)sum[open] + last);
	}
	while (open) {
		open--;
		sum[open] = at_most((uint64_t)sum[open] + sum[open + 1]);
	}
	return sum[0];
}

static bool refers_back(const char *s)
{
	while (*s) {
		if (*s == '\\' && s[1] >= '1' && s[1] <= '9')
			return true;
		s = *s == '[' ? behind_class(s + 1) : *s == '\\' && s[1] ? s + 2 : s + 1;
	}
	return false;
}

/* --- steps -------------------------------------------------------------------------------------- */

struct compiler {
	const char *at; /* in the expression */
	struct pattern *to;
	unsigned open;  /* groups */
	bool too_many;  /* steps */
	const char *wrong; /* with the expression, in words */
};

/* Nothing more is read: the first fault is reported. */
static void go_wrong(struct compiler *c, const char *words)
{
	if (!c->wrong)
		c->wrong = words;
	c->at += strlen(c->at);
}

static uint32_t count(const struct compiler *c)
{
	return (uint32_t)c->to->n;
}

static void emit(struct compiler *c, struct step step)
{
	if (c->to->n < PATTERN_STEPS)
		c->to->step[c->to->n++] = step;
	else
		c->too_many = true;
}

/* Put a step in front of those from `begin` on. */
static void emit_before(struct compiler *c, uint32_t begin, struct step step)
{
	emit(c, step);
	if (c->too_many)
		return;
	struct step *from = c->to->step + begin;
	memmove(from + 1, from, (count(c) - 1 - begin) * sizeof *from);
	*from = step;
}

/* What was emitted from `begin` on may come not at all. */
static void emit_optional(struct compiler *c, uint32_t begin)
{
	emit_before(c, begin, (struct step){ .does = STEP_FORK, .a = 1, .b = (int32_t)(count(c) - begin) + 1 });
}

/* … any number of times. */
static void emit_any_number(struct compiler *c, uint32_t begin)
{
	int32_t n = (int32_t)(count(c) - begin);
	emit_before(c, begin, (struct step){ .does = STEP_FORK, .a = 1, .b = n + 2 });
	emit(c, (struct step){ .does = STEP_GO, .a = -(n + 1) });
}

static size_t read_number(struct compiler *c, size_t otherwise)
{
	size_t digits = strspn(c->at, "0123456789");
	size_t n = digits ? strtoul(c->at, NULL, 10) : otherwise;
	c->at += digits;
	return n;
}

/* "{2,5}", behind its bracket; *most is SIZE_MAX where nothing bounds it. */
static void read_bounds(struct compiler *c, size_t *least, size_t *most)
{
	bool empty = *c->at == '}';
	*least = *most = read_number(c, 0);
	if (*c->at == ',') {
		c->at++;
		*most = read_number(c, SIZE_MAX);
	}
	if (*c->at != '}' || empty)
		go_wrong(c, "{ needs numbers and }");
	else if (*least > *most)
		go_wrong(c, "the numbers in { } are in the wrong order");
	else
		c->at++;
}

static void emit_bounded(struct compiler *c, uint32_t begin, size_t least, size_t most)
{
	uint32_t n = count(c) - begin, copy = begin;
	uint32_t once = begin + (least == 0); /* where it stands when the first time may be none */
	size_t times = most == SIZE_MAX ? least + 1 : most;
	if (!times)
		c->to->n = begin;
	for (size_t i = 0; i < times && n && !c->too_many; i++, copy = count(c)) {
		for (uint32_t k = 0; i && k < n; k++)
			emit(c, c->to->step[once + k]);
		if (i >= least && most == SIZE_MAX)
			emit_any_number(c, copy);
		else if (i >= least)
			emit_optional(c, copy);
	}
}

static void compile_repeats(struct compiler *c, uint32_t begin)
{
	for (; *c->at && strchr("*+?{", *c->at) && !c->too_many;) {
		size_t least = *c->at == '+', most = *c->at == '?' ? 1 : SIZE_MAX;
		if (*c->at++ == '{')
			read_bounds(c, &least, &most);
		if (c->wrong)
			return;
		if (least == 0 && most == 1)
			emit_optional(c, begin);
		else if (least == 0 && most == SIZE_MAX)
			emit_any_number(c, begin);
		else
			emit_bounded(c, begin, least, most);
	}
}

/* A step for what stands behind a backslash. */
static struct step escaped(struct compiler *c)
{
	static const struct {
		char letter;
		struct step step;
	} known[] = {
	    { 'w', { .does = STEP_WORD } }, { 'W', { .does = STEP_WORD, .negated = true } },
	    { 's', { .does = STEP_BLANK } }, { 'S', { .does = STEP_BLANK, .negated = true } },
	    { 'b', { .does = STEP_EDGE } }, { 'B', { .does = STEP_EDGE, .negated = true } },
	    { '<', { .does = STEP_WORD_BEGINS } }, { '>', { .does = STEP_WORD_ENDS } },
	    { '`', { .does = STEP_BEGIN } }, { '\'', { .does = STEP_END } },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (*c->at == known[i].letter) {
			c->at++;
			return known[i].step;
		}
	}
	int32_t point;
	c->at += utf8_decode(c->at, strlen(c->at), &point);
	return (struct step){ .does = STEP_CHARACTER, .a = point };
}

/* One character, class or place; not a group. */
static struct step compile_one(struct compiler *c)
{
	int32_t point;
	switch (*c->at) {
	case '.':
		c->at++;
		return (struct step){ .does = STEP_ANY };
	case '^':
		c->at++;
		return (struct step){ .does = STEP_BEGIN };
	case '$':
		c->at++;
		return (struct step){ .does = STEP_END };
	case '[': {
		struct step step = { .does = STEP_CLASS, .class = c->at + 1, .negated = c->at[1] == '^' };
		const char *wrong = pattern_class_wrong(step.class);
		if (wrong) {
			go_wrong(c, wrong);
			return step;
		}
		c->at = behind_class(c->at + 1);
		for (int32_t p = 0; p < 128; p++)
			step.ascii[p / 64] |= (uint64_t)pattern_class_has(step.class, p, c->to->any_case) << p % 64;
		return step;
	}
	case '\\':
		c->at++;
		if (*c->at)
			return escaped(c);
		go_wrong(c, "nothing follows \\");
		return (struct step){ .does = STEP_ANY };
	case '*': case '+': case '?': case '{':
		go_wrong(c, "a repeat has nothing before it (\\ makes it a plain character)");
		return (struct step){ .does = STEP_ANY };
	default:
		c->at += utf8_decode(c->at, strlen(c->at), &point);
		return (struct step){ .does = STEP_CHARACTER, .a = point };
	}
}

/* What stands between bars, up to the end of the group; deeper groups and further bars are a call deeper,
 * and an expression is short. */
static void compile_choices(struct compiler *c)
{
	uint32_t begin = count(c);
	while (*c->at && *c->at != '|' && (*c->at != ')' || !c->open) && !c->too_many) {
		uint32_t one = count(c);
		if (*c->at == '(') {
			c->at++;
			c->open++;
			compile_choices(c);
			c->open--;
			if (*c->at == ')')
				c->at++;
			else
				go_wrong(c, "a ( without )");
		} else {
			struct step step = compile_one(c);
			emit(c, step);
			if (step.does >= STEP_BEGIN) /* a place is not repeated */
				continue;
		}
		compile_repeats(c, one);
	}
	if (*c->at != '|' || c->too_many)
		return; /* after something wrong nothing is left to read */
	c->at++;
	emit_before(c, begin, (struct step){ .does = STEP_FORK, .a = 1, .b = (int32_t)(count(c) - begin) + 2 });
	uint32_t end = count(c);
	emit(c, (struct step){ .does = STEP_GO });
	compile_choices(c);
	if (!c->too_many)
		c->to->step[end].a = (int32_t)(count(c) - end);
}

static int too_large(const char *expression, struct err *err)
{
	return err_set(err, ERR_USAGE, "regular expression %.150s: too long with its repeats expanded (at most %d "
	    "parts)", expression, PATTERN_PARTS);
}

static int compile(struct pattern *p, struct err *err)
{
	p->step = big_alloc(PATTERN_STEPS + 1, sizeof *p->step, err);
	if (!p->step)
		return ERR_NOMEM;
	struct compiler c = { .at = p->expression, .to = p };
	compile_choices(&c);
	if (c.wrong)
		return err_set(err, ERR_USAGE, "invalid regular expression \"%.150s\": %s", p->expression, c.wrong);
	if (c.too_many)
		return too_large(p->expression, err);
	p->step[p->n++] = (struct step){ .does = STEP_FOUND };
	p->step = big_fit(p->step, p->n, sizeof *p->step);
	return 0;
}

int pattern_compile(struct pattern **to, const char *expression, bool any_case, struct err *err)
{
	if (strlen(expression) > PATTERN_BYTES)
		return err_set(err, ERR_USAGE, "regular expression: too long (at most %d bytes)", PATTERN_BYTES);
	if (refers_back(expression))
		return err_set(err, ERR_USAGE, "regular expression %.150s: back-references like \\1 may take "
		    "hours and are not supported", expression);
	if (count_parts(expression) > PATTERN_PARTS)
		return too_large(expression, err);
	struct pattern *p = xcalloc(1, sizeof *p);
	p->expression = xstrdup(expression);
	p->any_case = any_case;
	int code = compile(p, err);
	if (!code)
		code = pattern_prepare(p, err);
	if (!code)
		*to = p;
	else
		pattern_free(p);
	return code;
}

void pattern_free(struct pattern *p)
{
	if (!p)
		return;
	free(p->expression);
	big_free(p->step);
	big_free(p->list);
	free(p);
}
