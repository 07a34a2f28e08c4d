/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gocore_unwind.c - from frame to frame of a stack, as runtime.unwinder goes (runtime/traceback.go, stkframe.go).
 *
 * amd64 has the return address above the frame, arm64 at its low end, and in lr while a function has no frame.
 */
#include "dump/gocore/gocore_stack.h"

#include <string.h>

enum { WORD = 8, ARM_RESERVED = 8, ARM_ALIGN = 16 }; /* arm64: goarch.MinFrameSize, StackAlign */

/* --- what is known of a pc ------------------------------------------------------------------------------ */

/* By name: the numbers of the runtime's functions change from release to release.  Other functions have the number
 * 0, and names of the kind that the reflect package has need a look in any case. */
static enum gocore_special special_of(const struct gocore_function *f)
{
	static const struct { const char *name; enum gocore_special special; } known[] = {
		{ "runtime.cgocallback", CGO_CALLBACK }, { "runtime.sigpanic", SIGNAL_PANIC },
		{ "runtime.asyncPreempt", ASYNC_PREEMPT }, { "runtime.debugCallV2", DEBUG_CALL },
		{ "runtime.gogo", GOGO }, { "reflect.makeFuncStub", REFLECT_STUB },
		{ "reflect.methodValueCall", REFLECT_STUB },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i].name) == f->n_name && !memcmp(known[i].name, f->name, f->n_name))
			return known[i].special;
	return NOT_SPECIAL;
}

/* The site of a pc, which stays until another pc takes its place; NULL: no function has it. */
static const struct gocore_site *site_of(struct gocore_unwinder *u, uint64_t pc)
{
	const struct gocore *g = u->image;
	struct gocore_site *s = &u->site[(pc * UINT64_C(0x9E3779B97F4A7C15) >> 32) % SITES];

	if (s->pc == pc)
		return s->function.module ? s : NULL;
	*s = (struct gocore_site){ .pc = pc };
	if (!gocore_function_at(g, pc, &s->function)) {
		s->function.module = NULL;
		return NULL;
	}
	uint32_t table = gocore_function_number(g, &s->function, AT_FUNCTION_SP_TABLE);
	s->frame_bytes = table ? gocore_pc_value(g, &s->function, table, pc) : 0;
	s->has_frame = table != 0;
	s->map = pc == s->function.entry ? -1 : gocore_pc_data(g, &s->function, TABLE_STACK_MAP, pc - 1);
	s->special = special_of(&s->function);
	return s;
}

/* --- one frame ------------------------------------------------------------------------------------------ */

/* The caller's pc. */
static uint64_t return_address(const struct gocore_unwinder *u, bool innermost)
{
	const struct gocore *g = u->image;
	const struct gocore_frame *f = &u->frame;

	if (g->machine != CORE_ARM64)
		return gocore_word(g, f->fp - WORD);
	return (innermost && f->sp < f->fp) || !f->lr ? gocore_word(g, f->sp) : f->lr;
}

/* Where a function goes on that was stopped by a fault: where it runs what it deferred, or nowhere. */
static uint64_t after_fault(const struct gocore_unwinder *u)
{
	const struct gocore_function *f = &u->frame.site->function;
	uint32_t offset = gocore_function_number(u->image, f, AT_FUNCTION_DEFER_RETURN);
	return offset ? f->entry + offset + 1 : 0;
}

/* Fill in what follows from site, pc, sp and, at arm64, lr. */
static bool resolve(struct gocore_unwinder *u, bool innermost)
{
	struct gocore_frame *f = &u->frame;
	const struct gocore_site *site = f->site;
	const bool link_register = u->image->machine == CORE_ARM64;
	unsigned flags = site->function.flags;

	if (!site->has_frame)
		return false;
	if (site->special == CGO_CALLBACK || innermost)
		flags &= ~(unsigned)FLAG_WRITES_SP;
	f->fp = f->sp + (uint64_t)(int64_t)site->frame_bytes + (link_register ? 0 : WORD);
	if (site->frame_bytes < 0 || f->fp % WORD || f->fp < f->sp || f->fp > u->high) {
		f->fp = f->sp;
		f->lr = 0;
	} else
		f->lr = flags & (FLAG_TOP_FRAME | FLAG_WRITES_SP) ? 0 : return_address(u, innermost);
	/* on both machines the frame pointer of the caller is saved on top of a frame that has room */
	f->varp = f->fp - (link_register || f->fp == f->sp ? 0 : WORD);
	if (f->varp > f->sp)
		f->varp -= WORD;
	f->argp = f->fp + (link_register ? ARM_RESERVED : 0);
	f->continue_pc = u->callee == SIGNAL_PANIC ? after_fault(u) : f->pc;
	return true;
}

bool gocore_unwind(struct gocore_unwinder *u, uint64_t pc, uint64_t sp, uint64_t lr, uint64_t high)
{
	const struct gocore *g = u->image;

	u->callee = NOT_SPECIAL;
	u->high = high;
	u->in_c = false;
	if (sp % WORD || sp > high)
		return false;
	if (!pc) { /* a nil function was called */
		pc = gocore_word(g, sp);
		if (g->machine == CORE_ARM64)
			lr = 0;
		else
			sp += WORD;
	}
	u->frame = (struct gocore_frame){ .site = site_of(u, pc), .pc = pc, .sp = sp, .lr = lr };
	u->in_c = !u->frame.site;
	return u->frame.site && resolve(u, true);
}

bool gocore_unwind_next(struct gocore_unwinder *u)
{
	struct gocore_frame *f = &u->frame;

	if (!f->lr || (f->pc == f->lr && f->sp == f->fp))
		return false;
	u->callee = f->site->special;
	f->site = site_of(u, f->lr);
	f->pc = f->lr;
	f->sp = f->fp;
	f->lr = 0;
	u->in_c = !f->site;
	if (u->in_c)
		return false;
	bool injected = u->callee == SIGNAL_PANIC || u->callee == ASYNC_PREEMPT || u->callee == DEBUG_CALL;
	if (injected && u->image->machine == CORE_ARM64) {
		/* the handler of the signal put lr on the stack before it let the function call another one */
		f->lr = f->site->frame_bytes ? 0 : gocore_word(u->image, f->sp);
		f->sp += ARM_ALIGN;
	}
	return resolve(u, false);
}
