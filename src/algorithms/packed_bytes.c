/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packed_bytes.c - streams while they come, and as one range; see packed_bytes.h. */
#include "algorithms/packed_bytes.h"

#include "algorithms/packed_blocks.h"
#include "base/mem.h"
#include "base/memory_limit.h"
#include "memory/big.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

enum {
	READ_MOST = 1 << 20, /* bytes at a time: as large a pipe as users may have */
	LIMIT_PART = 8,      /* of the limit: when only this part of it is left, blocks are packed */
	BACK_LEAST = 128,    /* blocks that stay when they were brought back, and some for each thread */
	ZERO_RUNS_MOST = 4096, /* the system allows a process some 65,000 mappings */
};
_Static_assert((int)PACKED_ZEROS == (int)PACKED_BLOCK, "zeros are whole blocks");

/* --- which there are ----------------------------------------------------------------------------- */

static struct packed_bytes *all;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER; /* taken before a lock of one */

static uint64_t blocks_there(struct packed_bytes *p)
{
	pthread_mutex_lock(&p->lock);
	uint64_t n = p->there;
	pthread_mutex_unlock(&p->lock);
	return n;
}

static bool relieve_one(struct packed_bytes *p)
{
	pthread_mutex_lock(&p->lock);
	bool did = packed_blocks_let_go(p) || (packed_desk_open(&p->desk) && packed_blocks_pack(p, &p->desk)) ||
	    packed_blocks_to_file(p);
	pthread_mutex_unlock(&p->lock);
	return did;
}

/* Other memory needs so many bytes: let blocks go, unless they would not do. */
static bool relieve(uint64_t bytes)
{
	uint64_t there = 0, in_file;
	bool any = false;

	pthread_mutex_lock(&all_lock);
	for (struct packed_bytes *p = all; p; p = p->next)
		there += packed_bytes_memory(p, &in_file);
	bool helps = memory_limit_would_fit(bytes, 0, there);
	for (struct packed_bytes *p = all; helps && p; p = p->next)
		while (!memory_limit_would_fit(bytes, 0, 0) && relieve_one(p))
			any = true;
	pthread_mutex_unlock(&all_lock);
	return any;
}

static void enter(struct packed_bytes *p)
{
	pthread_mutex_lock(&all_lock);
	p->next = all;
	all = p;
	memory_limit_ask_first(relieve);
	pthread_mutex_unlock(&all_lock);
}

static void leave(struct packed_bytes *p)
{
	struct packed_bytes **at = &all;

	pthread_mutex_lock(&all_lock);
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	pthread_mutex_unlock(&all_lock);
}

/* --- making and freeing -------------------------------------------------------------------------- */

int packed_bytes_new(struct packed_bytes **out, unsigned n, uint64_t memory, struct err *err)
{
	struct packed_bytes *p = xcalloc(1, sizeof *p);

	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	p->n = n;
	p->most = memory ? memory / PACKED_BLOCK : UINT64_MAX;
	p->back_least = BACK_LEAST + 4 * (uint64_t)parallel_threads();
	if (p->back_least > PACKED_BACK_MOST / 2)
		p->back_least = PACKED_BACK_MOST / 2;
	atomic_store(&p->lost, UINT64_MAX);
	p->stream = xcalloc(n, sizeof *p->stream);
	for (unsigned i = 0; i < n; i++)
		p->stream[i].fd = p->stream[i].between[0] = p->stream[i].between[1] = -1;
	enter(p);
	for (unsigned i = 0; i < n; i++) {
		p->stream[i].fd = memfd_create("cairn", MFD_CLOEXEC);
		if (p->stream[i].fd >= 0)
			continue;
		err_set(err, ERR_NOMEM, "cannot keep the dump in memory: %s", strerror(errno));
		packed_bytes_free(p);
		return ERR_NOMEM;
	}
	*out = p;
	return 0;
}

