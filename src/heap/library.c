/* SPDX-License-Identifier: GPL-3.0-or-later */
/* library.c - see library.h. */
#include "heap/library.h"

#include "base/mem.h"
#include "base/text.h"
#include "heap/classes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

extern const char *const library_txt[]; /* the lines of library.txt, which the build turns into an array */

enum kind {
	KIND_NONE, KIND_JDK, KIND_EITHER, KIND_ANDROID, KIND_LOADER, KIND_CLASS_PATH, KIND_GENERATED, KIND_GO, KINDS
};

/* A name, or the beginning of names. */
struct rule {
	const char *name; /* not terminated */
	size_t length;
	bool below;       /* all that begins so */
};

struct rules {
	struct rule *rule;
	size_t n, cap;
};

static struct rules listed[KINDS];
static pthread_once_t listed_once = PTHREAD_ONCE_INIT;

static struct {
	char *words; /* as the user wrote them; NULL: none */
	struct rules rules;
} wished[2];

static void add_rule(struct rules *to, const char *name, size_t n)
{
	bool below = name[n - 1] == '*';
	VEC_PUSH(to->rule, to->n, to->cap) = (struct rule){ name, n - below, below };
}

static enum kind kind_called(const char *line, size_t n)
{
	static const char *const names[KINDS] = { [KIND_NONE] = "", [KIND_JDK] = "[jdk]",
		[KIND_EITHER] = "[jdk or library]", [KIND_ANDROID] = "[android]", [KIND_LOADER] = "[loader]",
		[KIND_CLASS_PATH] = "[class path loader]", [KIND_GENERATED] = "[generated]", [KIND_GO] = "[go]" };
	for (unsigned i = KIND_JDK; i < KINDS; i++)
		if (strlen(names[i]) == n && !strncmp(line, names[i], n))
			return (enum kind)i;
	return KIND_NONE;
}

static void read_list(void)
{
	enum kind kind = KIND_NONE;
	for (const char *const *line = library_txt; *line; line++) {
		if (**line == '[')
			kind = kind_called(*line, strlen(*line));
		else
			add_rule(&listed[kind], *line, strlen(*line));
	}
}

/* The length of the longest rule that fits the name of a class, array or frame, and 1; 0: none does. */
static size_t fit(const struct rules *rules, const char *name)
{
	size_t longest = 0;
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *r = &rules->rule[i];
		if (r->length < longest || strncmp(name, r->name, r->length))
			continue;
		if (r->below || !name[r->length] || strchr("[$", name[r->length]))
			longest = r->length + 1;
	}
	return longest;
}

static size_t fit_listed(enum kind kind, const char *name)
{
	pthread_once(&listed_once, read_list);
	return fit(&listed[kind], name);
}

/* What the user wishes of a name: 1 the program's, -1 not, 0 nothing. */
static int wish_of(const char *name)
{
	if (!wished[0].words && !wished[1].words)
		return 0;
	size_t mine = fit(&wished[1].rules, name), not_mine = fit(&wished[0].rules, name);
	return mine && mine >= not_mine ? 1 : not_mine ? -1 : 0;
}

/* --- Java --------------------------------------------------------------------------------------- */

static enum kind java_kind(const char *name)
{
	size_t jdk = fit_listed(KIND_JDK, name), either = fit_listed(KIND_EITHER, name);
	return either > jdk ? KIND_EITHER : jdk ? KIND_JDK : KIND_NONE;
}

bool library_public_name(const char *name)
{
	return java_kind(name) != KIND_NONE || fit_listed(KIND_ANDROID, name);
}

bool library_primitive_name(const char *name)
{
	static const char *const primitives[] = { "boolean", "byte", "char", "short", "int", "long", "float",
		"double", "void" };
	size_t n = strnlen(name, sizeof "boolean["); /* names may be long, and many */
	const char *bracket = memchr(name, '[', n);
	n = bracket ? (size_t)(bracket - name) : n;
	for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++)
		if (strlen(primitives[i]) == n && !strncmp(name, primitives[i], n))
			return true;
	return false;
}

