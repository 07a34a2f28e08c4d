/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_attach.c - attach: have a running VM dump its heap into memory, or copy a Go program, and open that. */
#include "command/commands.h"

#include "attach/attach.h"
#include "command/args/args.h"
#include "command/exec/exec.h"
#include "command/processes/processes.h"
#include "dump/source/source.h"

static bool agree(void *context, const char *sentence)
{
	const struct session *s = context;
	struct text question = TEXT_INIT;
	text_addf(&question, "%s. Go on?", sentence);
	bool yes = !s->settings.writes.ask || s->settings.writes.ask(s->settings.writes.context, question.s);
	text_release(&question);
	return yes;
}

/* Its objects of a class, once it is open. */
static int list_class(struct session *s, const char *class, struct result **out, struct err *err)
{
	struct text line = TEXT_INIT;
	text_add(&line, "ls ");
	text_add(&line, class);
	struct invocation *asked = invocation_of(line.s);
	int code = session_run(s, asked, out, err);
	invocation_drop(asked);
	text_release(&line);
	return code;
}

static int run_attach(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct live_dump_wishes wishes = {.collect = call_has(call, DASH_LIVE), .keep = call_word(call, DASH_O),
		.core = call_word(call, DASH_CORE)};
	const char *class = call->argument[1].given ? call->argument[1].word : NULL, *name;
	*out = NULL;
	int code = process_take(&name, call->argument[0].word, &wishes, &s->settings.writes, agree, s, err);
	if (code)
		return code;
	if ((code = command_open(s, name, err))) {
		if (code == ERR_CANCELLED && source_is_unsaved(name))
			err_set(err, code, "stopped; the dump, which was in no file, is gone");
		source_drop_process(name);
		return process_error(code, err);
	}
	if (wishes.keep && !source_is_unsaved(name))
		session_say_dump(s, wishes.keep);
	return class ? list_class(s, class, out, err) : 0;
}

const struct command cmd_attach = {
    .name = "attach",
    .arguments = {{ARG_WORD, "PID|NAME", false}, {ARG_WORD, "CLASS", true}},
    .options = OPTIONS({DASH_LIVE, OPT_FLAG, NULL, "a full collection first: live objects only"},
	{DASH_O, OPT_WORDS, "FILE", "keep the dump in a file, too"},
	{DASH_CORE, OPT_WORDS, "FILE", "OpenJ9: have it write a core file, too"}),
    .flags = COMMAND_NO_DUMP | COMMAND_SWITCHES | COMMAND_OF_SESSION | COMMAND_WRITES,
    .group = "processes",
    .summary = "dump a running VM or Go program into memory, and open it",
    .description = "NAME is a part of the command line that only one process has (processes lists them). The VM "
	"pauses while it writes. cairn reads what it writes through a pipe, so nothing goes to disk; where a VM cannot "
	"write to a pipe, its file is removed afterwards. A Go program is stopped (ptrace) while cairn copies its memory, "
	"about 0.2 s for 1 GB. FILE is replaced as by save; save FILE.hprof (of Go FILE.core) keeps the dump later. "
	"CLASS: list its objects then.",
    .examples = {{"attach com.acme.shop", ON_PROCESS, "the process with this in its command line"},
	{"attach com.acme.shop java.lang.Thread", ON_PROCESS, "then the objects of a class"},
	{"attach com.acme.shop -live -o heap.hprof", ON_PROCESS, "live objects only; keep the dump"}},
    .run = run_attach,
};
