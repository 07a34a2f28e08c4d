/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sigbus_guard.c - see sigbus_guard.h. */
#include "memory/sigbus_guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct sigbus_guard {
	_Atomic uintptr_t begin; /* 0: free */
	_Atomic uintptr_t end;   /* rounded up to a page */
	_Atomic uint64_t offset; /* of begin in the file */
	_Atomic uint64_t lost;   /* first byte that is gone, or UINT64_MAX */
	_Atomic int fd;
	_Atomic bool ones;
};

static struct sigbus_guard table[SIGBUS_GUARD_MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous_action;
static _Atomic uintptr_t page_size; /* on_sigbus has no lock */

void sigbus_guard_tell(struct sigbus_guard *v, uint64_t offset)
{
	uint64_t now = atomic_load(&v->lost);

	while (offset < now && !atomic_compare_exchange_weak(&v->lost, &now, offset))
		;
}

static bool replace_pages(struct sigbus_guard *v, uintptr_t address)
{
	uintptr_t page = address & ~(page_size - 1), end = atomic_load(&v->end);
	bool ones = atomic_load(&v->ones);
	uint64_t offset = atomic_load(&v->offset) + (page - atomic_load(&v->begin));
	struct stat now;

	if (fstat(atomic_load(&v->fd), &now) == 0 && (uint64_t)now.st_size < offset)
		offset = (uint64_t)now.st_size;
	sigbus_guard_tell(v, offset);
	if (mmap((void *)page, end - page, ones ? PROT_READ | PROT_WRITE : PROT_READ,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return false;
	if (ones)
		memset((void *)page, 0xFF, end - page);
	return true;
}

/* False when the address is none of ours. */
static bool replace_lost_pages(uintptr_t address)
{
	for (size_t i = 0; i < SIGBUS_GUARD_MOST; i++) {
		uintptr_t begin = atomic_load(&table[i].begin);
		if (begin && address >= begin && address < atomic_load(&table[i].end))
			return replace_pages(&table[i], address);
	}
	return false;
}

static void on_sigbus(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	bool ours = info->si_code > 0 && replace_lost_pages((uintptr_t)info->si_addr);

	errno = saved;
	if (ours)
		return; /* the load is tried again and finds them */
	static atomic_flag passed_on = ATOMIC_FLAG_INIT;
	if (atomic_flag_test_and_set(&passed_on)) {
		signal(number, SIG_DFL); /* the other one handed it back to us */
		return;
	}
	if (previous_action.sa_flags & SA_SIGINFO) {
		previous_action.sa_sigaction(number, info, context);
	} else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
		previous_action.sa_handler(number);
	} else {
		signal(number, SIG_DFL); /* the load is tried again and ends the program */
		if (info->si_code <= 0)
			raise(number); /* sent by someone: nothing would be tried again */
	}
}

/* Make on_sigbus the action, whoever else set one since; under the lock. */
static void catch_sigbus(void)
{
	struct sigaction now;

	if (sigaction(SIGBUS, NULL, &now) < 0)
		return;
	if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_sigbus)
		return;
	previous_action = now;
	struct sigaction ours = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	sigemptyset(&ours.sa_mask);
	sigaction(SIGBUS, &ours, NULL);
}

struct sigbus_guard *sigbus_guard_watch(const void *begin, uint64_t size, int fd, uint64_t offset)
{
	struct sigbus_guard *found = NULL;

	pthread_mutex_lock(&lock);
	page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	catch_sigbus();
	for (size_t i = 0; i < SIGBUS_GUARD_MOST && !found; i++)
		if (!atomic_load(&table[i].begin))
			found = &table[i];
	if (found) {
		uintptr_t end = (uintptr_t)begin + size;
		atomic_store(&found->lost, UINT64_MAX);
		atomic_store(&found->fd, fd);
		atomic_store(&found->offset, offset);
		atomic_store(&found->ones, false);
		atomic_store(&found->end, (end + page_size - 1) & ~(page_size - 1));
		atomic_store(&found->begin, (uintptr_t)begin);
	}
	pthread_mutex_unlock(&lock);
	return found;
}

void sigbus_guard_forget(struct sigbus_guard *v)
{
	if (!v)
		return;
	pthread_mutex_lock(&lock);
	atomic_store(&v->begin, 0);
	atomic_store(&v->fd, -1);
	pthread_mutex_unlock(&lock);
}

void sigbus_guard_as_ones(struct sigbus_guard *v)
{
	atomic_store(&v->ones, true);
}

uint64_t sigbus_guard_lost(const struct sigbus_guard *v)
{
	return atomic_load(&v->lost);
}