bool library_usual_loader(const struct heap *h, uint32_t loader)
{
	return loader == h->boot_loader || fit_listed(KIND_LOADER, heap_class_of(h, loader)->name);
}

bool library_class_path_loader(const char *name)
{
	return fit_listed(KIND_CLASS_PATH, name);
}

/* Does it load the program's classes?  Not the JDK's, nor those that reflection generates. */
static bool loads_program(const struct heap *h, uint32_t loader)
{
	const char *name = heap_class_of(h, loader)->name;
	return library_class_path_loader(name) ||
	    (!library_usual_loader(h, loader) && !fit_listed(KIND_GENERATED, name));
}

/* --- Go ----------------------------------------------------------------------------------------- */

bool library_go_package(const char *package, size_t n)
{
	pthread_once(&listed_once, read_list);
	for (size_t i = 0; i < listed[KIND_GO].n; i++) {
		const struct rule *r = &listed[KIND_GO].rule[i];
		if (r->length == n && !strncmp(package, r->name, n))
			return true;
	}
	return false;
}

bool library_go_foreign(const char *name, bool *any)
{
	static const char ends[] = " []*(){},;<>&=#:@+\"";
	*any = false;
	for (name += strspn(name, ends); *name; name += strspn(name, ends)) {
		size_t n = strcspn(name, ends);
		const char *dot = memchr(name, '.', n);
		if (dot && dot > name && *name != '.') {
			int wish = wish_of(name);
			*any = true;
			if (wish > 0 || (!wish && !library_go_package(name, strcspn(name, "/."))))
				return true;
		}
		name += n;
	}
	return false;
}

bool library_go_runtime(const char *name)
{
	name += strspn(name, "[]*");
	return !strncmp(name, "runtime.", strlen("runtime.")) || !strncmp(name, "internal/", strlen("internal/"));
}

/* --- both --------------------------------------------------------------------------------------- */

/* loader: HEAP_NONE where it is not known, and then h is not needed */
static bool java_programs(const char *name, const struct heap *h, uint32_t loader)
{
	int wish = wish_of(name);
	if (wish)
		return wish > 0;
	enum kind kind = java_kind(name);
	if (kind == KIND_EITHER && loader != HEAP_NONE)
		return loads_program(h, loader);
	return kind == KIND_NONE && !library_primitive_name(name);
}

bool library_programs_name(bool java, const char *name)
{
	bool any;
	return java ? java_programs(name, NULL, HEAP_NONE) : library_go_foreign(name, &any);
}

bool library_programs_class(const struct heap *h, uint32_t class)
{
	const struct heap_class *c = &h->classes[class];
	if (h->java_lang_class == HEAP_NONE)
		return library_programs_name(false, c->name);
	return java_programs(c->name, h, c->loader);
}

/* --- the user's wishes -------------------------------------------------------------------------- */

static const char between[] = " ,\t";

static bool is_pattern(const char *word, size_t n)
{
	const char *star = memchr(word, '*', n);
	return !star || star == word + n - 1;
}

int library_wish(bool mine, const char *patterns, struct err *err)
{
	char *words = xstrdup(patterns);
	struct rules rules = { 0 };
	for (const char *s = words + strspn(words, between); *s; s += strspn(s, between)) {
		size_t n = strcspn(s, between);
		if (!is_pattern(s, n)) {
			int code = err_set(err, ERR_USAGE, "invalid pattern \"%.*s\": * can only end it (use com.acme.* or a "
			    "class)", n < 60 ? (int)n : 60, s);
			free(words);
			free(rules.rule);
			return code;
		}
		add_rule(&rules, s, n);
		s += n;
	}
	free(wished[mine].words);
	free(wished[mine].rules.rule);
	wished[mine].words = rules.n ? words : NULL;
	wished[mine].rules = rules;
	if (!rules.n)
		free(words);
	return 0;
}

const char *library_wished(bool mine)
{
	return wished[mine].words;
}
