/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * javacore_find.c - the name of the javacore beside a heap dump.
 *
 * One event makes the VM write both files: DATE, TIME and PID in their names are those of the event, so they are
 * equal.  SEQ counts every file of the process, also those of other threads' events.  So the javacore of
 * heapdump.DATE.TIME.PID.SEQ.phd is javacore.DATE.TIME.PID.SEQ.txt with the same SEQ, else with the next higher one,
 * because the VM writes the heap dump first, else with the next lower one.  jdmpview converts
 * core.DATE.TIME.PID.SEQ.dmp into a heap dump with .phd after that name.
 * Older VMs write no SEQ and look at the clock for each file: heapdump.DATE.TIME.PID and heapdumpPID.EPOCH have a
 * javacore with the same time or one up to LATER_SECONDS or LATER_EPOCH_SECONDS later.  The javacore of a dump in an
 * archive is in the same archive, or next to it.
 */
#include "dump/javacore/javacore_read.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/suffixes.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/text.h"
#include "dump/source/source.h"

#define LATER_SECONDS 120      /* Java 1.4.2 */
#define LATER_EPOCH_SECONDS 300 /* the same on AIX */
#define DIGITS_MAX 18

static bool all_digits(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
	}
	return n > 0 && n <= DIGITS_MAX;
}

/* The search: what stands before the word "javacore" in all names, and how it ended. */
struct search {
	const char *head; /* directory and prefix */
	size_t head_size;
	char *path;       /* found; NULL: not yet */
	char *passed;     /* of the same process at another time; NULL: none was seen */
	int error;        /* of the first name of which the system did not say whether it is there */
	struct text at;   /* that name */
	struct source_members *members; /* of the archive that the dump is in; NULL: it is in none */
	size_t name_at;   /* where the names of members begin in paths */
};

/* Is there a file of this name in the archive? */
static bool is_member(const struct search *s, const char *path)
{
	const char *name = path + s->name_at;
	for (size_t i = 0; i < s->members->n; i++)
		if (!strcmp(s->members->member[i].name, name) && !s->members->member[i].encrypted)
			return true;
	return false;
}

/* A dump in an archive has its javacore there.  One that is packed as a whole, or in another one, would have to be
 * unpacked once more for that: there none is looked for. */
static void look_into_archive(struct search *s, const char *dump_path)
{
	uint8_t head[SOURCE_HEAD];
	const char *member = file_member(dump_path);
	char *file = member ? xstrndup(dump_path, (size_t)(member - dump_path)) : NULL;
	int fd = file && !strstr(member + 2, "::") ? source_peek(file) : -1;
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof head, 0);
	if (n > 0 && source_is_archive(head, (size_t)n) && source_members(&s->members, file, NULL, NULL, NULL))
		s->members = NULL;
	s->name_at = member ? (size_t)(member - dump_path) + 2 : 0;
	if (fd >= 0)
		close(fd);
	free(file);
}

static bool is_over(const struct search *s)
{
	return s->path || s->error;
}

/* head + "javacore" + stem + ".txt", if that is a file. */
static void try_stem(struct search *s, const char *stem, size_t stem_size)
{
	struct text t = TEXT_INIT;
	text_add_n(&t, s->head, s->head_size);
	text_add(&t, "javacore");
	text_add_n(&t, stem, stem_size);
	text_add(&t, ".txt");
	struct stat st;
	if (s->members) {
		if (is_member(s, t.s))
			s->path = text_take(&t);
	} else if (stat(t.s, &st) == 0) {
		if (S_ISREG(st.st_mode))
			s->path = text_take(&t);
	} else if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG) {
		s->error = errno;
		text_add_escaped(&s->at, t.s, t.len);
	}
	text_release(&t);
}

/* The same with the number in the stem's last size bytes replaced. */
static void try_number(struct search *s, const char *stem, size_t before, size_t size, uint64_t number)
{
	struct text t = TEXT_INIT;
	text_add_n(&t, stem, before);
	text_addf(&t, "%0*" PRIu64, (int)size, number);
	try_stem(s, t.s, t.len);
	text_release(&t);
}

/* --- DATE.TIME.PID.SEQ -------------------------------------------------------------------------- */

/* A javacore of the event, by its SEQ, or of the same process at another time, by its DATE.TIME. */
struct nearest {
	char *path;  /* NULL: none yet */
	bool above;  /* number is above what is looked for */
	uint64_t by; /* by so much it differs */
};

/* Keep this one if it is nearer; any above is nearer than all below. */
static void keep_nearest(struct nearest *n, const char *path, uint64_t number, uint64_t wanted)
{
	bool above = number > wanted;
	uint64_t by = above ? number - wanted : wanted - number;
	if (n->path && (n->above != above ? n->above : n->by <= by))
		return;
	free(n->path);
	*n = (struct nearest){ xstrdup(path), above, by };
}

