/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * javacore.c - the javacore beside a heap dump: lines, character sets, class loaders.  What it says of the
 * process: javacore_process.c.
 *
 * Every line begins with a tag that says what it is.  The order of the sections varies and new tags
 * come with each release; so each line is read for itself, and lines with unknown tags are skipped.
 * Memory grows with what is kept: at most a small multiple of the file, which may have 1 GiB.
 */
#include "dump/javacore/javacore_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "dump/code_pages.h"
#include "dump/ebcdic.h"
#include "dump/process.h"
#include "dump/source/source.h"
#include "dump/token.h"
#include "memory/big.h"

#define SIZE_MAX_JAVACORE (UINT64_C(1) << 30)
#define LINE_MAX_JAVACORE (64u << 10)
#define SHADOWS_LOOK 4096

/* ---- spans ----------------------------------------------------------------------------------- */

struct span span_trim(struct span s)
{
	s.p = skip_blanks(s.p, s.end);
	while (s.end > s.p && is_blank(s.end[-1]))
		s.end--;
	return s;
}

bool span_starts(struct span s, const char *word)
{
	size_t n = strlen(word);
	return span_size(s) >= n && !memcmp(s.p, word, n);
}

const uint8_t *span_find(struct span s, const char *word)
{
	return memmem(s.p, span_size(s), word, strlen(word));
}

const uint8_t *span_find_last(struct span s, const char *word)
{
	size_t n = strlen(word);
	if (span_size(s) < n)
		return NULL;
	for (const uint8_t *p = s.end - n;; p--) {
		if (!memcmp(p, word, n))
			return p;
		if (p == s.p)
			return NULL;
	}
}

bool span_hex(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
	if (end - p >= 2 && is_prefix(p))
		p += 2;
	unsigned digits = 0;
	uint64_t v = 0;
	for (int d; p < end && (d = hex_value(*p)) >= 0; p++) {
		if (++digits > 16)
			return false;
		v = v << 4 | (unsigned)d;
	}
	*value = v;
	return digits > 0;
}

uint64_t span_hex_after(struct span s, const char *word)
{
	uint64_t value = 0;
	const uint8_t *p = span_find(s, word);
	return p && span_hex(skip_blanks(p + strlen(word), s.end), s.end, &value) ? value : 0;
}

/* ---- character sets -------------------------------------------------------------------------- */

/* Open the charset of this name, which Java spells in its own ways ("1252", "Cp1252", "IBM-943"): one of a byte a
 * character here, others by one of iconv's spellings.  If that knows none of them, the text is taken for UTF-8. */
static void set_charset(struct javacore_reading *r, struct span s)
{
	char name[32], spelling[3][40];
	s = span_trim(s);
	size_t n = span_size(s);
	if (n == 0 || n >= sizeof name || r->has_charset || r->has_set || r->is_utf8)
		return;
	size_t kept = 0, digits = 0;
	for (size_t i = 0; i < n; i++) {
		if (s.p[i] <= ' ' || s.p[i] >= 0x7F || s.p[i] == '/')
			return; /* a slash would turn on iconv's own options */
		name[kept++] = (char)s.p[i];
		if (digits == i && is_decimal(s.p[i]))
			digits++;
	}
	name[kept] = '\0';
	if (!strcasecmp(name, "UTF-8") || !strcasecmp(name, "UTF8"))
		return;
	r->has_set = code_page_named(name, r->set);
	if (r->has_set)
		return;
	const char *number = name + strcspn(name, "0123456789");
	snprintf(spelling[0], sizeof spelling[0], "%s%s", digits == kept ? "CP" : "", name);
	snprintf(spelling[1], sizeof spelling[1], "CP%s", number);
	snprintf(spelling[2], sizeof spelling[2], "IBM%s", number);
	for (size_t i = 0; i < 3 && !r->has_charset; i++) {
		r->charset = iconv_open("UTF-8", spelling[i]);
		r->has_charset = r->charset != (iconv_t)-1;
	}
}

