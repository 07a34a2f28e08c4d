/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * like_go.c - a program that looks as if Go had built it, to be copied while it runs; a tool for tests.
 *
 *   like_go FILE [threads|vfork|large]
 *
 * FILE gets a struct shared, which is mapped from it: what the program counts as it goes on, and where its memory is.
 * threads: some begin and end all the time.  vfork: a child keeps its only thread waiting in the kernel for 4 seconds.
 * large: it reserves 1 TB, and 300 GB of which it uses a page, and maps 64 pages of this program, which has fewer.
 * It says "ready", and ends by a signal.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 8, CHURNING = 200, SPARSE = 64 << 20, EACH = 37, FILE_PAGES = 3, LONG_PAGES = 64, RANDOM = 24 << 20 };

struct shared {
	_Atomic uint64_t rounds;  /* of the main thread */
	_Atomic uint64_t signals; /* SIGRTMIN that were handled */
	_Atomic uint64_t begun;   /* threads */
	uint64_t sparse;          /* 64 MB; of the first half every 37th page was touched */
	uint64_t random;          /* 24 MB that nothing packs */
	uint64_t left_out;        /* a page that is not to be dumped: 3c a7 3c a7 ... */
	uint64_t written, sealed; /* mappings of FILE_PAGES pages of this program, of which one was written to; sealed:
	                             then made read-only */
	uint64_t reserved, large; /* addresses; 0: none */
	uint64_t signal;          /* SIGRTMIN */
};
static struct shared *shared;

/* The texts of src/debug/buildinfo: the version; no modules. */
__attribute__((section(".go.buildinfo"), used, aligned(16))) static const uint8_t info[64] =
    "\xff Go buildinf:\x08\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x06" "go1.99";

static void count(int signal)
{
	(void)signal;
	shared->signals++;
}

static void *turn(void *context)
{
	volatile uint64_t n = 0;
	while (context) /* one of them is always on a processor */
		n = n + 1;
	for (;;)
		pause();
	return NULL;
}

static void *end_soon(void *context)
{
	shared->begun++;
	nanosleep(&(struct timespec){ .tv_nsec = (long)((uintptr_t)context % 7 * 300000) }, NULL);
	return NULL;
}

static void *begin_threads(void *context)
{
	pthread_t thread[CHURNING];
	for (;;) {
		unsigned n = 0;
		for (uintptr_t i = 0; i < CHURNING; i++)
			n += pthread_create(&thread[n], NULL, end_soon, (void *)i) == 0;
		while (n)
			pthread_join(thread[--n], NULL);
	}
	return context;
}

static uint8_t *map(size_t n, int protection, int fd)
{
	void *at = mmap(NULL, n, protection, MAP_PRIVATE | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
	if (at == MAP_FAILED)
		_exit(1);
	return at;
}

static void fill(const char *program)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t seed = 4711;
	int fd = open(program, O_RDONLY);
	uint8_t *sparse = map(SPARSE, PROT_READ | PROT_WRITE, -1), *file;
	uint64_t *random = (uint64_t *)map(RANDOM, PROT_READ | PROT_WRITE, -1);

	(void)madvise(sparse, SPARSE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < SPARSE / 2; i += EACH * page)
		memset(sparse + i, (int)(i / page % 255) + 1, page);
	for (size_t i = 0; i < RANDOM / sizeof *random; i++)
		random[i] = seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	shared->sparse = (uintptr_t)sparse;
	shared->random = (uintptr_t)random;
	file = map(page, PROT_READ | PROT_WRITE, -1);
	for (size_t i = 0; i < page; i++)
		file[i] = i % 2 ? 0xa7 : 0x3c;
	(void)madvise(file, page, MADV_DONTDUMP);
	shared->left_out = (uintptr_t)file;
	for (int i = 0; i < 2; i++) {
		file = map(FILE_PAGES * page, PROT_READ | PROT_WRITE, fd);
		file[page] ^= 0xff;
		if (i)
			(void)mprotect(file, FILE_PAGES * page, PROT_READ);
		*(i ? &shared->sealed : &shared->written) = (uintptr_t)file;
	}
	(void)map(FILE_PAGES * page, PROT_READ, fd); /* it is the file's */
	(void)map(1 << 20, PROT_NONE, -1);
}

/* Not merged with what is beside it. */
static uint8_t *reserve(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *at = map(n + 2 * page, PROT_NONE, -1) + page;
	(void)mprotect(at, n, PROT_READ | PROT_WRITE);
	return at;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0666) : -1;
	struct sigaction on = { .sa_handler = count, .sa_flags = SA_RESTART };
	const char *manner = argc > 2 ? argv[2] : "";
	pthread_t thread;

	if (fd < 0 || ftruncate(fd, 4096))
		return 1;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	shared->signal = (uint64_t)SIGRTMIN;
	sigaction(SIGRTMIN, &on, NULL);
	fill(argv[0]);
	if (!strcmp(manner, "large")) {
		uint8_t *at = reserve((size_t)300 << 30);
		at[0] = 1;
		shared->large = (uintptr_t)at;
		at = map(LONG_PAGES * (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, open(argv[0], O_RDONLY));
		at[0] = 1;
		shared->reserved = (uintptr_t)reserve((size_t)1 << 40);
	}
	if (!strcmp(manner, "vfork")) {
		puts("ready");
		fflush(stdout);
		if (vfork() == 0) {
			(void)nanosleep(&(struct timespec){ .tv_sec = 4 }, NULL);
			_exit(0);
		}
	}
	for (uintptr_t i = 0; *manner != 'v' && i < THREADS; i++)
		(void)pthread_create(&thread, NULL, turn, i < 1 ? shared : NULL);
	if (!strcmp(manner, "threads"))
		(void)pthread_create(&thread, NULL, begin_threads, NULL);
	puts("ready");
	fflush(stdout);
	for (;;) {
		shared->rounds++;
		(void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}
