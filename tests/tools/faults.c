/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * faults.c - see faults.h.  Any thread.
 */
#include "faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <pthread.h>
#include <regex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static _Atomic uint64_t calls, fail_first, fail_count;
static const char *_Atomic name_of_first;

void faults_at(uint64_t first, uint64_t count)
{
	atomic_store(&fail_first, first);
	atomic_store(&fail_count, count);
	atomic_store(&name_of_first, NULL);
	atomic_store(&calls, 0);
}

uint64_t faults_calls(void)
{
	return atomic_load(&calls);
}

const char *faults_name(void)
{
	return atomic_load(&name_of_first);
}

/* Whether this call is to fail. */
static bool refuse(const char *name, int error)
{
	uint64_t number = atomic_fetch_add(&calls, 1) + 1, first = atomic_load(&fail_first);
	const char *none = NULL;

	if (!first || number < first || number - first >= atomic_load(&fail_count))
		return false;
	atomic_compare_exchange_strong(&name_of_first, &none, name);
	errno = error;
	return true;
}

/* At the end of a program that was given FAULTS and COUNT_TO: how many calls there were. */
static void tell_calls(void)
{
	uint64_t n = faults_calls();
	const char *name = faults_name();

	faults_at(0, 0);
	FILE *f = fopen(getenv("FAULTS_COUNT"), "w");
	if (f) {
		fprintf(f, "%llu %s\n", (unsigned long long)n, name ? name : "-");
		fclose(f);
	}
}

__attribute__((constructor)) static void from_environment(void)
{
	const char *given = getenv("FAULTS");
	unsigned long long first, count;

	if (getenv("FAULTS_COUNT"))
		atexit(tell_calls);
	if (given && sscanf(given, "%llu:%llu", &first, &count) == 2)
		faults_at(first, count);
}

/* A call that fails, or the real one: NAME's result, its name, error number, what it returns then. */
#define WRAP(type, name, error, failed, parameters, arguments)                                     \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return refuse(#name, error) ? (failed) : __real_##name arguments;                  \
	}

/* --- memory ------------------------------------------------------------------------------------- */

static _Atomic int64_t blocks;

int64_t faults_blocks(void)
{
	return atomic_load(&blocks);
}

void faults_adopt(const void *block)
{
	atomic_fetch_add(&blocks, block != NULL);
}

#define WRAP_ALLOCATION(name, old, parameters, arguments)                                          \
	void *__real_##name parameters;                                                            \
	void *__wrap_##name parameters;                                                            \
	void *__wrap_##name parameters                                                             \
	{                                                                                          \
		bool had = (old) != NULL;                                                          \
		void *made = refuse(#name, ENOMEM) ? NULL : __real_##name arguments;               \
		if (!had)                                                                          \
			faults_adopt(made);                                                        \
		return made;                                                                       \
	}

WRAP_ALLOCATION(malloc, NULL, (size_t n), (n))
WRAP_ALLOCATION(calloc, NULL, (size_t n, size_t size), (n, size))
WRAP_ALLOCATION(realloc, p, (void *p, size_t n), (p, n))

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p)
{
	atomic_fetch_sub(&blocks, p != NULL);
	__real_free(p);
}

WRAP(void *, mmap, ENOMEM, MAP_FAILED, (void *at, size_t n, int access, int flags, int fd, off_t offset),
    (at, n, access, flags, fd, offset))
WRAP(void *, mremap, ENOMEM, MAP_FAILED, (void *at, size_t n, size_t wanted, int flags),
    (at, n, wanted, flags))
WRAP(int, madvise, EINVAL, -1, (void *at, size_t n, int advice), (at, n, advice))

/* --- files -------------------------------------------------------------------------------------- */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	va_list more;

	va_start(more, flags);
	int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
	va_end(more);
	return refuse("open", EMFILE) ? -1 : __real_open(path, flags, mode);
}

WRAP(int, mkostemp, EMFILE, -1, (char *path, int flags), (path, flags))
WRAP(FILE *, tmpfile, EMFILE, NULL, (void), ())
WRAP(FILE *, fopen, EMFILE, NULL, (const char *path, const char *mode), (path, mode))
WRAP(FILE *, popen, EMFILE, NULL, (const char *command, const char *mode), (command, mode))
WRAP(DIR *, opendir, EMFILE, NULL, (const char *path), (path))
WRAP(int, pipe, EMFILE, -1, (int fds[2]), (fds))
WRAP(int, stat, EIO, -1, (const char *path, struct stat *st), (path, st))
WRAP(int, fstat, EIO, -1, (int fd, struct stat *st), (fd, st))
WRAP(ssize_t, read, EIO, -1, (int fd, void *to, size_t n), (fd, to, n))
WRAP(ssize_t, pread, EIO, -1, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
WRAP(ssize_t, write, ENOSPC, -1, (int fd, const void *from, size_t n), (fd, from, n))
WRAP(int, ftruncate, EIO, -1, (int fd, off_t n), (fd, n))
WRAP(int, posix_fallocate, ENOSPC, ENOSPC, (int fd, off_t at, off_t n), (fd, at, n))

/* The compiler makes the one the other. */
ssize_t __real___getdelim(char **line, size_t *cap, int end, FILE *f);
ssize_t __wrap___getdelim(char **line, size_t *cap, int end, FILE *f);
ssize_t __wrap_getline(char **line, size_t *cap, FILE *f);
ssize_t __wrap___getdelim(char **line, size_t *cap, int end, FILE *f)
{
	bool had = *line != NULL;
	ssize_t n = refuse("getline", ENOMEM) ? -1 : __real___getdelim(line, cap, end, f);

	if (!had)
		faults_adopt(*line);
	return n;
}

ssize_t __wrap_getline(char **line, size_t *cap, FILE *f)
{
	return __wrap___getdelim(line, cap, '\n', f);
}

WRAP(int, fflush, ENOSPC, EOF, (FILE *f), (f))

/* The file is closed all the same. */
int __real_fclose(FILE *f);
int __wrap_fclose(FILE *f);
int __wrap_fclose(FILE *f)
{
	int code = __real_fclose(f);

	return refuse("fclose", ENOSPC) ? EOF : code;
}

/* --- threads and libraries ---------------------------------------------------------------------- */

WRAP(int, pthread_create, EAGAIN, EAGAIN,
    (pthread_t *thread, const pthread_attr_t *how, void *(*body)(void *), void *context),
    (thread, how, body, context))
WRAP(int, regcomp, ENOMEM, REG_ESPACE, (regex_t *r, const char *pattern, int flags), (r, pattern, flags))
WRAP(iconv_t, iconv_open, EMFILE, (iconv_t)-1, (const char *to, const char *from), (to, from))
WRAP(int, inflateInit2_, ENOMEM, Z_MEM_ERROR, (z_streamp z, int bits, const char *version, int size),
    (z, bits, version, size))
WRAP(void *, libdeflate_alloc_decompressor, ENOMEM, NULL, (void), ())
#ifdef HAVE_ZSTD
WRAP(void *, ZSTD_createCCtx, ENOMEM, NULL, (void), ())
WRAP(void *, ZSTD_createDCtx, ENOMEM, NULL, (void), ())
#endif
WRAP(void *, dwarf_begin_elf, ENOMEM, NULL, (void *elf, int command, void *section), (elf, command, section))
WRAP(void *, elf_begin, ENOMEM, NULL, (int fd, int command, void *archive), (fd, command, archive))
