/* SPDX-License-Identifier: GPL-3.0-or-later */
/* find_values.c - see find_values.h. */
#include "command/browse/find_values.h"

#include "algorithms/bisect.h"
#include "analysis/describe/describe.h"
#include "analysis/numbers.h"
#include "analysis/search.h"
#include "analysis/strings/strings.h"
#include "base/render_lock.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/hashes.h"
#include "heap/value.h"
#include "memory/big.h"
#include "result/objects.h"
#include "result/result.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { REFERRERS_LOOKED_AT = 1000 }; /* of a key: one text may be the key of very many */

void find_add(struct result *r, const char *kind, uint32_t id, struct cell name, struct cell offset, const char *field)
{
	const struct heap *h = r->heap;
	result_add_row(r, (struct cell[]){cell_text(kind), cell_address(heap_address(h, id)),
	    cell_text(heap_class_of(h, id)->name), name, cell_plain(1), cell_bytes(heap_size(h, id)), offset,
	    cell_text_or_blank(field)}, &(struct target){.kind = TARGET_OBJECT, .id = id});
}

void find_object(struct result *r, uint32_t id, uint64_t offset)
{
	struct text t = TEXT_INIT;
	if (offset)
		text_addf(&t, "byte %" PRIu64 " of it", offset);
	find_add(r, offset ? "inside" : "object", id, offset ? cell_text(t.s) : object_value_cell(r->heap, id, &t),
	    cell_plain(offset), NULL);
	text_release(&t);
}

/* --- keys of maps ------------------------------------------------------------------------------- */

static void add_key(struct result *r, uint32_t key, uint32_t entry, const char *field)
{
	struct text name = TEXT_INIT, scratch = TEXT_INIT;
	struct cell words = object_value_cell(r->heap, key, &scratch);
	text_add(&name, words.type == CELL_TEXT && strcmp(field, "key") == 0 ? words.text : "");
	size_t n = name.len;
	text_add(&name, " -> ");
	if (!describe_entry_value(r->heap, entry, &name))
		name.s[name.len = n] = 0;
	find_add(r, "key", entry, cell_text_or_blank(name.s), cell_blank(), field);
	text_release(&name);
	text_release(&scratch);
}

void find_keys(struct result *r, const uint32_t *ids, size_t n)
{
	const struct heap *h = r->heap;
	struct first_names *names = first_names_new();
	struct text name = TEXT_INIT;
	for (size_t i = 0; i < n && !h->no_references && !progress_own_stops(i); i++) {
		render_lock_offer();
		uint64_t at = adjacency_start(&h->in, ids[i]), end = adjacency_start(&h->in, ids[i] + 1);
		end = end - at > REFERRERS_LOOKED_AT ? at + REFERRERS_LOOKED_AT : end;
		for (; at < end; at++) {
			uint32_t holder = h->in.target[at];
			text_clear(&name);
			if (inspect_declares_fields(h) && heap_class_of(h, holder)->kind != CLASS_PLAIN)
				continue; /* elements of arrays have no names */
			if (!first_name(names, h, holder, ids[i], &name))
				continue;
			if (!strcmp(name.s, "key") || !strncmp(name.s, "key ", 4))
				add_key(r, ids[i], holder, name.s);
		}
	}
	first_names_free(names);
	text_release(&name);
	for (size_t row = 0; row < r->n_rows; row++) {
		struct cell kind;
		result_cell(r, row, FOUND_KIND, &kind);
		if (!strcmp(kind.text, "key"))
			result_show(r, FOUND_FIELD, true);
	}
}

/* --- constants of enums --------------------------------------------------------------------------- */

/* Classes right below Enum, and those of constants with a body of their own below these. */
static uint32_t *enum_constants(const struct heap *h, size_t *n, struct err *err)
{
	uint32_t *classes = big_alloc((uint64_t)h->n_classes + 1, sizeof *classes, err);
	uint32_t base = values_class_named(h, "java.lang.Enum");
	size_t n_classes = 0;
	for (uint32_t c = 0; classes && base != HEAP_NONE && c < h->n_classes; c++) {
		uint32_t above = h->classes[c].superclass;
		if (above != HEAP_NONE && (above == base || h->classes[above].superclass == base))
			classes[n_classes++] = c;
	}
	uint32_t *ids = classes ? objects_of_classes(h, classes, n_classes, n, err) : NULL;
	big_free(classes);
	return ids;
}

int find_enums(struct result *r, struct pattern *regex, bool shown, struct err *err)
{
	const struct heap *h = r->heap;
	struct text name = TEXT_INIT;
	size_t n, found = 0;
	if (!inspect_declares_fields(h))
		return 0;
	struct render_lock *turns = render_lock_step_out();
	uint32_t *ids = enum_constants(h, &n, err);
	render_lock_enter(turns);
	for (size_t i = 0; ids && i < n && !(shown && found == FOUND_SHOWN) && !progress_own_stops(i); i++) {
		render_lock_offer();
		text_clear(&name);
		if (!describe_object(h, ids[i], DESCRIBE_SHORT, &name) || !pattern_matches(regex, name.s))
			continue;
		find_add(r, "enum", ids[i], cell_text(name.s), cell_blank(), NULL);
		found++;
	}
	big_free(ids);
	text_release(&name);
	return ids ? 0 : ERR_NOMEM;
}

