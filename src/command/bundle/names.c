/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names.c - what excuses a text that stands in a file; see texts.h.
 *
 * Names are put one behind another, and matched in large stretches: between two of them stands a byte that no UTF-8
 * has.  Of this program those constants are matched that are in memory as the file has them, read only.
 */
#include "command/bundle/texts.h"

#include "analysis/java/java.h"
#include "base/progress.h"
#include "dump/process.h"
#include "dump/program/program.h"
#include "dump/reader.h"
#include "dump/types.h"
#include "heap/classes.h"
#include "heap/sites.h"
#include "heap/string.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <link.h>
#include <string.h>

enum { STRETCH = 1 << 20, BETWEEN = 0xFF, NAME_MOST = 1000 };

struct naming {
	bytes_use *use;
	void *context;
	struct text names, page;
	int code;
	struct err *err;
	unsigned objects; /* of this program: itself and its libraries */
};

/* True: stop. */
static bool send(struct naming *n)
{
	if (!n->code && n->names.len)
		n->code = n->use(n->context, (const uint8_t *)n->names.s, n->names.len, n->err);
	if (!n->code)
		n->code = progress_check(progress_own(), n->err);
	text_clear(&n->names);
	return n->code;
}

/* A name as it is, and as a page has it where that is something else.  Of one that is very long, which any number of
 * classes may share, the beginning will do. */
static void add_bytes(struct naming *n, const char *name, size_t length)
{
	length = length < NAME_MOST ? length : NAME_MOST;
	if (!length || n->code)
		return;
	text_add_n(&n->names, name, length);
	text_add_char(&n->names, (char)BETWEEN);
	text_clear(&n->page);
	text_add_escaped(&n->page, name, length);
	size_t plain = 0;
	while (plain < n->page.len && !markup_entity(n->page.s[plain]))
		plain++;
	if (plain < n->page.len || n->page.len != length || memcmp(n->page.s, name, length)) {
		for (size_t i = 0; i < n->page.len; i++) {
			const char *entity = markup_entity(n->page.s[i]);
			if (entity)
				text_add(&n->names, entity);
			else
				text_add_char(&n->names, n->page.s[i]);
		}
		text_add_char(&n->names, (char)BETWEEN);
	}
	if (n->names.len >= STRETCH)
		send(n);
}

static void add(struct naming *n, const char *name)
{
	if (name)
		add_bytes(n, name, strnlen(name, NAME_MOST));
}

/* "java.util.Map$Entry", and "java/util/Map$Entry" as the VM writes it. */
static void add_class(struct naming *n, const struct heap_class *c)
{
	struct text other = TEXT_INIT;
	add(n, c->name);
	text_add_n(&other, c->name, strnlen(c->name, NAME_MOST));
	for (size_t i = 0; i < other.len; i++)
		if (other.s[i] == '.')
			other.s[i] = '/';
	add_bytes(n, other.s, other.len);
	for (uint32_t i = 0; i < c->n_fields; i++)
		add(n, c->fields[i].name);
	for (uint32_t i = 0; i < c->n_statics; i++) {
		text_clear(&other);
		text_addf(&other, "static %.*s.%.*s", (int)strnlen(c->name, NAME_MOST), c->name,
		    (int)strnlen(c->statics[i].name, NAME_MOST), c->statics[i].name);
		add_bytes(n, other.s, other.len);
	}
	text_release(&other);
}

static void add_threads(struct naming *n, const struct heap *h)
{
	const char *const *before = NULL;
	for (uint32_t i = 0; i < h->n_threads && !n->code; i++) {
		const struct heap_thread *t = &h->threads[i];
		const char *const words[] = {t->name, t->creator, t->state, t->waits_for};
		for (size_t k = 0; k < sizeof words / sizeof *words; k++)
			add(n, words[k]);
		for (uint32_t k = 0; t->frames != before && k < t->n_frames && !n->code; k++)
			add(n, t->frames[k]);
		before = (const char *const *)t->frames;
	}
	for (uint32_t i = 0; h->sites && i < h->sites->n && !n->code; i++)
		for (uint32_t k = 0; k < h->sites->site[i].n_frames && !n->code; k++)
			add(n, h->sites->site[i].frames[k]);
}

/* Is it a subclass, or the class itself?  Superclasses of a hostile dump may lead round. */
static bool is_of(const struct heap *h, uint32_t c, uint32_t class)
{
	enum { DEEPEST = 64 };
	for (unsigned i = 0; c != HEAP_NONE && i < DEEPEST; i++, c = h->classes[c].superclass)
		if (c == class)
			return true;
	return false;
}

