/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay.c - runs a fuzz target over files, without libFuzzer: the corpus as ordinary tests (TAP).
 *
 *     replay_TARGET [FILE|DIRECTORY...]     default: the target's folder of the corpus
 *
 * Besides the inputs as they are, so many variations in all are run as VARIATIONS says, an equal share
 * of each input: cut short, a bit turned over, or changed by the target's own mutator, from fixed seeds.
 * So the corpus goes on being worth its bytes.  CAIRN_VARIATIONS gives another number; a long run (CAIRN_LONG) has
 * LONG_VARIATIONS.  With CAIRN_QUICK and without CAIRN_LONG every sixth input, by turns (CAIRN_ROUND), of a folder that
 * has more than SHORT is run.
 */
#include "mutate.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

enum { VARIATIONS = 10, LONG_VARIATIONS = 400, MOST = 1 << 16, SHORT = 50 };

static size_t n_variations(void)
{
	const char *asked = getenv("CAIRN_VARIATIONS");
	return asked ? (size_t)strtoul(asked, NULL, 10) : getenv("CAIRN_LONG") ? LONG_VARIATIONS : VARIATIONS;
}

/* Of targets that have a mutator. */
#pragma weak LLVMFuzzerCustomMutator
#pragma weak LLVMFuzzerCustomCrossOver

static uint64_t state = 1;

static size_t draw(size_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(state >> 33) % below;
}

/* What libFuzzer has more of: a few bytes get other values. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
	if (size && size < most && !draw(4)) {
		size_t at = draw(size);
		memmove(data + at + 1, data + at, size - at);
		data[at] = (uint8_t)draw(256);
		return size + 1;
	}
	for (size_t i = 0; size && i < 3; i++)
		data[draw(size)] ^= (uint8_t)(1u << draw(8));
	return size;
}

/* before: another input to take records from. */
static void run_variation(const uint8_t *data, size_t size, const uint8_t *before, size_t n_before)
{
	static uint8_t changed[MOST];
	size_t n = size;
	memcpy(changed, data, size);
	if (!LLVMFuzzerCustomMutator || !draw(8))
		n = draw(2) ? draw(size + 1) : LLVMFuzzerMutate(changed, size, sizeof changed);
	else if (LLVMFuzzerCustomCrossOver && n_before && !draw(6))
		n = LLVMFuzzerCustomCrossOver(data, size, before, n_before, changed, sizeof changed,
		    (unsigned)draw(1u << 30));
	else
		n = LLVMFuzzerCustomMutator(changed, size, sizeof changed, (unsigned)draw(1u << 30));
	run(changed, n);
}

static void run_file(const char *path, size_t variations)
{
	static uint8_t data[1 << 20], before[MOST];
	static size_t n_before;
	FILE *f = fopen(path, "rb");
	if (!f) {
		printf("not ok %u - %s: %s\n", ++n_tests, path, strerror(errno));
		return;
	}
	size_t size = fread(data, 1, sizeof data, f);
	fclose(f);
	run(data, size);
	for (size_t i = 0; i < variations && size < MOST; i++)
		run_variation(data, size, before, n_before);
	if (size < MOST)
		memcpy(before, data, n_before = size);
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
		run_file(path, 0);
		return;
	}
	const char *round = getenv("CAIRN_ROUND");
	int step = n > SHORT && getenv("CAIRN_QUICK") && !getenv("CAIRN_LONG") ? 6 : 1;
	int first = round ? (int)(strtoul(round, NULL, 10) % (unsigned)step) : 0;
	for (int i = 0; i < n; i++) {
		char file[4096];
		if (i % step != first) {
			free(list[i]);
			continue;
		}
		snprintf(file, sizeof file, "%s/%s", path, list[i]->d_name);
		run_file(file, (size_t)(n_variations() * (i + 1) / n - n_variations() * i / n));
		free(list[i]);
	}
	free(list);
}

static int drop(const char *path, const struct stat *about, int kind, struct FTW *at)
{
	(void)about, (void)kind, (void)at;
	return remove(path);
}

static void run_corpus(const char *program)
{
	const char *source = getenv("CAIRN_SOURCE");
	const char *under = strrchr(program, '_');
	char folder[4096];
	snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", source ? source : ".",
	    under ? under + 1 : program);
	/* examples of commands write files where they stand */
	char *corpus = realpath(folder, NULL);
	const char *tmp = getenv("TMPDIR");
	char own[4096];
	snprintf(own, sizeof own, "%s/cairn-replay-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	bool moved = corpus && mkdtemp(own) && chdir(own) == 0;
	run_folder(corpus ? corpus : folder);
	if (moved)
		nftw(own, drop, 16, FTW_DEPTH | FTW_PHYS);
	free(corpus);
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
