/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask.c - one question to a VM: see attach.h. */
#include "attach/dump_folder.h"

#include <poll.h>

enum { HANGS_MS = 3000 };

int vm_ask(const struct vm_process *p, const char *command, const char *const argument[3], struct text *answer,
    struct progress *progress, struct err *err)
{
	struct vm_link l;
	const char *text;
	int code = vm_link_open(&l, p, progress, err);

	code = code ? code : vm_link_request(&l, command, argument, err);
	for (unsigned ms = 0; code == 0 && !l.answered;) {
		struct pollfd f = { .fd = l.socket, .events = POLLIN };
		if (poll(&f, 1, LINK_LOOK_MS) > 0) {
			code = vm_link_read(&l, err);
			continue;
		}
		code = vm_link_look(&l, err);
		ms += LINK_LOOK_MS;
		if (ms == HANGS_MS) /* for a reader that was killed? */
			dump_folder_clean(&l);
	}
	code = code ? code : vm_link_result(&l, &text, err);
	if (code == 0)
		text_add_n(answer, text, l.answer.len - (size_t)(text - l.answer.s));
	vm_link_close(&l);
	return code;
}
