/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_info.c - what a VM in a core says of itself: version, options, environment, why it wrote the core, and
 * whether its threads stood still.
 *
 * The VM's dump agents write a core while the thread that asked for it is in triggerDumpAgents (runtime/rasdump).
 * Its stack has a J9RASdumpContext, which names the event.  Nothing leads to it, so it is sought from the stack pointer
 * on.  J9RAS.dumpTimeMillis is 0 unless such a core is being written.
 */
#include "dump/j9core/j9core_info.h"

#include "base/mem.h"
#include "base/masking.h"
#include "base/text.h"
#include "dump/facts.h"
#include "dump/j9core/j9core_read.h"
#include "dump/j9core/j9core_values.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 1 << 16, LIST_MOST = 1 << 16, STACK_MOST = 256 << 10 };

/* A member that is read once or twice; 0: the VM does not have it, or the core. */
static uint64_t value(const struct j9core *j, uint64_t address, const char *structure, const char *field)
{
	struct ddr_field f;
	uint64_t n = 0;

	if (address && ddr_field(j->ddr, structure, field, &f) && f.size)
		core_load(j->core, address + f.offset, f.size, &n);
	return n;
}

/* Where an array in a structure begins; 0: there is none. */
static uint64_t inside(const struct j9core *j, uint64_t address, const char *structure, const char *field)
{
	struct ddr_field f;
	return address && ddr_field(j->ddr, structure, field, &f) ? address + f.offset : 0;
}

/* Append a text that ends with a NUL, escaped, at most `most` bytes of it; false: it is not there. */
static bool add_text(const struct j9core *j, uint64_t address, uint64_t most, struct text *to)
{
	struct text whole = TEXT_INIT;
	bool ends = false;
	uint64_t n;

	for (const uint8_t *p; address && !ends && most && (p = core_bytes(j->core, address, &n));) {
		n = n < most ? n : most;
		size_t part = strnlen((const char *)p, n);
		text_add_n(&whole, (const char *)p, part);
		ends = part < n;
		most -= n;
		address += n;
	}
	if (whole.len)
		text_add_escaped(to, whole.s, whole.len);
	text_release(&whole);
	return ends;
}

static const char *keep(struct process_facts *p, const struct text *t)
{
	return t->len ? arena_strndup(&p->arena, t->s, t->len) : NULL;
}

static const char *masked(struct process_facts *p, const struct text *t)
{
	struct text hidden = TEXT_INIT;

	if (t->len)
		masking_mask(t->s, t->len, &hidden);
	const char *kept = keep(p, &hidden);
	text_release(&hidden);
	return kept;
}

/* --- how it was started ------------------------------------------------------------------------------------ */

static int add_setting(struct process_settings *to, struct process_setting s, struct err *err)
{
	struct process_setting *at = BIG_PUSH(to->list, to->n, to->cap, err);
	if (at)
		*at = s;
	return at ? 0 : ERR_NOMEM;
}

/* -Dsun.java.command=MAIN ARGUMENTS, which launchers give it. */
static void take_command(struct process_facts *p, const struct text *option)
{
	static const char word[] = "-Dsun.java.command=";

	if (!p->command_line && option->len >= sizeof word && !memcmp(option->s, word, sizeof word - 1)) {
		struct text line = TEXT_INIT;
		text_add(&line, option->s + sizeof word - 1);
		p->command_line = masked(p, &line);
		text_release(&line);
	}
}

static int read_arguments(const struct j9core *j, struct process_facts *p, struct err *err)
{
	uint64_t all = value(j, value(j, j->vm, "J9JavaVM", "vmArgsArray"), "J9VMInitArgs", "actualVMArgs");
	uint64_t n = value(j, all, "JavaVMInitArgs", "nOptions"), at = value(j, all, "JavaVMInitArgs", "options");
	uint32_t bytes = ddr_size(j->ddr, "JavaVMOption");
	int code = 0;

	for (uint64_t i = 0; code == 0 && bytes && i < n && i < LIST_MOST; i++) {
		struct text t = TEXT_INIT;
		if (add_text(j, value(j, at + i * bytes, "JavaVMOption", "optionString"), TEXT_MOST, &t) && t.len) {
			take_command(p, &t);
			code = add_setting(&p->arguments, (struct process_setting){.value = masked(p, &t)}, err);
		}
		text_release(&t);
	}
	return code;
}

