/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * config.c - the user's configuration.
 *
 * A line is "name = value"; one that begins with # is a remark, and one that ends with \ goes on in the next.  Names
 * are options of the program, settings of `set`, the layout, and three that take a word between: "key K = LINE",
 * "columns COMMAND = WORDS" and "view NAME = SELECT".  A line that is wrong is reported with its place, and the others
 * hold.  What is read can run commands at the press of a key, so the file has to be the user's own.
 */
#include "view/config.h"

#include "base/mem.h"
#include "command/args/args.h"
#include "command/query/query.h"
#include "view/history.h"
#include "view/keys.h"
#include "view/term/term.h"
#include "view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct given {
	const struct program_option *option; /* NULL: a setting */
	char *name, *value;
};

struct user_key {
	int key;
	char *name;
	struct invocation *asked;
};

struct user_columns {
	const struct command *command;
	bool shown[COL_COUNT_OF_ALL];
};

struct config {
	enum layout layout;
	struct given *given;
	size_t n_given, cap_given;
	struct user_key *key;
	size_t n_keys, cap_keys;
	struct user_columns *columns;
	size_t n_columns, cap_columns;
	struct session views; /* has but those of the file */
	char *path;
	size_t line;     /* the one that is read */
	char *complaint; /* the first */
};

static const char *const layouts[LAYOUTS] = {
    [LAYOUT_AUTO] = "auto", [LAYOUT_LIST] = "list", [LAYOUT_RIGHT] = "right", [LAYOUT_BELOW] = "below",
    [LAYOUT_THREE] = "three"};
#define LAYOUT_WORDS "auto|list|right|below|three"

/* The options of the program that may stand there: those that say how it looks and begins. */
static const int option_keys[] = {OPTION_START, OPTION_COLOR, OPTION_THEME, OPTION_ASCII, OPTION_NO_MOUSE};
#define N_OPTION_KEYS (sizeof option_keys / sizeof *option_keys)

/* --- what may be written ------------------------------------------------------------------------ */

static const struct program_option *option_of(int key)
{
	const struct program_option *o = program_options;

	while (o->key != key)
		o++;
	return o;
}

