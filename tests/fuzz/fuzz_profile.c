/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_profile.c - fuzz target: any bytes as the file of a profile, which is compared with itself and with another. */
#include "mutate.h"

#include "analysis/compare/compare.h"
#include "memory/big.h"
#include "query/profile_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void promise(bool kept, const char *what)
{
	if (kept)
		return;
	fprintf(stderr, "fuzz_profile: %s\n", what);
	abort();
}

/* Names of one profile are strings, parents stand before their children, and doubt has a reason. */
static void check_row(const struct profile_table *t, uint32_t i)
{
	const struct profile_row *r = &t->row[i];
	const struct amount amounts[] = {r->objects, r->shallow, r->retained};
	promise(r->parent == PROFILE_NONE || r->parent < i, "a parent stands before its children");
	promise(r->words && strlen(r->words) < 1 << 21 && (!r->class || strlen(r->class) < 1 << 21), "names are texts");
	for (size_t k = 0; k < 3; k++)
		promise((amounts[k].certainty == EXACT) == (amounts[k].reason == REASON_NONE) &&
		    (amounts[k].certainty != UNKNOWN || !amounts[k].n), "doubt has a reason");
}

static void compare_with(const struct profile *a, const struct profile *b)
{
	const struct profile *const all[] = {a, b, a};
	struct err err = ERR_INIT;
	for (unsigned by = 0; by < PROFILE_BYS; by++) {
		struct comparison c;
		struct growth growth;
		struct trend *trends;
		struct text words = TEXT_INIT;
		promise(compare_profiles(&c, by, all, 3, &err) == 0, "profiles that are read can be compared");
		for (uint32_t i = 0; i < c.n_rows && i < 1000; i++)
			compared_add(&c, i, &words);
		promise(compare_growth(&growth, &c, by % 2, &err) == 0, "growth is found");
		promise(compare_trends(&trends, &c, &err) == 0, "trends are found");
		growth_release(&growth);
		big_free(trends);
		text_release(&words);
		comparison_release(&c);
	}
}

static int read_bytes(struct profile *out, const uint8_t *data, size_t size, struct err *err)
{
	char path[40];
	int fd = memfd_create("profile", MFD_CLOEXEC);
	promise(fd >= 0 && write(fd, data, size) == (ssize_t)size, "a file in memory");
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	bool sqlite = profile_is_file(path);
	int code = profile_read(out, path, NULL, err);
	promise(code || sqlite || !profile_support(), "what is read is recognized");
	close(fd);
	return code;
}

/* One that is as it should be. */
static const struct profile *sound(void)
{
	static struct profile p;
	struct err err = ERR_INIT;
	const char *source = getenv("CAIRN_SOURCE");
	char path[4096];
	snprintf(path, sizeof path, "%s/tests/fuzz/corpus/profile/gocart.profile", source ? source : ".");
	if (!p.path && profile_support())
		promise(profile_read(&p, path, NULL, &err) == 0, "the corpus has a sound profile");
	return &p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct profile *other = sound();
	struct profile p;
	struct err err = ERR_INIT;
	if (read_bytes(&p, data, size, &err)) {
		promise(strlen(err.message) > 10 && !strchr(err.message, '\n'), "an error is a sentence");
		return 0;
	}
	for (unsigned by = 0; by < PROFILE_BYS; by++)
		for (uint32_t i = 0; i < p.by[by].n; i++)
			check_row(&p.by[by], i);
	compare_with(&p, other);
	profile_release(&p);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
/* The heads of pages and what stands at their ends decide more than the bytes between; those of the file stay. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	enum { PAGE = 1024, HEAD = 100 };
	if (size < 2 * PAGE || memcmp(data, "SQLite", 6) != 0)
		return LLVMFuzzerMutate(data, size, most);
	uint64_t chance = seed * 6364136223846793005u + 1442695040888963407u;
	for (unsigned n = 1 + (unsigned)(chance >> 60) % 4; n; n--) {
		chance = chance * 6364136223846793005u + 1442695040888963407u;
		size_t page = (size_t)(chance >> 40) % (size / PAGE), at = (size_t)(chance >> 20) % 40;
		at = chance >> 63 ? PAGE - 1 - at * 5 : page ? at : HEAD + at;
		data[page * PAGE + at] = (uint8_t)(chance >> 33);
	}
	return size;
}