/* --- values in words ------------------------------------------------------------------------------ */

static void add_value(struct result *r, uint32_t id)
{
	struct text words = TEXT_INIT;
	find_add(r, "value", id, object_value_cell(r->heap, id, &words), cell_blank(), NULL);
	text_release(&words);
}

static bool is_hit(const struct number_list *found, uint32_t id)
{
	size_t at;
	BISECT(at, found->n, found->hits[at].id < id);
	return at < found->n && found->hits[at].id == id;
}

/* found: objects with a row already; NULL: none have */
static int add_values(struct result *r, const char *word, bool any_case, bool shown, const struct number_list *found,
    struct err *err)
{
	struct string_list list;
	struct render_lock *turns = render_lock_step_out();
	int code = values_matching(&list, r->heap, word, any_case, found != NULL, err);
	render_lock_enter(turns);
	if (code)
		return code;
	size_t n = shown && list.n > FOUND_SHOWN ? FOUND_SHOWN : list.n;
	for (size_t i = 0; i < n && !progress_own_stops(i); i++) {
		render_lock_offer();
		if (!found || !is_hit(found, list.ids[i]))
			add_value(r, list.ids[i]);
	}
	if (n < list.n)
		result_notef(r, "%d of %zu values are shown", FOUND_SHOWN, list.n);
	if (list.n <= FOUND_SHOWN)
		find_keys(r, list.ids, list.n);
	string_list_release(&list);
	return 0;
}

/* "10.05", "-3": digits alone, so dates and UUIDs are not meant. */
static bool is_decimal(const char *word)
{
	word += *word == '-' || *word == '+';
	size_t n = strspn(word, "0123456789"), fraction = word[n] == '.' ? strspn(word + n + 1, "0123456789") : 0;
	return n && !word[n + (fraction ? fraction + 1 : 0)];
}

int find_values(struct result *r, const char *word, bool any_case, bool shown, struct err *err)
{
	return is_decimal(word) ? 0 : add_values(r, word, any_case, shown, NULL, err);
}

/* --- hashes --------------------------------------------------------------------------------------- */

struct hash_search {
	const struct heap *heap;
	uint32_t hash;
	uint32_t *ids; /* big memory */
	size_t n;
};

static int search_hash(void *context, struct progress *progress, struct err *err)
{
	struct hash_search *s = context;
	return hashes_find(s->heap, s->hash, &s->ids, &s->n, progress, err);
}

/* The objects with the hash that is sought, in search->ids: the caller's (big_free). */
static int look_for_hash(struct session *s, struct hash_search *search, struct err *err)
{
	struct render_lock *turns = render_lock_step_out();
	int code = session_work(s, search_hash, search, err);
	render_lock_enter(turns);
	return code;
}

int find_hashes(struct session *s, struct result *r, uint32_t hash, struct err *err)
{
	struct hash_search search = {.heap = session_heap(s), .hash = hash};
	int code = look_for_hash(s, &search, err);
	for (size_t k = 0; !code && k < search.n && !progress_own_stops(k); k++) {
		find_object(r, search.ids[k], 0);
		render_lock_offer();
	}
	big_free(search.ids);
	return code;
}

/* --- numbers -------------------------------------------------------------------------------------- */

struct number_search {
	const struct heap *heap;
	struct sought_number sought;
	bool date; /* only numbers that are shown as one */
	struct number_list list;
};

static int keep_dates(struct number_list *list, const struct heap *h, struct progress *progress, struct err *err)
{
	struct text name = TEXT_INIT;
	size_t n = 0;
	int code = 0;
	for (size_t i = 0; !code && i < list->n; i++) {
		text_clear(&name);
		text_add(&name, "");
		inspect_number_place(h, list->hits[i].id, list->hits[i].place, &name);
		if (describe_is_date(h, (int64_t)list->hits[i].bits, name.s))
			list->hits[n++] = list->hits[i];
		if (progress_stops(progress, i))
			code = err_cancelled(err);
	}
	list->n = n;
	text_release(&name);
	if (code)
		number_list_release(list);
	return code;
}

static int search_number(void *context, struct progress *progress, struct err *err)
{
	struct number_search *s = context;
	int code = numbers_find(&s->list, s->heap, &s->sought, progress, err);
	return code || !s->date ? code : keep_dates(&s->list, s->heap, progress, err);
}

static void add_number(struct result *r, const struct number_hit *hit)
{
	struct text field = TEXT_INIT, words = TEXT_INIT;
	text_add(&field, "");
	inspect_number_place(r->heap, hit->id, hit->place, &field);
	find_add(r, strncmp(field.s, "key ", 4) ? "field" : "key", hit->id, object_value_cell(r->heap, hit->id, &words),
	    cell_blank(), field.s);
	text_release(&field);
	text_release(&words);
}

