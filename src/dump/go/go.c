/* SPDX-License-Identifier: GPL-3.0-or-later */
/* go.c - Go heap dumps: header, parameters, facts, parts, single objects; see go_dump.h. */
#include "dump/go/go_shape.h"

#include "algorithms/sort.h"
#include "base/mem.h"
#include "base/progress.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t go_part_bytes = PART_BYTES;

static const char rest_of_header[] = " heap dump\n";
enum { REST_BYTES = sizeof rest_of_header - 1, LONGEST_NUMBER = 4 };

/* --- header ------------------------------------------------------------------------------------- */

/* "go1.7 heap dump\n", or as much of it as there is; *number gets where the version's digits begin,
 * *n how many they are.  0: something else. */
static bool is_header(const uint8_t *head, size_t size, size_t *number, size_t *n)
{
	size_t at = 2;
	if (size < 3 || memcmp(head, "go", 2))
		return false;
	*number = at;
	while (at < size && at < 2 + 2 * LONGEST_NUMBER && ((head[at] >= '0' && head[at] <= '9') || head[at] == '.'))
		at++;
	*n = at - 2;
	size_t rest = size - at < REST_BYTES ? size - at : REST_BYTES;
	return *n && !memcmp(head + at, rest_of_header, rest);
}

static int probe(const uint8_t *head, size_t n)
{
	size_t number, digits;
	return is_header(head, n, &number, &digits) ? 100 : 0;
}

static int read_header(struct go *g, struct err *err)
{
	const struct source *s = g->dump.source;
	struct dump_facts *f = &g->dump.facts;
	size_t number, n;
	char *end;

	if (!is_header(s->bytes, s->size < 64 ? (size_t)s->size : 64, &number, &n))
		return err_at(err, ERR_FORMAT, 0, "not a Go heap dump: it does not begin with name and version");
	g->body = number + n + REST_BYTES;
	if (g->body > s->size)
		return err_at(err, ERR_TRUNCATED, s->size,
		    "truncated in the header at byte %" PRIu64 "; no object was written", s->size);
	snprintf(f->version, sizeof f->version, "%.*s", (int)n, (const char *)s->bytes + number);
	unsigned long minor = f->version[0] == '1' && f->version[1] == '.'
	    ? strtoul(f->version + 2, &end, 10) : 0;
	if (minor < 3 || *end)
		return err_at(err, ERR_FORMAT, 0,
		    "unknown Go heap dump format go%s (cairn reads go1.3 to go1.7)",
		    f->version);
	g->version = minor > 7 ? 7 : (unsigned)minor;
	return 0;
}

enum { EXPERIMENTS_MOST = 1000 };

/* --- parameters ----------------------------------------------------------------------------------- */

/* The architecture by the letter of the old compilers. */
static const char *arch_of_letter(uint64_t letter)
{
	switch (letter) {
	case '5': return "arm";
	case '6': return "amd64";
	case '7': return "arm64";
	case '8': return "386";
	case '9': return "ppc64";
	case '0': return "mips64";
	case 'z': return "s390x";
	default: return NULL;
	}
}

/* Of a release what stands behind " X:", to the next blank; of an older dump the string itself. */
static void set_experiments(struct go *g, struct go_bytes said, bool release)
{
	const char *s = (const char *)said.p, *x = s;
	size_t n = said.n < EXPERIMENTS_MOST ? (size_t)said.n : EXPERIMENTS_MOST;
	struct text t = TEXT_INIT;
	if (release)
		x = memmem(s, n, " X:", 3);
	if (x && release) {
		n -= (size_t)(x - s) + 3;
		x += 3;
		const char *blank = memchr(x, ' ', n);
		n = blank ? (size_t)(blank - x) : n;
	}
	if (x && n) {
		text_add_escaped(&t, x, n);
		g->experiments = text_take(&t);
	}
	g->dump.facts.experiments = g->experiments;
	text_release(&t);
}

/* The last string is the release in newer dumps, the experiments that were on in older ones. */
static void set_vm(struct go *g, const struct go_record *r)
{
	const char *arch = arch_of_letter(r->u[PARAMS_ARCH_LETTER]);
	const char *version = (const char *)r->s[1].p;
	size_t n = r->s[1].n < 100 ? (size_t)r->s[1].n : 100;
	bool release = (n >= 2 && !memcmp(version, "go", 2)) || (n >= 5 && !memcmp(version, "devel", 5));
	struct text vm = TEXT_INIT;

	text_add(&vm, release ? "" : "Go ");
	if (n)
		text_add_escaped(&vm, version, n);
	if (n)
		text_add(&vm, " ");
	if (arch)
		text_add(&vm, arch);
	else if (r->s[0].n)
		text_add_escaped(&vm, (const char *)r->s[0].p, r->s[0].n < 32 ? (size_t)r->s[0].n : 32);
	else
		text_addf(&vm, "architecture %" PRIu64, r->u[PARAMS_ARCH_LETTER]);
	snprintf(g->dump.facts.vm, sizeof g->dump.facts.vm, "%s", vm.s);
	set_experiments(g, r->s[1], release);
	g->dump.facts.vm_release = strcspn(g->dump.facts.vm, " ");
	text_release(&vm);
}

