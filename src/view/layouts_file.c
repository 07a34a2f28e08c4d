/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layouts_file.c - layouts of the user's own collections, read at the start, on the screen and in scripts.
 *
 * A line is a layout (analysis/describe/layouts.h) or, after #, a remark.  A line that is wrong is reported with its
 * place, and the others hold.
 */
#include "view/view.h"

#include "analysis/describe/describe.h"
#include "base/mem.h"
#include "command/exec/exec.h"
#include "view/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOLD_MOST = 10 }; /* wrong lines: a file that is no file of layouts has many */

/* On the error stream with its place; on the screen, whose lines are short, by the name of the file. */
static void tell_wrong(const char *path, size_t number, const char *what, bool complained)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct text t = TEXT_INIT, line = TEXT_INIT;
	text_add_escaped(&t, what, strlen(what));
	if (number)
		text_addf(&line, "line %zu of %s is wrong: %s", number, name, t.s);
	else
		text_addf(&line, "%s is ignored: %s", name, t.s);
	layouts_blame(line.s);
	if (complained && number)
		complain("%s:%zu: %s", path, number, t.s);
	else if (complained)
		complain("%s is ignored: %s", path, t.s);
	text_release(&t);
	text_release(&line);
}

static void take_line(const char *path, size_t number, const char *line, unsigned *wrong)
{
	struct err err = ERR_INIT;
	const char *begin = line + strspn(line, " \t\r");
	if (*begin && *begin != '#' && layout_add(begin, &err))
		tell_wrong(path, number, err.message, ++*wrong <= TOLD_MOST);
}

void layouts_file_read(void)
{
	char *path = layouts_path();
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	size_t size = 0, number = 0;
	unsigned wrong = 0;
	int refused = errno;
	const char *why = NULL;
	/* whoever may not even look into the folder (another user's HOME) has no such file to miss */
	if (fd < 0 && path && refused != ENOENT && refused != ENOTDIR && !access(path, F_OK))
		why = strerror(refused);
	char *bytes = fd < 0 ? NULL : state_read(fd, &size), *rest = bytes;
	if (fd >= 0 && !bytes)
		why = "not a text file";
	if (why)
		tell_wrong(path, 0, why, true);
	for (char *line; (line = strsep(&rest, "\n")) != NULL;)
		take_line(path, ++number, line, &wrong);
	if (wrong > TOLD_MOST)
		complain("%s: %u more lines are wrong", path, wrong - TOLD_MOST);
	if (fd >= 0)
		close(fd);
	free(bytes);
	free(path);
}
