/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * steps.c - see steps.h.  Compiled without coverage itself.
 */
#include "steps.h"

#include "base/text.h"

#include <iconv.h>
#include <regex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#define BYTES_A_STEP 16 /* what a library gets done in the time of a block of ours, at least */

extern const char __executable_start; /* by the linker */

static _Thread_local struct {
	uint64_t stretch;  /* steps since the last look */
	uint64_t mark;     /* at so many the place is remembered: a power of two */
	uint64_t from, within;
	unsigned phase;
	bool in_work;
	struct counted counted[PHASES + 1];
} count = {.mark = 1, .phase = OUTSIDE_WORKS};

static uint64_t place(const void *pc)
{
	return (uint64_t)((const char *)pc - &__executable_start);
}

/* --- CAIRN_SLOW --------------------------------------------------------------------------------- */

static struct {
	uint64_t nanoseconds; /* 0: nothing waits */
	unsigned phase;
	_Atomic unsigned now;
	atomic_bool begun_by_main;
} slow;

static uint64_t nanoseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool is_main_thread(void)
{
	static _Thread_local int answer; /* 0: not asked yet */
	if (!answer)
		answer = gettid() == getpid() ? 1 : -1;
	return answer == 1;
}

static void wait_if_slow(uint64_t steps)
{
	if (atomic_load_explicit(&slow.now, memory_order_relaxed) != slow.phase ||
	    (is_main_thread() && !atomic_load(&slow.begun_by_main)))
		return;
	uint64_t end = nanoseconds() + steps * slow.nanoseconds;
	while (nanoseconds() < end)
		;
}

__attribute__((constructor)) static void read_environment(void)
{
	const char *wish = getenv("CAIRN_SLOW");
	const char *colon = wish ? strrchr(wish, ':') : NULL;
	if (!wish)
		return;
	for (unsigned i = 0; colon && i < PHASES; i++) {
		size_t n = strlen(phase_info[i].words);
		if (n == (size_t)(colon - wish) && !strncmp(wish, phase_info[i].words, n)) {
			slow.phase = i;
			slow.nanoseconds = strtoull(colon + 1, NULL, 10);
			return;
		}
	}
	fprintf(stderr, "CAIRN_SLOW=%s is no PHASE:NANOSECONDS\n", wish);
	exit(2);
}

/* --- counting ----------------------------------------------------------------------------------- */

static void add_steps(uint64_t n, const void *pc)
{
	count.stretch += n;
	if (count.stretch >= count.mark) {
		count.within = place(pc);
		while (count.stretch >= count.mark)
			count.mark *= 2;
	}
	if (slow.nanoseconds)
		wait_if_slow(n);
}

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	add_steps(1, __builtin_return_address(0));
}

/* A stretch ends, and another begins in this phase. */
static void end_stretch(unsigned phase, const void *pc)
{
	struct counted *c = &count.counted[count.phase];
	c->steps += count.stretch;
	if (count.stretch > c->longest.steps)
		c->longest = (struct stretch){count.stretch, count.from, count.within, place(pc)};
	count.stretch = 0;
	count.mark = 1;
	count.from = place(pc);
	count.phase = phase;
}

void steps_reset(void)
{
	memset(count.counted, 0, sizeof count.counted);
	count.in_work = false;
	count.stretch = 0;
	count.mark = 1;
	count.phase = OUTSIDE_WORKS;
	count.from = place(__builtin_return_address(0));
}

void steps_work(bool begins)
{
	count.in_work = begins;
	end_stretch(begins ? PHASE_NONE : OUTSIDE_WORKS, __builtin_return_address(0));
}

struct counted steps_in(unsigned phase)
{
	struct counted c = count.counted[phase];
	if (phase == count.phase) {
		c.steps += count.stretch;
		if (count.stretch > c.longest.steps)
			c.longest = (struct stretch){count.stretch, count.from, count.within, count.within};
	}
	return c;
}

