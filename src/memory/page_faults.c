/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_faults.c - see page_faults.h. */
#include "memory/page_faults.h"

#include "memory/mapped_file.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THERE_MOST = 1000 }; /* times that one load finds its page there and faults again: it is no load */

struct page_faults {
	_Atomic uintptr_t begin; /* 0: free */
	_Atomic uintptr_t end;
	_Atomic(page_faults_bring *) bring;
	_Atomic(void *) context;
};

static struct page_faults table[PAGE_FAULTS_MOST];
static size_t n_watched; /* behind the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous_action;

static bool bring(uintptr_t address)
{
	static _Thread_local uintptr_t last;
	static _Thread_local unsigned times;

	for (size_t i = 0; i < PAGE_FAULTS_MOST; i++) {
		uintptr_t begin = atomic_load(&table[i].begin);
		if (!begin || address < begin || address >= atomic_load(&table[i].end))
			continue;
		page_faults_bring *owner = atomic_load(&table[i].bring);
		enum page_brought how = owner(atomic_load(&table[i].context), address - begin);
		times = how == PAGE_THERE && address == last ? times + 1 : 0;
		last = address;
		return how != PAGE_REFUSED && times < THERE_MOST;
	}
	return false;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	bool ours = info->si_code > 0 && bring((uintptr_t)info->si_addr);

	errno = saved;
	if (ours)
		return; /* the load is tried again */
	if (previous_action.sa_flags & SA_SIGINFO) {
		previous_action.sa_sigaction(number, info, context);
		return;
	}
	if (mapped_file_is_cause())
		_exit(MAPPED_FILE_STATUS);
	signal(number, previous_action.sa_handler == SIG_IGN ? SIG_DFL : previous_action.sa_handler);
	raise(number);
}

/* Under the lock. */
static void catch_faults(void)
{
	struct sigaction now, ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

	if (sigaction(SIGSEGV, NULL, &now) || (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_fault))
		return;
	previous_action = now;
	sigemptyset(&ours.sa_mask);
	sigaction(SIGSEGV, &ours, NULL);
}

void page_faults_catch(void)
{
	pthread_mutex_lock(&lock);
	if (n_watched)
		catch_faults();
	pthread_mutex_unlock(&lock);
}

struct page_faults *page_faults_watch(const void *begin, uint64_t size, page_faults_bring *owner, void *context)
{
	struct page_faults *found = NULL;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < PAGE_FAULTS_MOST && !found; i++)
		if (!atomic_load(&table[i].begin))
			found = &table[i];
	if (found) {
		n_watched++;
		catch_faults();
		atomic_store(&found->bring, owner);
		atomic_store(&found->context, context);
		atomic_store(&found->end, (uintptr_t)begin + size);
		atomic_store(&found->begin, (uintptr_t)begin);
	}
	pthread_mutex_unlock(&lock);
	return found;
}

void page_faults_forget(struct page_faults *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&lock);
	atomic_store(&w->begin, 0);
	n_watched--;
	pthread_mutex_unlock(&lock);
}
