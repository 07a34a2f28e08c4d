/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * terminals.c - a stand-in for the host's description of a terminal.
 *
 * curses reads a compiled description from the variable TERMINFO as well as from a file (term(5), with
 * 32-bit numbers).  It is put together here, under the very name that the user's TERM has, for another name
 * would not be taken.
 */
#include "view/term/term.h"
#include "view/term/terminals.h"

#include "base/text.h"

#include <ctype.h>
#include <curses.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>

#define MAGIC_32_BIT 01036
#define NAME_MOST 60
#define NONE 0xFFFF

/* --- which one --------------------------------------------------------------------------------- */

/* What names that begin so are like, the first that fits. */
static const struct {
	const char *begins, *like;
} families[] = {
	{"xterm-color", "xterm"}, {"xterm-16color", "xterm"}, {"xterm-mono", "vt220"}, {"xterm", "xterm-256color"},
	{"alacritty", "alacritty"}, {"contour", "xterm-256color"}, {"cygwin", "linux"}, {"con", "linux"},
	{"foot", "foot"}, {"ghostty", "xterm-256color"}, {"gnome", "xterm-256color"}, {"iterm", "xterm-256color"},
	{"kitty", "xterm-kitty"}, {"konsole", "xterm-256color"}, {"mintty", "xterm-256color"},
	{"ms-terminal", "xterm-256color"}, {"nsterm", "xterm-256color"}, {"putty", "xterm-256color"},
	{"rio", "xterm-256color"}, {"rxvt-unicode", "rxvt-unicode-256color"}, {"rxvt", "rxvt"},
	{"screen", "screen"}, {"st", "st-256color"}, {"terminator", "xterm-256color"}, {"tmux", "tmux"},
	{"urxvt", "rxvt-unicode-256color"}, {"vte", "xterm-256color"}, {"wezterm", "xterm-256color"},
	{"linux", "linux"}, {"fbterm", "linux"}, {"ansi", "ansi"}, {"pcansi", "ansi"}, {"vt52", "vt52"},
	{"vt2", "vt220"}, {"vt3", "vt220"}, {"vt4", "vt220"}, {"vt5", "vt220"},
	{"dumb", "dumb"}, {"unknown", "dumb"}, {"emacs", "dumb"}, {"network", "dumb"},
	{"", "vt100"},
};

static const struct terminal_type *type_called(const char *name, size_t n)
{
	for (const struct terminal_type *t = terminal_types; t->name; t++)
		if (strlen(t->name) == n && !memcmp(t->name, name, n))
			return t;
	return NULL;
}

const struct terminal_type *terminal_nearest(const char *name)
{
	const struct terminal_type *found = type_called(name, strlen(name));
	if (found)
		return found;
	size_t i = 0;
	while (strncmp(name, families[i].begins, strlen(families[i].begins)) != 0)
		i++;
	/* screen.xterm-256color: of a family of two the one with the colors */
	char colored[NAME_MOST];
	int n = snprintf(colored, sizeof colored, "%s-256color", families[i].like);
	if (strstr(name, "-256color"))
		found = type_called(colored, (size_t)n);
	return found ? found : type_called(families[i].like, strlen(families[i].like));
}

/* --- in the words of curses -------------------------------------------------------------------- */

/* What stands behind the capability's name: "", "#8", "=\007"; NULL where the terminal lacks it. */
static const char *capability(const struct terminal_type *type, const char *name)
{
	size_t n = strlen(name);
	for (; type; type = type->base ? type_called(type->base, strlen(type->base)) : NULL)
		for (const char *const *can = type->can; *can; can++)
			if (!strncmp(*can, name, n) && (!(*can)[n] || strchr("#=@", (*can)[n])))
				return (*can)[n] == '@' ? NULL : *can + n;
	return NULL;
}

static void add_little_endian(struct text *t, uint32_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		text_add_char(t, (char)(value >> 8 * i & 0xFF));
}

static size_t count(NCURSES_CONST char *const *names)
{
	size_t n = 0;
	while (names[n])
		n++;
	return n;
}

static void add_description(struct text *out, const struct terminal_type *type, const char *name)
{
	struct text places = TEXT_INIT, strings = TEXT_INIT;
	for (size_t i = 0; strnames[i]; i++) {
		const char *value = capability(type, strnames[i]);
		add_little_endian(&places, value && *value == '=' ? (uint32_t)strings.len : NONE, 2);
		if (value && *value == '=')
			text_add_n(&strings, value + 1, strlen(value + 1) + 1);
	}
	size_t flags = count(boolnames), numbers = count(numnames);
	add_little_endian(out, MAGIC_32_BIT, 2);
	add_little_endian(out, (uint32_t)strlen(name) + 1, 2);
	add_little_endian(out, (uint32_t)flags, 2);
	add_little_endian(out, (uint32_t)numbers, 2);
	add_little_endian(out, (uint32_t)(places.len / 2), 2);
	add_little_endian(out, (uint32_t)strings.len, 2);
	text_add_n(out, name, strlen(name) + 1);
	for (size_t i = 0; i < flags; i++)
		text_add_char(out, capability(type, boolnames[i]) != NULL);
	if (out->len % 2)
		text_add_char(out, 0);
	for (size_t i = 0; i < numbers; i++) {
		const char *value = capability(type, numnames[i]);
		add_little_endian(out, value && *value == '#' ? (uint32_t)strtoul(value + 1, NULL, 10) : UINT32_MAX, 4);
	}
	text_add_n(out, places.s, places.len);
	text_add_n(out, strings.s, strings.len);
	text_release(&places);
	text_release(&strings);
}

void terminal_compile(struct text *out, const struct terminal_type *type, const char *name)
{
	struct text bytes = TEXT_INIT;
	add_description(&bytes, type, name);
	text_add(out, "hex:");
	for (size_t i = 0; i < bytes.len; i++)
		text_addf(out, "%02X", (unsigned char)bytes.s[i]);
	text_release(&bytes);
}

/* Could it be the name of a terminal? */
static bool is_name(const char *name)
{
	for (size_t i = 0; name[i]; i++)
		if (i >= NAME_MOST || !isgraph((unsigned char)name[i]) || name[i] == '|' || name[i] == '/')
			return false;
	return *name;
}

const char *terminal_describe(const char *name, int fd)
{
	int status = 0;
	if (setupterm(name, fd, &status) == OK)
		return name;
	if (!is_name(name))
		return NULL;
	const struct terminal_type *type = terminal_nearest(name);
	struct text described = TEXT_INIT;
	terminal_compile(&described, type, name);
	setenv("TERMINFO", described.s, 1);
	text_release(&described);
	if (setupterm(name, fd, &status) == OK)
		return strcmp(name, type->name) ? type->name : name;
	unsetenv("TERMINFO");
	return NULL;
}
