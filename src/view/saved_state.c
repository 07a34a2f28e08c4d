/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * saved_state.c - see saved_state.h.  The lines of a file:
 *
 *     cairn 1 OBJECTS             what follows is of a dump with so many objects
 *     mark LETTER ID ROW LINE     ID is - where the row is no object
 *     note ID TEXT
 *     set NAME 3-7,9              ids, ascending
 *     columns KIND<tab>NAMES      each with a tab behind it, of tables of this kind; none: all
 *     end                         behind it nothing is missing
 */
#include "view/saved_state.h"

#include "base/files.h"
#include "base/mem.h"
#include "command/command.h"
#include "heap/heap.h"
#include "memory/big.h"
#include "view/history.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SETS_MOST (STATE_MOST / 2) /* bytes: a set that goes beyond is not kept */

/* --- reading ----------------------------------------------------------------------------------- */

/* A number and the character behind it, past which *at moves.  False: there is none. */
static bool take_number(const char **at, char behind, uint64_t *n)
{
	size_t digits = strspn(*at, "0123456789");

	if (digits == 0 || digits > 18 || (*at)[digits] != behind)
		return false;
	*n = strtoull(*at, NULL, 10);
	*at += digits + (behind != '\0');
	return true;
}

static bool take_id(const char **at, char behind, const struct heap *h, uint32_t *id)
{
	uint64_t n;

	if (!take_number(at, behind, &n) || n >= h->n_objects)
		return false;
	*id = (uint32_t)n;
	return true;
}

static void read_mark(struct saved_state *k, const struct heap *h, const char *at)
{
	const char *letter = *at ? strchr(MARK_LETTERS, *at) : NULL;
	uint32_t id = HEAP_NONE;
	uint64_t row;

	if (!letter || at[1] != ' ')
		return;
	at += 2;
	if (strncmp(at, "- ", 2) == 0)
		at += 2;
	else if (!take_id(&at, ' ', h, &id))
		return;
	struct mark *mark = &k->mark[letter - MARK_LETTERS];
	if (!take_number(&at, ' ', &row) || !*at || mark->line)
		return;
	*mark = (struct mark){.line = xstrdup(at), .id = id, .row = (size_t)row};
}

/* Ranges of ids into a list of them; false: they are none. */
static bool read_ranges(const char *at, const struct heap *h, struct kept_set *set)
{
	size_t cap = 0;
	struct err err = ERR_INIT;

	for (uint64_t next = 0; *at;) {
		uint64_t first, last;
		if (take_number(&at, '-', &first)) {
			if (!take_number(&at, ',', &last) && !take_number(&at, '\0', &last))
				return false;
		} else {
			if (!take_number(&at, ',', &first) && !take_number(&at, '\0', &first))
				return false;
			last = first;
		}
		if (first < next || last < first || last >= h->n_objects)
			return false;
		next = last + 1;
		for (uint64_t id = first; id <= last; id++) {
			uint32_t *to = BIG_PUSH(set->ids, set->n, cap, &err);
			if (!to)
				return false;
			*to = (uint32_t)id;
		}
	}
	return set->n > 0;
}

static void read_set(struct opened *o, const char *at)
{
	size_t name = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	struct kept_set set = {.ids = NULL};

	if (name == 0 || at[name] != ' ')
		return;
	for (size_t i = 0; i < o->n_sets; i++) /* it was kept anew already */
		if (strlen(o->sets[i].name) == name && strncmp(o->sets[i].name, at, name) == 0)
			return;
	if (!read_ranges(at + name + 1, o->heap, &set)) {
		big_free(set.ids);
		return;
	}
	set.name = xstrndup(at, name);
	VEC_PUSH(o->sets, o->n_sets, o->cap_sets) = set;
}

static void read_note(struct opened *o, const char *at)
{
	uint32_t id;

	if (take_id(&at, ' ', o->heap, &id) && *at && !opened_note(o, id))
		opened_write_note(o, id, at);
}

/* Today's words for a kind of tables, which a file may have under an earlier name of the command; the caller's. */
static char *kind_today(const char *kind, size_t n)
{
	struct text today = TEXT_INIT;

	for (const struct alias *a = alias_list(); a->word; a++) {
		size_t word = strlen(a->word);
		if (!alias_is_earlier(a) || word > n || strncmp(kind, a->word, word) != 0 || (word < n && kind[word] != ' '))
			continue;
		text_add(&today, a->means);
		if (!strchr(a->word, ' ')) /* an option that became a command takes its argument's name along */
			text_add_n(&today, kind + word, n - word);
		return text_take(&today);
	}
	return xstrndup(kind, n);
}

static void read_columns(struct opened *o, const char *at)
{
	size_t n = strcspn(at, "\t");

	if (n == 0 || !at[n])
		return;
	char *kind = kind_today(at, n);
	if (!opened_columns(o, kind))
		opened_choose_columns(o, kind, at + n + 1);
	free(kind);
}

static void read_line(struct saved_state *k, struct opened *o, const char *line)
{
	if (strncmp(line, "mark ", 5) == 0)
		read_mark(k, o->heap, line + 5);
	else if (strncmp(line, "note ", 5) == 0)
		read_note(o, line + 5);
	else if (strncmp(line, "set ", 4) == 0)
		read_set(o, line + 4);
	else if (strncmp(line, "columns ", 8) == 0)
		read_columns(o, line + 8);
}

