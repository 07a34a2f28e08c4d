/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * javacore_process.c - what a javacore says of the process: the title (TI), the platform (XH), the
 * environment (CI), the native memory (MEMUSER) and the memory (ST) sections.
 *
 * Of lines that stand once the first counts.  Tags: OpenJ9 documentation, "Java dump", and real files.
 */
#include "dump/javacore/javacore_read.h"

#include "base/masking.h"
#include "dump/process.h"
#include "dump/token.h"
#include "memory/big.h"

#include <string.h>

static struct process_facts *facts(struct javacore_reading *r)
{
	return r->j->process;
}

static const char *keep(struct javacore_reading *r, const struct text *t)
{
	const char *kept = arena_try_strndup(&facts(r)->arena, t->s ? t->s : "", t->len, r->err);
	r->refused |= !kept;
	return kept;
}

const char *javacore_told(struct javacore_reading *r, struct span s)
{
	struct text whole = TEXT_INIT, masked = TEXT_INIT;
	s = span_trim(s);
	if (s.p == s.end)
		return NULL;
	javacore_text(r, s, &whole);
	if (whole.len)
		masking_mask(whole.s, whole.len, &masked);
	const char *kept = keep(r, &masked);
	text_release(&whole);
	text_release(&masked);
	return kept;
}

static void tell_once(struct javacore_reading *r, const char **to, struct span s)
{
	if (!*to)
		*to = javacore_told(r, s);
}