static const struct program_option *option_named(const char *name)
{
	for (const struct program_option *o = program_options; o->name; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

/* An option no-NAME is the setting NAME, which is on. */
static bool is_negative(const struct program_option *o)
{
	return !strncmp(o->name, "no-", 3);
}

static const char *option_words(const struct program_option *o)
{
	return o->argument ? o->argument : is_negative(o) ? "on|off" : "off|on";
}

/* Is value one of the words between '|'? */
static bool is_word(const char *words, const char *value)
{
	size_t n = strlen(value);

	for (;; words++) {
		size_t length = strcspn(words, "|");
		if (length == n && n > 0 && strncmp(words, value, n) == 0)
			return true;
		words += length;
		if (!*words)
			return false;
	}
}

static void complain_of(struct config *c, const char *sentence)
{
	struct text t = TEXT_INIT;

	text_addf(&t, "%s:%zu: ", c->path, c->line);
	text_add_escaped(&t, sentence, strlen(sentence));
	complain("%s", t.s);
	if (!c->complaint)
		c->complaint = text_take(&t);
	text_release(&t);
}

static void __attribute__((format(printf, 2, 3))) wrong(struct config *c, const char *format, ...)
{
	struct text t = TEXT_INIT;
	va_list arguments;

	va_start(arguments, format);
	text_addv(&t, format, arguments);
	va_end(arguments);
	complain_of(c, t.s);
	text_release(&t);
}

/* The later line holds. */
static void give(struct config *c, const struct program_option *option, const char *name, const char *value)
{
	VEC_PUSH(c->given, c->n_given, c->cap_given) =
	    (struct given){.option = option, .name = xstrdup(name), .value = xstrdup(value)};
}

/* True: it is the name of an option that may stand here. */
static bool take_option(struct config *c, const char *name, const char *value)
{
	for (size_t i = 0; i < N_OPTION_KEYS; i++) {
		const struct program_option *o = option_of(option_keys[i]);
		const char *words = option_words(o);
		if (strcmp(o->name + 3 * is_negative(o), name) != 0)
			continue;
		if (!is_word(words, value))
			wrong(c, "invalid %s \"%.60s\" (use %s)", name, value, words);
		else
			give(c, o, name, !is_negative(o) ? value : strcmp(value, "off") ? "off" : "on");
		return true;
	}
	return false;
}

/* As take_option, for settings; they are tried on a session of our own. */
static bool take_setting(struct config *c, const char *name, const char *value)
{

	for (size_t i = 0; setting_at(i); i++) {
		struct session trial;
		struct err err = ERR_INIT;
		if (!setting_at(i)->lasts || strcmp(setting_at(i)->name, name) != 0)
			continue;
		session_init(&trial);
		if (setting_set(&trial, name, value, &err))
			wrong(c, "%s", err.message);
		else
			give(c, option_named(name), name, value);
		session_release(&trial);
		return true;
	}
	return false;
}

static bool take_layout(struct config *c, const char *name, const char *value)
{
	if (strcmp(name, "layout") != 0)
		return false;
	for (enum layout i = 0; i < LAYOUTS; i++) {
		if (strcmp(layouts[i], value) == 0) {
			c->layout = i;
			return true;
		}
	}
	wrong(c, "invalid layout \"%.60s\" (use " LAYOUT_WORDS ")", value);
	return true;
}

/* --- keys --------------------------------------------------------------------------------------- */

/* A character, ^X, or F1 to F12; 0: none of these. */
static int key_of(const char *name)
{
	int32_t point;
	size_t n = strlen(name);
	char *end;

	if (name[0] == '^' && n == 2 && ((name[1] >= 'A' && name[1] <= 'Z') || (name[1] >= 'a' && name[1] <= 'z')))
		return name[1] & 0x1F;
	if (name[0] == 'F' && n > 1) {
		long number = strtol(name + 1, &end, 10);
		return !*end && number >= 1 && number <= 12 ? SPECIAL(KEY_F((int)number)) : 0;
	}
	return utf8_decode(name, n, &point) == n && point > ' ' && point != 0x7F ? point : 0;
}

/* Without these keys one could not get out, or to the prompt. */
static bool is_needed(int key)
{
	enum action action = key_action(key, ANYWHERE);

	return action == ACTION_CANCEL || action == ACTION_SUSPEND || action == ACTION_LEAVE || action == ACTION_QUIT ||
	       action == ACTION_PROMPT || action == ACTION_HELP || key == '\r' || key == '\n';
}

static void take_key(struct config *c, const char *name, const char *line)
{
	int key = key_of(name);

	if (!key) {
		wrong(c, "%s is not a key (use a character, ^X, or F1 to F12)", name);
	} else if (is_needed(key)) {
		wrong(c, "%s cannot be changed", name);
	} else if (!*line) {
		wrong(c, "key %s: no command line", name);
	} else {
		struct invocation *asked = invocation_of(line);
		if (!asked->command) {
			wrong(c, "key %s: unknown command \"%s\" (help lists all)", name, line);
			invocation_drop(asked);
			return;
		}
		VEC_PUSH(c->key, c->n_keys, c->cap_keys) =
		    (struct user_key){.key = key, .name = xstrdup(name), .asked = asked};
	}
}

/* --- columns ------------------------------------------------------------------------------------ */

static void take_columns(struct config *c, const char *name, char *words)
{
	struct err err = ERR_INIT;
	const struct command *command = command_find(name, &err);
	enum column_id has[COL_COUNT_OF_ALL];
	struct user_columns wanted = {.command = command};
	char *rest = words;
	size_t n = 0;

	if (!command) {
		wrong(c, "%s", err.message);
		return;
	}
	unsigned n_has = command_columns(command, false, has);
	for (char *word; (word = strsep(&rest, " \t,")) != NULL;) {
		unsigned i = 0;
		if (!*word)
			continue;
		while (i < n_has && strcmp(column_word(&(struct column){.id = has[i]}), word) != 0)
			i++;
		if (i == n_has) {
			wrong(c, "%s has no column \"%s\" (help %s lists them)", command->name, word, command->name);
			return;
		}
		wanted.shown[has[i]] = true;
		n++;
	}
	if (!n)
		wrong(c, "columns %s: no column names", name);
	else
		VEC_PUSH(c->columns, c->n_columns, c->cap_columns) = wanted;
}

/* --- views -------------------------------------------------------------------------------------- */

static void take_view(struct config *c, const char *name, const char *text)
{
	enum { VIEWS_MOST = 1000 }; /* each is tried by SQLite, and looked for among the others */
	struct text place = TEXT_INIT;
	struct err err = ERR_INIT;

	if (c->views.settings.n_views >= VIEWS_MOST) {
		wrong(c, "view %s: too many views (at most %d)", name, VIEWS_MOST);
		return;
	}
	text_addf(&place, "%s:%zu", c->path, c->line);
	if (ask_keep_view(&c->views, name, text, place.s ? place.s : "", &err))
		wrong(c, "view %s: %s", name, err.message);
	text_release(&place);
}

/* --- reading ------------------------------------------------------------------------------------ */

/* Blanks at both ends cut away. */
static char *trim(char *s)
{
	s += strspn(s, " \t\r");
	size_t n = strlen(s);
	while (n > 0 && strchr(" \t\r", s[n - 1]))
		s[--n] = '\0';
	return s;
}

/* "key K = …", "columns NAME = …": the word between; K may be any character, = too.  NULL: it is another line. */
static char *word_between(char *line, const char *first, char **value)
{
	size_t n = strlen(first);

	if (strncmp(line, first, n) != 0 || !line[n] || !strchr(" \t", line[n]))
		return NULL;
	char *word = line + n + strspn(line + n, " \t");
	if (!*word)
		return NULL;
	char *end = word + 1 + strcspn(word + 1, " \t="), *equals = end + strspn(end, " \t");
	if (*equals != '=')
		return NULL;
	*end = '\0';
	*value = trim(equals + 1);
	return word;
}

static void take_line(struct config *c, char *line)
{
	char *word, *value;

	line = trim(line);
	if (!*line || *line == '#')
		return;
	if ((word = word_between(line, "key", &value)) != NULL) {
		take_key(c, word, value);
		return;
	}
	if ((word = word_between(line, "columns", &value)) != NULL) {
		take_columns(c, word, value);
		return;
	}
	if ((word = word_between(line, "view", &value)) != NULL) {
		take_view(c, word, value);
		return;
	}
	char *equals = strchr(line, '=');
	if (!equals) {
		wrong(c, "not a setting (use NAME = VALUE, key K = COMMAND LINE, columns COMMAND = NAMES or view "
		    "NAME = SELECT)");
		return;
	}
	*equals = '\0';
	line = trim(line);
	value = trim(equals + 1);
	if (!take_option(c, line, value) && !take_setting(c, line, value) && !take_layout(c, line, value))
		wrong(c, "unknown name \"%s\" (--dump-config lists all)", line);
}

/* Keys run commands, and these may run those of the shell: nobody else may have written it. */
static bool is_own(struct config *c, int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && (st.st_uid == geteuid() || st.st_uid == 0) && !(st.st_mode & S_IWOTH))
		return true;
	complain("%s is ignored: it belongs to another user, or everyone can write to it", c->path);
	return false;
}

/* A line that ends with \ and those that it goes on in become one, in their place; how many those are. */
static size_t join_lines(char *line, char **rest)
{
	size_t more = 0;

	for (;;) {
		size_t n = strlen(line);
		while (n > 0 && line[n - 1] == '\r')
			n--;
		if (!n || line[n - 1] != '\\' || !*rest)
			return more;
		char *next = *rest;
		memset(line + n - 1, ' ', (size_t)(next - line) - n + 1);
		strsep(rest, "\n");
		line = next;
		more++;
	}
}

struct config *config_read(void)
{
	struct config *c = xcalloc(1, sizeof *c);
	size_t size = 0;

	session_init(&c->views);
	c->path = config_path();
	int fd = c->path ? open(c->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	if (fd < 0) {
		if (c->path && errno != ENOENT && errno != ENOTDIR)
			complain("%s is ignored: %s", c->path, strerror(errno));
		return c;
	}
	bool own = is_own(c, fd);
	char *bytes = own ? state_read(fd, &size) : NULL, *rest = bytes;
	if (own && !bytes)
		complain("%s is ignored: not a text file", c->path);
	for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
		size_t more = join_lines(line, &rest);
		c->line++;
		take_line(c, line);
		c->line += more;
	}
	free(bytes);
	close(fd);
	return c;
}

void config_free(struct config *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_given; i++) {
		free(c->given[i].name);
		free(c->given[i].value);
	}
	for (size_t i = 0; i < c->n_keys; i++) {
		free(c->key[i].name);
		invocation_drop(c->key[i].asked);
	}
	free(c->given);
	free(c->key);
	free(c->columns);
	session_release(&c->views);
	free(c->path);
	free(c->complaint);
	free(c);
}

