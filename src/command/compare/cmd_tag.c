/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_tag.c - tag: which of the session's dumps comparisons are about. */
#include "command/commands.h"

#include "base/text.h"
#include "command/session/session.h"
#include "command/resolve/resolve.h"

static int toggle(struct session *s, const struct call *call, struct err *err)
{
	struct session_dump *d;
	int code = 0;
	for (size_t i = 0; !code && i < call->n_words; i++) {
		code = value_dump(s, call->words[i], &d, err);
		if (!code && !d->tagged && d->listed && d->listed->why.code && !d->opened)
			code = err_set(err, ERR_USAGE, "cannot compare dump %zu: %.200s", d->number, d->listed->why.message);
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
		session_say(s, s->folder ? "no dump is tagged" : "no dump is tagged: comparisons use all");
	else if (s->interactive)
		session_say(s, n == 1 ? "%zu dump is tagged; tag another one and press 7 to compare" :
		    "%zu dumps are tagged: 7 growth, 8 trend", n);
	else if (n == 1)
		session_say(s, "dump %s is tagged; growth, trend and diff need another one", t.s);
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
    .flags = COMMAND_NO_DUMP | COMMAND_SWITCHES | COMMAND_TAGS,
    .group = "compare",
    .summary = "choose the dumps to compare",
    .description = "Tags the dumps N (numbers from dumps), or removes the tag of tagged ones; without N, of all. "
	"With two or more tagged dumps growth, trend and diff compare only these, in the order of their time; else all, "
	"or in a directory none. On the screen T tags a row of dumps.",
    .examples = {{"tag 1 3", ON_SERIES, "compare only dumps 1 and 3"},
	{"growth | head 1", ON_SERIES, "what grew most between them"}, {"tag", ON_SERIES, "compare all again"}},
    .run = run_tag,
};