/* Decimal digits behind a word, and blanks between; 0: none, or more than 64 bits. */
static uint64_t number_after(struct span s, const char *word)
{
	const uint8_t *p = span_find(s, word);
	uint64_t n = 0;
	if (!p)
		return 0;
	for (p = skip_blanks(p + strlen(word), s.end); p < s.end && is_decimal(*p); p++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return 0;
	return n;
}

static void number_once(uint64_t *to, struct span s, const char *word)
{
	if (!*to)
		*to = number_after(s, word);
}

/* --- single lines ------------------------------------------------------------------------------- */

/* Dump Event "systhrow" (00040000) Detail "java/lang/OutOfMemoryError" received */
void javacore_cause(struct javacore_reading *r, struct span s)
{
	if (!facts(r)->cause)
		r->j->out_of_memory = span_find(s, "Detail \"java/lang/OutOfMemoryError\"") != NULL;
	tell_once(r, &facts(r)->cause, s);
}

/* Dump Event "user" (00004000) received */
bool javacore_was_wanted(const struct process_facts *p)
{
	return p->cause && strstr(p->cause, "Dump Event \"user\"");
}

/* JVM start time: 2016/04/04 at 08:34:17:314 */
void javacore_started(struct javacore_reading *r, struct span s)
{
	char date[sizeof JAVACORE_DATE];
	if (!facts(r)->started && javacore_date(s, "start time:", date))
		facts(r)->started = arena_strndup(&facts(r)->arena, date, sizeof date - 1);
}

/* Process ID: 9480 (0x2508) */
void javacore_process_id(struct javacore_reading *r, struct span s)
{
	number_once(&facts(r)->process_id, s, "Process ID:");
}

void javacore_command_line(struct javacore_reading *r, struct span s)
{
	tell_once(r, &facts(r)->command_line, s);
}

void javacore_vm_version(struct javacore_reading *r, struct span s)
{
	tell_once(r, &facts(r)->vm_version, s);
}

/* "OS Level         : Linux 5.14.0" */
static struct span behind_colon(struct span s)
{
	const uint8_t *colon = span_find(s, ":");
	return colon ? (struct span){colon + 1, s.end} : s;
}

void javacore_os(struct javacore_reading *r, struct span s)
{
	tell_once(r, &facts(r)->os, behind_colon(s));
}

/* How Many       : 4 */
void javacore_cpus(struct javacore_reading *r, struct span s)
{
	number_once(&facts(r)->cpus, s, ":");
}

/* Signal_Number: 0000000B, after J9Generic_Signal_Number */
void javacore_signal(struct javacore_reading *r, struct span s)
{
	if (span_starts(s, "Signal_Number:") && !facts(r)->signal)
		facts(r)->signal = span_hex_after(s, "Signal_Number:");
}

/* Total memory:                     5242880 (0x0000000000500000) */
void javacore_heap_total(struct javacore_reading *r, struct span s)
{
	number_once(&facts(r)->heap_total, s, ":");
}

void javacore_heap_used(struct javacore_reading *r, struct span s)
{
	number_once(&facts(r)->heap_used, s, ":");
}

/* Bytes of Heap Space Free: F98F00, then Bytes of Heap Space Allocated: 1000000 (J9 up to 2.5) */
void javacore_heap_free(struct javacore_reading *r, struct span s)
{
	r->heap_free = span_hex_after(s, "Heap Space Free:");
}

void javacore_heap_allocated(struct javacore_reading *r, struct span s)
{
	uint64_t total = span_hex_after(s, "Heap Space Allocated:");
	if (facts(r)->heap_total || !total || r->heap_free > total)
		return;
	facts(r)->heap_total = total;
	facts(r)->heap_used = r->heap_free ? total - r->heap_free : 0;
}

/* --- lists -------------------------------------------------------------------------------------- */

static void add(struct javacore_reading *r, struct process_settings *to, struct process_setting setting)
{
	struct process_setting *at = r->refused ? NULL : BIG_PUSH(to->list, to->n, to->cap, r->err);
	r->refused |= !at;
	if (at)
		*at = setting;
}

/* -Xmx5m: of several the last counts. */
static void take_heap_max(struct javacore_reading *r, struct span s)
{
	char word[24];
	uint64_t size;
	if (!span_starts(s, "-Xmx") || span_size(s) - 4 >= sizeof word)
		return;
	memcpy(word, s.p + 4, span_size(s) - 4);
	word[span_size(s) - 4] = '\0';
	if (parse_size(word, &size))
		facts(r)->heap_max = size;
}

void javacore_argument(struct javacore_reading *r, struct span s)
{
	s = span_trim(s);
	take_heap_max(r, s);
	const char *value = javacore_told(r, s);
	if (value)
		add(r, &facts(r)->arguments, (struct process_setting){.value = value});
}

/* The next word of *s, which moves behind it; empty at the end. */
static struct span next_word(struct span *s)
{
	struct span word = {skip_blanks(s->p, s->end), s->end};
	s->p = word.p;
	while (s->p < s->end && !is_blank(*s->p))
		s->p++;
	word.end = s->p;
	return word;
}

/* RLIMIT_NOFILE                   262144               262144 */
void javacore_limit(struct javacore_reading *r, struct span s)
{
	struct span name = next_word(&s), soft = next_word(&s), hard = next_word(&s);
	if (span_size(hard))
		add(r, &facts(r)->limits, (struct process_setting){javacore_told(r, name), javacore_told(r, soft),
		    javacore_told(r, hard)});
}

/* NAME=VALUE; Windows has names that begin with =. */
void javacore_variable(struct javacore_reading *r, struct span s)
{
	const uint8_t *equals = span_size(s) > 1 ? memchr(s.p + 1, '=', span_size(s) - 1) : NULL;
	struct text name = TEXT_INIT, value = TEXT_INIT, masked = TEXT_INIT;
	if (!equals)
		return;
	javacore_text(r, (struct span){s.p, equals}, &name);
	javacore_text(r, (struct span){equals + 1, s.end}, &value);
	masking_secret_value(name.s ? name.s : "", name.len, value.s ? value.s : "", value.len, &masked);
	add(r, &facts(r)->variables, (struct process_setting){.name = keep(r, &name), .value = keep(r, &masked)});
	text_release(&name);
	text_release(&value);
	text_release(&masked);
}

/* --- native memory ------------------------------------------------------------------------------ */

/* "7,897,936"; false: it is no such number. */
static bool grouped_number(struct span s, uint64_t *out)
{
	s = span_trim(s);
	bool any = false;
	*out = 0;
	for (const uint8_t *p = s.p; p < s.end; p++) {
		if (is_decimal(*p)) {
			any = true;
			if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, (uint64_t)(*p - '0'), out))
				return false;
		} else if (*p != ',') {
			return false;
		}
	}
	return any;
}

/* "JRE: 502,144,816 bytes / 2396 allocations", and of what that is made of
 * "|  |  +--Java Stack: 242,968 bytes / 17 allocations": a bar for each level above. */
void javacore_memory(struct javacore_reading *r, struct span s)
{
	struct process_memory m = {.deep = 0};
	const uint8_t *branch = span_find(s, "+--"), *colon = span_find_last(s, ": ");
	const uint8_t *slash = span_find_last(s, " bytes / ");
	const uint8_t *end = slash ? span_find((struct span){slash, s.end}, " allocation") : NULL;
	if (branch)
		for (const uint8_t *p = s.p; p < branch; p++)
			m.deep += *p == '|';
	m.deep += branch != NULL;
	struct span name = {branch ? branch + 3 : s.p, colon};
	if (!colon || !end || colon > slash || name.p > colon || m.deep >= PROCESS_MEMORY_DEEP ||
	    !grouped_number((struct span){colon + 1, slash}, &m.bytes) ||
	    !grouped_number((struct span){slash + strlen(" bytes / "), end}, &m.count) || r->refused)
		return;
	m.name = javacore_told(r, name);
	struct process_memory *to = m.name ? BIG_PUSH(facts(r)->memory, facts(r)->n_memory, facts(r)->cap_memory, r->err) :
	    NULL;
	r->refused |= m.name && !to;
	if (to)
		*to = m;
}
