/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_profile.c - profile: what comparisons need of the dump at hand, in a small file. */
#include "command/commands.h"

#include "command/run/output.h"
#include "query/profile_file.h"

#include <inttypes.h>
#include <string.h>

/* As its name says. */
static bool is_compressed(const char *path)
{
	size_t n = strlen(path);
	return n > 3 && !strcmp(path + n - 3, ".gz");
}

static int write_file(struct session *s, const struct profile *p, const char *path, uint64_t *bytes, struct err *err)
{
	struct output to;
	int code = output_open_aside(&to, path, &s->writes, err);
	if (code)
		return code;
	code = output_begin(to.stream, &to.replaces, err);
	if (!code)
		code = profile_write(p, to.stream, is_compressed(path), session_progress(s), err);
	off_t end = ftello(to.stream);
	*bytes = end > 0 ? (uint64_t)end : 0;
	code = output_close_aside(&to, code, err);
	if (code && code != ERR_CANCELLED)
		err_context(err, "%.200s", path);
	return code;
}

static int run_profile(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const char *path = call->argument[0].word;
	struct profile p;
	uint64_t bytes;
	*out = NULL;
	if (!profile_support())
		return err_set(err, ERR_UNSUPPORTED, "this build has no SQLite (libsqlite3), so it writes no profiles");
	int code = session_profile(s, s->dump, &p, err);
	if (code)
		return code;
	code = write_file(s, &p, path, &bytes, err);
	if (!code) {
		struct text size = TEXT_INIT;
		text_add_bytes(&size, bytes);
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
