/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * java_process.c - what a Java VM tells of its process in objects of its library, and of the memory that ran out.
 *
 * The command line and the system stand in the system properties.  Where the program was managed (JMX) or asked for its
 * process, the library keeps the VM's options, the process id and when it began.  HotSpot writes a dump for an
 * OutOfMemoryError before it makes the error: it puts a frame of OutOfMemoryError.<init> on top of the stack of the
 * thread that ran out (services/heapDumper.cpp), which holds nothing, and the kind of the error is nowhere.  Errors
 * that the VM made in advance, one of each kind, are in each dump: thrown was one whose stack was filled in, or, since
 * it throws some without a stack, one that the program has.
 */
#include "analysis/java/java.h"

#include "analysis/describe/describe.h"
#include "base/masking.h"
#include "base/progress.h"
#include "dump/process.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/string.h"
#include "heap/threads.h"
#include "heap/value.h"
#include "memory/arena.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONGEST = 8192 }; /* bytes of a text */

/* --- the process -------------------------------------------------------------------------------- */

static const char *keep(struct process_facts *p, const struct text *t)
{
	return t->len ? arena_strndup(&p->arena, t->s, t->len) : NULL;
}

static const char *keep_masked(struct process_facts *p, const char *s)
{
	struct text masked = TEXT_INIT;
	masking_mask(s, strlen(s), &masked);
	const char *kept = keep(p, &masked);
	text_release(&masked);
	return kept;
}

/* The object in a field of the one that a static field holds. */
static bool open_static(const struct heap *h, const char *class, const char *field, struct values *out)
{
	struct value v;
	uint32_t id = values_static(h, class, field, &v) ? value_object_id(h, &v) : HEAP_NONE;
	return id != HEAP_NONE && !values_open(out, h, id, NULL) && !out->is_class;
}

static uint64_t long_in(const struct values *v, const char *field)
{
	struct value value;
	return values_field(v, field, &value) && value.type == VALUE_LONG && (int64_t)value.bits > 0 ? value.bits : 0;
}

static void set_started(struct process_facts *p, uint64_t milliseconds)
{
	time_t seconds = (time_t)(milliseconds / 1000);
	char date[32];
	struct tm t;
	if (milliseconds && milliseconds / 1000 <= UINT64_C(253402300799) && gmtime_r(&seconds, &t) &&
	    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &t))
		p->started = arena_strndup(&p->arena, date, strlen(date));
}

static void read_beginning(const struct heap *h, struct process_facts *p)
{
	struct values v;
	uint64_t began = 0;
	if (open_static(h, "java.lang.ProcessHandleImpl", "current", &v)) {
		p->process_id = long_in(&v, "pid");
		began = long_in(&v, "startTime");
	}
	if (open_static(h, "sun.management.ManagementFactoryHelper", "runtimeMBean", &v)) {
		uint64_t vm = long_in(&v, "vmStartupTime");
		began = vm ? vm : began;
	}
	set_started(p, began);
}

/* -Xmx64m, -XX:MaxHeapSize=64m: of several the last counts. */
static void take_heap_max(struct process_facts *p, const char *argument)
{
	static const char *const words[] = { "-Xmx", "-XX:MaxHeapSize=" };
	uint64_t size;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strncmp(argument, words[i], strlen(words[i])) && parse_size(argument + strlen(words[i]), &size))
			p->heap_max = size;
}

static void read_arguments(const struct heap *h, struct process_facts *p, struct err *err)
{
	struct values v;
	struct value list;
	struct entries *e;
	struct text t = TEXT_INIT;
	uint32_t id = open_static(h, "sun.management.ManagementFactoryHelper", "jvm", &v) &&
	    values_field(&v, "vmArgs", &list) ? value_object_id(h, &list) : HEAP_NONE;
	if (id == HEAP_NONE || inspect_entries(&e, h, id, &(struct range){ .length = 1 << 16 }, NULL))
		return;
	for (size_t i = 0; i < e->n && !e->map && !progress_own_stops(i); i++) {
		struct any_value key, value;
		inspect_entry(e, i, &key, &value);
		if (!java_text_of(&value, LONGEST, &t))
			continue;
		take_heap_max(p, t.s);
		struct process_settings *to = &p->arguments;
		struct process_setting *at = BIG_PUSH(to->list, to->n, to->cap, err);
		if (!at)
			break;
		*at = (struct process_setting){ .value = keep_masked(p, t.s) };
	}
	inspect_entries_close(e);
	text_release(&t);
}

