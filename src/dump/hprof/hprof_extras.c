/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_extras.c - what HPROF has no place for, in texts behind that of the origin (hprof_origin.c), one each:
 *
 *     exported by cairn: cause Dump Event "user" (00004000) received
 *     exported by cairn: process_id 4711
 *     exported by cairn: owners
 *     exported by cairn: thread 12 4723 blocked; java.lang.Object 0xe0000af0, owned by main
 *     exported by cairn: root 0xe0000af0 12 3 monitor
 *
 * Numbers of threads are those of the file; frames count from the innermost, -1 is none.  A redacted copy has none of
 * them: no record of the file refers to these texts.
 */
#include "dump/hprof/hprof_dump.h"

#include "base/mem.h"
#include "base/progress.h"
#include "dump/process.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char begin[] = "exported by cairn: ";
enum { BEGIN = sizeof begin - 1, LONGEST = 1 << 16, THREAD_LONGEST = 4096, WAITS_LONGEST = 3000 }; /* bytes */

/* Two kinds that lack their thread or frame in HPROF, and those that are unknown there. */
static const struct {
	const char *word;
	enum root_kind kind;
} kinds[] = {{"monitor", ROOT_BUSY_MONITOR}, {"thread block", ROOT_THREAD_BLOCK}, {"unknown", ROOT_UNKNOWN},
    {"finalizable", ROOT_FINALIZABLE}, {"vm internal", ROOT_VM_INTERNAL}, {"interned string", ROOT_INTERNED_STRING},
    {"reference cleanup", ROOT_REFERENCE_CLEANUP}, {"debugger", ROOT_DEBUGGER}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* --- writing --------------------------------------------------------------------------------------- */

bool hprof_extra_process(struct process_facts *p, size_t i, struct text *to)
{
	const struct process_fact *f = process_fact(i);
	if (f && f->exported && f->number && *process_number(p, f))
		text_addf(to, "%s%s %" PRIu64, begin, f->word, *process_number(p, f));
	else if (f && f->exported && !f->number && *process_text(p, f))
		text_addf(to, "%s%s %s", begin, f->word, *process_text(p, f));
	return f;
}

void hprof_extra_owners(struct text *to)
{
	text_addf(to, "%sowners", begin);
}

void hprof_extra_thread(const struct hprof_extra_thread *t, struct text *to)
{
	bool waits = t->waits_for && strlen(t->waits_for) <= WAITS_LONGEST;
	text_addf(to, "%sthread %" PRIu32 " %" PRIu64 " %s%s%s", begin, t->serial, t->native_id, t->state ? t->state : "",
	    waits ? "; " : "", waits ? t->waits_for : "");
}

void hprof_extra_root(const struct hprof_extra_root *r, struct text *to)
{
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].kind == r->kind)
			text_addf(to, "%sroot 0x%" PRIx64 " %" PRIu32 " %" PRId32 " %s", begin, r->address, r->thread,
			    (int32_t)r->frame, kinds[i].word);
}

/* --- reading --------------------------------------------------------------------------------------- */

/* The text behind `begin` of the record at this offset, empty if it has more bytes than that; false: it is another
 * record. */
static bool extra_at(const struct hprof *h, uint64_t at, uint64_t most, struct text *to, uint64_t *size)
{
	const uint8_t *p = h->dump.source->bytes + at;
	uint64_t head = RECORD_HEAD + h->id_size;

	text_clear(to);
	if (at > h->end || h->end - at < head + BEGIN || *p != HPROF_UTF8 || memcmp(p + head, begin, BEGIN))
		return false;
	uint64_t n = load_be32(p + 5);
	if (n < h->id_size + BEGIN || n > h->end - at - RECORD_HEAD)
		return false;
	*size = RECORD_HEAD + n;
	if (n <= most)
		text_add_modified_utf8(to, p + head + BEGIN, n - h->id_size - BEGIN);
	if (!to->len || memchr(to->s, '\0', to->len))
		text_clear(to);
	return true;
}

