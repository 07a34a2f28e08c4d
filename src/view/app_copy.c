/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app_copy.c - what is selected to the terminal's clipboard.
 */
#include "view/app.h"

#include "command/words/words.h"

#include <inttypes.h>
#include <string.h>

/* OSC 52: the terminal's own clipboard, also through ssh and tmux. */
static void clipboard(const char *s)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct text t = TEXT_INIT;
	size_t n = strlen(s);

	text_add(&t, "\033]52;c;");
	for (size_t i = 0; i < n; i += 3) {
		uint32_t bits = 0;
		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (i + k < n ? (unsigned char)s[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			text_add_char(&t, i + k > n ? '=' : digits[bits >> (18 - 6 * k) & 63]);
	}
	text_add(&t, "\a");
	term_write(t.s, t.len);
	text_release(&t);
}

/* A thread whose object is not in the dump: the address that a companion tells, else its name. */
static void add_thread(struct text *to, const struct heap_thread *thread)
{
	if (thread->address)
		text_addf(to, "0x%" PRIx64, thread->address);
	else if (thread->name)
		text_add(to, thread->name);
}

void app_copy(struct app *a)
{
	struct target target;
	struct text t = TEXT_INIT, said = TEXT_INIT;

	const struct heap *h = session_heap(&a->session);
	text_clear(&t);
	app_target(a, &target);
	uint32_t id = target_object(h, &target);
	if (target.kind == TARGET_CLASS)
		text_add(&t, h->classes[target.id].name);
	else if (id != HEAP_NONE)
		text_addf(&t, "0x%" PRIx64, heap_address(h, id));
	else if (target.kind == TARGET_THREAD)
		add_thread(&t, &h->threads[target.id]);
	if (t.len > 0) {
		clipboard(t.s);
		text_addf(&said, "copied %s", t.s);
	} else {
		text_add(&said, "nothing to copy in this row");
	}
	app_say(a, ROLE_NOTE, said.s);
	text_release(&t);
	text_release(&said);
}