static void end_jobs(struct packed_bytes *p, bool stop)
{
	pthread_mutex_lock(&p->lock);
	p->ended = true;
	p->stop = stop;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->n_jobs; i++) {
		(void)!job_wait(&p->job[i]);
		packed_desk_close(&p->job_desk[i]);
	}
	p->n_jobs = 0;
}

static void close_room(struct packed_stream *s)
{
	if (s->room)
		munmap(s->room, s->room_end - s->room_begin);
	s->room = NULL;
}

void packed_bytes_free(struct packed_bytes *p)
{
	if (!p)
		return;
	end_jobs(p, true);
	leave(p);
	page_faults_forget(p->faults);
	if (p->range)
		munmap(p->range, p->range_size);
	p->any_packed = false;
	for (unsigned i = 0; i < p->n; i++) {
		int fds[] = { p->stream[i].fd, p->stream[i].between[0], p->stream[i].between[1] };
		packed_blocks_drop(p, &p->stream[i], 0);
		free(p->stream[i].block);
		close_room(&p->stream[i]);
		for (unsigned k = 0; k < 3; k++)
			if (fds[k] >= 0)
				close(fds[k]);
	}
	for (unsigned i = 0; i < PACKED_UNPACKERS; i++) {
		zstd_unpacker_free(p->unpacker[i].zstd);
		free(p->unpacker[i].in);
		free(p->unpacker[i].out);
	}
	packed_desk_close(&p->desk);
	free(p->stream);
	free(p->back);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* --- packing while bytes come -------------------------------------------------------------------- */

/* Are there more blocks than should be? */
static bool is_tight(const struct packed_bytes *p)
{
	if (p->ended) /* room for those that are brought back */
		return p->most != UINT64_MAX && p->there + (p->any_packed ? p->back_least : 0) > p->most;
	return (p->most != UINT64_MAX && p->there > p->most - p->most / LIMIT_PART) ||
	    !memory_limit_would_fit(PACKED_BLOCK, memory_limit_bytes() / LIMIT_PART, 0);
}

static int pack_along(void *context, struct job *job)
{
	struct packed_bytes *p = context;
	struct packed_desk *d = &p->job_desk[job - p->job];

	if (!packed_desk_open(d))
		return 0; /* others do it, later */
	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		bool did = is_tight(p) && packed_blocks_pack(p, d);
		if (!did && p->ended)
			break;
		if (!did)
			pthread_cond_wait(&p->changed, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return 0;
}

/* Have jobs pack, if it is time. */
static void begin_packing(struct packed_bytes *p)
{
	pthread_mutex_lock(&p->lock);
	bool tight = is_tight(p);
	if (tight)
		pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	while (tight && p->n_jobs < PACKED_JOBS && job_start(&p->job[p->n_jobs], pack_along, p, -1) == 0)
		p->n_jobs++;
}

/* Wait until fewer blocks are there than may be.  False: none can go. */
static bool await_room(struct packed_bytes *p)
{
	bool can = true;

	pthread_mutex_lock(&all_lock);
	while (can && blocks_there(p) >= p->most)
		can = relieve_one(p);
	pthread_mutex_unlock(&all_lock);
	return can;
}

static void append_block(struct packed_bytes *p, struct packed_stream *s, bool zeros)
{
	pthread_mutex_lock(&p->lock);
	if (s->n == s->capacity) {
		s->capacity = s->capacity ? 2 * s->capacity : 64;
		s->block = xrealloc(s->block, s->capacity, sizeof *s->block);
	}
	s->block[s->n++] = (struct packed_block){.there = true, .zeros = zeros};
	p->there += !zeros;
	packed_blocks_count(p);
	pthread_mutex_unlock(&p->lock);
}

/* One block more at the end of a stream. */
static bool add_block(struct packed_bytes *p, struct packed_stream *s)
{
	begin_packing(p);
	if (!await_room(p) || !memory_limit_take(PACKED_BLOCK, 0, NULL, 0)) {
		errno = ENOMEM;
		return false;
	}
	memory_limit_give_back(PACKED_BLOCK); /* counted anew, with all others */
	append_block(p, s, false);
	return true;
}

/* --- bytes come ---------------------------------------------------------------------------------- */

/* A pipe of its own for a stream.  Where users may not have so large a one it moves less at a time. */
static bool open_between(struct packed_stream *s)
{
	if (s->between[0] < 0 && pipe2(s->between, O_CLOEXEC | O_NONBLOCK))
		return false;
	(void)fcntl(s->between[1], F_SETPIPE_SZ, READ_MOST);
	return true;
}

/*
 * What a descriptor has now, to that pipe.  Its pages move there at once.  The system lets nobody write to a pipe while
 * it is read: copied from it straight into the stream's file, whoever writes would wait meanwhile.
 */
static ssize_t take(struct packed_stream *s, int fd)
{
	ssize_t got;

	if (s->between[0] < 0 && !open_between(s))
		return -1;
	do
		got = splice(fd, NULL, s->between[1], NULL, READ_MOST, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	while (got < 0 && errno == EINTR);
	return got;
}

/* From there to the stream's end, at most n. */
static ssize_t put(struct packed_stream *s, size_t n)
{
	off_t at = (off_t)s->size;
	ssize_t now;

	do
		now = splice(s->between[0], NULL, s->fd, &at, n, SPLICE_F_MOVE);
	while (now < 0 && errno == EINTR);
	return now;
}

ssize_t packed_bytes_read(struct packed_bytes *p, unsigned stream, int fd)
{
	struct packed_stream *s = &p->stream[stream];
	ssize_t came = take(s, fd);

	for (ssize_t left = came, now; left > 0; left -= now) {
		if (s->size == s->n * PACKED_BLOCK && !add_block(p, s))
			return -1;
		uint64_t room = s->n * PACKED_BLOCK - s->size;
		now = put(s, (uint64_t)left < room ? (size_t)left : room);
		if (now <= 0)
			return -1;
		pthread_mutex_lock(&p->lock);
		s->size += (uint64_t)now;
		pthread_mutex_unlock(&p->lock);
	}
	return came;
}

uint64_t packed_bytes_size(const struct packed_bytes *p, unsigned stream)
{
	return p->stream[stream].size;
}

unsigned packed_bytes_streams(const struct packed_bytes *p)
{
	return p->n;
}

bool packed_bytes_add(struct packed_bytes *p, unsigned stream, const void *bytes, uint64_t n)
{
	struct packed_stream *s = &p->stream[stream];

	for (uint64_t done = 0; done < n;) {
		if (s->size == s->n * PACKED_BLOCK && !add_block(p, s))
			return false;
		uint64_t room = s->n * PACKED_BLOCK - s->size;
		ssize_t now = pwrite(s->fd, (const char *)bytes + done, n - done < room ? n - done : room, (off_t)s->size);
		if (now <= 0)
			return false;
		done += (uint64_t)now;
		pthread_mutex_lock(&p->lock);
		s->size += (uint64_t)now;
		pthread_mutex_unlock(&p->lock);
	}
	return true;
}

/* --- bytes that the caller puts there ----------------------------------------------------------- */

/* Of the stream's file, map what is from there on. */
static bool open_room(struct packed_stream *s, uint64_t begin, uint64_t end)
{
	begin -= begin % PACKED_BLOCK;
	close_room(s);
	if (ftruncate(s->fd, (off_t)end))
		return false;
	void *at = mmap(NULL, end - begin, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, (off_t)begin);
	s->room = at == MAP_FAILED ? NULL : at;
	s->room_begin = begin;
	s->room_end = end;
	return s->room;
}

uint64_t packed_bytes_expect(struct packed_bytes *p, unsigned stream, uint64_t size)
{
	struct packed_stream *s = &p->stream[stream];
	uint64_t may = p->most / LIMIT_PART * (LIMIT_PART - 1), limit = memory_limit_bytes();

	may = may > size / PACKED_BLOCK ? size : may * PACKED_BLOCK;
	if (!size || !open_room(s, s->size, (size + PACKED_BLOCK - 1) / PACKED_BLOCK * PACKED_BLOCK))
		return 0;
	while (may && !memory_limit_would_fit(may, limit / LIMIT_PART, 0))
		may -= may / LIMIT_PART > PACKED_BLOCK ? may / LIMIT_PART : may;
	return may;
}

void packed_bytes_prepare(struct packed_bytes *p, unsigned stream, uint64_t begin, uint64_t end)
{
	const struct packed_stream *s = &p->stream[stream];
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (!s->room || begin >= end)
		return;
	uint8_t *at = s->room + (begin - s->room_begin) / page * page, *last = s->room + (end - s->room_begin);
	if (madvise(at, (size_t)(last - at), MADV_POPULATE_WRITE) == 0 || errno != EINVAL)
		return;
	for (; at < last; at += page) /* before Linux 5.14 */
		*(volatile uint8_t *)at = 0;
}

void *packed_bytes_room(struct packed_bytes *p, unsigned stream, uint64_t n)
{
	struct packed_stream *s = &p->stream[stream];
	uint64_t end = s->size + n;

	if ((!s->room || s->size < s->room_begin || end > s->room_end) && !open_room(s, s->size, end))
		return NULL;
	while (s->n * PACKED_BLOCK < end)
		if (!add_block(p, s))
			return NULL;
	return s->room + (s->size - s->room_begin);
}

void packed_bytes_came(struct packed_bytes *p, unsigned stream, uint64_t n)
{
	pthread_mutex_lock(&p->lock);
	p->stream[stream].size += n;
	pthread_mutex_unlock(&p->lock);
}

bool packed_bytes_zeros(struct packed_bytes *p, unsigned stream, uint64_t n)
{
	struct packed_stream *s = &p->stream[stream];
	bool few = p->zero_runs++ < ZERO_RUNS_MOST;

	(void)!fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)s->size, (off_t)n);
	for (uint64_t i = 0; i < n / PACKED_BLOCK; i++) {
		if (few)
			append_block(p, s, true);
		else if (!add_block(p, s))
			return false;
	}
	packed_bytes_came(p, stream, n);
	return true;
}

void packed_bytes_drop(struct packed_bytes *p, unsigned stream, uint64_t n)
{
	struct packed_stream *s = &p->stream[stream];

	pthread_mutex_lock(&p->lock);
	s->size -= n < s->size ? n : s->size;
	pthread_mutex_unlock(&p->lock);
}

/* --- one range ----------------------------------------------------------------------------------- */

static uint64_t blocks_of(uint64_t size)
{
	return (size + PACKED_BLOCK - 1) / PACKED_BLOCK;
}

/* What blocks that come back need. */
static bool open_unpackers(struct packed_bytes *p)
{
	bool packs = zstd_block_may(NULL) == 0;

	p->back = malloc(PACKED_BACK_MOST * sizeof *p->back);
	for (unsigned i = 0; i < PACKED_UNPACKERS; i++) {
		struct packed_unpacker *u = &p->unpacker[i];
		u->zstd = packs ? zstd_unpacker_new(NULL) : NULL;
		u->in = malloc(PACKED_BLOCK);
		u->out = malloc(PACKED_BLOCK);
		if (!u->in || !u->out || (packs && !u->zstd))
			return false;
	}
	return p->back;
}

static bool map_stream(struct packed_bytes *p, struct packed_stream *s)
{
	uint8_t *at = p->range + s->begin;
	uint64_t n = s->n;

	if (!n)
		return true;
	if (ftruncate(s->fd, (off_t)s->size) || ftruncate(s->fd, (off_t)(n * PACKED_BLOCK)) ||
	    mmap(at, n * PACKED_BLOCK, PROT_NONE, MAP_SHARED | MAP_FIXED, s->fd, 0) == MAP_FAILED)
		return false;
	for (uint64_t i = 0, end; i < n; i = end) {
		const struct packed_block *b = &s->block[i];
		uint8_t *from = at + i * PACKED_BLOCK;
		for (end = i + 1; end < n && s->block[end].there == b->there && s->block[end].zeros == b->zeros;)
			end++;
		uint64_t bytes = (end - i) * PACKED_BLOCK;
		/* a load from a hole of the file would take memory for it */
		if (b->zeros ? mmap(from, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
		        MAP_FAILED : b->there && mprotect(from, bytes, PROT_READ))
			return false;
	}
	return true;
}

/* Under the lock. */
static bool map_all(struct packed_bytes *p)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < p->n; i++) {
		struct packed_stream *s = &p->stream[i];
		packed_blocks_drop(p, s, blocks_of(s->size));
		close_room(s);
		s->begin = total;
		p->size = s->size ? total + s->size : p->size;
		total += s->n * PACKED_BLOCK;
	}
	uint64_t bytes = total ? total : PACKED_BLOCK;
	void *range = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (range == MAP_FAILED)
		return false;
	p->range = range;
	p->range_size = bytes;
	for (unsigned i = 0; i < p->n; i++)
		if (!map_stream(p, &p->stream[i]))
			return false;
	return true;
}

