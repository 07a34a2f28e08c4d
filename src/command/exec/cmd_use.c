/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_use.c - use, open, close: which of the session's dumps is current, and which are in memory. */
#include "command/commands.h"

#include "base/files.h"
#include "base/mem.h"
#include "command/exec/exec.h"
#include "command/resolve/resolve.h"
#include "dump/source/source.h"
#include "heap/open.h"
#include "memory/big.h"
#include "query/profile_file.h"

#include <stdlib.h>
#include <string.h>

/* --- in words ----------------------------------------------------------------------------------- */

/* "dump 2, shop-2.hprof": dumps tells in which folder. */
static void add_name(const struct session_dump *d, struct text *to)
{
	const char *slash = strrchr(d->path, '/');
	text_addf(to, "dump %zu, %s", d->number, slash && slash[1] ? slash + 1 : d->path);
}

/* "dump 2, shop-2.hprof, 2026-11-21T09:15:00Z, is current; 2 of 3 dumps are open" */
static void say_at_hand(struct session *s, const struct session_dump *d, const char *how)
{
	const char *created = session_created(d);
	struct text t = TEXT_INIT;
	size_t open = 0;
	for (size_t i = 0; i < s->n_dumps; i++)
		open += s->dumps[i]->opened != NULL;
	add_name(d, &t);
	text_addf(&t, "%s%s, %s; %zu of %zu dumps %s open", *created ? ", " : "", created, how, open, s->n_dumps,
	    open == 1 ? "is" : "are");
	session_say(s, "%s", t.s);
	text_release(&t);
}

/* --- the current dump --------------------------------------------------------------------------- */

/* How to go on where memory does not suffice for one more. */
static int load(struct session *s, struct session_dump *d, struct err *err)
{
	int code = session_load(s, d, err);
	bool others = false;
	for (size_t i = 0; i < s->n_dumps; i++)
		others |= s->dumps[i]->opened && s->dumps[i]->opened != s->dump;
	if (code == ERR_NOMEM && s->dump) {
		struct err refused = *err;
		err_set(err, ERR_NOMEM, "%.200s: %s; %s", d->path, refused.message, others ?
		    "close N frees the memory of an open dump" :
		    "the current dump stays in memory (cairn FILE opens only this one)");
	}
	if (!code && s->output.stream) /* the screen tells of it itself */
		say_opened(d->opened->heap, s->how && s->how->dump.exe);
	return code;
}

static int go_to(struct session *s, struct session_dump *d, struct err *err)
{
	if (d->is_profile)
		return err_set(err, ERR_UNSUPPORTED, "dump %zu is a profile without objects (diff, growth and trend "
		    "compare it)", d->number);
	if (d->opened && d->opened == s->dump) {
		say_at_hand(s, d, "is already current");
		return 0;
	}
	int code = d->opened ? 0 : load(s, d, err);
	if (code)
		return code;
	session_use(s, d->opened);
	say_at_hand(s, d, "is current");
	return 0;
}

static int run_use(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct session_dump *d;
	*out = NULL;
	int code = value_dump(s, call->argument[0].word, &d, err);
	return code ? code : go_to(s, d, err);
}

const struct command cmd_use = {
    .name = "use",
    .arguments = {{ARG_DUMP, "N", false}},
    .flags = COMMAND_NO_DUMP | COMMAND_SWITCHES,
    .group = "compare",
    .summary = "switch to another dump of this session",
    .description = "N is a number of dumps. Commands then ask this dump; cairn reads it if it is not open. The "
	"previous dump stays open with its kept sets, notes, retained sizes and views. Rows, $_ and kept sets are "
	"valid only in their own dump; names are valid in all. diff, growth and trend always compare all dumps in "
	"their order.",
    .examples = {{"use 1", ON_SERIES, "the oldest dump becomes the current one"},
	{"ls com.acme.shop.Session | head 3", ON_SERIES, "sessions of that dump"},
	{"use 3", ON_SERIES, "back to the newest dump"}},
    .run = run_use,
};

/* --- one more ----------------------------------------------------------------------------------- */

static int read_profile_file(void *context, struct progress *progress, struct err *err)
{
	struct session_dump *d = context;
	return profile_read(&d->profile, d->path, progress, err);
}