/* --- what it gives ------------------------------------------------------------------------------ */

bool config_option(const struct config *c, size_t i, const struct program_option **o, const char **value)
{
	for (size_t k = 0; k < c->n_given; k++) {
		if (!c->given[k].option || i-- > 0)
			continue;
		*o = c->given[k].option;
		*value = c->given[k].value;
		return true;
	}
	return false;
}

void config_settings(const struct config *c, struct session *s)
{
	struct err err = ERR_INIT;

	for (size_t i = 0; c && i < c->n_given; i++)
		if (!c->given[i].option)
			(void)!setting_set(s, c->given[i].name, c->given[i].value, &err); /* it was tried before */
	const struct sql_view *view;
	for (size_t i = 0; c && (view = ask_view(&c->views, i)) != NULL; i++)
		(void)!ask_keep_view(s, view->name, view->text, view->place, &err);
}

enum layout config_layout(const struct config *c)
{
	return c ? c->layout : LAYOUT_AUTO;
}

const char *config_complaint(const struct config *c)
{
	return c ? c->complaint : NULL;
}

struct invocation *config_key(const struct config *c, int key)
{
	for (size_t i = c ? c->n_keys : 0; i-- > 0;)
		if (c->key[i].key == key)
			return c->key[i].asked;
	return NULL;
}