/* --- looks at the cancel flag --------------------------------------------------------------------- */

void __real_progress_phase(struct progress *p, enum phase phase, uint64_t total);
bool __real_progress_add(struct progress *p, uint64_t n);
bool __real_progress_cancelled(struct progress *p);
int __real_progress_check(struct progress *p, struct err *err);
void __wrap_progress_phase(struct progress *p, enum phase phase, uint64_t total);
bool __wrap_progress_add(struct progress *p, uint64_t n);
bool __wrap_progress_cancelled(struct progress *p);
int __wrap_progress_check(struct progress *p, struct err *err);

/* A phase begins within a stretch: its steps so far count for the phase before, and the stretch goes
 * on, because nobody looked. */
void __wrap_progress_phase(struct progress *p, enum phase phase, uint64_t total)
{
	if (p) {
		atomic_store(&slow.begun_by_main, is_main_thread());
		atomic_store(&slow.now, phase);
	}
	if (p && count.in_work) {
		uint64_t so_far = count.stretch;
		count.counted[count.phase].steps += so_far;
		count.counted[phase].steps -= so_far; /* counted with the stretch when it ends */
		count.phase = phase;
	}
	__real_progress_phase(p, phase, total);
}

bool __wrap_progress_add(struct progress *p, uint64_t n)
{
	if (p)
		end_stretch(count.phase, __builtin_return_address(0));
	return __real_progress_add(p, n);
}

bool __wrap_progress_cancelled(struct progress *p)
{
	if (p)
		end_stretch(count.phase, __builtin_return_address(0));
	return __real_progress_cancelled(p);
}

int __wrap_progress_check(struct progress *p, struct err *err)
{
	if (p)
		end_stretch(count.phase, __builtin_return_address(0));
	return __real_progress_check(p, err);
}

/* --- what libraries do ---------------------------------------------------------------------------- */

#define BYTES(n) add_steps((uint64_t)(n) / BYTES_A_STEP, __builtin_return_address(0))
/* A function of a library, as it is and as our code finds it. */
#define WRAP(type, name, ...) \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

WRAP(void *, memcpy, void *to, const void *from, size_t n)
{
	BYTES(n);
	return __real_memcpy(to, from, n);
}

WRAP(void *, memmove, void *to, const void *from, size_t n)
{
	BYTES(n);
	return __real_memmove(to, from, n);
}

WRAP(void *, memset, void *to, int c, size_t n)
{
	BYTES(n);
	return __real_memset(to, c, n);
}

/* Searches cost what they went over. */
#define UNTIL(found, begin, otherwise) \
	BYTES((found) ? (size_t)((const char *)(found) - (const char *)(begin)) : (otherwise))

WRAP(void *, memchr, const void *s, int c, size_t n)
{
	void *found = __real_memchr(s, c, n);
	UNTIL(found, s, n);
	return found;
}

WRAP(void *, memmem, const void *s, size_t n, const void *what, size_t length)
{
	void *found = __real_memmem(s, n, what, length);
	UNTIL(found, s, n);
	return found;
}

WRAP(size_t, strlen, const char *s)
{
	size_t n = __real_strlen(s);
	BYTES(n);
	return n;
}

WRAP(size_t, strnlen, const char *s, size_t most)
{
	size_t n = __real_strnlen(s, most);
	BYTES(n);
	return n;
}

WRAP(char *, strchr, const char *s, int c)
{
	char *found = __real_strchr(s, c);
	UNTIL(found, s, __real_strlen(s));
	return found;
}

WRAP(char *, strrchr, const char *s, int c)
{
	BYTES(__real_strlen(s));
	return __real_strrchr(s, c);
}

WRAP(char *, strstr, const char *s, const char *what)
{
	char *found = __real_strstr(s, what);
	UNTIL(found, s, __real_strlen(s));
	return found;
}