/* NAME=VALUE */
static int add_variable(struct process_facts *p, const struct text *t, struct err *err)
{
	static const char line[] = "OPENJ9_JAVA_COMMAND_LINE"; /* the launcher writes it */
	const char *equals = t->len > 1 ? memchr(t->s + 1, '=', t->len - 1) : NULL;
	struct text name = TEXT_INIT, hidden = TEXT_INIT;

	if (!equals)
		return 0;
	text_add_n(&name, t->s, (size_t)(equals - t->s));
	masking_secret_value(name.s, name.len, equals + 1, strlen(equals + 1), &hidden);
	const char *shown = keep(p, &hidden);
	if (!strcmp(name.s, line))
		p->command_line = shown;
	int code = add_setting(&p->variables, (struct process_setting){.name = keep(p, &name),
	    .value = shown ? shown : ""}, err);
	text_release(&name);
	text_release(&hidden);
	return code;
}

/* J9RAS has the address of the C library's `environ`. */
static int read_variables(const struct j9core *j, struct process_facts *p, struct err *err)
{
	uint64_t list = 0, at = 0;
	int code = 0;

	core_load(j->core, value(j, j->ras, "J9RAS", "environment"), j->word, &list);
	for (uint64_t i = 0; list && code == 0 && i < LIST_MOST; i++) {
		if (!core_load(j->core, list + i * j->word, j->word, &at) || !at)
			break;
		struct text t = TEXT_INIT;
		if (add_text(j, at, TEXT_MOST, &t))
			code = add_variable(p, &t, err);
		text_release(&t);
	}
	return code;
}

static void read_versions(const struct j9core *j, struct process_facts *p)
{
	struct text t = TEXT_INIT, os = TEXT_INIT;

	add_text(j, value(j, j->ras, "J9RAS", "serviceLevel"), TEXT_MOST, &t);
	p->java_version = keep(p, &t);
	add_text(j, inside(j, j->ras, "J9RAS", "osname"), 48, &os);
	text_clear(&t);
	add_text(j, inside(j, j->ras, "J9RAS", "osversion"), 128, &t);
	if (t.len)
		text_addf(&os, "%s%s", os.len ? " " : "", t.s);
	p->os = keep(p, &os);
	text_clear(&t);
	add_text(j, inside(j, j->ras, "J9RAS", "hostname"), 256, &t);
	p->host = keep(p, &t);
	text_release(&t);
	text_release(&os);
	p->cpus = value(j, j->ras, "J9RAS", "cpus");
	p->process_id = value(j, j->ras, "J9RAS", "pid");
	char started[32] = "";
	dump_write_created(started, sizeof started, value(j, j->ras, "J9RAS", "startTimeMillis"));
	p->started = *started ? arena_strndup(&p->arena, started, strlen(started)) : NULL;
}

static void read_heap(const struct j9core *j, struct process_facts *p)
{
	static const char *const policies[][2] = {{"J9_GC_POLICY_GENCON", "gencon"},
	    {"J9_GC_POLICY_BALANCED", "balanced"}, {"J9_GC_POLICY_OPTTHRUPUT", "optthruput"},
	    {"J9_GC_POLICY_OPTAVGPAUSE", "optavgpause"}, {"J9_GC_POLICY_METRONOME", "metronome"},
	    {"J9_GC_POLICY_NOGC", "nogc"}};
	uint64_t policy = value(j, j->vm, "J9JavaVM", "gcPolicy"), extensions = j9_get(j, j->vm, AT_VM_EXTENSIONS);
	uint64_t regions = j9_get(j, extensions, AT_EXTENSIONS_REGIONS);

	for (size_t i = 0; policy && i < sizeof policies / sizeof *policies; i++)
		if (j9_constant(j, "J9Consts", policies[i][0], 0) == policy)
			p->gc_policy = policies[i][1];
	p->reference_bytes = j->slot;
	p->heap_max = value(j, extensions, "MM_GCExtensions", "memoryMax");
	p->heap_total = value(j, regions, "MM_HeapRegionManager", "_totalHeapSize");
}

/* --- why the core was written ------------------------------------------------------------------------------ */