struct process_facts *java_process(const struct heap *h, struct err *err)
{
	static const char *const keys[] = { "sun.java.command", "java.version", "java.vm.version", "os.name", "os.version",
		"os.arch" };
	enum { COMMAND, JAVA, VM, OS, OS_VERSION, ARCH, KEYS };
	struct text found[KEYS] = { TEXT_INIT, TEXT_INIT, TEXT_INIT, TEXT_INIT, TEXT_INIT, TEXT_INIT };
	if (!values_held(h) || h->facts.values == TYPED_MEMORY)
		return NULL;
	struct process_facts *p = process_new();
	java_read_properties(h, keys, KEYS, LONGEST, found);
	p->command_line = found[COMMAND].len ? keep_masked(p, found[COMMAND].s) : NULL;
	p->java_version = keep(p, &found[JAVA]);
	p->vm_version = keep(p, &found[VM]);
	for (unsigned i = OS_VERSION; found[OS].len && i <= ARCH; i++)
		if (found[i].len)
			text_addf(&found[OS], " %s", found[i].s);
	p->os = keep(p, &found[OS]);
	for (unsigned i = 0; i < KEYS; i++)
		text_release(&found[i]);
	read_beginning(h, p);
	read_arguments(h, p, err);
	return p;
}

uint64_t java_direct_limit(const struct heap *h)
{
	static const char *const classes[] = { "jdk.internal.misc.VM", "sun.misc.VM" };
	struct value v;
	for (size_t i = 0; i < sizeof classes / sizeof *classes && values_held(h); i++)
		if (values_static(h, classes[i], "directMemory", &v) && v.type == VALUE_LONG && (int64_t)v.bits > 0)
			return v.bits;
	return 0;
}

/* --- memory that ran out ------------------------------------------------------------------------ */

#define ERROR "java.lang.OutOfMemoryError"

static bool begins(const char *s, const char *with)
{
	return s && !strncmp(s, with, strlen(with));
}

/* A thread that is really making an error holds it in that frame. */
static bool holds_nothing(const struct heap *h, uint32_t thread)
{
	for (size_t i = 0; i < h->n_roots && !progress_own_stops(i); i++)
		if (h->roots[i].thread == thread && h->roots[i].frame == 0)
			return false;
	return true;
}

uint32_t java_oom_thread(const struct heap *h)
{
	enum { MOST_LOOK = 16 };
	unsigned looked = 0;
	for (uint32_t t = 0; t < h->n_threads && !progress_own_stops(t); t++)
		if (h->threads[t].ran_out)
			return t;
	for (uint32_t t = 0; t < h->n_threads && looked < MOST_LOOK && !progress_own_stops(t); t++) {
		if (!h->threads[t].n_frames || !begins(h->threads[t].frames[0], ERROR ".<init>"))
			continue;
		looked++;
		if (holds_nothing(h, t))
			return t;
	}
	return HEAP_NONE;
}

uint32_t java_oom_frame(const struct heap *h, uint32_t thread)
{
	const struct heap_thread *t = &h->threads[thread];
	uint32_t frame = 0;
	while (frame + 1 < t->n_frames && begins(t->frames[frame], ERROR ".<init>"))
		frame++;
	return frame;
}

void java_thread_label(const struct heap_thread *thread, struct text *to)
{
	if (thread->name && !thread->name[0] && thread->own_id)
		text_addf(to, "#%llu", (unsigned long long)thread->own_id);
	else
		text_add(to, thread->name && thread->name[0] ? thread->name : THREAD_UNNAMED);
}

