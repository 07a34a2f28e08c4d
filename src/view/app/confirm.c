/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * confirm.c - a question that a command puts before it goes on: y is yes, n, Enter, Esc and ^C are no.
 */
#include "view/app/app.h"

#include <errno.h>
#include <poll.h>

/* 1: yes, 0: no, -1: that was no answer.  stray: something was typed that is none, a line perhaps: no letter of it
 * is a yes, and its end is a no. */
static int answer(const struct input *in, bool *stray)
{
	enum { CTRL_C = 3, ESCAPE = 27 };

	if (in->pasted)
		return -1;
	switch (in->key) {
	case 'y':
	case 'Y':
		return *stray ? -1 : 1;
	case SPECIAL(KEY_BACKSPACE):
	case '\b':
	case 127:
		*stray = false;
		return -1;
	case SPECIAL(KEY_CLICK):
	case SPECIAL(KEY_WHEEL_UP):
	case SPECIAL(KEY_WHEEL_DOWN):
		return -1;
	case '\r':
	case '\n':
	case SPECIAL(KEY_ENTER):
	case 'n':
	case 'N':
	case 'q':
	case CTRL_C:
	case ESCAPE:
		return 0;
	default:
		*stray = true;
		return -1;
	}
}

bool app_ask(struct app *a, const char *question)
{
	struct text t = TEXT_INIT;
	struct pollfd fds[2] = {
	    {.fd = term_fd(), .events = POLLIN},
	    {.fd = signals_fd(), .events = POLLIN},
	};
	struct input in;
	int said = -1;
	bool stray = false;

	while (term_read(&in, false))
		term_keep(&in); /* typed before the question stood there: no answer to it, but what comes next */
	while (said < 0 && !a->quit) {
		text_clear(&t);
		text_addf(&t, stray ? "%s [y/N] (Enter: no)" : "%s [y/N]", question);
		app_say(a, ROLE_ERROR, t.s);
		app_draw(a);
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			break; /* the terminal is gone, as the loop will see */
		a->work.asking = true; /* so that SIGINT is an answer, too */
		app_take_signals(a);
		a->work.asking = false;
		if (a->work.refused)
			said = 0;
		while (said < 0 && term_read(&in, false))
			said = answer(&in, &stray);
	}
	a->work.refused = false;
	text_clear(&a->notice.text);
	a->dirty = true;
	text_release(&t);
	return said == 1;
}