/* The event of one bit: mapDumpEvent of runtime/rasdump/dmpagent.c. */
static const char *event_name(uint64_t event)
{
	static const char *const names[] = {"vmstart", "vmstop", "load", "unload", "throw", "catch", "brkpoint",
	    "framepop", "thrstart", "blocked", "thrstop", "expand", "fullgc", "gpf", "user", "uncaught", "slow",
	    "abort", "systhrow", "traceassert", "api", "allocation", "corruptcache", "excessivegc", "user2",
	    "criuCheckpoint", "criuRestore"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (event == UINT64_C(1) << i)
			return names[i];
	return NULL;
}

/* Walks over the threads of the VM: a ring. */
struct ring {
	uint64_t first, at;
	struct j9_list seen;
};

static bool next_thread(const struct j9core *j, struct ring *r)
{
	bool begins = !r->at;

	r->at = begins ? r->first : j9_get(j, r->at, AT_THREAD_NEXT);
	return !j9_list_ends(&r->seen, r->at) && (begins || r->at != r->first);
}

static bool is_thread(const struct j9core *j, uint64_t address)
{
	struct ring r = {.first = j9_get(j, j->vm, AT_VM_MAIN_THREAD)};

	while (next_thread(j, &r))
		if (r.at == address)
			return true;
	return false;
}

static bool is_context(const struct j9core *j, uint64_t at)
{
	uint64_t thread = value(j, at, "J9RASdumpContext", "onThread");

	return value(j, at, "J9RASdumpContext", "javaVM") == j->vm &&
	    event_name(value(j, at, "J9RASdumpContext", "eventFlags")) && (!thread || is_thread(j, thread));
}

/* The J9RASdumpContext on the stack of the first thread: the VM's child has no other.  0: there is none. */
static uint64_t find_context(const struct j9core *j)
{
	enum { TRIES = 64 };
	size_t n;
	const struct core_thread *t = core_threads(j->core, &n);
	uint64_t word, at = n ? (t->sp + j->word - 1) & ~(uint64_t)(j->word - 1) : 0, end = at + STACK_MOST;

	for (unsigned tries = 0; at && at < end && tries < TRIES; at += j->word) {
		if (!core_load(j->core, at, j->word, &word))
			break;
		if (word == j->vm && is_context(j, at))
			return at;
		tries += word == j->vm;
	}
	return 0;
}

/* Where a field of an object is that its class or a superclass declares; 0: it is not certain. */
static uint64_t field_of(const struct j9core *j, uint64_t object, const char *name)
{
	enum { SUPERCLASSES_MOST = 32 };
	struct j9_fields f = {.n = 0};
	struct err err = ERR_INIT;
	uint64_t slot, at = 0;
	const struct j9_class *c = object && core_load(j->core, object, j->slot, &slot) ?
	    j9core_class(j, slot & ~J9_CLASS_FLAGS) : NULL;

	for (unsigned deep = 0; c && !c->array && !at && deep < SUPERCLASSES_MOST; deep++, c = j9_super(j, c)) {
		if (j9core_fields(j, c, &f, &err) || !f.instance_known)
			break;
		for (uint32_t i = 0; i < f.n && !at; i++)
			if (!f.field[i].is_static && f.field[i].n_name == strlen(name) &&
			    !memcmp(f.field[i].name, name, strlen(name)))
				at = object + j->slot + f.field[i].at;
	}
	big_free(f.field);
	return at;
}

static uint64_t object_in(const struct j9core *j, uint64_t object, const char *field)
{
	uint64_t at = field_of(j, object, field);
	return at ? j9core_reference(j, at) : 0;
}

/* Append a String, escaped.  Those without a coder (Java 8) are left out: their form depends on the VM's options. */
static void add_string(const struct j9core *j, uint64_t string, struct text *to)
{
	struct object_view v;
	struct err err = ERR_INIT;
	struct text whole = TEXT_INIT;
	uint64_t wide, coder = field_of(j, string, "coder"), value = object_in(j, string, "value");
	char point[4];

	if (!coder || !core_load(j->core, coder, 1, &wide) || !value || j9_locate(j, j->core, value, 0, &v, &err) ||
	    v.address != value || v.element != VALUE_BYTE)
		return;
	unsigned bytes = wide == 1 ? 2 : 1;
	for (uint64_t i = 0; i + bytes <= v.n_bytes && i < TEXT_MOST; i += bytes) {
		uint32_t unit = (uint32_t)core_number(j->core, v.bytes + i, bytes), low;
		if (bytes == 2 && unit >> 10 == 0xD800 >> 10 && i + 4 <= v.n_bytes &&
		    (low = (uint32_t)core_number(j->core, v.bytes + i + 2, 2)) >> 10 == 0xDC00 >> 10) {
			unit = 0x10000 + ((unit & 0x3FF) << 10) + (low & 0x3FF);
			i += 2;
		}
		text_add_n(&whole, point, utf8_encode(point, unit));
	}
	if (whole.len)
		text_add_escaped(to, whole.s, whole.len);
	text_release(&whole);
}

/* Dump Event "systhrow" (00040000) Detail "java/lang/OutOfMemoryError" "Java heap space" received: as a javacore has
 * it. */
static void add_cause(const struct j9core *j, struct process_facts *p, uint64_t event, uint64_t data)
{
	struct text t = TEXT_INIT, detail = TEXT_INIT, message = TEXT_INIT;
	uint64_t error = 0, n = value(j, data, "J9RASdumpEventData", "detailLength");
	uint64_t at = value(j, data, "J9RASdumpEventData", "detailData");
	const uint8_t *bytes = n && n <= TEXT_MOST ? core_range(j->core, at, n) : NULL;

	text_addf(&t, "Dump Event \"%s\" (%08" PRIx64 ")", event_name(event), event);
	if (bytes) {
		text_add_escaped(&detail, (const char *)bytes, n);
		text_addf(&t, " Detail \"%s\"", detail.s);
		core_load(j->core, value(j, data, "J9RASdumpEventData", "exceptionRef"), j->word, &error);
		add_string(j, object_in(j, error, "detailMessage"), &message);
		if (message.len)
			text_addf(&t, " \"%s\"", message.s);
	}
	text_add(&t, " received");
	p->cause = masked(p, &t);
	text_release(&t);
	text_release(&detail);
	text_release(&message);
}

/* "Signal_Number=0000000b" in what the VM wrote of a crash to the console. */
static uint64_t crash_signal(const struct j9core *j, uint64_t crash)
{
	static const char word[] = " Signal_Number=";
	struct text t = TEXT_INIT;
	uint64_t signal = 0;

	add_text(j, value(j, crash, "J9RASCrashInfo", "gpInfo"), TEXT_MOST, &t);
	const char *at = t.len ? strstr(t.s, word) : NULL;
	if (at)
		signal = strtoull(at + sizeof word - 1, NULL, 16);
	text_release(&t);
	return signal;
}

static void read_cause(const struct j9core *j, struct process_facts *p)
{
	uint64_t crash = value(j, j->ras, "J9RAS", "crashInfo");
	uint64_t thread = value(j, crash, "J9RASCrashInfo", "failingThread");
	bool by_vm = value(j, j->ras, "J9RAS", "dumpTimeMillis");
	uint64_t context = by_vm ? find_context(j) : 0;
	enum { GPF = 0x2000 };

	if (context)
		add_cause(j, p, value(j, context, "J9RASdumpContext", "eventFlags"),
		    value(j, context, "J9RASdumpContext", "eventData"));
	else if (crash)
		add_cause(j, p, GPF, 0);
	if (!thread)
		thread = value(j, context, "J9RASdumpContext", "onThread");
	p->cause_thread = is_thread(j, thread) ? value(j, thread, "J9VMThread", "threadObject") : 0;
	/* in a core that the VM wrote it is that of a child, which ended itself for that */
	p->signal = crash ? crash_signal(j, crash) : by_vm ? 0 : core_signal(j->core);
}

/* --- did it stand still? ----------------------------------------------------------------------------------- */

void j9core_state(const struct j9core *j, struct j9_state *out)
{
	struct ddr_field flags, native, omr, state;
	bool has = ddr_field(j->ddr, "J9VMThread", "publicFlags", &flags) &&
	    ddr_field(j->ddr, "J9VMThread", "inNative", &native) &&
	    ddr_field(j->ddr, "J9VMThread", "omrVMThread", &omr) &&
	    ddr_field(j->ddr, "OMR_VMThread", "vmState", &state);
	uint64_t access = j9_constant(j, "J9Consts", "J9_PUBLIC_FLAGS_VM_ACCESS", 0x20), in[4];
	uint64_t exclusive = j9_constant(j, "J9Consts", "J9_XACCESS_EXCLUSIVE", 2);
	struct ring r = {.first = j9_get(j, j->vm, AT_VM_MAIN_THREAD)};

	*out = (struct j9_state){.exclusive = value(j, j->vm, "J9JavaVM", "exclusiveAccessState") == exclusive};
	while (has && next_thread(j, &r)) {
		core_load(j->core, r.at + flags.offset, flags.size, &in[0]);
		core_load(j->core, r.at + native.offset, native.size, &in[1]);
		if (!(in[0] & access) || in[1]) /* of a thread in native code the flag stays, and means nothing */
			continue;
		core_load(j->core, r.at + omr.offset, omr.size, &in[2]);
		core_load(j->core, in[2] + state.offset, state.size, &in[3]);
		out->n_running++;
		out->collecting |= in[3] >> 16 == 2; /* J9VMSTATE_GC */
	}
}

int j9core_process(const struct j9core *j, struct process_facts **out, struct err *err)
{
	struct process_facts *p = *out = process_new();

	read_versions(j, p);
	read_heap(j, p);
	read_cause(j, p);
	int code = read_variables(j, p, err);
	code = code ? code : read_arguments(j, p, err);
	if (code) {
		process_free(p);
		*out = NULL;
	}
	return code;
}

uint64_t j9core_dumped_at(const struct j9core *j)
{
	return value(j, j->ras, "J9RAS", "dumpTimeMillis");
}

/* Bytes of the heap that the core does not have. */
static uint64_t heap_missing(const struct j9core *j)
{
	uint32_t n;
	uint64_t missing = 0, there, at;
	const struct j9_region *r = j9core_regions(j, &n);

	for (uint32_t i = 0; i < n; i++)
		for (at = r[i].low; at < r[i].high; at += there) {
			uint64_t next = core_bytes(j->core, at, &there) ? at : core_next(j->core, at);
			if (next != at) {
				there = (next < r[i].high ? next : r[i].high) - at;
				missing += there;
			}
		}
	return missing;
}

static void add_lost(const struct j9core *j, struct text *to)
{
	const struct { bool is; const char *name; } lists[] = {{j->classes_lost, "classes"},
	    {j->regions_lost, "heap regions"}, {j->threads_lost, "threads"}};
	unsigned n = 0;

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (lists[i].is)
			text_addf(to, "%s%s", n++ ? " and " : to->len ? "; the core has only a part of the VM's lists of " :
			    "the core has only a part of the VM's lists of ", lists[i].name);
	text_add(to, n ? ", so objects may be missing or wrong" : "");
}

/* Where they are, or may be. */
static void add_nameless(const struct j9core *j, bool cut, const char *refused, struct text *to)
{
	const struct core_mapping *m = j9core_nameless_mapping(j, 0);
	struct text path = TEXT_INIT;

	text_addf(to, "%sthe core does not have the names of %" PRIu32 " of %" PRIu32 " classes", to->len ? "; " : "",
	    j->n_nameless, j->n_classes);
	if (m)
		text_add_escaped(&path, m->path, strlen(m->path));
	if (refused)
		text_addf(to, " (%s)", refused);
	else if (m)
		text_addf(to, ": some are in %s, which it had mapped (put that file next to the core)", path.s);
	else if (!cut)
		text_add(to, " (perhaps coredump_filter left out mapped files: a shared class cache is one)");
	text_release(&path);
}

int j9core_missing(const struct j9core *j, const char *refused, struct err *err)
{
	struct err cut = ERR_INIT;
	struct text t = TEXT_INIT;
	uint64_t of_heap = heap_missing(j);
	int code = core_missing(j->core, &cut);

	if (code)
		text_add(&t, cut.message);
	if (of_heap)
		text_addf(&t, "%s%" PRIu64 " bytes of the heap are not in the core", t.len ? "; " : "", of_heap);
	add_lost(j, &t);
	if (j->n_nameless)
		add_nameless(j, code, refused, &t);
	if (code)
		err_at(err, code, cut.offset, "%s", t.s);
	else if (t.len)
		code = err_set(err, ERR_TRUNCATED, "%s", t.s);
	text_release(&t);
	return code;
}
