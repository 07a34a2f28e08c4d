/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.c - see names.h. */
#include "view/names.h"

#include <string.h>

enum how { LETTERS, SIMPLE, HOWS };
/* Columns that a path needs to be folded; that its clipped beginning keeps. */
enum { FOLD_LEAST = 16, CLIPPED_LEAST = 8 };

static bool in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

static bool joins(const char *s)
{
	return (*s == '.' || *s == '/' || *s == '-') && in_name(s[1]);
}

/* Bytes of the packages at the beginning of s, which stands at the beginning of a name: of Go a path up to its last
 * slash, of Java all parts that are written small before one that is not.  "main.sessions" and "Waste.java" have
 * none. */
static size_t packages_of(const char *s)
{
	size_t path = 0, java = 0;
	bool small = true;
	for (size_t i = 0; in_name(s[i]) || (i && joins(s + i)); i++) {
		if (s[i] == '/')
			path = i + 1;
		if (i && s[i - 1] != '.')
			continue;
		bool capital = s[i] >= 'A' && s[i] <= 'Z';
		if (small && capital)
			java = i;
		small &= !capital;
	}
	return path ? path : java;
}

/* Bytes of the name that s begins with; 0: it begins with none. */
static size_t name_of(const char *s)
{
	size_t n = 0;
	while (in_name(s[n]) || (n && joins(s + n)))
		n++;
	return n;
}

static void add_letters(const char *s, size_t n, struct text *to)
{
	for (size_t i = 0; i < n;) {
		size_t part = strcspn(s + i, "./");
		text_add_char(to, s[i]);
		if (i + part < n)
			text_add_char(to, s[i + part]);
		i += part + 1;
	}
}

/* "goroutine 10 main.wait" is "g10 main.wait" where packages go, too. */
static const char *short_goroutine(const char *s, struct text *to)
{
	static const char word[] = "goroutine ";
	const size_t n = sizeof word - 1;
	if (strncmp(s, word, n) != 0 || s[n] < '0' || s[n] > '9')
		return s;
	text_add_char(to, 'g');
	return s + n;
}

static void add_shortened(const char *s, enum how how, struct text *to)
{
	s = short_goroutine(s, to);
	while (*s) {
		size_t n = name_of(s), packages = n ? packages_of(s) : 0;
		if (how == LETTERS)
			add_letters(s, packages, to);
		n += !n;
		text_add_n(to, s + packages, n - packages);
		s += n;
	}
}

/* --- paths ------------------------------------------------------------------------------------------------------- */

static const char between[] = " > ";
enum { GAP = sizeof between - 1 };

/* The last step but `steps` of a path, or its first step. */
static const char *last_steps(const char *s, unsigned steps)
{
	const char *at = s + strlen(s);
	for (unsigned n = 0; at > s; at--)
		if ((size_t)(at - s) > GAP && !strncmp(at - GAP, between, GAP) && ++n == steps)
			return at;
	return s;
}

static bool fits(const struct text *t, size_t room)
{
	return text_width_most(t->s, room + 1) <= room;
}

/* The first n bytes, a sign for the steps that are left out, and as many of the last ones of the rest as fit.  False:
 * not even one does. */
static bool fold(const char *s, size_t n, const char *rest, size_t room, struct text *to)
{
	bool folded = false;
	struct text t = TEXT_INIT;
	for (unsigned steps = 1;; steps++) {
		const char *last = last_steps(rest, steps);
		text_clear(&t);
		text_add_n(&t, s, n);
		text_addf(&t, "%s%s", last == rest ? between : " > … > ", last);
		if (steps == 1 && !fits(&t, room)) {
			text_clear(&t);
			text_add_n(&t, s, n);
			text_addf(&t, "…%s", last);
		}
		if (!fits(&t, room))
			break;
		text_clear(to);
		text_add(to, t.s);
		folded = true;
		if (last == rest)
			break;
	}
	text_release(&t);
	return folded;
}

/* The end of a label, behind which there is what it leads to: "static Log.ENTRIES  ArrayList"; NULL: there is none. */
static const char *label_end(const char *s)
{
	const char *end = strstr(s + strspn(s, " "), "  ");
	return end && end[2] ? end : NULL;
}

/* A shorter name of the first step: without what its label leads to, without its kind, of a loader or thread without
 * what it is called, of a field without its class.  False: there is none. */
static bool shorten_step(const char **s, size_t *n)
{
	static const char *const kinds[] = {"static ", "loader ", "class ", "thread "};

	const char *label = label_end(*s);
	if (label && label < *s + *n) {
		*n = (size_t)(label - *s);
		return true;
	}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t kind = strlen(kinds[i]);
		if (*n > kind && !strncmp(*s, kinds[i], kind)) {
			*s += kind;
			*n -= kind;
			return true;
		}
	}
	size_t word = name_of(*s), field = word;
	if (word && word < *n && (*s)[word] == ' ' && (*s)[word + 1] == '"') {
		*n = word;
		return true;
	}
	while (field && (*s)[field - 1] != '.')
		field--;
	if (!field || word != *n)
		return false;
	*s += field;
	*n -= field;
	return true;
}

/* "static Log.ENTRIES > elementData[] > cart > key": what holds it all and the last step say most.  False: it is not a
 * path, or there is no room for these. */