WRAP(char *, strpbrk, const char *s, const char *any)
{
	char *found = __real_strpbrk(s, any);
	UNTIL(found, s, __real_strlen(s));
	return found;
}

WRAP(size_t, strspn, const char *s, const char *any)
{
	size_t n = __real_strspn(s, any);
	BYTES(n);
	return n;
}

WRAP(size_t, strcspn, const char *s, const char *any)
{
	size_t n = __real_strcspn(s, any);
	BYTES(n);
	return n;
}

/* Comparisons cost what is equal. */
WRAP(int, memcmp, const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;
	size_t i = 0;
	while (i < n && x[i] == y[i])
		i++;
	BYTES(i);
	return __real_memcmp(a, b, n);
}

WRAP(int, strncmp, const char *a, const char *b, size_t n)
{
	size_t i = 0;
	while (i < n && a[i] && a[i] == b[i])
		i++;
	BYTES(i);
	return __real_strncmp(a, b, n);
}

WRAP(int, strcmp, const char *a, const char *b)
{
	size_t i = 0;
	while (a[i] && a[i] == b[i])
		i++;
	BYTES(i);
	return __real_strcmp(a, b);
}

WRAP(char *, strdup, const char *s)
{
	BYTES(__real_strlen(s));
	return __real_strdup(s);
}

WRAP(char *, strndup, const char *s, size_t n)
{
	BYTES(__real_strnlen(s, n));
	return __real_strndup(s, n);
}

WRAP(int, vsnprintf, char *to, size_t n, const char *format, va_list arguments)
{
	int length = __real_vsnprintf(to, n, format, arguments);
	BYTES(length > 0 ? length : 0);
	return length;
}

WRAP(size_t, fwrite, const void *from, size_t size, size_t n, FILE *f)
{
	BYTES(size * n);
	return __real_fwrite(from, size, n, f);
}

WRAP(int, fputs, const char *s, FILE *f)
{
	BYTES(__real_strlen(s));
	return __real_fputs(s, f);
}

/* A byte may be a step of the expression, or many: those are looked for elsewhere. */
WRAP(int, regexec, const regex_t *re, const char *s, size_t n, regmatch_t *match, int flags)
{
	add_steps(__real_strlen(s), __builtin_return_address(0));
	return __real_regexec(re, s, n, match, flags);
}

WRAP(size_t, iconv, iconv_t c, char **from, size_t *left, char **to, size_t *room)
{
	size_t before = left ? *left : 0;
	size_t result = __real_iconv(c, from, left, to, room);
	add_steps(left ? before - *left : 0, __builtin_return_address(0));
	return result;
}

WRAP(int, inflate, z_streamp z, int flush)
{
	uint64_t room = z->avail_out;
	int code = __real_inflate(z, flush);
	add_steps(room - z->avail_out, __builtin_return_address(0));
	return code;
}

#ifdef HAVE_LIBDEFLATE
WRAP(enum libdeflate_result, libdeflate_gzip_decompress_ex, struct libdeflate_decompressor *d,
    const void *from, size_t n, void *to, size_t room, size_t *used, size_t *made)
{
	enum libdeflate_result result =
	    __real_libdeflate_gzip_decompress_ex(d, from, n, to, room, used, made);
	add_steps(result == LIBDEFLATE_SUCCESS && made ? *made : room, __builtin_return_address(0));
	return result;
}
#endif

#ifdef HAVE_ZSTD
WRAP(size_t, ZSTD_compressCCtx, ZSTD_CCtx *c, void *to, size_t room, const void *from, size_t n, int level)
{
	add_steps(n, __builtin_return_address(0));
	return __real_ZSTD_compressCCtx(c, to, room, from, n, level);
}

WRAP(size_t, ZSTD_decompressDCtx, ZSTD_DCtx *d, void *to, size_t room, const void *from, size_t n)
{
	add_steps(room, __builtin_return_address(0));
	return __real_ZSTD_decompressDCtx(d, to, room, from, n);
}
#endif