/* Of Java threads that have no stack in the dump, virtual ones and such as ended, their objects have the names. */
static void add_thread_objects(struct naming *n, const struct heap *h)
{
	uint32_t thread = values_whole(h) && h->facts.values == DECLARED_FIELDS ?
	    values_class_named(h, "java.lang.Thread") : HEAP_NONE;
	struct text name = TEXT_INIT;
	if (n->code || thread == HEAP_NONE)
		return;
	uint8_t *threads = big_alloc(h->n_classes, 1, n->err);
	n->code = threads ? 0 : ERR_NOMEM;
	for (uint32_t c = 0; c < h->n_classes && !n->code; c++)
		threads[c] = is_of(h, c, thread);
	for (uint32_t id = 0; id < h->n_objects && !n->code; id++) {
		struct values v;
		struct value value;
		struct string_view text;
		if (progress_own_stops(id))
			n->code = err_cancelled(n->err);
		if (!threads[h->class_of[id]] || values_open(&v, h, id, NULL) || !values_as(&v, thread) ||
		    !values_field(&v, "name", &value))
			continue;
		uint32_t holder = value_object_id(h, &value);
		text_clear(&name);
		if (holder != HEAP_NONE && (heap_string(h, holder, &text) || /* before Java 9 an array */
		    (!values_open(&v, h, holder, NULL) && heap_array_string(&v, &text))))
			string_add(&text, 0, NAME_MOST, &name);
		add_bytes(n, name.s, name.len);
	}
	text_release(&name);
	big_free(threads);
}

/* Of a Go dump: types with their fields, variables and functions of the program. */
static void add_program(struct naming *n, const struct heap *h)
{
	const struct types *t = h->dump->types;
	const struct program *p = h->dump->program;
	size_t variables = 0;
	for (uint32_t i = 0; t && i < t->n && !n->code; i++)
		add(n, t->type[i].name);
	for (uint32_t i = 0; t && i < t->n_fields && !n->code; i++)
		add(n, t->field[i].name);
	const struct program_variable *v = p ? program_variables(p, &variables) : NULL;
	for (size_t i = 0; i < variables && !n->code; i++)
		add(n, v[i].name);
	for (uint32_t i = 0; p && i < program_n_functions(p) && !n->code; i++)
		add(n, program_function_name(p, i));
}

/* Of the VM and of its library, as info has them. */
static void add_versions(struct naming *n, const struct heap *h)
{
	struct err ignored = ERR_INIT;
	struct process_facts *p = java_process(h, &ignored);
	struct text vm = TEXT_INIT;
	if (java_vm(h, &vm))
		add(n, vm.s);
	const struct process_facts *const told[] = {p, h->process};
	for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
		if (!told[i])
			continue;
		add(n, told[i]->java_version);
		add(n, told[i]->vm_version);
		add(n, told[i]->started);
	}
	process_free(p);
	text_release(&vm);
}

static int add_symbol(void *naming, const uint8_t *bytes, size_t length, bool names, struct err *err)
{
	struct naming *n = naming;
	(void)err;
	if (names)
		add_bytes(n, (const char *)bytes, length);
	return n->code;
}

int names_each(const struct heap *h, bytes_use *use, void *context, struct err *err)
{
	struct naming n = {.use = use, .context = context, .err = err};
	const struct dump_facts *f = &h->facts;
	const char *const facts[] = {f->version, f->vm, f->created, f->experiments, f->cannot_tell, f->no_values,
	    h->size_model};
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
		add(&n, facts[i]);
	add_versions(&n, h);
	for (uint32_t c = 0; c < h->n_classes && !n.code; c++)
		add_class(&n, &h->classes[c]);
	for (unsigned i = 0; i < h->n_spaces; i++)
		add(&n, h->spaces[i]);
	add_threads(&n, h);
	add_thread_objects(&n, h);
	add_program(&n, h);
	if (!n.code && h->dump->reader->symbols)
		n.code = h->dump->reader->symbols(h->dump, add_symbol, &n, err);
	send(&n);
	text_release(&n.names);
	text_release(&n.page);
	return n.code;
}

/* --- this program ------------------------------------------------------------------------------- */

/* Constants stand between bytes that a sanitizer guards: read one by one, past it. */
__attribute__((no_sanitize("address"))) static void copy_constants(uint8_t *to, const volatile uint8_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
}

static void match_segment(struct naming *n, const uint8_t *at, uint64_t length)
{
	uint8_t *room = (uint8_t *)n->names.s;
	enum { OVERLAP = 2 * NEEDLE_ROOM };
	for (uint64_t done = 0; done < length && !n->code;) {
		size_t some = length - done < STRETCH ? (size_t)(length - done) : STRETCH;
		copy_constants(room, at + done, some);
		n->code = n->use(n->context, room, some, n->err);
		done += some == STRETCH ? STRETCH - OVERLAP : some;
	}
}

/* The program comes first.  Of libraries only SQLite has words in what is written; others may have a dictionary. */
static int match_object(struct dl_phdr_info *info, size_t size, void *naming)
{
	struct naming *n = naming;
	(void)size;
	if (n->objects++ && !(info->dlpi_name && strstr(info->dlpi_name, "libsqlite3")))
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum && !n->code; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_LOAD && (p->p_flags & PF_R) && !(p->p_flags & PF_W))
			match_segment(n, (const uint8_t *)(uintptr_t)(info->dlpi_addr + p->p_vaddr), p->p_filesz);
	}
	return n->code;
}

int words_each(bytes_use *use, void *context, struct err *err)
{
	struct naming n = {.use = use, .context = context, .err = err};
	static const char filler[64];
	while (n.names.len < STRETCH) {
		size_t before = n.names.len;
		text_add_n(&n.names, filler, sizeof filler);
		if (n.names.len == before)
			return err_set(err, ERR_NOMEM, "not enough memory to search this program's own words");
	}
	(void)dl_iterate_phdr(match_object, &n);
	text_release(&n.names);
	return n.code;
}