/* By the set's table; a byte that is no character stays, to be escaped. */
static void add_by_table(const uint16_t set[256], struct span s, struct text *utf8)
{
	for (const uint8_t *p = s.p; p < s.end; p++) {
		char bytes[4];
		if (*p < 0x80 || set[*p] == CODE_PAGE_NONE)
			text_add_char(utf8, (char)*p);
		else
			text_add_n(utf8, bytes, utf8_encode(bytes, set[*p]));
	}
}

void javacore_text(struct javacore_reading *r, struct span s, struct text *t)
{
	if (r->has_set) {
		struct text utf8 = TEXT_INIT;
		add_by_table(r->set, s, &utf8);
		if (utf8.s)
			text_add_escaped(t, utf8.s, utf8.len);
		text_release(&utf8);
	} else if (r->has_charset) {
		struct text utf8 = TEXT_INIT;
		char *from = (char *)(uintptr_t)s.p;
		size_t left = span_size(s);
		while (left > 0) {
			char buffer[512], *to = buffer;
			size_t room = sizeof buffer;
			size_t rc = iconv(r->charset, &from, &left, &to, &room);
			text_add_n(&utf8, buffer, (size_t)(to - buffer));
			if (rc == (size_t)-1 && errno != E2BIG && left > 0) {
				/* No character of that set: the byte stays, to be escaped below. */
				text_add_char(&utf8, *from++);
				left--;
			}
		}
		char last[64], *to = last;
		size_t room = sizeof last;
		iconv(r->charset, NULL, NULL, &to, &room); /* what a set holds back for an accent */
		text_add_n(&utf8, last, (size_t)(to - last));
		if (utf8.s)
			text_add_escaped(t, utf8.s, utf8.len);
		text_release(&utf8);
	} else {
		/* The VM writes names as it has them, in modified UTF-8: a letter may be a pair of surrogates. */
		struct text utf8 = TEXT_INIT;
		text_add_modified_utf8(&utf8, s.p, span_size(s));
		if (utf8.s)
			text_add_escaped(t, utf8.s, utf8.len);
		text_release(&utf8);
	}
}

const char *javacore_string(struct javacore_reading *r, struct span s)
{
	struct text t = TEXT_INIT;
	javacore_text(r, s, &t);
	const char *kept = arena_try_strndup(&r->j->arena, t.s, t.len, r->err);
	text_release(&t);
	r->refused |= !kept;
	return kept ? kept : "";
}

/* ---- title and environment ------------------------------------------------------------------- */

bool javacore_date(struct span s, const char *word, char out[sizeof JAVACORE_DATE])
{
	static const char shape[] = "nnnn/nn/nn at nn:nn:nn";
	static const unsigned from[] = { 0, 1, 2, 3, 5, 6, 8, 9, 14, 15, 17, 18, 20, 21 };
	static const unsigned to[] = { 0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18 };
	const uint8_t *p = span_find(s, word);
	if (!p)
		return false;
	p = skip_blanks(p + strlen(word), s.end);
	if ((size_t)(s.end - p) < sizeof shape - 1)
		return false;
	for (size_t i = 0; i < sizeof shape - 1; i++) {
		if (shape[i] == 'n' ? !is_decimal(p[i]) : p[i] != (uint8_t)shape[i])
			return false;
	}
	memcpy(out, JAVACORE_DATE, sizeof JAVACORE_DATE);
	for (size_t i = 0; i < sizeof from / sizeof *from; i++)
		out[to[i]] = (char)p[from[i]];
	return true;
}

/* Date: 2016/04/04 at 08:39:09:996 */
static void read_date(struct javacore_reading *r, struct span s)
{
	char date[sizeof JAVACORE_DATE];
	if (*r->j->date || !javacore_date(s, "Date:", date))
		return;
	r->j->date = arena_strndup(&r->j->arena, date, sizeof date - 1);
	r->j->process->cause_date = arena_strndup(&r->j->process->arena, date, sizeof date - 1);
}

