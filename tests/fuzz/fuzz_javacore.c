/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_javacore.c - fuzz target: any bytes as the javacore beside the sample of data/. */
#include "dump/javacore/javacore.h"
#include "fuzz_reader.h"
#include "promise.h"
#include "whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Every text is read to its end, and every index leads somewhere. */
static size_t look_through(const struct javacore *j)
{
	size_t sum = strlen(j->java_version ? j->java_version : "") + strlen(j->date ? j->date : "");
	PROMISE(j->current == SIZE_MAX || j->current < j->n_threads);
	for (size_t i = 0; i < j->n_loaders; i++)
		sum += strlen(j->loaders[i].name);
	for (size_t i = 0; i < j->n_classes; i++)
		sum += strlen(j->classes[i].name);
	for (size_t i = 0; i < j->n_threads; i++) {
		const struct javacore_thread *t = &j->threads[i];
		sum += strlen(t->name) + strlen(t->state ? t->state : "");
		sum += strlen(t->wait.class_name ? t->wait.class_name : "") + strlen(t->wait.owner ? t->wait.owner : "");
		for (size_t k = 0; k < t->n_frames; k++)
			sum += strlen(t->frames[k].text);
		for (size_t k = 0; k < t->n_monitors; k++)
			PROMISE(t->monitors[k].frame == SIZE_MAX || t->monitors[k].frame < t->n_frames);
	}
	return sum;
}

static void read_alone(const uint8_t *data, size_t size)
{
	char path[64];
	struct javacore *j = NULL;
	struct err err = ERR_INIT;
	int fd = memfd_create("javacore", MFD_CLOEXEC);
	PROMISE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	int code = javacore_open(&j, NULL, path, "", &err);
	PROMISE(!code == (j != NULL));
	if (code < 0)
		check_message(code, &err);
	else
		PROMISE(look_through(j) < SIZE_MAX); /* the sum is used, so the texts are read */
	javacore_close(j);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *source = getenv("CAIRN_SOURCE");
	char dump[4096];
	if (fuzz_reader_alone()) {
		read_alone(data, size);
		return 0;
	}
	snprintf(dump, sizeof dump, "%s/data/heapdump.20261121.101500.4711.0001.phd", source ? source : ".");
	fuzz_javacore(dump, data, size);
	return 0;
}
