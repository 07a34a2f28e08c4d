/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mem.c - small allocations that do not fail, and the refusals that nobody saw.  Any thread.
 */
#include "base/mem.h"

#include "base/emergency_reserve.h"

#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void (*mem_before_exit)(void);

void mem_refusal(uint64_t bytes, char sentence[static MEM_SENTENCE])
{
	struct rlimit addresses;
	int n = snprintf(sentence, MEM_SENTENCE, "memory: the system refuses %" PRIu64 " bytes", bytes);
	if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY)
		snprintf(sentence + n, MEM_SENTENCE - (size_t)n, ", because ulimit -v allows %" PRIu64 " KB of "
		    "addresses, files included (raise it)", (uint64_t)addresses.rlim_cur >> 10);
}

_Noreturn void mem_exhausted(size_t size)
{
	static atomic_flag once = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&once) && mem_before_exit)
		mem_before_exit();
	char sentence[MEM_SENTENCE];
	mem_refusal(size, sentence);
	fprintf(stderr, "cairn: %s\n", sentence);
	_exit(3);
}

/* --- refusals ----------------------------------------------------------------------------------- */

static _Atomic uint64_t refusals;
static char last_refusal[480];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the last one */

uint64_t mem_refusals(void)
{
	return atomic_load(&refusals);
}

void mem_refused(const char *sentence)
{
	pthread_mutex_lock(&lock);
	snprintf(last_refusal, sizeof last_refusal, "%s", sentence);
	pthread_mutex_unlock(&lock);
	atomic_fetch_add(&refusals, 1);
}

void mem_refused_bytes(uint64_t bytes)
{
	char sentence[MEM_SENTENCE];

	mem_refusal(bytes, sentence);
	mem_refused(sentence);
}

void mem_last_refusal(char *sentence, size_t room)
{
	pthread_mutex_lock(&lock);
	snprintf(sentence, room, "%s", last_refusal);
	pthread_mutex_unlock(&lock);
}

/* --- allocations -------------------------------------------------------------------------------- */

/* From the reserve, zeroed. */
static void *must_take(size_t size)
{
	void *p = emergency_reserve_take(size);

	if (!p)
		mem_exhausted(size);
	mem_refused_bytes(size);
	return p;
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	return p ? p : must_take(size);
}

void *xcalloc(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		mem_exhausted(SIZE_MAX);
	void *p = calloc(1, bytes ? bytes : 1);
	return p ? p : must_take(bytes);
}

void *xrealloc(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		mem_exhausted(SIZE_MAX);
	void *p = realloc(old, bytes ? bytes : 1);
	if (p)
		return p;
	size_t had = old ? malloc_usable_size(old) : 0;
	p = must_take(bytes);
	if (had)
		memcpy(p, old, had < bytes ? had : bytes);
	free(old);
	return p;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t n)
{
	size_t length = strnlen(s, n);
	char *p = xmalloc(length + 1);

	memcpy(p, s, length);
	p[length] = '\0';
	return p;
}