/* The platform in the version ends in -32 or -64. */
static void read_java_version(struct javacore_reading *r, struct span s)
{
	s = span_trim(s);
	r->j->java_version = javacore_string(r, s);
	r->j->process->java_version = javacore_told(r, s);
	for (const uint8_t *p = s.p; s.end - p >= 3; p++) {
		if (*p != '-' || (s.end - p > 3 && !is_blank(p[3])))
			continue;
		if (!memcmp(p + 1, "32", 2) || !memcmp(p + 1, "64", 2)) {
			r->j->word_bits = p[1] == '3' ? 32 : 64;
			return;
		}
	}
}

static void read_gc_version(struct javacore_reading *r, struct span s)
{
	r->j->compressed_references = span_find(s, "_CMPRSS") != NULL;
}

/* ---- class loaders --------------------------------------------------------------------------- */

/* NAME(0xADDR…: both, or false. */
static bool name_and_address(struct span s, struct span *name, uint64_t *address)
{
	const uint8_t *p = span_find_last(s, "(0x");
	if (!p)
		return false;
	*name = span_trim((struct span){ s.p, p });
	return span_hex(p + 1, s.end, address);
}

/* p---st-- Loader *System*(0x…)[, Shadow 0x…][, Parent NAME(0x…)] */
static void read_loader(struct javacore_reading *r, struct span s)
{
	static const char word[] = "Loader ";
	const uint8_t *p = span_find(s, word);
	if (!p)
		return;
	struct javacore_loader loader = { .system = *s.p == 'p' };
	struct span own = { p + sizeof word - 1, s.end }, name;
	const uint8_t *parent = span_find_last(own, ", Parent ");
	if (parent) {
		struct span ignored;
		if (!name_and_address((struct span){ parent + 9, s.end }, &ignored, &loader.parent))
			loader.parent = 0;
		own.end = parent;
	}
	uint64_t shadow = span_hex_after(own, ", Shadow ");
	if (shadow)
		own.end = span_find(own, ", Shadow ");
	if (!name_and_address(own, &name, &loader.address))
		return;
	if (shadow) {
		struct javacore_shadow *to = BIG_PUSH(r->shadows, r->n_shadows, r->cap_shadows, r->err);
		r->refused |= !to;
		if (to)
			*to = (struct javacore_shadow){ loader.address, shadow };
		loader.address = shadow;
	}
	loader.system |= span_starts(name, "*System*");
	loader.name = javacore_string(r, name);
	struct javacore *j = r->j;
	struct javacore_loader *to = BIG_PUSH(j->loaders, j->n_loaders, j->cap_loaders, r->err);
	r->refused |= !to;
	if (to)
		*to = loader;
}

/* Loader NAME(0x…): its classes follow */
static void read_class_list(struct javacore_reading *r, struct span s)
{
	struct span name;
	if (!name_and_address(s, &name, &r->loader))
		r->loader = 0;
	for (size_t i = 0; i < r->n_shadows && i < SHADOWS_LOOK; i++) {
		if (r->shadows[i].vm == r->loader) {
			r->loader = r->shadows[i].object;
			break;
		}
	}
}