static void take_fact(struct process_facts *p, const char *text)
{
	const struct process_fact *f;
	for (size_t i = 0; (f = process_fact(i)); i++) {
		size_t n = strlen(f->word);
		if (!f->exported || strncmp(text, f->word, n) || text[n] != ' ')
			continue;
		if (f->number) {
			*process_number(p, f) = strtoull(text + n + 1, NULL, 10);
		} else if (!*process_text(p, f)) { /* a file may have many */
			struct text shown = TEXT_INIT;
			text_add_escaped(&shown, text + n + 1, strlen(text + n + 1));
			*process_text(p, f) = shown.len ? arena_strndup(&p->arena, shown.s, shown.len) : NULL;
			text_release(&shown);
		}
	}
}

/* Which record a root of the kind has: a bit. */
static unsigned record_of(enum root_kind kind)
{
	return kind == ROOT_BUSY_MONITOR || kind == ROOT_THREAD_BLOCK ? 1u << kind : 1u << ROOT_UNKNOWN;
}

static int take_root(struct hprof *h, const char *text, struct err *err)
{
	char *rest;
	struct root_record root = {.address = strtoull(text, &rest, 16)};
	uint64_t bits = idmap_get(&h->replaced, root.address);
	size_t i = 0;

	root.thread_serial = strtoull(rest, &rest, 10);
	root.frame = (uint32_t)strtoull(rest, &rest, 10);
	while (i < KINDS && (*rest != ' ' || strcmp(rest + 1, kinds[i].word) != 0))
		i++;
	if (i == KINDS || !root.address)
		return 0;
	root.kind = kinds[i].kind;
	bits = (bits == IDMAP_NONE ? 0 : bits) | record_of(root.kind);
	return BIG_ADD(h->extra_root, h->n_extra_roots, h->cap_extra_roots, err, root) ? ERR_NOMEM :
	    idmap_put(&h->replaced, root.address, bits, err);
}

int hprof_extras_read(struct hprof *h, uint64_t at, struct err *err)
{
	struct text t = TEXT_INIT;
	uint64_t size;
	int code = 0;

	for (uint64_t i = 0; code == 0 && extra_at(h, at, LONGEST, &t, &size); i++, at += size) {
		if (progress_own_stops(i))
			code = err_cancelled(err);
		if (!t.len)
			continue;
		if (!h->dump.process)
			h->dump.process = process_new();
		if (!strncmp(t.s, "thread ", 7))
			code = idmap_put(&h->extra_threads, strtoull(t.s + 7, NULL, 10), at, err);
		else if (!strncmp(t.s, "root ", 5))
			code = take_root(h, t.s + 5, err);
		else if (!strcmp(t.s, "owners"))
			h->dump.facts.owners_recorded = true;
		else
			take_fact(h->dump.process, t.s);
	}
	text_release(&t);
	return code;
}

void hprof_thread_extra(const struct hprof *h, struct thread_record *to, struct text *state, struct text *waits)
{
	struct text t = TEXT_INIT;
	uint64_t at = idmap_get(&h->extra_threads, to->serial), size;
	char *rest;

	/* any number of threads may have this serial */
	if (at != IDMAP_NONE && extra_at(h, at, THREAD_LONGEST, &t, &size) && t.len && !strncmp(t.s, "thread ", 7)) {
		strtoull(t.s + 7, &rest, 10);
		to->native_id = strtoull(rest, &rest, 10);
		rest += *rest == ' ';
		size_t n = strcspn(rest, ";");
		text_add_n(state, rest, n);
		if (n)
			to->state = state->s;
		if (rest[n] && rest[n + 1] == ' ') {
			text_add(waits, rest + n + 2);
			to->waits_for = waits->s;
		}
	}
	text_release(&t);
}

bool hprof_root_replaced(const struct hprof *h, const struct root_record *root)
{
	unsigned record = root->kind == ROOT_BUSY_MONITOR || root->kind == ROOT_THREAD_BLOCK ||
	    root->kind == ROOT_UNKNOWN ? record_of(root->kind) : 0;
	uint64_t bits = record && h->n_extra_roots ? idmap_get(&h->replaced, root->address) : IDMAP_NONE;
	return bits != IDMAP_NONE && bits & record;
}
