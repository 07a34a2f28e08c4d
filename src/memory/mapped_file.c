/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapped_file.c - see mapped_file.h. */
#include "memory/mapped_file.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_NS = 2000000, WAITS_MOST = 10 };

static struct guarded {
	_Atomic int fd; /* + 1; 0: free */
	struct stat was;
} table[MAPPED_FILES_MOST];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const int faults[] = {SIGSEGV, SIGABRT, SIGFPE};
enum { N_FAULTS = sizeof faults / sizeof *faults };
static struct sigaction before[N_FAULTS];

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool is_past(const struct timespec *t)
{
	struct timespec now;

	if (clock_gettime(CLOCK_REALTIME_COARSE, &now))
		return true;
	return now.tv_sec > t->tv_sec || (now.tv_sec == t->tv_sec && now.tv_nsec > t->tv_nsec);
}

bool mapped_file_stat(int fd, struct stat *was)
{
	if (fstat(fd, was))
		return false;
	for (unsigned i = 0; i < WAITS_MOST && !is_past(&was->st_ctim); i++) {
		nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
		if (fstat(fd, was))
			return false;
	}
	return true;
}

bool mapped_file_changed(int fd, const struct stat *was)
{
	struct stat now;

	if (fstat(fd, &now))
		return true;
	if (now.st_size != was->st_size || !same_time(&now.st_mtim, &was->st_mtim))
		return true;
	/* the time of modification can be set back: the other one cannot, and has few other causes */
	return !same_time(&now.st_ctim, &was->st_ctim) && now.st_nlink == was->st_nlink && now.st_mode == was->st_mode &&
	       now.st_uid == was->st_uid && now.st_gid == was->st_gid;
}

bool mapped_file_is_cause(void)
{
	static const char sentence[] = "cairn: an index was changed while in use (open the dump again)\n";

	for (size_t i = 0; i < MAPPED_FILES_MOST; i++) {
		int fd = atomic_load(&table[i].fd);
		if (!fd || !mapped_file_changed(fd - 1, &table[i].was))
			continue;
		ssize_t written = write(STDERR_FILENO, sentence, sizeof sentence - 1);
		(void)written;
		return true;
	}
	return false;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	size_t i = 0;

	(void)info, (void)context;
	while (faults[i] != number)
		i++;
	if (mapped_file_is_cause())
		_exit(MAPPED_FILE_STATUS);
	signal(number, before[i].sa_handler == SIG_IGN ? SIG_DFL : before[i].sa_handler);
	raise(number);
}

/* Make on_fault the action, unless one has more arguments: ours, or of the screen or page_faults.c, which ask, too.
 * Under the lock. */
static void catch_faults(void)
{
	for (size_t i = 0; i < N_FAULTS; i++) {
		struct sigaction now, ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
		if (sigaction(faults[i], NULL, &now) || now.sa_flags & SA_SIGINFO)
			continue;
		before[i] = now;
		sigemptyset(&ours.sa_mask);
		sigaction(faults[i], &ours, NULL);
	}
}

void mapped_file_guard(int fd, const struct stat *was)
{
	size_t i = 0;

	pthread_mutex_lock(&lock);
	catch_faults();
	while (i < MAPPED_FILES_MOST && atomic_load(&table[i].fd))
		i++;
	if (i < MAPPED_FILES_MOST) {
		table[i].was = *was;
		atomic_store(&table[i].fd, fd + 1);
	}
	pthread_mutex_unlock(&lock);
}

void mapped_file_release(int fd)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < MAPPED_FILES_MOST; i++)
		if (atomic_load(&table[i].fd) == fd + 1)
			atomic_store(&table[i].fd, 0);
	pthread_mutex_unlock(&lock);
}