/* The bytes of a pointer, or 0. */
static unsigned word_of(struct go *g, const struct go_record *r)
{
	uint64_t word = r->u[PARAMS_WORD], heap_end = r->u[PARAMS_END];
	if (word != 4 && word != 8)
		err_at(&g->fault, ERR_FORMAT, r->offset, "the parameters at byte %" PRIu64 " give pointers "
		    "%" PRIu64 " bytes, but only 4 and 8 are valid: no reference is read", r->offset, word);
	else if (word == 4 && heap_end > (UINT64_C(1) << 32))
		err_at(&g->fault, ERR_FORMAT, r->offset, "the parameters at byte %" PRIu64 " give pointers 4 "
		    "bytes, but the heap ends at 0x%" PRIx64 ": no reference is read", r->offset,
		    heap_end);
	else
		return (unsigned)word;
	return 0;
}

static void take_params(struct go *g, const struct go_record *r)
{
	const uint16_t one = 1;
	g->params = r->offset;
	g->word = word_of(g, r);
	g->big_endian = r->u[PARAMS_BIG_ENDIAN];
	g->swap = g->big_endian == *(const uint8_t *)&one;
	g->heap_start = r->u[PARAMS_START];
	g->heap_end = r->u[PARAMS_END];
	g->channel_header = r->u[PARAMS_CHANNEL];
	g->dump.facts.cpus = r->u[PARAMS_CPUS];
	g->arch = r->s[0];
	g->arch_letter[0] = (char)r->u[PARAMS_ARCH_LETTER];
	set_vm(g, r);
}

/* Find the parameter record, which stands first; records that stand before it are skipped. */
static void find_params(struct go *g)
{
	struct go_record r = { .tag = GO_OBJECT };
	struct err damage = ERR_INIT; /* for the reading to tell */
	uint64_t at = g->body;

	err_at(&g->fault, ERR_FORMAT, g->body, "no parameters from byte %" PRIu64 " on give pointer size and byte "
	    "order: no reference is read", g->body);
	for (uint64_t round = 0; at < g->records.n && r.tag != GO_EOF; round++) {
		if (progress_stops(progress_own(), round) ||
		    go_record_decode(g->records.p, g->records.n, at, g->version, &r, &damage) < 0)
			return;
		if (r.tag == GO_PARAMS) {
			take_params(g, &r);
			return;
		}
		at = r.next;
	}
}

void go_state_facts(struct go *g)
{
	struct dump_facts *f = &g->dump.facts;
	find_params(g);
	f->word_bits = g->word ? 8 * g->word : 64;
	f->word_unknown = !g->word;
	f->big_endian = g->big_endian;
	f->heap_start = g->heap_start;
	f->heap_end = g->heap_end;
	g->layout = go_layout_of(g->version < 7 ? 0 : go_release_of(g), g->word, f->vm);
	if (g->layout.header) {
		f->headers.bytes = g->layout.header;
		f->headers.above = g->layout.small;
		f->headers.up_to = GO_LARGEST_SMALL;
	}
	go_state_limits(g);
	f->size_rule = SIZES_RECORDED;
	f->roots_recorded = true;
	f->no_class_objects = true;
	f->states_itself = true;
	f->interior_pointers = true;
	f->takes_program = true;
	f->thread = "goroutine";
	f->values = g->word ? TYPED_MEMORY : NO_VALUES;
	f->no_values = g->word ? NULL : "the dump does not record its pointer size, so its words are unreadable";
	f->threads_numbered = true;
	f->outside_pointers_normal = true;
	f->parts_guessed = !g->elsewhere;
}

/* --- opening -------------------------------------------------------------------------------------- */

static void forget_surveys(struct go *g)
{
	for (size_t i = 0; i < g->n_surveys; i++)
		big_free(g->surveys[i].runs);
	g->n_surveys = 0;
}

void go_begin(struct go *g, const struct reader *reader, const struct source *source,
    const struct dump_options *options)
{
	g->exe = options ? options->exe : NULL;
	g->alone = options && options->no_companion;
	dump_begin(&g->dump, reader, source);
	pthread_mutex_init(&g->lock, NULL);
}

