/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_tag.c - tag: which of the session's dumps comparisons are about. */
#include "command/commands.h"

#include "base/text.h"
#include "command/session/session.h"
#include "command/words/words.h"

static int toggle(struct session *s, const struct call *call, struct err *err)
{
	struct session_dump *d;
	int code = 0;
	for (size_t i = 0; !code && i < call->n_words; i++) {
		code = value_dump(s, call->words[i], &d, err);
		if (!code && !d->tagged && d->listed && d->listed->why.code && !d->opened)
			code = err_set(err, ERR_USAGE, "dump %zu cannot be compared: %.200s", d->number, d->listed->why.message);
	}
	for (size_t i = 0; !code && i < call->n_words; i++)
		if (!value_dump(s, call->words[i], &d, NULL))
			d->tagged = !d->tagged;
	return code;
}

/* "dumps 1 and 3 are tagged"; the list on the screen shows which, and few bytes change from key to key. */
static void say_tags(struct session *s)
{
	enum { NAMED = 8 };
	struct text t = TEXT_INIT;
	size_t n = 0, told = 0;
	for (size_t i = 0; i < s->n_dumps; i++)
		n += s->dumps[i]->tagged;
	for (size_t i = 0; i < s->n_dumps && told < NAMED; i++)
		if (s->dumps[i]->tagged)
			text_addf(&t, "%s%zu", !told++ ? "" : told == n ? " and " : ", ", s->dumps[i]->number);
	if (n > NAMED)
		text_addf(&t, " and %zu more", n - NAMED);
	if (!n)
		session_say(s, s->folder ? "no dump is tagged" : "no dump is tagged: comparisons are about all");
	else if (s->interactive)
		session_say(s, n == 1 ? "%zu dump is tagged: one more, and 7 compares them" :
		    "%zu dumps are tagged: 7 growth, 8 trend", n);
	else if (n == 1)
		session_say(s, "dump %s is tagged: one more, and growth, trend and diff compare them", t.s);
	else
		session_say(s, "dumps %s are tagged: growth, trend and diff compare these", t.s);
	text_release(&t);
}

static int run_tag(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	int code = toggle(s, call, err);
	*out = NULL;
	if (code)
		return code;
	for (size_t i = 0; !call->n_words && i < s->n_dumps; i++)
		s->dumps[i]->tagged = false;
	say_tags(s);
	return 0;
}

const struct command cmd_tag = {
    .name = "tag",
    .arguments = {{ARG_DUMPS, "N...", true}},
    .flags = COMMAND_NO_DUMP | COMMAND_SWITCHES,
    .group = "compare",
    .summary = "choose which dumps of this session are compared",
    .description = "Tags the dumps N, as dumps numbers them, or takes the tag from those that have one; without N from "
	"all. Where two or more are tagged growth, trend and diff are about these alone, in the order of their time; else "
	"about all, or in a directory about none, for its dumps may be many. On the screen T on a row of dumps does it.",
    .examples = {{"tag 1 3", ON_SERIES}, {"growth | head 1", ON_SERIES}, {"tag", ON_SERIES}},
    .key = "",
    .run = run_tag,
};
