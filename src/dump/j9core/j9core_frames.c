/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_frames.c - the frames of a thread's stack, the innermost first.
 *
 * A stack grows downwards.  A frame of bytecodes is, from low addresses to high ones: what is pushed, three words of
 * linkage (the caller's method, pc and first argument), locals, arguments, of which the first has the highest address.
 * Other frames of the VM's own have a small number for a pc.  After StackWalker of DDR_VM and J9SF… of
 * runtime/oti/j9nonbuilder.h.
 *
 * Behind a frame that compiled code called are those of compiled code, if they can be read, and then those of the
 * bytecodes that entered it: where, the VM noted as it did so.
 */
#include "dump/j9core/j9core_roots.h"

#include "base/progress.h"
#include "base/text.h"
#include "memory/big.h"

enum { SPECIAL, METHOD, NATIVE, JNI_NATIVE, JNI_CALLOUT, RESOLVE, METHOD_TYPE, N_SPECIAL };
enum { FRAMES_MOST = 1 << 22, TAGS = 3 };

struct walk {
	const struct j9core *j;
	struct j9_registers at;
	uint64_t end;                 /* of the stack */
	uint64_t type[N_SPECIAL], last_type;
	uint64_t call_in, compiled, hidden; /* the pc of calls in; flags */
	uint64_t state;               /* J9I2JState: where bytecodes go on behind compiled code */
	uint64_t flags, base;         /* of the current frame; base: where it keeps the caller's first argument */
	uint64_t method;              /* J9Method, 0 none */
	bool j2i;                     /* called by compiled code */
	bool code;                    /* pc is one of bytecodes */
};

static void begin(struct walk *w, const struct j9core *j, const struct j9_registers *at, uint64_t end)
{
	static const struct { const char *name; uint8_t number; } types[N_SPECIAL] = {
		[SPECIAL] = {"J9SF_FRAME_TYPE_GENERIC_SPECIAL", 1}, [METHOD] = {"J9SF_FRAME_TYPE_METHOD", 2},
		[NATIVE] = {"J9SF_FRAME_TYPE_NATIVE_METHOD", 3}, [RESOLVE] = {"J9SF_FRAME_TYPE_JIT_RESOLVE", 5},
		[JNI_CALLOUT] = {"J9SF_FRAME_TYPE_JIT_JNI_CALLOUT", 6},
		[JNI_NATIVE] = {"J9SF_FRAME_TYPE_JNI_NATIVE_METHOD", 7},
		[METHOD_TYPE] = {"J9SF_FRAME_TYPE_METHODTYPE", 8},
	};

	*w = (struct walk){.j = j, .at = *at, .end = end};
	for (size_t i = 0; i < N_SPECIAL; i++)
		w->type[i] = j9_constant(j, "J9SFStackFrame", types[i].name, types[i].number);
	w->last_type = j9_constant(j, "J9SFStackFrame", "J9SF_MAX_SPECIAL_FRAME_TYPE", 16);
	w->hidden = j9_constant(j, "J9SFStackFrame", "J9SF_A0_INVISIBLE_TAG", 2);
	w->compiled = j9_constant(j, "J9StackWalkConstants", "J9_STACK_FLAGS_JIT_TRANSITION_TO_INTERPRETER_MASK",
	    0x70080000);
	w->call_in = j9_get(j, j->vm, AT_VM_CALL_IN);
	w->state = at->entry ? at->entry + j->at[AT_ENTRY_STATE].offset : 0;
}

/* --- one frame --------------------------------------------------------------------------------------------- */

/* A frame of the VM's own, which has what it pushed before it: its bytes are the "literals". */
static bool special(struct walk *w)
{
	const struct j9core *j = w->j;
	uint64_t at = w->at.sp + w->at.literals, pc = w->at.pc;
	enum j9_member flags = AT_METHOD_FRAME_FLAGS, base = AT_METHOD_FRAME_A0;

	if (pc == w->type[SPECIAL]) {
		flags = AT_SPECIAL_FRAME_FLAGS;
		base = AT_SPECIAL_FRAME_A0;
	} else if (pc == w->type[METHOD_TYPE]) {
		flags = AT_TYPE_FRAME_FLAGS;
		base = AT_TYPE_FRAME_A0;
	} else if (pc == w->type[RESOLVE]) {
		flags = AT_RESOLVE_FLAGS;
		base = AT_RESOLVE_RETURN_SP;
	} else if (pc == w->type[METHOD] || pc == w->type[NATIVE] || pc == w->type[JNI_NATIVE] ||
	    pc == w->type[JNI_CALLOUT]) {
		w->method = j9_get(j, at, AT_METHOD_FRAME_METHOD);
	} else {
		return false;
	}
	w->flags = j9_get(j, at, flags);
	w->base = at + j->at[base].offset;
	return j->has[base];
}

/* A call from native code: what the thread's native stack had before is where compiled code goes on from here. */
static bool call_in(struct walk *w)
{
	const struct j9core *j = w->j;

	w->base = w->at.a0;
	w->flags = j9_get(j, w->base - j->at[AT_CALL_IN_A0].offset, AT_CALL_IN_FLAGS);
	w->at.entry = w->at.entry ? j9_get(j, w->at.entry, AT_ENTRY_OLD) : 0;
	w->state = w->at.entry ? w->at.entry + j->at[AT_ENTRY_STATE].offset : 0;
	return true;
}

static bool bytecodes(struct walk *w, const struct j9_method *m)
{
	const struct j9core *j = w->j;
	uint64_t words = m->n_arguments + m->n_locals + (m->synchronized || m->keeps_receiver);

	w->base = w->at.a0 - (w->method ? words * j->word : 0);
	w->j2i = w->base == w->at.j2i && w->at.j2i;
	w->code = true;
	if (!w->method && !w->j2i)
		return false;
	if (w->j2i) {
		uint64_t frame = w->base - j->at[AT_J2I_RETURN_SP].offset;
		w->flags = j9_get(j, frame, AT_J2I_FLAGS);
		w->state = frame + j->at[AT_J2I_STATE].offset;
		w->at.j2i = j9_get(j, frame, AT_J2I_PREVIOUS);
	}
	return true;
}

/* What kind of frame is next, and where it ends; false: it cannot be read. */
static bool look(struct walk *w, struct j9_method *m)
{
	uint64_t pc = w->at.pc;
	bool read;

	w->flags = w->method = w->base = 0;
	w->j2i = w->code = false;
	*m = (struct j9_method){.rom = 0};
	if (pc <= w->last_type) {
		read = special(w);
		if (read && w->method && !j9_read_method(w->j, w->method, m))
			w->method = 0;
	} else if (w->call_in && (pc == w->call_in || pc == w->call_in + 3)) {
		read = call_in(w);
	} else {
		w->method = w->at.literals;
		read = (!w->method || j9_read_method(w->j, w->method, m)) && bytecodes(w, m);
	}
	return read && w->base >= w->at.sp && w->base < w->end && w->at.a0 >= w->base && w->at.a0 < w->end;
}

/* From compiled code, whose innermost frame begins at `from`, to the bytecodes that entered it. */
static int to_bytecodes(struct walk *w, struct j9_stack *s, uint64_t pc, uint64_t from, struct err *err)
{
	const struct j9core *j = w->j;

	w->at.pc = j9_get(j, w->state, AT_I2J_PC);
	w->at.literals = j9_get(j, w->state, AT_I2J_LITERALS);
	w->at.a0 = j9_get(j, w->state, AT_I2J_A0);
	w->at.sp = j9_get(j, w->state, AT_I2J_SP) & ~(uint64_t)TAGS;
	return w->at.sp <= w->end ? j9_add_compiled(s, j, pc, from, w->at.sp, err) : 0;
}

/* The same from a frame that compiled code called. */
static int leave_callee(struct walk *w, struct j9_stack *s, struct err *err)
{
	const struct j9core *j = w->j;
	uint64_t word = j->word, pc = j9_word(j, w->base - (w->j2i || w->at.pc == w->type[RESOLVE] ? word : 2 * word));
	uint64_t from = w->at.pc == w->type[JNI_CALLOUT] ? w->base + word : j9_word(j, w->base) & ~(uint64_t)TAGS;

	return to_bytecodes(w, s, pc, from > w->base ? from : w->base + word, err);
}

/* Where the next frame is, whose callee this one is. */
static int leave(struct walk *w, struct j9_stack *s, struct err *err)
{
	const struct j9core *j = w->j;
	uint64_t sp = w->at.sp, word = j->word;
	int code = 0;

	if (w->flags & w->compiled || w->j2i) {
		code = w->state ? leave_callee(w, s, err) : 0;
	} else {
		w->at.sp = w->at.a0 + word;
		w->at.pc = j9_word(j, w->base - word);
		w->at.literals = j9_word(j, w->base - 2 * word);
		w->at.a0 = j9_word(j, w->base) & ~(uint64_t)TAGS;
	}
	s->broken = w->at.sp <= sp;
	return code;
}

/* --- all of them ------------------------------------------------------------------------------------------- */

static int add(struct j9_stack *s, const struct walk *w, const struct j9_method *m, struct text *text, struct err *err)
{
	const struct j9core *j = w->j;
	struct j9_frame *to = BIG_PUSH(s->frame, s->n, s->cap, err);

	if (!to)
		return ERR_NOMEM;
	*to = (struct j9_frame){.low = w->at.sp, .high = w->at.a0 + j->word, .a0 = w->at.a0, .pushed = w->at.sp};
	if (w->at.pc <= w->last_type) {
		to->pushed += w->at.literals;
		to->native = w->at.pc == w->type[JNI_NATIVE] || w->at.pc == w->type[JNI_CALLOUT];
	}
	if (w->code && m->synchronized)
		to->locked = w->base + j->word;
	if (!w->method || j9_word(j, w->base) & w->hidden)
		return 0;
	text_clear(text);
	j9_add_method(j, m, w->code ? w->at.pc : 0, text);
	to->text = arena_try_strndup(&s->arena, text->s, text->len, err);
	return to->text ? 0 : ERR_NOMEM;
}

int j9_read_stack(struct j9_stack *s, const struct j9core *j, const struct j9_registers *at, uint64_t end,
    struct err *err)
{
	struct walk w;
	struct j9_method m;
	struct text text = TEXT_INIT;
	int code = 0;

	s->n = 0;
	s->n_looks = 0;
	s->broken = false;
	arena_release(&s->arena);
	begin(&w, j, at, end);
	if (at->native_sp && w.state)
		code = to_bytecodes(&w, s, at->native_pc, at->native_sp, err);
	while (w.at.pc && s->n < FRAMES_MOST && !code && !s->broken && !progress_own_stops(s->n)) {
		s->broken = !look(&w, &m);
		if (s->broken)
			break;
		code = add(s, &w, &m, &text, err);
		if (!code)
			code = leave(&w, s, err);
	}
	text_release(&text);
	return code;
}

void j9_stack_release(struct j9_stack *s)
{
	big_free(s->frame);
	arena_release(&s->arena);
}