void go_end(struct go *g)
{
	forget_surveys(g);
	big_free(g->surveys);
	big_free(g->stretches);
	big_free(g->runs);
	big_free(g->types);
	idmap_release(&g->type_at);
	idmap_release(&g->itab_at);
	pthread_mutex_destroy(&g->lock);
	go_program_release(g);
	free(g->experiments);
}

static void go_close(struct dump *dump)
{
	go_end((struct go *)dump);
	free(dump);
}

static int go_open(struct dump **out, const struct source *source, const struct dump_options *options,
    struct err *err)
{
	struct go *g = xcalloc(1, sizeof *g);
	go_begin(g, &go_reader, source, options);
	g->records = (struct go_bytes){ source->bytes, source->size };
	int code = read_header(g, err);
	if (code == 0 && g->version == 3)
		code = go_old_types(g, err);
	if (code < 0) {
		go_close(&g->dump);
		return code;
	}
	go_state_facts(g);
	*out = &g->dump;
	return 0;
}

/* --- artefacts ---------------------------------------------------------------------------------------- */

/* The object record at an offset, as far as it matters here: written from go1.4 on, its tag in one byte. */
struct extent {
	uint64_t address, size, next; /* next: 0, it was not asked for or the list is broken */
	bool pointers;
};

static bool extent_at(const struct go *g, uint64_t offset, bool whole, struct extent *out)
{
	const struct source *s = g->dump.source;
	const uint8_t *p = s->bytes + offset, *end = s->bytes + s->size;
	uint64_t kind, field;
	if (!g->layout.bitmap || offset >= s->size || *p++ != GO_OBJECT || !go_varint(&p, end, &out->address) ||
	    !go_varint(&p, end, &out->size) || out->size >= (uint64_t)(end - p))
		return false;
	p += out->size;
	out->pointers = *p;
	while (whole && go_field_next(&p, end, &kind, &field))
		;
	out->next = whole && !p[-1] ? (uint64_t)(p - s->bytes) : 0;
	return true;
}

bool go_depends(const struct go *g, uint64_t offset)
{
	struct extent e;
	return extent_at(g, offset, false, &e) && e.address % GO_PAGE > go_sure_below(&g->layout, e.size);
}

/* The first record from an offset on that is no artefact.  page: of the object before it if that has
 * pointers, or GO_NO_PAGE. */
static uint64_t behind_artefacts(const struct go *g, uint64_t offset, uint64_t page)
{
	struct extent e;
	while (go_depends(g, offset) && extent_at(g, offset, true, &e) && e.next &&
	    go_is_artefact(&g->layout, e.address, e.size, e.address / GO_PAGE == page))
		offset = e.next;
	return offset;
}

/* --- parts ------------------------------------------------------------------------------------------ */

enum { PLAUSIBLE_CHAIN = 24 };

/* Could an object record stand at p?  Where the next would, or NULL. */
static const uint8_t *plausible_object(const struct go *g, const uint8_t *p, const uint8_t *end)
{
	uint64_t address, n, kind, offset, before = 0;
	if (p == end || *p++ != GO_OBJECT || !go_varint(&p, end, &address) || address < g->heap_start ||
	    address >= g->heap_end || address % g->word)
		return NULL;
	if (g->version == 3 && (!go_varint(&p, end, &offset) || !go_varint(&p, end, &kind) ||
	    (kind > 2 && kind != 127)))
		return NULL;
	if (!go_varint(&p, end, &n) || !n || n > g->heap_end - address || n > (uint64_t)(end - p))
		return NULL;
	p += n;
	if (g->version == 3)
		return p;
	while (go_field_next(&p, end, &kind, &offset)) {
		if (kind > GO_EMPTY_INTERFACE || offset % g->word || offset >= n || (before && offset <= before))
			return NULL;
		before = offset;
	}
	return p[-1] == 0 ? p : NULL;
}

/* The first place in [from, to) where a row of objects seems to begin; 0: none. */
static uint64_t find_objects(const struct go *g, uint64_t from, uint64_t to)
{
	const uint8_t *bytes = g->dump.source->bytes, *end = bytes + g->dump.source->size;
	struct progress *work = progress_own();
	for (const uint8_t *p = bytes + from; p < bytes + to; p++) {
		if (progress_cancelled(work))
			return 0;
		p = memchr(p, GO_OBJECT, (size_t)(bytes + to - p));
		if (!p)
			return 0;
		const uint8_t *q = p;
		unsigned n = 0;
		while (n < PLAUSIBLE_CHAIN && (q = plausible_object(g, q, end)))
			n++;
		if (n == PLAUSIBLE_CHAIN && !go_depends(g, (uint64_t)(p - bytes)))
			return (uint64_t)(p - bytes);
	}
	return 0;
}