/* What follows "." in [*p, end) and has only digits; false: nothing. */
static bool take_number(const char **p, const char *end, uint64_t *number)
{
	size_t n = 1;
	while (*p + n < end && (*p)[n] >= '0' && (*p)[n] <= '9')
		n++;
	if (*p >= end || **p != '.' || !all_digits(*p + 1, n - 1))
		return false;
	*number = strtoull(*p + 1, NULL, 10);
	*p += n;
	return true;
}

/* ".DATE.TIME.PID.SEQ". */
struct event {
	uint64_t stamp; /* DATE and TIME in one number */
	uint64_t pid, seq;
};

static bool event_of(const char *s, size_t n, struct event *e)
{
	const char *p = s, *end = s + n;
	uint64_t date, time;
	if (!take_number(&p, end, &date) || date > 99999999 || !take_number(&p, end, &time) || time > 999999 ||
	    !take_number(&p, end, &e->pid) || !take_number(&p, end, &e->seq))
		return false;
	e->stamp = date * 1000000 + time;
	return p == end;
}

/* What the names of the directory, or of the archive's members, are compared with. */
struct comparison {
	struct search *search;
	const char *prefix; /* of the names: what stands before "javacore" in the last part of the path */
	size_t prefix_size;
	struct event event; /* of the dump */
	struct nearest same, passed;
};

/* A file of this name is there. */
static void compare_name(struct comparison *c, const char *name)
{
	static const char word[] = "javacore", ending[] = ".txt";
	size_t n = strlen(name), head = c->prefix_size + sizeof word - 1;
	struct event e;
	if (n < head + sizeof ending || strncmp(name, c->prefix, c->prefix_size) ||
	    strncmp(name + c->prefix_size, word, sizeof word - 1) || strcmp(name + n - (sizeof ending - 1), ending) ||
	    !event_of(name + head, n - head - (sizeof ending - 1), &e) || e.pid != c->event.pid)
		return;
	struct text path = TEXT_INIT;
	text_add_n(&path, c->search->head, c->search->head_size - c->prefix_size);
	text_add(&path, name);
	struct stat st;
	if (!c->search->members && (stat(path.s, &st) || !S_ISREG(st.st_mode)))
		; /* it went away, or is no file */
	else if (e.stamp == c->event.stamp)
		keep_nearest(&c->same, path.s, e.seq, c->event.seq);
	else
		keep_nearest(&c->passed, path.s, e.stamp, c->event.stamp);
	text_release(&path);
}

/* Compare the names of the dump's directory.  The system may let names be opened but not listed: then the two
 * numbers next to the dump's are tried. */
static void compare_directory(struct comparison *c, const char *stem, size_t before, size_t digits)
{
	struct search *s = c->search;
	char *name = xstrndup(s->head, s->head_size - c->prefix_size);
	DIR *directory = opendir(*name ? name : ".");
	for (struct dirent *d; directory && (d = readdir(directory));)
		compare_name(c, d->d_name);
	if (directory)
		closedir(directory);
	free(name);
	if (directory)
		return;
	try_number(s, stem, before, digits, c->event.seq + 1);
	if (!is_over(s) && c->event.seq)
		try_number(s, stem, before, digits, c->event.seq - 1);
}

/* stem is ".DATE.TIME.PID.SEQ", and no javacore has just that. */
static void try_event(struct search *s, const char *stem, size_t before, size_t digits, const struct event *event)
{
	const char *slash = s->head_size ? memrchr(s->head, '/', s->head_size) : NULL;
	struct comparison c = { .search = s, .event = *event };
	c.prefix = s->members ? s->head + s->name_at : slash ? slash + 1 : s->head;
	c.prefix_size = s->head_size - (size_t)(c.prefix - s->head);
	if (s->members)
		for (size_t i = 0; i < s->members->n; i++)
			compare_name(&c, s->members->member[i].encrypted ? "" : s->members->member[i].name);
	else
		compare_directory(&c, stem, before, digits);
	if (!is_over(s)) {
		s->path = c.same.path;
		s->passed = c.passed.path;
		return;
	}
	free(c.same.path);
	free(c.passed.path);
}

/* --- older names -------------------------------------------------------------------------------- */

/* Seconds of a day as HHMMSS. */
static uint64_t clock_number(uint64_t seconds)
{
	return seconds / 3600 * 10000 + seconds / 60 % 60 * 100 + seconds % 60;
}