static bool fold_path(const char *s, size_t room, struct text *to)
{
	const char *end = strstr(s, between);
	if (!end || !end[GAP] || room < FOLD_LEAST)
		return false;
	size_t n = (size_t)(end - s);
	do
		if (fold(s, n, end + GAP, room, to))
			return true;
	while (shorten_step(&s, &n));
	const char *last = last_steps(end + GAP, 1);
	size_t needed = text_width_most(last, room) + 1;
	if (needed + CLIPPED_LEAST > room)
		return false;
	size_t fitting = text_fit(s, room - needed, &(size_t){0});
	text_clear(to);
	text_add_n(to, s, fitting < n ? fitting : n);
	text_addf(to, "…%s", last);
	return true;
}

/* False: it has no label, or one that does not fit, or is that of a local variable: these look alike. */
static bool keep_label(const char *s, size_t room, struct text *to)
{
	const char *end = strstr(s, between) ? NULL : label_end(s);
	if (end && !memchr(s, '"', (size_t)(end - s)))
		text_add_n(to, s, (size_t)(end - s));
	return to->len && fits(to, room);
}

/* 'Java local, thread "http-1", shop.Cart.add(Cart.java:7)' is "Java local, shop.Cart.add(Cart.java:7)": the frame says
 * more than the thread.  False: it names no thread before a frame. */
static bool drop_thread(const char *s, struct text *to)
{
	const char *thread = strstr(s, ", thread \""), *frame = thread ? strstr(thread + GAP, "\", ") : NULL;
	if (!frame)
		return false;
	text_add_n(to, s, (size_t)(thread - s));
	text_add(to, frame + 1);
	return true;
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

void names_fit(const char *s, int width, struct text *to)
{
	size_t room = width > 0 ? (size_t)width : 0, before = to->len;
	if (text_width_most(s, room + 1) <= room) {
		text_add(to, s);
		return;
	}
	for (enum how how = LETTERS; how < HOWS; how++) {
		while (to->len > before)
			text_drop_last(to);
		add_shortened(s, how, to);
		if (to->len == before || text_width_most(to->s + before, room + 1) <= room)
			return;
	}
}

void names_fit_path(const char *s, int width, struct text *to)
{
	size_t room = width > 0 ? (size_t)width : 0;
	struct text names = TEXT_INIT, folded = TEXT_INIT, frame = TEXT_INIT;
	names_fit(s, width, &names);
	if (names.len && !fits(&names, room) && drop_thread(s, &frame)) {
		text_clear(&names);
		names_fit(frame.s, width, &names);
	}
	if (names.len)
		text_add(to, fits(&names, room) || (!fold_path(names.s, room, &folded) &&
		    !keep_label(names.s, room, &folded)) ? names.s : folded.s);
	text_release(&names);
	text_release(&folded);
	text_release(&frame);
}

/* --- names that are joined --------------------------------------------------------------------------------------- */

static const char plus[] = " + ", dot[] = " \u00b7 ";

/* Bytes up to what joins it to the next one, outside of quotes. */
static size_t length_of_joined(const char *s)
{
	bool quoted = false;
	size_t n = 0;
	for (; s[n]; n++) {
		if (!quoted && (!strncmp(s + n, plus, strlen(plus)) || !strncmp(s + n, dot, strlen(dot))))
			break;
		quoted ^= s[n] == '"';
	}
	return n;
}

/* Of a local without its frame; alone: nor its thread. */
static size_t length_of_local(const char *s, size_t n, bool alone)
{
	static const char of[] = "a local of ", in[] = " in ", java[] = "Java local, ";
	if (!strncmp(s, java, strlen(java)))
		return strlen("Java local");
	if (strncmp(s, of, strlen(of)) != 0)
		return n;
	size_t named = n; /* to the end of the thread's name, which may have " in " too */
	while (named > strlen(of) && s[named - 1] != '"')
		named--;
	for (size_t at = n - strlen(in); !alone && at >= named; at--)
		if (!strncmp(s + at, in, strlen(in)))
			return at;
	return alone ? strlen("a local") : n;
}

/* The first so many, and how many there are. */
static unsigned join(const char *s, unsigned most, bool alone, struct text *to)
{
	unsigned n = 0;
	for (const char *before = "";; s += strlen(before)) {
		size_t bytes = length_of_joined(s);
		if (n++ < most) {
			text_add(to, before);
			text_add_n(to, s, length_of_local(s, bytes, alone));
		}
		s += bytes;
		if (!*s)
			break;
		before = *s == *plus && s[1] == plus[1] ? plus : dot;
		if (n == most && before == dot)
			most = 0;
	}
	if (most && n > most)
		text_addf(to, " + %u more", n - most);
	return n;
}

bool names_fit_joined(const char *s, int width, struct text *to)
{
	size_t room = width > 0 ? (size_t)width : 0;
	struct text joined = TEXT_INIT, fitted = TEXT_INIT;
	names_fit(s, width, &fitted);
	bool fit = fitted.len && fits(&fitted, room), joins = !fit && s[length_of_joined(s)];
	unsigned n = joins ? join(s, 1, false, &joined) : 0;
	if (n > room / 4 + 1) /* more do not fit: each takes a column and " + " */
		n = (unsigned)(room / 4 + 1);
	for (unsigned how = 0, most = n; joins && !fit && most; how++, most -= how > 1) {
		text_clear(&joined);
		text_clear(&fitted);
		join(s, most, how > 0, &joined);
		names_fit(joined.s, width, &fitted);
		fit = fits(&fitted, room);
	}
	if (joins && fit)
		text_add(to, fitted.s);
	text_release(&joined);
	text_release(&fitted);
	return joins && fit;
}