/*
 * Where a record begins is known of the first alone.  In the middle of the objects a place from which
 * a row of them can be read is nearly always a beginning; the survey sees whether it was.
 */
static unsigned go_parts(const struct dump *dump, unsigned want, struct part *out)
{
	const struct go *g = (const struct go *)dump;
	uint64_t size = dump->source->size, left = size - g->body;
	unsigned n = 0;

	if (left / go_part_bytes < want)
		want = left / go_part_bytes > 1 ? (unsigned)(left / go_part_bytes) : 1;
	out[n++] = (struct part){ .begin = g->body, .end = size };
	for (unsigned i = 1; i < want && g->word; i++) {
		uint64_t from = g->body + left / want * i;
		uint64_t at = find_objects(g, from, from + left / want);
		if (!at)
			continue;
		out[n - 1].end = at;
		out[n++] = (struct part){ .begin = at, .end = size };
	}
	return n;
}

/* --- after the survey ------------------------------------------------------------------------------- */

static int by_begin(const void *x, const void *y)
{
	const struct go_survey *a = x, *b = y;
	return (a->begin > b->begin) - (a->begin < b->begin);
}

/* Put the runs of all surveys together.  Only surveys that follow one another count; those of parts
 * whose beginning was a wrong guess are left out. */
static int join_runs(struct go *g, struct err *err)
{
	uint64_t at = g->body;
	g->n_runs = 0;
	int code = sort(g->surveys, g->n_surveys, sizeof *g->surveys, by_begin, err);
	for (size_t i = 0; i < g->n_surveys && code == 0; i++) {
		const struct go_survey *s = &g->surveys[i];
		if (s->begin != at)
			continue;
		for (size_t k = 0; k < s->n_runs; k++) {
			struct go_run *to = BIG_PUSH(g->runs, g->n_runs, g->cap_runs, err);
			if (!to)
				return ERR_NOMEM;
			*to = s->runs[k];
		}
		at = s->reached;
	}
	return code;
}

/* The dump states how many objects there are: is the layout of spans the one that leaves so many? */
static int resurvey(struct dump *dump, uint64_t n_objects, struct err *err)
{
	struct go *g = (struct go *)dump;
	size_t run = 0;
	uint64_t at = 0;
	struct go_record stats;
	if (!g->layout.bitmap)
		return 0;
	int code = join_runs(g, err);
	if (code < 0 || !go_next(g, GO_MEMSTATS, &run, &at, &stats) || stats.u[MEMSTATS_HEAP_OBJECTS] == n_objects ||
	    !go_layout_next(&g->layout, &g->n_layouts))
		return code;
	if (!g->layout.bitmap) {
		dump->facts.surplus = "Go 1.22 and later write the bitmap at the end of a span of small objects "
		    "as objects; no known position fits this count, and nothing reaches these objects";
		go_state_limits(g);
	}
	forget_surveys(g);
	return 1;
}

int go_settle(struct go *g, struct err *err)
{
	struct dump *dump = &g->dump;
	int code = go_find_stretches(g, err);
	if (code == 0)
		code = go_program_find(g, err);
	if (code == 0 && g->word && !dump->types) {
		code = go_recorded_types(g, err);
		dump->types = code < 0 ? NULL : &g->recorded;
	}
	return code;
}

int go_prepare(struct dump *dump, struct err *err)
{
	struct go *g = (struct go *)dump;
	int code = join_runs(g, err);
	return code ? code : go_settle(g, err);
}

bool go_next(const struct go *g, enum go_tag tag, size_t *run, uint64_t *offset,
    struct go_record *out)
{
	for (; *run < g->n_runs; (*run)++) {
		const struct go_run *here = &g->runs[*run];
		if (here->tag != tag || *offset >= here->end)
			continue;
		if (progress_cancelled(progress_own()))
			return false; /* the end of the walk reports that it was cancelled */
		uint64_t at = *offset < here->offset ? here->offset : *offset;
		if (go_record_decode(g->records.p, g->records.n, at, g->version, out, NULL) < 0 ||
		    out->tag != tag)
			return false;
		*offset = out->next;
		return true;
	}
	return false;
}