/* NAME(0xADDR[ shared]): the address is the VM's class, which is no heap object */
static void read_class(struct javacore_reading *r, struct span s)
{
	struct span name;
	uint64_t vm_class;
	if (!name_and_address(s, &name, &vm_class) || span_size(name) == 0 ||
	    span_starts(name, "[locked]") || span_starts(name, "[unknown]"))
		return;
	struct javacore *j = r->j;
	struct javacore_class *to = BIG_PUSH(j->classes, j->n_classes, j->cap_classes, r->err);
	r->refused |= !to;
	if (to)
		*to = (struct javacore_class){ r->loader, vm_class, javacore_string(r, name) };
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void begin_section(struct javacore_reading *r, struct span s)
{
	(void)s;
	javacore_end_thread(r);
	r->next_is_current = false;
	r->lock_object = 0;
}

static const struct {
	const char *tag;
	javacore_line *line;
} handlers[] = {
	{ "0SECTION", begin_section },
	{ "1TICHARSET", set_charset },
	{ "1TISIGINFO", javacore_cause },
	{ "1TIDATETIME", read_date },
	{ "1XHEXCPCODE", javacore_signal },
	{ "2XHOSLEVEL", javacore_os },
	{ "3XHNUMCPUS", javacore_cpus },
	{ "1CIVMVERSION", javacore_vm_version },
	{ "1CISTARTTIME", javacore_started },
	{ "1CIPROCESSID", javacore_process_id },
	{ "1CICMDLINE", javacore_command_line },
	{ "2CIUSERARG", javacore_argument },
	{ "2CIUSERLIMIT", javacore_limit },
	{ "2CIENVVAR", javacore_variable },
	{ "1STHEAPTOTAL", javacore_heap_total },
	{ "1STHEAPINUSE", javacore_heap_used },
	{ "1STHEAPFREE", javacore_heap_free },
	{ "1STHEAPALLOC", javacore_heap_allocated },
	{ "1MEMUSER", javacore_memory },
	{ "2MEMUSER", javacore_memory },
	{ "3MEMUSER", javacore_memory },
	{ "4MEMUSER", javacore_memory },
	{ "5MEMUSER", javacore_memory },
	{ "6MEMUSER", javacore_memory },
	{ "7MEMUSER", javacore_memory },
	{ "8MEMUSER", javacore_memory },
	{ "9MEMUSER", javacore_memory },
	{ "1CIJAVAVERSION", read_java_version },
	{ "1CIGCVERSION", read_gc_version },
	{ "2CLTEXTCLLOADER", read_loader },
	{ "2CLTEXTCLLOAD", read_class_list },
	{ "3CLTEXTCLASS", read_class },
	{ "1XMCURTHDINFO", javacore_current_thread },
	{ "1XMTHDINFO", javacore_thread_list },
	{ "2XMFULLTHDDUMP", javacore_thread_list },
	{ "1XMTHDSUMMARY", javacore_thread_list },
	{ "3XMTHREADINFO", javacore_thread },
	{ "3XMTHREADINFO1", javacore_thread_native },
	{ "3XMJAVALTHREAD", javacore_thread_java },
	{ "3XMTHREADBLOCK", javacore_thread_block },
	{ "4XESTACKTRACE", javacore_frame_line },
	{ "5XESTACKTRACE", javacore_entered },
	{ "2LKMONINUSE", javacore_monitor_other },
	{ "2LKREGMON", javacore_monitor_other },
	{ "3LKMONOBJECT", javacore_monitor_object },
	{ "3LKWAITER", javacore_waiter },
	{ "3LKWAITNOTIFY", javacore_waiter },
};
#define N_HANDLERS (sizeof handlers / sizeof *handlers)

static void one_line(struct javacore_reading *r, struct span s)
{
	if (span_size(s) > LINE_MAX_JAVACORE)
		s.end = s.p + LINE_MAX_JAVACORE;
	struct span tag = { s.p, s.p };
	while (tag.end < s.end && !is_blank(*tag.end))
		tag.end++;
	for (size_t i = 0; i < N_HANDLERS; i++) {
		if (strlen(handlers[i].tag) == span_size(tag) && span_starts(tag, handlers[i].tag)) {
			r->any_tag = true;
			s.p = skip_blanks(tag.end, s.end);
			handlers[i].line(r, s);
			return;
		}
	}
}

/* ---- the file -------------------------------------------------------------------------------- */

static const uint8_t *skip_mark(const uint8_t *p, const uint8_t *end)
{
	return end - p >= 3 && !memcmp(p, "\xEF\xBB\xBF", 3) ? p + 3 : p;
}

/* z/OS: the first line is a section or a separator in EBCDIC. */
static bool is_ebcdic(const uint8_t *p, const uint8_t *end)
{
	while (p < end && (*p == 0x15 || *p == 0x25 || *p == 0x0D))
		p++;
	return end - p >= 4 &&
	    (!memcmp(p, "\xF0\xE2\xC5\xC3", 4) || !memcmp(p, "\xD5\xE4\xD3\xD3", 4));
}

static int read_all(struct javacore *j, const uint8_t *p, const uint8_t *end, bool is_utf8,
    struct err *err)
{
	struct javacore_reading r = {
		.j = j,
		.is_utf8 = is_utf8,
		.err = err,
		.thread = SIZE_MAX,
	};
	struct progress *work = progress_own();
	uint64_t round = 0;
	for (p = skip_mark(p, end); p < end && !r.refused && !progress_stops(work, round++);) {
		const uint8_t *line_end = find_line_end(p, end);
		one_line(&r, (struct span){ p, line_end });
		p = line_end < end ? past_line_end(line_end, end) : end;
	}
	if (!r.refused)
		javacore_assign_locks(&r);
	if (r.has_charset)
		iconv_close(r.charset);
	big_free(r.shadows);
	big_free(r.frames);
	big_free(r.monitors);
	big_free(r.locks);
	if (r.refused)
		return ERR_NOMEM;
	return r.any_tag ? 0 : err_set(err, ERR_FORMAT, "%s: not a javacore", j->path);
}

static int read_bytes(struct javacore *j, const uint8_t *p, uint64_t n, struct err *err)
{
	if (!is_ebcdic(p, p + n))
		return read_all(j, p, p + n, false, err);
	struct translated text;
	int rc = ebcdic_to_utf8(&text, p, n, 1047, err);
	if (rc < 0)
		return rc;
	rc = read_all(j, text.bytes, text.bytes + text.size, true, err);
	translated_release(&text);
	return rc;
}

static int read_source(struct javacore *j, const struct source *source, struct err *err)
{
	if (source->size > SIZE_MAX_JAVACORE)
		return err_set(err, ERR_FORMAT, "%s: not a javacore (more than 1 GiB)", j->path);
	return read_bytes(j, source->bytes, source->size, err);
}

static struct javacore *javacore_new(const char *path)
{
	struct javacore *j = xcalloc(1, sizeof *j);
	j->path = arena_strndup(&j->arena, path, strlen(path));
	j->java_version = j->date = "";
	j->current = SIZE_MAX;
	j->process = process_new();
	return j;
}

void javacore_glance(const char *path, struct text *cause)
{
	struct err err = ERR_INIT;
	uint8_t head[SOURCE_HEAD]; /* the section with the title is in it */
	int fd = source_peek(path);
	ssize_t n = fd < 0 ? 0 : pread(fd, head, sizeof head, 0);
	struct javacore *j = javacore_new(path);
	if (n > 0 && !read_bytes(j, head, (uint64_t)n, &err) && j->process->cause)
		text_add(cause, j->process->cause);
	javacore_close(j);
	if (fd >= 0)
		close(fd);
}

int javacore_open(struct javacore **out, char **passed, const char *path, const char *dump_path, struct err *err)
{
	char *found = NULL;
	*out = NULL;
	if (passed)
		*passed = NULL;
	int rc = 0;
	if (path)
		found = xstrdup(path);
	else
		rc = javacore_find(&found, passed, dump_path, err);
	if (!found)
		return rc;
	struct source *source = NULL;
	struct javacore *j = NULL;
	rc = source_open(&source, found, NULL, err);
	if (rc < 0)
		goto out;
	j = javacore_new(found);
	j->hold = file_hold_open(source_fd(source), "the javacore of the dump");
	rc = read_source(j, source, err);
out:
	source_close(source);
	free(found);
	if (rc < 0)
		javacore_close(j);
	else
		*out = j;
	return rc;
}

void javacore_close(struct javacore *j)
{
	if (!j)
		return;
	file_let_go(j->hold);
	process_free(j->process);
	big_free(j->loaders);
	big_free(j->classes);
	big_free(j->threads);
	arena_release(&j->arena);
	free(j);
}