void config_write_keys(const struct config *c, struct text *to)
{
	if (!c || !c->n_keys)
		return;
	text_add(to, "Keys of your configuration\n");
	for (size_t i = 0; i < c->n_keys; i++)
		text_addf(to, "  %-22s %s\n", c->key[i].name, c->key[i].asked->text);
	text_add(to, "\n");
}

/* A pipe says itself what it wants.  What says what a row is stays. */
void config_columns(const struct config *c, const struct invocation *asked, struct result *r)
{
	const struct command *command = c && asked && asked->line.n == 1 ? asked->command : NULL;

	for (size_t i = command ? c->n_columns : 0; i-- > 0;) {
		const struct user_columns *wanted = &c->columns[i];
		if (wanted->command != command)
			continue;
		const struct column *chosen = r->columns; /* by hand: that goes before, until it is dropped */
		if (r->chosen)
			r->columns = r->unchosen;
		for (unsigned k = 1; k < r->n_columns; k++)
			if (r->columns[k].id != COL_OWN_NAME && r->columns[k].id != r->named_by)
				result_show(r, k, wanted->shown[r->columns[k].id]);
		if (r->chosen) {
			r->unchosen = r->columns;
			r->columns = chosen;
		}
		r->arranged = true;
		return;
	}
}

/* --- telling ------------------------------------------------------------------------------------ */

/* One name of the table: what it takes, what holds without it. */
struct told {
	const char *name, *meaning, *values;
	struct text value;
};

/* Name number i of all but keys and columns; false behind the last. */
static bool tell(size_t i, struct told *out)
{
	text_clear(&out->value);
	if (i < N_OPTION_KEYS) {
		const struct program_option *o = option_of(option_keys[i]);
		const char *words = option_words(o);
		out->name = o->name + 3 * is_negative(o);
		out->meaning = is_negative(o) ? "clicks and the wheel; Shift selects text" : o->summary;
		out->values = words;
		text_add_n(&out->value, words, strcspn(words, "|"));
		return true;
	}
	i -= N_OPTION_KEYS;
	if (i-- == 0) {
		out->name = "layout";
		out->meaning = "panes next to a list, if there is room (key v)";
		out->values = LAYOUT_WORDS;
		text_add(&out->value, layouts[LAYOUT_AUTO]);
		return true;
	}
	for (size_t k = 0; setting_at(k); k++) {
		const struct setting *setting = setting_at(k);
		struct session fresh;
		if (!setting->lasts || i-- > 0)
			continue;
		out->name = setting->name;
		out->meaning = setting->meaning;
		out->values = setting->values;
		session_init(&fresh);
		setting->show(setting, &fresh, &out->value);
		session_release(&fresh);
		return true;
	}
	return false;
}