uint64_t go_each_pointer(const struct go *g, const struct go_record *r,
    bool (*take)(void *context, uint64_t offset, uint64_t value), void *context)
{
	const uint8_t *p = r->fields.p, *end = p ? p + r->fields.n : p;
	uint64_t kind, offset, n_bad = 0;
	while (p && go_field_next(&p, end, &kind, &offset)) {
		uint64_t at = go_pointer_at(g, kind, offset);
		if (at < offset || !go_slot_fits(g, at, r->s[0].n)) {
			n_bad += g->word != 0;
			continue;
		}
		if (!take(context, at, go_word(g, r->s[0].p + at)))
			break;
	}
	return n_bad;
}

/* --- one object --------------------------------------------------------------------------------------- */

/* Was the object of this record announced by the reading? */
static bool announced(const struct go *g, uint64_t address, uint64_t size)
{
	uint64_t last = g->word == 4 ? UINT32_MAX : UINT64_MAX;
	return address && address <= last && size <= last - address;
}

/* An object record from go1.4 on at p, as nearly all are: no other kind, nothing cut. */
static bool view_plain(const struct go *g, const uint8_t *p, struct object_view *out)
{
	const uint8_t *bytes = g->dump.source->bytes, *end = bytes + g->dump.source->size;
	uint64_t address, n, kind, offset;
	if (g->version == 3 || p == end || *p++ != GO_OBJECT || !go_varint(&p, end, &address) ||
	    !go_varint(&p, end, &n) || n > (uint64_t)(end - p) || !announced(g, address, n))
		return false;
	*out = (struct object_view){
		.address = address, .kind = OBJECT_INSTANCE, .bytes = p, .n_bytes = n
	};
	p += n;
	uint64_t page = p < end && *p ? address / GO_PAGE : GO_NO_PAGE;
	out->head = go_head(g, out->bytes, n, p < end && *p);
	while (go_field_next(&p, end, &kind, &offset)) {
		if (kind > GO_EMPTY_INTERFACE)
			return false;
	}
	out->next = behind_artefacts(g, (uint64_t)(p - bytes), page);
	return p[-1] == 0;
}

static int locate_at(const struct dump *dump, uint64_t offset, struct object_view *out, struct err *err)
{
	const struct go *g = (const struct go *)dump;
	const struct source *s = dump->source;
	struct go_record r = { .tag = GO_EOF };
	int code = 0;
	if (offset < s->size && view_plain(g, s->bytes + offset, out))
		return 0;
	for (uint64_t at = offset; code == 0 && at < s->size; at = r.next) {
		code = go_record_decode(s->bytes, s->size, at, g->version, &r, err);
		if (r.tag == GO_EOF || (r.tag == GO_OBJECT && announced(g, r.u[OBJECT_ADDRESS], r.s[0].n) &&
		    !go_is_artefact(&g->layout, r.u[OBJECT_ADDRESS], r.s[0].n, false)))
			break;
	}
	if (code < 0)
		return code;
	if (r.tag != GO_OBJECT)
		return err_at(err, ERR_FORMAT, offset, "no object record from byte %" PRIu64 " on", offset);
	bool pointers = r.fields.n && *r.fields.p;
	*out = (struct object_view){
		.address = r.u[OBJECT_ADDRESS],
		.kind = OBJECT_INSTANCE,
		.class_address = r.u[OBJECT_TYPE], /* go1.3; 0 later */
		.length = r.u[OBJECT_KIND],
		.bytes = r.s[0].p,
		.n_bytes = r.s[0].n,
		.next = behind_artefacts(g, r.next,
		    pointers ? r.u[OBJECT_ADDRESS] / GO_PAGE : GO_NO_PAGE),
		.head = go_head(g, r.s[0].p, r.s[0].n, pointers),
	};
	return 0;
}

static int locate(const struct dump *dump, uint64_t offset, uint32_t steps, struct object_view *out,
    struct err *err)
{
	int code = locate_at(dump, offset, out, err);
	for (; code == 0 && steps > 0; steps--)
		code = locate_at(dump, out->next, out, err);
	return code;
}

const struct memory_reader go_memory_reader = {
	.classify = go_classify,
	.next_slot = go_next_slot,
	.stack_words = go_stack_words,
	.root_words = go_root_words,
	.bytes = go_memory,
	.itab_type = go_itab_type,
	.next_noted = go_next_noted,
	.captures = go_captures,
	.type_name = go_type_name,
};

const struct reader go_reader = {
	.name = "go",
	.title = "a Go dump",
	.label = "go",
	.probe = probe,
	.open = go_open,
	.close = go_close,
	.parts = go_parts,
	.read = go_read,
	.resurvey = resurvey,
	.prepare = go_prepare,
	.locate = locate,
	.symbol = go_symbol,
	.sites = go_sites,
	.keep = go_keep,
	.memory = &go_memory_reader,
};
