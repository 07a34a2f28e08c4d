/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * emergency_reserve.c - blocks of malloc of a few sizes.  Any thread.
 */
#include "base/emergency_reserve.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What a command takes between a refusal and its end was measured by the tests that refuse
 * everything from one request on; this is several times that. */
#define MOST 256
static const struct shelf {
	size_t bytes, n;
} shelves[] = {{128, 256}, {512, 128}, {4096, 64}, {32768, 8}, {98304, 8}};
#define SHELVES (sizeof shelves / sizeof *shelves)

static struct {
	void *block[MOST];
	size_t n;
} laid_by[SHELVES];
static bool is_full;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void emergency_reserve_fill(void)
{
	pthread_mutex_lock(&lock);
	bool more = !is_full;
	for (size_t i = 0; more && i < SHELVES; i++) {
		while (more && laid_by[i].n < shelves[i].n) {
			void *p = malloc(shelves[i].bytes);
			more = p != NULL;
			if (p)
				laid_by[i].block[laid_by[i].n++] = p;
		}
	}
	is_full |= more;
	pthread_mutex_unlock(&lock);
}

void *emergency_reserve_take(size_t bytes)
{
	void *p = NULL;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; !p && i < SHELVES; i++) {
		if (bytes <= shelves[i].bytes && laid_by[i].n > 0) {
			p = laid_by[i].block[--laid_by[i].n];
			memset(p, 0, shelves[i].bytes);
			is_full = false;
		}
	}
	pthread_mutex_unlock(&lock);
	return p;
}