const uint8_t *packed_bytes_end(struct packed_bytes *p, uint64_t *size)
{
	end_jobs(p, false);
	bool done = !p->back && open_unpackers(p);
	pthread_mutex_lock(&p->lock);
	done = done && map_all(p);
	pthread_mutex_unlock(&p->lock);
	if (done)
		p->faults = page_faults_watch(p->range, p->range_size, packed_blocks_bring, p);
	*size = p->size;
	return p->faults ? p->range : NULL;
}

uint64_t packed_bytes_begin(const struct packed_bytes *p, unsigned stream)
{
	return p->stream[stream].begin;
}

bool packed_bytes_lost(const struct packed_bytes *p, uint64_t *offset)
{
	*offset = atomic_load(&p->lost);
	return *offset != UINT64_MAX;
}

uint64_t packed_bytes_memory(struct packed_bytes *p, uint64_t *in_file)
{
	pthread_mutex_lock(&p->lock);
	uint64_t bytes = p->there * PACKED_BLOCK + p->packed;
	*in_file = p->in_file;
	pthread_mutex_unlock(&p->lock);
	return bytes;
}

/* Is it a file that ends where it is written to, so that what is passed over is a hole? */
static bool can_have_holes(int fd)
{
	struct stat st;
	return !fstat(fd, &st) && S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == st.st_size;
}

int packed_bytes_write(struct packed_bytes *p, unsigned stream, int fd, struct progress *progress, struct err *err)
{
	const struct packed_stream *s = &p->stream[stream];
	char room[16384];
	uint64_t size;
	bool holes = can_have_holes(fd);

	if (!packed_bytes_end(p, &size))
		return big_refused(size, 1, err);
	for (uint64_t at = 0; at < s->size;) {
		uint64_t n = s->size - at < sizeof room ? s->size - at : sizeof room;
		if (!progress_add(progress, n))
			return err_cancelled(err);
		if (holes && s->block[at / PACKED_BLOCK].zeros && at + n < s->size && lseek(fd, (off_t)n, SEEK_CUR) >= 0) {
			at += n;
			continue;
		}
		memcpy(room, p->range + s->begin + at, n); /* the system does not bring them */
		for (uint64_t done = 0; done < n;) {
			ssize_t now = write(fd, room + done, n - done);
			if (now < 0 && errno != EINTR)
				return err_set(err, ERR_IO, "%s", strerror(errno));
			done += now > 0 ? (uint64_t)now : 0;
		}
		at += n;
	}
	return 0;
}
