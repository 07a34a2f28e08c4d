/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nearest.c - which commands a word that is not one may have meant: by spelling, by the first half of
 * another tool's word, or by the words of the summaries.
 */
#include "command/args/args.h"

#include "analysis/search.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* How far a word is from what it may mean; the less, the better. */
enum { SPELLED_ONCE = 1, SPELLED_TWICE, BEGUN, MEANT, FAR };

enum {
	LONG_WORD = 6,  /* letters from which on two of them may be wrong */
	STEM_LEAST = 4, /* letters that two forms of a word have in common */
	ENDING_MOST = 3 /* letters that each has besides */
};

/* In a short word, or with another first letter, two wrong letters make another word. */
static unsigned by_spelling(const char *word, const char *name)
{
	bool twice = strlen(word) >= LONG_WORD && tolower((unsigned char)*word) == *name;
	unsigned edits = edit_distance(word, name, twice ? 2 : 1);
	bool is_other = strlen(word) < STEM_LEAST; /* fo, go and to are one letter from each other */
	return is_other ? FAR : edits <= 1 ? SPELLED_ONCE : edits == 2 && twice ? SPELLED_TWICE : FAR;
}

/* "allocation" and "allocated" */
static bool is_form_of(const char *word, const char *other, size_t n)
{
	size_t stem = 0;
	while (stem < n && word[stem] && tolower((unsigned char)word[stem]) == tolower((unsigned char)other[stem]))
		stem++;
	return stem >= STEM_LEAST && strlen(word) - stem <= ENDING_MOST && n - stem <= ENDING_MOST;
}

static unsigned by_summary(const char *word, const char *summary)
{
	for (const char *s = summary; *s;) {
		size_t n = strcspn(s, " ,:;");
		if (is_form_of(word, s, n))
			return MEANT;
		s += n;
		s += strspn(s, " ,:;");
	}
	return FAR;
}

struct nearest {
	struct near_command *found;
	unsigned distance[NEAR_MOST], n;
};

/* Keep it in its place, unless one that means the same is as near. */
static void keep(struct nearest *l, unsigned distance, const char *line, const struct command *c)
{
	unsigned at = 0;
	if (distance >= FAR)
		return;
	for (unsigned i = 0; i < l->n; i++)
		if (l->found[i].command == c && l->distance[i] <= distance)
			return;
	while (at < l->n && l->distance[at] <= distance)
		at++;
	if (at == NEAR_MOST)
		return;
	l->n += l->n < NEAR_MOST;
	for (unsigned i = l->n - 1; i > at; i--) {
		l->found[i] = l->found[i - 1];
		l->distance[i] = l->distance[i - 1];
	}
	l->found[at] = (struct near_command){.line = line, .command = c};
	l->distance[at] = distance;
}

static void look_at_alias(struct nearest *l, const char *word, const struct alias *a)
{
	bool begun = 2 * strlen(word) >= strlen(a->word) && !strncasecmp(a->word, word, strlen(word));
	unsigned distance = by_spelling(word, a->word);
	if (begun && distance > BEGUN)
		distance = BEGUN;
	for (size_t i = 0; distance < FAR && commands[i]; i++)
		if (alias_is_of(a, commands[i]))
			keep(l, distance, a->means, commands[i]);
}

unsigned nearest_commands(const char *word, struct near_command found[NEAR_MOST])
{
	struct nearest l = {.found = found};
	for (size_t i = 0; commands[i]; i++)
		keep(&l, by_spelling(word, commands[i]->name), commands[i]->name, commands[i]);
	for (const struct alias *a = alias_list(); a->word; a++)
		if (!alias_is_earlier(a) && !strchr(a->word, ' '))
			look_at_alias(&l, word, a);
	for (size_t i = 0, spelled = l.n; !spelled && commands[i]; i++)
		keep(&l, by_summary(word, commands[i]->summary), commands[i]->name, commands[i]);
	return l.n;
}