const char *java_oom_kind(const struct heap *h, uint32_t thread)
{
	const struct heap_thread *t = &h->threads[thread];
	const char *at = t->n_frames > 1 ? t->frames[1] : "";
	uint64_t limit = java_heap_limit(h);
	if (begins(at, "java.lang.ClassLoader.defineClass"))
		return "Metaspace, or Compressed class space: it was defining a class";
	if (begins(at, "java.lang.Thread.start0"))
		return "unable to create native thread";
	if (limit && h->shallow >= limit / 8 * 7 && h->shallow <= limit + limit / 8)
		return "Java heap space, or GC overhead limit exceeded: the heap is full";
	return NULL;
}

/* Of each of these kinds HotSpot has an error in advance. */
static const char *const kinds[] = {"Java heap space", "C heap space", "Metaspace", "Compressed class space",
    "PermGen space", "Requested array size exceeds", "GC overhead limit exceeded"};

static bool in_advance(const char *message)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (begins(message, kinds[i]))
			return true;
	return false;
}

const char *java_oom_kind_of(const char *cause)
{
	static const char *const of_openj9[] = {"native memory exhausted", "Failed to create a thread"};
	static const char detail[] = "Detail \"java/lang/OutOfMemoryError\" \"";
	const char *message = cause ? strstr(cause, detail) : NULL;
	if (message)
		message += sizeof detail - 1;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (begins(message, kinds[i]))
			return kinds[i];
	for (size_t i = 0; i < sizeof of_openj9 / sizeof *of_openj9; i++)
		if (begins(message, of_openj9[i]))
			return of_openj9[i];
	return NULL;
}

/* Does an object of the program refer to the error, or one of its frames?  The VM keeps its own in an array that
 * nothing else has; an error refers to itself as its cause. */
static bool program_has(const struct heap *h, uint32_t id)
{
	uint64_t at = adjacency_start(&h->in, id), n = adjacency_degree(&h->in, id);
	for (uint64_t i = 0; i < n && !progress_own_stops(i); i++) {
		uint32_t from = h->in.target[at + i];
		bool vms_own = heap_class_of(h, from)->kind == CLASS_OBJECT_ARRAY && !adjacency_degree(&h->in, from);
		if (from != id && !vms_own)
			return true;
	}
	size_t first, n_roots = heap_roots_of(h, id, &first);
	for (size_t i = 0; i < n_roots; i++)
		if (h->roots[first + i].kind == ROOT_JAVA_LOCAL)
			return true;
	return false;
}

/* depth since JDK 9: how many frames were filled in; before, only a message that the VM has not in advance tells. */
static bool was_thrown(const struct values *v, const char *message)
{
	struct value depth;
	if (values_field(v, "depth", &depth) && depth.type == VALUE_INT)
		return depth.bits && (int64_t)depth.bits < INT32_MAX;
	return message[0] && !in_advance(message);
}

bool java_oom_thrown(const struct heap *h, struct text *to)
{
	enum { MOST_TOLD = 5 };
	uint32_t class = values_held(h) && h->facts.values != TYPED_MEMORY ? values_class_named(h, ERROR) : HEAP_NONE;
	struct text message = TEXT_INIT;
	uint32_t left = class == HEAP_NONE ? 0 : h->classes[class].n_objects;
	uint64_t n = 0;
	size_t before = to->len;
	for (uint32_t id = 0; left && id < h->n_objects && !progress_own_stops(id); id++) {
		struct values v;
		struct value text;
		if (heap_class_index(h, id) != class)
			continue;
		left--;
		text_clear(&message);
		if (values_open(&v, h, id, NULL))
			continue;
		if (values_field(&v, "detailMessage", &text))
			(void)heap_add_string(h, &text, LONGEST, &message);
		if ((was_thrown(&v, message.s) || program_has(h, id)) && n++ < MOST_TOLD)
			text_addf(to, "%s%s", to->len > before ? "; " : "", message.len ? message.s : "without a message");
	}
	if (n > MOST_TOLD)
		text_addf(to, "; and %llu more", (unsigned long long)(n - MOST_TOLD));
	text_release(&message);
	return n != 0;
}
