/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_use.c - use, open, close: which of the session's dumps is at hand, and which are in memory. */
#include "command/commands.h"

#include "base/big.h"
#include "base/files.h"
#include "base/mem.h"
#include "command/run/run.h"
#include "command/words/words.h"
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

/* "dump 2, shop-2.hprof, 2026-11-21T09:15:00Z, is at hand; 2 of 3 dumps are open" */
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

/* --- the dump at hand --------------------------------------------------------------------------- */

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
		    "close N gives the memory of an open dump back" :
		    "the dump at hand stays in memory: cairn FILE looks at this one alone");
	}
	if (!code && s->output) /* the screen tells of it itself */
		say_opened(d->opened->heap, s->how && s->how->dump.exe);
	return code;
}

static int go_to(struct session *s, struct session_dump *d, struct err *err)
{
	if (d->is_profile)
		return err_set(err, ERR_UNSUPPORTED, "dump %zu is a profile: it has no objects to look at (diff, growth and "
		    "trend count it)", d->number);
	if (d->opened && d->opened == s->dump) {
		say_at_hand(s, d, "is at hand already");
		return 0;
	}
	int code = d->opened ? 0 : load(s, d, err);
	if (code)
		return code;
	session_use(s, d->opened);
	say_at_hand(s, d, "is at hand");
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
    .summary = "go to another dump of this session",
    .description = "Commands are about dump N from now on, as dumps numbers them; it is read unless it is open. A "
	"dump that one left stays open, with its kept sets, notes and retained sizes, and on the screen with its views: "
	"use brings them back. Rows, $_ and kept sets mean nothing in another dump than their own, for addresses are of "
	"one run; names do. diff, growth and trend are about all dumps in their order, whichever is at hand.",
    .examples = {{"use 1", ON_SERIES}, {"ls com.acme.shop.Session | head 3", ON_SERIES}, {"use 3", ON_SERIES}},
    .key = "",
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
	char *said = xstrdup(s->said.s);
	size_t at = 0;
	while (s->dumps[at] != d)
		at++;
	if (at + 1 < s->n_dumps)
		session_say(s, "%s; it is older than dump %zu, and compared as such", said, s->dumps[at + 1]->number);
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
	session_say(s, "%s, is known from now on, a profile: diff, growth and trend count it", t.s);
	text_release(&t);
	return 0;
}

static int run_open(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const char *path = call->argument[0].word;
	struct session_dump *d = session_same_file(s, path);
	*out = NULL;
	if (!strcmp(path, "-"))
		return err_set(err, ERR_USAGE, "standard input can be read as a dump from the start only, by cairn -; ./- is a "
		    "file of that name");
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
		say_at_hand(s, d, "is at hand");
	}
	say_place(s, d);
	return 0;
}

const struct command cmd_open = {
    .name = "open",
    .arguments = {{ARG_FILE, "FILE", false}},
    .flags = COMMAND_NO_DUMP | COMMAND_SWITCHES,
    .group = "compare",
    .summary = "add a dump to this session and go to it",
    .description = "A dump of any format, also packed or in an archive (dumps.zip::heap.hprof; help input), or a "
	"profile, which comparisons count but which has no objects to go to. It stands behind the dumps "
	"that are there, and before those that are known to be younger: diff, growth and trend take them in this order. A "
	"file that the session knows is not read twice.",
    .examples = {{NULL}},
    .key = "",
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
		return err_set(err, ERR_USAGE, "dump %zu is not open (dumps tells which are)", d->number);
	if (d->opened == s->dump)
		return err_set(err, ERR_USAGE, "dump %zu is at hand: use N goes to another one first", d->number);
	uint64_t before = big_in_use();
	session_close(s, d->opened);
	uint64_t after = big_in_use();
	add_name(d, &t);
	text_add(&t, ", is closed: ");
	text_add_bytes(&t, before > after ? before - after : 0);
	session_say(s, "%s of memory are free; %s", t.s, s->closes ? /* the screen keeps a file of each dump */
	    "its views are gone, what was kept of it comes back with it" : "its kept sets are gone");
	text_release(&t);
	return 0;
}

const struct command cmd_close = {
    .name = "close",
    .arguments = {{ARG_DUMP, "N", false}},
    .flags = COMMAND_NO_DUMP | COMMAND_SWITCHES,
    .group = "compare",
    .summary = "give the memory of an open dump back",
    .description = "Dump N, as dumps numbers them, goes out of memory with its views and all that was found of it; "
	"comparisons still know it, and use N reads it anew. The dump at hand stays: use N goes to another one first.",
    .examples = {{"use 1", ON_SERIES}, {"use 3", ON_SERIES}, {"close 1", ON_SERIES}},
    .key = "",
    .run = run_close,
};