static void read_lines(struct saved_state *k, struct opened *o, char *bytes, size_t size)
{
	static const char begin[] = "cairn 1 ", end[] = "\nend\n";
	char *line = bytes, *behind;
	const char *at = bytes + sizeof begin - 1;
	uint64_t objects;

	if (size < sizeof end || strncmp(bytes, begin, sizeof begin - 1) != 0 ||
	    strcmp(bytes + size - (sizeof end - 1), end) != 0 || !take_number(&at, '\n', &objects) ||
	    objects != o->heap->n_objects)
		return;
	for (; (behind = strchr(line, '\n')) != NULL; line = behind + 1) {
		*behind = '\0';
		read_line(k, o, line);
	}
}

/* FNV-1a, the same in every run. */
static uint64_t sum_of(const char *s)
{
	uint64_t sum = UINT64_C(0xCBF29CE484222325);

	for (; *s; s++)
		sum = (sum ^ (uint8_t)*s) * UINT64_C(0x100000001B3);
	return sum;
}

void saved_state_read(struct saved_state *k, const char *dump, struct opened *o)
{
	struct text name = TEXT_INIT;
	struct stat st;
	size_t size = 0;

	if (file_stat(dump, &st) != 0)
		return;
	text_addf(&name, "dumps/%" PRIu64 "-%" PRId64 ".%09ld", (uint64_t)st.st_size, (int64_t)st.st_mtim.tv_sec,
	    (long)st.st_mtim.tv_nsec);
	if (file_member(dump)) /* each dump of an archive has its own */
		text_addf(&name, "-%016" PRIx64, sum_of(file_member(dump)));
	k->path = state_path(name.s, false);
	text_release(&name);
	int fd = k->path ? file_open_own(k->path, O_RDWR) : -1;
	if (fd < 0)
		return;
	k->existed = true;
	flock(fd, LOCK_SH);
	char *bytes = state_read(fd, &size);
	if (bytes)
		read_lines(k, o, bytes, size);
	free(bytes);
	close(fd);
}

/* --- writing ------------------------------------------------------------------------------------ */

static void add_line(struct text *to, const char *line)
{
	for (; *line; line++)
		text_add_char(to, *line == '\n' ? ' ' : *line);
	text_add_char(to, '\n');
}

static void add_set(struct text *to, const struct kept_set *set)
{
	size_t before = to->len;

	text_addf(to, "set %s ", set->name);
	for (size_t i = 0, last; i < set->n && to->len <= SETS_MOST; i = last + 1) {
		for (last = i; last + 1 < set->n && set->ids[last + 1] == set->ids[last] + 1;)
			last++;
		text_addf(to, i > 0 ? ",%" PRIu32 : "%" PRIu32, set->ids[i]);
		if (last > i)
			text_addf(to, "-%" PRIu32, set->ids[last]);
	}
	text_add(to, "\n");
	if (to->len > SETS_MOST) {
		to->len = before;
		to->s[before] = '\0';
	}
}

static bool anything(const struct saved_state *k, const struct opened *o)
{
	bool marked = false;

	for (size_t i = 0; i + 1 < MARKS; i++) /* where one left alone is no reason to write */
		marked |= k->mark[i].line != NULL;
	return marked || o->n_notes > 0 || o->n_sets > 0 || o->n_columns > 0;
}

static void add_all(struct text *to, const struct saved_state *k, const struct opened *o)
{
	text_addf(to, "cairn 1 %" PRIu32 "\n", o->heap->n_objects);
	for (size_t i = 0; i < o->n_sets; i++)
		add_set(to, &o->sets[i]);
	for (size_t i = 0; i < MARKS; i++) {
		const struct mark *m = &k->mark[i];
		if (!m->line)
			continue;
		text_addf(to, "mark %c ", MARK_LETTERS[i]);
		if (m->id == HEAP_NONE)
			text_addf(to, "- %zu ", m->row);
		else
			text_addf(to, "%" PRIu32 " %zu ", m->id, m->row);
		add_line(to, m->line);
	}
	for (size_t i = 0; i < o->n_notes; i++) {
		text_addf(to, "note %" PRIu32 " ", o->notes[i].id);
		add_line(to, o->notes[i].text);
	}
	for (size_t i = 0; i < o->n_columns; i++) {
		text_addf(to, "columns %s\t", o->columns[i].kind);
		add_line(to, o->columns[i].names);
	}
	text_add(to, "end\n");
}

void saved_state_write(const struct saved_state *k, const struct opened *o)
{
	struct text all = TEXT_INIT;
	uint64_t refusals = mem_refusals();

	if (!k->path || (!k->existed && !anything(k, o)))
		return;
	if (!anything(k, o)) {
		unlink(k->path);
		return;
	}
	const char *dumps = strstr(k->path, "/dumps/");
	char *path = dumps ? state_path(dumps + 1, true) : NULL;
	int fd = path ? file_open_own(path, O_WRONLY | O_CREAT) : -1;
	free(path);
	if (fd < 0)
		return;
	add_all(&all, k, o);
	flock(fd, LOCK_EX);
	/* nothing is lost of a file that cannot be cut afterwards but what stood there before */
	if (refusals == mem_refusals() && all.len <= STATE_MOST && pwrite(fd, all.s, all.len, 0) == (ssize_t)all.len)
		(void)!ftruncate(fd, (off_t)all.len);
	text_release(&all);
	close(fd);
}

void saved_state_release(struct saved_state *k)
{
	for (size_t i = 0; i < MARKS; i++)
		free(k->mark[i].line);
	free(k->path);
	*k = (struct saved_state){.path = NULL};
}