static void add_numbers(struct result *r, const struct number_list *list, bool shown)
{
	const struct heap *h = r->heap;
	size_t n = shown && list->n > FOUND_SHOWN ? FOUND_SHOWN : list->n;
	struct text note = TEXT_INIT;
	for (size_t i = 0; i < n && !progress_own_stops(i); i++) {
		render_lock_offer();
		add_number(r, &list->hits[i]);
		if (i < FOUND_SHOWN && describe_is_box(h, list->hits[i].id))
			find_keys(r, &list->hits[i].id, 1);
	}
	if (n)
		result_show(r, FOUND_FIELD, true);
	if (n < list->n)
		result_notef(r, "%d of %zu places with this number are shown", FOUND_SHOWN, list->n);
	text_add(&note, "searched the fields, static fields and number arrays (except bytes) of ");
	text_add_count(&note, h->n_objects);
	text_add(&note, " objects for the number");
	result_add_note_text(r, &note);
}

bool find_is_printed(const char *word, uint32_t *hash)
{
	const char *at = strrchr(word, '@');
	size_t n = at ? strlen(at + 1) : 0;
	if (!n || n > 8 || at == word || strspn(at + 1, "0123456789abcdef") != n)
		return false;
	*hash = (uint32_t)strtoul(at + 1, NULL, 16);
	return true;
}

/* Is the class called by these n bytes, perhaps without its package? */
static bool is_called(const char *class, const char *name, size_t n)
{
	size_t all = strlen(class);
	return all >= n && !strncmp(class + all - n, name, n) &&
	    (all == n || class[all - n - 1] == '.' || class[all - n - 1] == '$');
}

int find_printed(struct session *s, struct result *r, const char *word, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct hash_search search = {.heap = h};
	size_t shown = 0;
	if (!find_is_printed(word, &search.hash) || hashes_recorded(h, NULL))
		return 0;
	int code = look_for_hash(s, &search, err);
	const uint32_t *ids = search.ids;
	size_t n = search.n;
	for (size_t i = 0; !code && i < n; i++) {
		if (progress_own_stops(i))
			code = err_cancelled(err);
		else if (is_called(heap_class_of(h, ids[i])->name, word, (size_t)(strrchr(word, '@') - word))) {
			find_object(r, ids[i], 0);
			shown++;
		}
	}
	for (size_t i = 0; !code && !shown && i < n && !progress_own_stops(i); i++)
		find_object(r, ids[i], 0);
	if (!code && n && !shown && *word != '[') /* arrays print the VM's own names: "[B" */
		result_add_note(r, "only objects of other classes have this identity hash");
	big_free(search.ids);
	return code;
}

/* "66501cf5": hexadecimal digits as a log prints a hash. */
static bool is_bare_hex(const char *word)
{
	size_t n = strlen(word);
	return n >= 6 && n <= 16 && strspn(word, "0123456789abcdefABCDEF") == n && strpbrk(word, "0123456789");
}

/* "4,711,000,004", as tables have it. */
static bool is_grouped(const char *word)
{
	size_t n = strspn(word, "0123456789");
	const char *at = word + n;
	if (!n || n > 3 || !*at)
		return false;
	for (; *at; at += 4)
		if (*at != ',' || strspn(at + 1, "0123456789") < 3)
			return false;
	return true;
}

static bool parse(const char *word, struct sought_number *out)
{
	struct text prefixed = TEXT_INIT;
	bool is_number = sought_number_parse(word, out);
	if (!is_number && is_grouped(word)) {
		for (const char *at = word; *at; at++)
			text_add_n(&prefixed, at, *at != ',');
		is_number = sought_number_parse(prefixed.s, out);
	}
	if (!is_number && is_bare_hex(word)) {
		text_addf(&prefixed, "0x%s", word);
		is_number = sought_number_parse(prefixed.s, out);
	}
	text_release(&prefixed);
	return is_number;
}

int find_number(struct session *s, struct result *r, const char *word, bool shown, struct err *err)
{
	struct number_search search = {.heap = session_heap(s)};
	int code = 0;
	search.date = sought_date_parse(search.heap, word, &search.sought);
	if (!search.date && !parse(word, &search.sought)) /* too long for a field: a BigInteger may be it */
		return is_decimal(word) ? add_values(r, word, false, shown, &search.list, err) : 0;
	if (!search.date && !hashes_recorded(search.heap, NULL)) {
		bool fits = search.sought.integer && !search.sought.negative && search.sought.bits <= UINT32_MAX;
		if (fits)
			code = find_hashes(s, r, (uint32_t)search.sought.bits, err);
		if (!code && !values_held(search.heap))
			result_add_note(r, "searched the identity hashes for the number: the dump has no field values");
	}
	if (code || !values_held(search.heap))
		return code;
	struct render_lock *turns = render_lock_step_out();
	code = session_work(s, search_number, &search, err);
	render_lock_enter(turns);
	if (!code && (search.list.n || !search.date)) /* words are searched for a date as well */
		add_numbers(r, &search.list, shown);
	if (!code && is_decimal(word))
		code = add_values(r, word, false, shown, &search.list, err);
	number_list_release(&search.list);
	return code;
}
