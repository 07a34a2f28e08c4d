/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_profile.c - profile: what comparisons need of the current dump, in a small file. */
#include "command/commands.h"

#include "algorithms/gzipped.h"
#include "base/suffixes.h"
#include "command/exec/exec.h"
#include "query/profile_file.h"

#include <inttypes.h>
#include <string.h>

int profile_may(struct err *err)
{
	return profile_support() ? 0 :
	    err_set(err, ERR_UNSUPPORTED, "this build has no SQLite (libsqlite3) and cannot write profiles");
}

int profile_begin(struct profile_writing *w, struct session *s, bool compressed, struct err *err)
{
	*w = (struct profile_writing){.s = s, .compressed = compressed};
	int code = profile_may(err);
	return code ? code : session_profile(s, s->dump, &w->profile, err);
}

void profile_end(void *writing)
{
	struct profile_writing *w = writing;
	profile_release(&w->profile);
}

int profile_into(void *writing, FILE *to, const char *path, struct err *err)
{
	struct profile_writing *w = writing;
	(void)path;
	return profile_write(&w->profile, to, w->compressed, session_progress(w->s), err);
}

static int run_profile(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const char *path = call->argument[0].word;
	struct profile_writing w;
	uint64_t bytes;
	if (suffix_of_other_packing(path))
		return err_set(err, ERR_USAGE, "a profile cannot be compressed as %s (name it heap.profile or "
		    "heap.profile.gz)", suffix_of_other_packing(path));
	int code = profile_begin(&w, s, suffix_is_gzip(path), err);
	if (code == ERR_UNSUPPORTED) /* none is written, and nothing was looked for */
		code = err->code = ERR_IO;
	if (!code)
		code = session_write_whole(s, &(struct new_file){.path = path, .bytes = &bytes}, profile_into, &w, err);
	if (!code) {
		struct text size = TEXT_INIT;
		text_add_bytes(&size, bytes);
		session_say(s, "wrote the profile of this dump to %s, %s: %" PRIu32 " classes, %" PRIu32 " paths", path,
		    size.s, w.profile.by[PROFILE_CLASS].n, w.profile.by[PROFILE_PATH].n);
		text_release(&size);
		*out = file_written(s, &file_shape, "profile", path, bytes);
	}
	profile_end(&w);
	return code;
}

const struct command cmd_profile = {
    .name = "profile",
    .arguments = {{ARG_FILE, "FILE", false}},
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED | COMMAND_FOR_COMPARISONS,
    .group = "compare",
    .summary = "write the data for comparisons to a small file",
    .shapes = SHAPES(&file_shape),
    .description = "A profile lists the classes, packages, loaders, threads and paths of the dump. Each has its "
	"objects, bytes, retained size and their certainty. It can replace the dump in comparisons (cairn OLD... DUMP): "
	"a year of nightly dumps is a folder of small files. Of values it has only names of class loaders and the name of "
	"the dump's file; bundle -o DIR writes a profile without them, which may leave the host. It is an SQLite "
	"database of 50 to 250 KB (doc/profile-format.md), half as large if FILE ends with .gz. An existing file is "
	"replaced as by save.",
    .examples = {{"profile heap.profile", ON_ANY, "for comparisons with later dumps"},
	{"profile heap.profile.gz", ON_ANY, "the same, half as large"}},
    .run = run_profile,
};
