/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_profile.c - profile: what comparisons need of the dump at hand, in a small file. */
#include "command/commands.h"

#include "command/run/run.h"
#include "query/profile_file.h"

#include <inttypes.h>
#include <string.h>

/* As its name says. */
static bool is_compressed(const char *path)
{
	size_t n = strlen(path);
	return n > 3 && !strcmp(path + n - 3, ".gz");
}

struct writing_profile {
	struct session *s;
	const struct profile *profile;
	bool compressed;
	uint64_t bytes; /* that were written */
};

static int write_profile(void *writing, FILE *to, const char *path, struct err *err)
{
	(void)path;
	struct writing_profile *w = writing;
	int code = profile_write(w->profile, to, w->compressed, session_progress(w->s), err);
	off_t end = ftello(to);
	w->bytes = end > 0 ? (uint64_t)end : 0;
	return code;
}

static int run_profile(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const char *path = call->argument[0].word;
	struct profile p;
	*out = NULL;
	if (!profile_support())
		return err_set(err, ERR_UNSUPPORTED, "this build has no SQLite (libsqlite3), so it writes no profiles");
	int code = session_profile(s, s->dump, &p, err);
	if (code)
		return code;
	struct writing_profile w = {.s = s, .profile = &p, .compressed = is_compressed(path)};
	code = session_write_whole(s, path, write_profile, &w, err);
	if (!code) {
		struct text size = TEXT_INIT;
		text_add_bytes(&size, w.bytes);
		session_say(s, "%s has the profile of this dump now, %s: %" PRIu32 " classes, %" PRIu32 " paths", path,
		    size.s, p.by[PROFILE_CLASS].n, p.by[PROFILE_PATH].n);
		text_release(&size);
	}
	profile_release(&p);
	return code;
}

const struct command cmd_profile = {
    .name = "profile",
    .arguments = {{ARG_FILE, "FILE", false}},
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED,
    .group = "compare",
    .summary = "write what comparisons need of this dump to a file",
    .description = "A profile has the classes, packages, loaders, threads and paths of the dump with their objects, "
	"bytes and retained sizes, how sure each is, and no values or texts. It is some 50 to 250 KB, an SQLite database "
	"(doc/profile-format.md), half of that where FILE ends with .gz, and stands for the dump wherever an older one "
	"is named (cairn OLD... DUMP): a year of nightly dumps is a folder of small files. A file that exists is "
	"replaced as by save.",
    .examples = {{NULL}},
    .key = "",
    .run = run_profile,
};
