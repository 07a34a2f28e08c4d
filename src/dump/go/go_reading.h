/* SPDX-License-Identifier: GPL-3.0-or-later */
/* go_reading.h - the state of one reading of a part, which go_read.c, go_tell.c and go_old.c share. */
#ifndef CAIRN_DUMP_GO_GO_READING_H
#define CAIRN_DUMP_GO_GO_READING_H

#include "dump/go/go_shape.h"

enum { GO_BUFFERED = 512 };

struct go_reading {
	const struct go *go;
	struct sink *sink;
	struct err *err;
	bool survey;
	const uint8_t *bytes; /* of the whole file */
	uint64_t size;
	uint64_t at;          /* the next record */
	uint64_t end;         /* of the part */
	uint64_t next_cut;
	uint64_t pointer_page; /* of the last object if it has pointers; else GO_NO_PAGE */
	bool ended;           /* the end record was read */
	struct go_shapes shapes;
	struct go_survey met; /* in the survey */

	/* The goroutine whose frames are being read. */
	bool in_goroutine;
	struct go_record goroutine;
	char **frames; /* big memory, and so is each */
	size_t n_frames, cap_frames;
	struct text text;

	uint64_t targets[GO_BUFFERED];
};

/* go_tell.c, in the survey.  go_tell: announce a record that is not an object to the sink.
 * go_tell_goroutine: announce the goroutine, once its frames are read.  Both return the sink's code. */
int go_tell(struct go_reading *r, const struct go_record *record);
int go_tell_goroutine(struct go_reading *r);

/* Put a pointer to the *n that wait for the sink, and deliver them when the buffer is full. */
static inline int go_deliver(struct go_reading *r, size_t *n, uint64_t target)
{
	int code = 0;
	r->targets[(*n)++] = target;
	if (*n == GO_BUFFERED) {
		code = r->sink->references(r->sink, r->targets, *n);
		*n = 0;
	}
	return code;
}

/* go_old.c: announce the object of a record of go1.3 to the sink.  Returns the sink's code. */
int go_old_object(struct go_reading *r, const struct go_record *record);

#endif