/* Where it stands among the others, if not behind all of them. */
static void say_place(struct session *s, const struct session_dump *d)
{
	char *said = xstrdup(s->lines.said.s);
	size_t at = 0;
	while (s->dumps[at] != d)
		at++;
	if (at + 1 < s->n_dumps)
		session_say(s, "%s; comparisons take it as older than dump %zu", said, s->dumps[at + 1]->number);
	free(said);
}

static int open_profile(struct session *s, struct session_dump *d, struct err *err)
{
	int code = session_work(s, read_profile_file, d, err);
	struct text t = TEXT_INIT;
	if (code)
		return code;
	d->read = true;
	session_sort_in(s, d);
	add_name(d, &t);
	session_say(s, "added the profile %s: diff, growth and trend compare it", t.s);
	text_release(&t);
	return 0;
}

int command_open(struct session *s, const char *path, struct err *err)
{
	struct session_dump *d = session_same_file(s, path);
	if (d)
		return go_to(s, d, err);
	d = session_add(s, path);
	int code = d->is_profile ? open_profile(s, d, err) : load(s, d, err);
	if (code) {
		session_forget(s, d);
		return session_dump_error(code, err);
	}
	(void)!source_hold(path, "a dump of this session");
	if (!d->is_profile) {
		session_sort_in(s, d);
		say_at_hand(s, d, "is current");
	}
	say_place(s, d);
	return 0;
}

static int run_open(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	*out = NULL;
	if (!strcmp(call->argument[0].word, "-"))
		return err_set(err, ERR_USAGE, "cannot open standard input now (start cairn with -; ./- is a file of "
		    "that name)");
	return command_open(s, call->argument[0].word, err);
}

const struct command cmd_open = {
    .name = "open",
    .arguments = {{ARG_FILE, "FILE", false}},
    .flags = COMMAND_NO_DUMP | COMMAND_SWITCHES,
    .group = "compare",
    .summary = "add a dump to this session and switch to it",
    .description = "FILE is a dump of any format, also compressed or in an archive (dumps.zip::heap.hprof; help "
	"input), or a profile, which only comparisons use. It comes last in the order of diff, growth and trend, but "
	"before dumps that are known to be newer. A file that is open already is not read again.",
    .examples = {{"open data/shop-1.hprof", ON_SHOP, "an older dump becomes the current one"},
	{"diff", ON_SHOP, "the changes from the older dump to the newer one"},
	{"use 2", ON_SHOP, "back to the newer dump"}},
    .run = run_open,
};

/* --- memory back --------------------------------------------------------------------------------- */

static int run_close(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct session_dump *d;
	struct text t = TEXT_INIT;
	*out = NULL;
	int code = value_dump(s, call->argument[0].word, &d, err);
	if (code)
		return code;
	if (!d->opened)
		return err_set(err, ERR_USAGE, "dump %zu is not open (dumps lists the open ones)", d->number);
	if (d->opened == s->dump)
		return err_set(err, ERR_USAGE, "dump %zu is current (switch to another first: use N)", d->number);
	if (source_is_unsaved(d->path) && s->settings.writes.ask && !s->settings.writes.ask(s->settings.writes.context,
	    "this dump is in no file: free its memory?"))
		return err_set(err, ERR_CANCELLED, "dump %zu stays open", d->number);
	uint64_t before = big_in_use();
	session_close(s, d->opened);
	source_drop_process(d->path);
	uint64_t after = big_in_use();
	add_name(d, &t);
	text_add(&t, ", is closed: ");
	text_add_bytes(&t, before > after ? before - after : 0);
	session_say(s, "%s freed; %s", t.s, source_is_process(d->path) ? "it cannot be read again" :
	    s->hooks.closes ? "use N restores what was kept" : /* the screen keeps a file of each dump */
	    "its kept sets are gone");
	text_release(&t);
	return 0;
}

const struct command cmd_close = {
    .name = "close",
    .arguments = {{ARG_DUMP, "N", false}},
    .flags = COMMAND_NO_DUMP | COMMAND_SWITCHES,
    .group = "compare",
    .summary = "free the memory of an open dump",
    .description = "N is a number of dumps. The views and results of the dump close, too. Comparisons still know "
	"it, and use N reads it again, but not what a process dumped. The current dump cannot be closed: use switches "
	"to another one first.",
    .examples = {{"use 1", ON_SERIES, "read the oldest dump"}, {"use 3", ON_SERIES, "back to the newest one"},
	{"close 1", ON_SERIES, "free the memory of the oldest dump"}},
    .run = run_close,
};
