/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layouts_file.c - layouts of the user's own collections, read at the start: what they are is known in scripts as well.
 *
 * A line is a layout (analysis/describe/layouts.h); one that begins with # is a remark.  A line that is wrong is told
 * with its place, and the others hold.
 */
#include "view/view.h"

#include "analysis/describe/describe.h"
#include "base/mem.h"
#include "command/run/run.h"
#include "view/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOLD_MOST = 10 }; /* wrong lines: a file that is no file of layouts has many */

static void take_line(const char *path, size_t number, const char *line, unsigned *wrong)
{
	struct err err = ERR_INIT;
	const char *begin = line + strspn(line, " \t\r");
	if (!*begin || *begin == '#' || !layout_add(begin, &err))
		return;
	if (++*wrong > TOLD_MOST)
		return;
	struct text t = TEXT_INIT;
	text_add_escaped(&t, err.message, strlen(err.message));
	complain("%s:%zu: %s", path, number, t.s);
	text_release(&t);
}

void layouts_file_read(void)
{
	char *path = layouts_path();
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	size_t size = 0, number = 0;
	unsigned wrong = 0;
	int why = errno;
	/* whoever may not even look into the folder (another user's HOME) has no such file to miss */
	if (fd < 0 && path && why != ENOENT && why != ENOTDIR && !access(path, F_OK))
		complain("%s is left out: %s", path, strerror(why));
	char *bytes = fd < 0 ? NULL : state_read(fd, &size), *rest = bytes;
	if (fd >= 0 && !bytes)
		complain("%s is left out: it is no file of lines", path);
	for (char *line; (line = strsep(&rest, "\n")) != NULL;)
		take_line(path, ++number, line, &wrong);
	if (wrong > TOLD_MOST)
		complain("%s: %u more lines are wrong", path, wrong - TOLD_MOST);
	if (fd >= 0)
		close(fd);
	free(bytes);
	free(path);
}
