/* SPDX-License-Identifier: GPL-3.0-or-later */
/* boxes.c - see boxes.h. */
#include "view/page/boxes.h"

#include "view/names.h"

#include <string.h>

/* Columns: of the border, of a box whose words never begin at its edge, of the box of the others. */
enum { BORDER = 1, PADDED_FROM = 12, OTHERS_LEAST = 3 };

/* --- where ------------------------------------------------------------------------------------- */

/* So many of the bytes of a whole as columns, rounded. */
static int columns_of(uint64_t bytes, uint64_t whole, int width)
{
	enum { BITS = 40 }; /* with the columns they fit into 64 */

	while (whole >> BITS) {
		whole >>= 1;
		bytes >>= 1;
	}
	return whole ? (int)((bytes * (uint64_t)width + whole / 2) / whole) : 0;
}

size_t boxes_place(const uint64_t *part, size_t n, uint64_t all, uint64_t whole, int x, int width, int least,
    struct box *to)
{
	uint64_t sum = 0, so_far = 0;
	size_t placed = 0;
	int at = 0, end;

	for (size_t i = 0; i < n; i++)
		sum += part[i];
	all = all > sum ? all : sum;
	whole = whole > all ? whole : all;
	for (; placed < n; placed++, at = end) {
		end = columns_of(so_far + part[placed], whole, width);
		if (end - at < least)
			break;
		to[placed] = (struct box){x + at, end - at, placed};
		so_far += part[placed];
	}
	end = columns_of(all, whole, width);
	if (end - at >= OTHERS_LEAST) {
		to[placed++] = (struct box){x + at, end - at, n};
		at = end;
	}
	if (placed && width - at < OTHERS_LEAST)
		to[placed - 1].width += width - at;
	return placed;
}

/* --- what they are called ---------------------------------------------------------------------- */

/* A stretch of a text. */
struct span {
	const char *s;
	size_t n;
};

/* The names of one thing, from the one that says most to the one that takes the least room. */
enum { NAMES = 5 };
struct box_names {
	struct span name[NAMES];
	size_t n;
	size_t whole; /* so many of them; the one after these is the last part of a name */
};

static void add_span(struct box_names *to, const char *s, size_t n)
{
	if (n && (!to->n || to->name[to->n - 1].n != n || to->name[to->n - 1].s != s))
		to->name[to->n++] = (struct span){s, n};
}

static bool begins(const char *s, const char *word)
{
	return !strncmp(s, word, strlen(word));
}

/* Does what holds a row have a name of its own: a static field, a field, a variable of Go, a thread?  "via Order.x" is
 * one of several, "[17]" a place. */
static bool has_name(struct span label)
{
	if (begins(label.s, "static "))
		return !begins(label.s, "static fields");
	return label.n && *label.s != '[' && (begins(label.s, "thread \"") || !memchr(label.s, ' ', label.n));
}

/* "static Shop.DB", "Shop.DB", "DB"; "60 × Session", "Session". */
static void add_shorter(struct box_names *to, struct span name)
{
	static const char is_static[] = "static ", times[] = " \u00d7 ";
	const char *product = memmem(name.s, name.n, times, sizeof times - 1);
	size_t cut = begins(name.s, is_static) ? sizeof is_static - 1 :
	    product && *name.s >= '0' && *name.s <= '9' ? (size_t)(product - name.s) + sizeof times - 1 : 0;

	add_span(to, name.s, name.n);
	name = (struct span){name.s + cut, name.n - cut};
	add_span(to, name.s, name.n);
	to->whole = to->n;
	size_t last = name.n;
	while (last > 0 && name.s[last - 1] != '.')
		last--;
	if (last > 0 && !memchr(name.s, ' ', name.n) && !memchr(name.s, '[', name.n))
		add_span(to, name.s + last, name.n - last);
}

static void find_names(const char *branch, struct box_names *to)
{
	size_t all = strlen(branch);
	const char *gap = strstr(branch, "  "), *object = gap ? gap + 2 : branch, *way = strstr(object, " > ");
	const char *comma = strstr(branch, ", own bytes");
	size_t end = way ? (size_t)(way - branch) : all;
	struct span label = {branch, gap ? (size_t)(gap - branch) : 0};

	*to = (struct box_names){.n = 0};
	if (*branch == '[' && gap) { /* which element it is says nothing beside its class */
		all -= (size_t)(object - branch);
		end -= (size_t)(object - branch);
		branch = object;
	}
	add_span(to, branch, all);
	add_span(to, branch, end);
	if (comma) /* "class objects, own bytes" */
		add_shorter(to, (struct span){branch, (size_t)(comma - branch)});
	else if (has_name(label))
		add_shorter(to, label);
	else
		add_shorter(to, (struct span){object, (size_t)(branch + end - object)});
}

/* --- the words of a box ------------------------------------------------------------------------ */

/* "NAME SIZE SHARE", where it fits.  False: it does not, and nothing was added. */
static bool add_if_fits(struct span name, const char *size, const char *share, int width, struct text *to)
{
	struct text words = TEXT_INIT, fitted = TEXT_INIT;

	text_add_n(&words, name.s, name.n);
	for (int i = 0; i < 2; i++) {
		const char *number = i ? share : size;
		if (number && *number)
			text_addf(&words, " %s", number);
	}
	names_fit(words.len ? words.s : "", width, &fitted);
	bool fits = fitted.len && (int)text_width_most(fitted.s, (size_t)width + 1) <= width;
	if (fits)
		text_add(to, fitted.s);
	text_release(&words);
	text_release(&fitted);
	return fits;
}

void boxes_words(const char *branch, const char *size, const char *share, int width, struct text *to)
{
	struct box_names names;

	if (width < 1)
		return;
	find_names(branch, &names);
	for (size_t i = 0; i < names.whole; i++)
		if (add_if_fits(names.name[i], size, share, width, to) || add_if_fits(names.name[i], size, NULL, width, to))
			return;
	for (size_t i = 0; i < names.whole; i++)
		if (add_if_fits(names.name[i], NULL, NULL, width, to))
			return;
	for (size_t i = names.whole; i < names.n; i++)
		if (add_if_fits(names.name[i], size, NULL, width, to) || add_if_fits(names.name[i], NULL, NULL, width, to))
			return;
}

/* --- drawing ----------------------------------------------------------------------------------- */

int boxes_room(const struct box *b)
{
	return b->width - BORDER - (b->width >= PADDED_FROM);
}

void boxes_draw_border(int y, const struct box *b)
{
	draw_clipped(y, b->x + b->width - BORDER, BORDER, theme_glyph(GLYPH_VERTICAL), theme_role(ROLE_QUIET));
}

void boxes_draw(int y, const struct box *b, enum box_look look, const char *words, attr_t attr)
{
	if (look == BOX_MARKED || look == BOX_FILLED)
		draw_blank(y, b->x, b->width - BORDER, attr);
	if (look == BOX_MARKED || look == BOX_BORDERED)
		boxes_draw_border(y, b);
	int room = b->width - BORDER, used = (int)text_width_most(words, (size_t)room + 1);
	int blank = used != room; /* before them, where there is one left */
	if (*words && used <= room)
		draw_text(y, b->x + blank, room - blank, words, attr);
	else
		draw_clipped(y, b->x + blank, room - blank, theme_glyph(GLYPH_ELLIPSIS), attr);
}