/* ".DATE.TIME.PID": the javacore's TIME may be later. */
static void try_later(struct search *s, const char *stem, size_t stem_size)
{
	const char *date = stem + 1, *end = stem + stem_size;
	const char *time = memchr(date, '.', (size_t)(end - date));
	const char *pid = time ? memchr(time + 1, '.', (size_t)(end - time - 1)) : NULL;
	if (!pid || pid - time != 7 || !all_digits(time + 1, 6))
		return;
	uint64_t hms = strtoull(time + 1, NULL, 10);
	uint64_t at = hms / 10000 * 3600 + hms / 100 % 100 * 60 + hms % 100;
	for (uint64_t later = 1; !is_over(s) && later <= LATER_SECONDS && at + later < 86400; later++) {
		struct text t = TEXT_INIT;
		text_add_n(&t, stem, (size_t)(time + 1 - stem));
		text_addf(&t, "%06" PRIu64, clock_number(at + later));
		text_add_n(&t, pid, (size_t)(end - pid));
		try_stem(s, t.s, t.len);
		text_release(&t);
	}
}

/* stem is what stands between "heapdump" and the extension: ".DATE.TIME.PID.SEQ". */
static void try_all(struct search *s, const char *stem, size_t stem_size)
{
	size_t dots = 0, last = 0;
	for (size_t i = 0; i < stem_size; i++) {
		if (stem[i] == '.') {
			dots++;
			last = i + 1;
		}
	}
	try_stem(s, stem, stem_size);
	size_t digits = stem_size - last;
	if (is_over(s) || dots == 0 || !all_digits(stem + last, digits))
		return;
	uint64_t number = strtoull(stem + last, NULL, 10);
	struct event event;
	if (event_of(stem, stem_size, &event)) {
		try_event(s, stem, last, digits, &event);
	} else if (dots == 3 && stem[0] == '.') {
		try_later(s, stem, stem_size);
	} else if (dots == 1 && all_digits(stem, last - 1)) {
		/* heapdumpPID.EPOCH */
		for (uint64_t i = 1; !is_over(s) && i <= LATER_EPOCH_SECONDS; i++)
			try_number(s, stem, last, digits, number + i);
	}
}

/* The word before which a prefix may be, and after which the stem begins; the last such word counts.  NULL: the name
 * has none. */
static const char *last_word(const char *name, const char *word)
{
	const char *last = NULL;
	for (const char *p = name; (p = strstr(p, word)); p++)
		last = p;
	return last;
}

/* The same only in the archive that the dump is in, or next to the dump; *out and *passed are NULL. */
static int find_near(char **out, char **passed, const char *dump_path, struct err *err)
{
	const char *base = strrchr(dump_path, '/');
	base = base ? base + 1 : dump_path;
	static const char *const formats[] = {".phd", ".txt", NULL}, *const cores[] = {".dmp", NULL};
	const char *name = "heapdump", *word = last_word(base, name);
	bool converted = !word && (word = last_word(base, "core.")) != NULL;
	if (!word)
		return 0;
	name = converted ? "core" : name;
	const char *stem = word + strlen(name);
	size_t n = strlen(word); /* where the word is all there is before an ending, that is one */
	n -= suffix_of_packed(word, n);
	n -= suffix_of(word, n, formats);
	n -= converted ? suffix_of(word, n, cores) : 0;
	n -= strlen(name);
	struct search s = {.head = dump_path, .head_size = (size_t)(word - dump_path), .at = TEXT_INIT};
	look_into_archive(&s, dump_path);
	try_all(&s, stem, n);
	source_members_free(s.members);
	if (s.error)
		err_set(err, ERR_IO, "%s: %s", s.at.s, strerror(s.error));
	*out = s.path;
	if (passed && !s.path && !s.error)
		*passed = s.passed;
	else
		free(s.passed);
	text_release(&s.at);
	return s.error ? ERR_IO : 0;
}

/* Where the dump would be if it were unpacked next to its archive; NULL: it is in none. */
static char *next_to_archive(const char *dump_path)
{
	const char *member = file_member(dump_path);
	const char *slash = member ? memrchr(dump_path, '/', (size_t)(member - dump_path)) : NULL;
	const char *name = member ? strrchr(member, '/') : NULL;
	struct text t = TEXT_INIT;

	if (!member)
		return NULL;
	text_add_n(&t, dump_path, slash ? (size_t)(slash + 1 - dump_path) : 0);
	text_add(&t, name ? name + 1 : member + 2);
	return text_take(&t);
}

int javacore_find(char **out, char **passed, const char *dump_path, struct err *err)
{
	char *path = NULL;

	*out = NULL;
	if (passed)
		*passed = NULL;
	if (source_is_process(dump_path)) {
		const char *javacore = source_process_javacore(dump_path);
		*out = javacore ? xstrdup(javacore) : NULL;
		return 0;
	}
	int code = find_near(out, passed, dump_path, err);
	if (code == 0 && !*out && !(passed && *passed) && (path = next_to_archive(dump_path)))
		code = find_near(out, passed, path, err);
	free(path);
	return code;
}
