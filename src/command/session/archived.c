/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * archived.c - which dumps are in an archive: a folder as any other, but that its files are members.
 *
 * Of an archive that is packed as a whole all has to be unpacked for that, and once more for whichever dump is opened:
 * only where that takes a moment.
 */
#include "command/session/session.h"

#include "base/files.h"
#include "base/mem.h"
#include "base/suffixes.h"
#include "base/text.h"
#include "dump/reader.h"
#include "dump/registry.h"
#include "dump/source/source.h"
#include "heap/index_file/index_file.h"
#include "heap/open.h"
#include "memory/big.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PACKED_MOST = 64 << 20 }; /* bytes of a packed archive that unpack in a moment */

/* Do its first bytes say that it is an archive, which can be looked into at once?  What st says is of its file. */
static bool is_archive(const char *path, struct stat *st)
{
	uint8_t first[SOURCE_HEAD], inside[SOURCE_HEAD], *more;
	const char *by_hand;
	if (source_is_standard_input(path))
		return false;
	if (file_member(path))
		return suffix_of_archive(path, strlen(path)) && /* its bytes may have to be unpacked */
		     !file_stat(path, st) && st->st_size <= PACKED_MOST;
	int fd = source_peek(path);
	if (fd < 0)
		return false;
	ssize_t got = source_read_head(fd, first, &more);
	const uint8_t *head = more ? more : first;
	size_t n = got > 0 && !fstat(fd, st) ? (size_t)got : 0;
	close(fd);
	bool is = n && source_is_archive(head, n);
	if (n && !is && st->st_size <= PACKED_MOST && source_packing(head, n, &by_hand))
		is = source_is_archive(inside, source_inflate_head(head, n, inside, sizeof inside));
	big_free(more);
	return is;
}

struct looking {
	const char *path;
	const struct heap_options *how;
	struct folder *folder;
	struct stat st; /* of the archive */
	size_t n_known; /* dumps by their first bytes */
};

static int64_t nanoseconds(int64_t seconds)
{
	int64_t ns;
	return __builtin_mul_overflow(seconds, 1000000000, &ns) ? 0 : ns;
}

static void add_member(struct looking *l, const struct source_member *m)
{
	struct text path = TEXT_INIT;
	struct folder_file f = {
	    .label = m->encrypted ? NULL : m->label, .written = nanoseconds(m->written), .size = m->size,
	    .sized = m->size_known, .device = l->st.st_dev, .inode = l->st.st_ino, .why = ERR_INIT};
	if (!f.label && (m->archive || !folder_claims(m->name))) {
		l->folder->n_others++;
		l->folder->n_archives += m->archive != NULL;
		return;
	}
	if (m->encrypted)
		err_set(&f.why, ERR_FORMAT, "is encrypted (unpack it first with its password)");
	else if (m->size_known && !m->size)
		err_set(&f.why, ERR_FORMAT, "is empty (0 bytes; perhaps the disk was full)");
	else if (!f.label)
		err_set(&f.why, ERR_FORMAT, "is not a dump, or its first bytes are damaged");
	text_addf(&path, "%s::%s", l->path, m->name);
	f.path = text_take(&path);
	memcpy(f.created, m->created, sizeof f.created);
	struct heap_options o = {.path = f.path, .mat_sizes = l->how->mat_sizes};
	f.told = f.label && !l->how->no_index && index_file_glance(&o, (uint64_t)l->st.st_size,
	    nanoseconds(l->st.st_mtim.tv_sec) + l->st.st_mtim.tv_nsec, &f.objects, &f.shallow);
	l->n_known += f.label != NULL;
	folder_add(l->folder, &f);
}

static int look_into(void *context, struct progress *progress, struct err *err)
{
	struct looking *l = context;
	struct source_members *m;
	int code = source_members(&m, l->path, dump_label_of_member, progress, err);
	if (code)
		return code;
	l->folder = xcalloc(1, sizeof *l->folder);
	l->folder->path = xstrdup(l->path);
	l->folder->shown = xstrdup(l->path);
	l->folder->is_archive = true;
	memcpy(l->folder->remark, m->remark, sizeof l->folder->remark);
	for (size_t i = 0; i < m->n; i++)
		add_member(l, &m->member[i]);
	l->folder->n_unseen = m->left_out;
	folder_sort(l->folder);
	source_members_free(m);
	return 0;
}

int folder_of_archive(struct folder **out, const char *path, const struct heap_options *how, enum progress_wish wish,
    struct err *err)
{
	struct looking l = {.path = path, .how = how};
	*out = NULL;
	if (!is_archive(path, &l.st))
		return 1;
	int code = work_watched(look_into, &l, wish, err);
	if (code == ERR_CANCELLED || (!code && l.n_known > 1)) {
		*out = l.folder;
		return code;
	}
	folder_free(l.folder); /* other faults of it are reported when it is opened */
	return 1;
}