static const struct {
	const char *usage, *meaning, *example;
} with_words[] = {
    {"key K = COMMAND LINE",
	"A key runs a command line as if typed at the prompt. Without an argument it uses the selected row. K is "
	"a character, ^X, or F1 to F12. It replaces the key's usual command, but not a key that exits, opens the "
	"prompt or opens help.", "key z = size"},
    {"columns COMMAND = NAMES",
	"The columns of a command's tables, after the first column. W chooses others.",
	"columns histo = class objects shallow"},
    {"view NAME = SELECT ...",
	"An SQL view for every dump. It may use tables, classes, commands and other views. It overrides a class of "
	"its name; it cannot have the name of a table or command. A line that ends with \\ continues on the next.",
	"view large = SELECT class, address, shallow FROM objects WHERE shallow > 1e6"},
};
#define N_WITH_WORDS (sizeof with_words / sizeof *with_words)

/* As remarks of at most 78 columns. */
static void remark(struct text *to, const char *s)
{
	while (*s) {
		size_t n = strlen(s);
		if (n > 76)
			for (n = 76; n > 0 && s[n] != ' '; n--)
				continue;
		text_add(to, "# ");
		text_add_n(to, s, n);
		text_add(to, "\n");
		s += n + (s[n] == ' ');
	}
}

void config_write(struct text *to)
{
	struct told told = {.value = TEXT_INIT};

	remark(to, "Defaults of cairn's screen and of its prompt (--plain). Options on the command line override "
	    "them; --no-config ignores this file. Results of -x and scripts never depend on it. The file is "
	    "$XDG_CONFIG_HOME/cairn/config, else ~/.config/cairn/config. The file layouts in the same folder "
	    "describes collection classes of your own (doc/layouts.md); scripts use it too.");
	for (size_t i = 0; tell(i, &told); i++) {
		text_add(to, "\n");
		remark(to, told.meaning);
		remark(to, told.values);
		text_addf(to, "%s = %s\n", told.name, told.value.s ? told.value.s : "");
	}
	for (size_t i = 0; i < N_WITH_WORDS; i++) {
		text_add(to, "\n");
		remark(to, with_words[i].meaning);
		remark(to, with_words[i].example);
	}
	text_release(&told.value);
}

void config_write_man(struct text *to)
{
	struct told told = {.value = TEXT_INIT};

	text_add(to, ".SH CONFIGURATION\n");
	troff_add(to, "$XDG_CONFIG_HOME/cairn/config, else ~/.config/cairn/config, has defaults for the screen "
	    "and for the prompt of --plain. cairn --dump-config prints a file with all defaults and comments. A "
	    "line is NAME = VALUE; a line that begins with # is a comment. cairn reports a wrong line with its "
	    "number and uses the others. Options on the command line override it. Results of -x, -f and of cairn "
	    "without a terminal never depend on it. cairn ignores a file that belongs to another user or that "
	    "everyone can write to.\n");
	for (size_t i = 0; tell(i, &told); i++) {
		text_add(to, ".TP\n.B ");
		troff_add(to, told.name);
		text_add(to, "\n");
		troff_add(to, told.meaning);
		text_add(to, " (");
		troff_add(to, told.values);
		text_add(to, ").\n");
	}
	for (size_t i = 0; i < N_WITH_WORDS; i++) {
		text_add(to, ".TP\n.B ");
		troff_add(to, with_words[i].usage);
		text_add(to, "\n");
		troff_add(to, with_words[i].meaning);
		text_add(to, " Example: ");
		troff_add(to, with_words[i].example);
		text_add(to, "\n");
	}
	text_release(&told.value);
}
