/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay.c - runs a fuzz target over files, without libFuzzer: the corpus as ordinary tests (TAP).
 *
 *     replay_TARGET [FILE|DIRECTORY...]     default: the target's folder of the corpus
 *
 * Each input is also run cut short at a few places and with a few bytes turned over, so that the
 * corpus goes on being worth its bytes.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned n_tests;

/* A copy of exactly its size, so that a sanitizer sees every byte too far. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	if (!copy)
		exit(99);
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void run_variations(uint8_t *data, size_t size)
{
	for (unsigned i = 0; i < 24; i++)
		run(data, size * i / 24);
	uint64_t state = size;
	for (unsigned i = 0; i < 40 && size; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		size_t at = (size_t)(state >> 33) % size;
		uint8_t was = data[at];
		data[at] = (uint8_t)(was ^ 1u << (state >> 29 & 7));
		run(data, size);
		data[at] = was;
	}
}

static void run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f) {
		printf("not ok %u - %s: %s\n", ++n_tests, path, strerror(errno));
		return;
	}
	static uint8_t data[1 << 20];
	size_t size = fread(data, 1, sizeof data, f);
	fclose(f);
	run(data, size);
	if (size < 1 << 16)
		run_variations(data, size);
	const char *slash = strrchr(path, '/');
	printf("ok %u - %s\n", ++n_tests, slash ? slash + 1 : path);
	fflush(stdout);
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void run_folder(const char *path)
{
	struct dirent **list;
	int n = scandir(path, &list, visible, alphasort);
	if (n < 0) {
		run_file(path);
		return;
	}
	for (int i = 0; i < n; i++) {
		char file[4096];
		snprintf(file, sizeof file, "%s/%s", path, list[i]->d_name);
		run_file(file);
		free(list[i]);
	}
	free(list);
}

static void run_corpus(const char *program)
{
	const char *source = getenv("CAIRN_SOURCE");
	const char *under = strrchr(program, '_');
	char folder[4096];
	snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", source ? source : ".",
	    under ? under + 1 : program);
	run_folder(folder);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		run_folder(argv[i]);
	if (argc < 2)
		run_corpus(argv[0]);
	printf("1..%u\n", n_tests);
	return n_tests == 0;
}
