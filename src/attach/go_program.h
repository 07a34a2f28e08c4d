/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_program.h - is a program made by Go, and by which version.
 *
 * Its section .go.buildinfo has the version and the main package (src/debug/buildinfo of Go).  Untrusted bytes.
 */
#ifndef CAIRN_ATTACH_GO_PROGRAM_H
#define CAIRN_ATTACH_GO_PROGRAM_H

#include <stdbool.h>

struct go_program {
	char *version; /* "go1.24.2"; NULL: older than 1.18, and unknown */
	char *package; /* of main, "github.com/acme/shop/cmd/server"; NULL: unknown */
};

/* False: it is not.  Either way go_binary_release ends it. */
bool go_binary_read(int fd, struct go_program *to);
void go_binary_release(struct go_program *g);

#endif
