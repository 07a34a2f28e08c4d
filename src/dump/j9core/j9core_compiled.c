/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_compiled.c - frames of compiled code: their methods, without lines and without the calls that were inlined.
 *
 * The VM knows the code of each compiled method by its addresses: a tree of hash tables, one for each piece of code
 * (runtime/util/jitlook.c).  A frame has as many words as its method's J9JITExceptionTable says, behind which the
 * return address is.  Helpers of the compiler push words of their own before the first frame, how many differs with
 * processor and helper: the first number counts that leads from return address to return address up to code of the
 * VM that returns to bytecodes.  Where none does the frames stay unknown.
 */
#include "dump/j9core/j9core_roots.h"

#include "base/text.h"
#include "memory/big.h"

enum { DEEPEST = 64, IN_BUCKET_MOST = 1 << 10, PUSHED_MOST = 48, BUCKET_SHIFT = 9, TREE_TAGS = 3 };

/* Where a member of a tree's node leads: a distance from itself, with a balance in its low bits. */
static uint64_t child(const struct j9core *j, uint64_t node, enum j9_member side)
{
	uint64_t distance = j9_get(j, node, side) & ~(uint64_t)TREE_TAGS;

	if (j->word == 4)
		distance = (uint64_t)(int64_t)(int32_t)distance;
	return distance ? (node + j->at[side].offset + distance) & ~(uint64_t)TREE_TAGS : 0;
}

static bool has_code(const struct j9core *j, uint64_t table, uint64_t pc)
{
	uint64_t cold = j9_get(j, table, AT_CODE_COLD);

	return (pc >= j9_get(j, table, AT_CODE_START) && pc < j9_get(j, table, AT_CODE_END_WARM)) ||
	    (cold && pc >= cold && pc < j9_get(j, table, AT_CODE_END));
}

/* The J9JITHashTable of the piece of code that has this address; 0: none. */
static uint64_t codes_at(const struct j9core *j, uint64_t pc)
{
	uint64_t config = j9_get(j, j->vm, AT_VM_JIT), tree = config ? j9_get(j, config, AT_JIT_CODE) : 0;
	uint64_t node = tree ? j9_get(j, tree, AT_TREE_ROOT) : 0;

	for (unsigned i = 0; node && i < DEEPEST; i++) {
		uint64_t start = j9_get(j, node, AT_CODES_START), end = j9_get(j, node, AT_CODES_END);
		if (pc >= start && pc < end)
			return node;
		node = child(j, node, pc >= end ? AT_TREE_LEFT : AT_TREE_RIGHT);
	}
	return 0;
}

/* The J9JITExceptionTable of the method whose code has this address; 0: none. */
static uint64_t method_at(const struct j9core *j, uint64_t pc)
{
	uint64_t codes = codes_at(j, pc);

	if (!codes)
		return 0;
	uint64_t slot = (pc - j9_get(j, codes, AT_CODES_START)) >> BUCKET_SHIFT;
	uint64_t at = j9_get(j, codes, AT_CODES_BUCKETS) + slot * j->word, entry = j9_word(j, at);
	if (!(entry & 1))
		at = entry; /* a list, whose last one is odd, like one alone */
	for (unsigned i = 0; i < IN_BUCKET_MOST && at; i++, at += j->word) {
		entry = j9_word(j, at);
		uint64_t table = entry & ~UINT64_C(1);
		if (table && has_code(j, table, pc))
			return table;
		if (entry & 1 || !entry)
			break;
	}
	return 0;
}

/* Does code of the VM begin there that returns from compiled code to bytecodes? */
static bool returns(const struct j9core *j, uint64_t pc)
{
	uint64_t n = j9_constant(j, "J9StackWalkConstants", "J9SW_JIT_RETURN_TABLE_SIZE", 0);
	uint64_t table = j9_get(j, j9_get(j, j->vm, AT_VM_JIT), AT_JIT_RETURNS);

	for (uint64_t i = 0; table && i < n && i < DEEPEST; i++)
		if (pc && j9_word(j, table + i * j->word) == pc)
			return true;
	return false;
}

/* The frame of the code at pc whose words begin at sp: its table, and the address of the return address.  0: none. */
static uint64_t frame_at(struct j9_stack *s, const struct j9core *j, uint64_t pc, uint64_t sp, uint64_t end,
    uint64_t *back)
{
	uint64_t table = s->n_looks++ < J9_LOOKS_MOST ? method_at(j, pc) : 0;

	*back = sp + (j9_get(j, table, AT_CODE_FRAME) & 0xffff) * j->word;
	return table && *back < end ? table : 0;
}

static bool leads_back(struct j9_stack *s, const struct j9core *j, uint64_t pc, uint64_t sp, uint64_t end)
{
	uint64_t back;
	bool any = false;

	while (frame_at(s, j, pc, sp, end, &back)) {
		pc = j9_word(j, back);
		sp = back + j->word;
		any = true;
	}
	return any && returns(j, pc);
}

static int add(struct j9_stack *s, const struct j9core *j, uint64_t table, uint64_t low, uint64_t high,
    struct err *err)
{
	struct j9_method m;
	struct text text = TEXT_INIT;
	struct j9_frame *to = BIG_PUSH(s->frame, s->n, s->cap, err);

	if (!to)
		return ERR_NOMEM;
	*to = (struct j9_frame){.low = low, .high = high, .pushed = low};
	if (!j9_read_method(j, j9_get(j, table, AT_CODE_METHOD), &m))
		return 0;
	j9_add_method(j, &m, 0, &text);
	to->text = arena_try_strndup(&s->arena, text.s, text.len, err);
	text_release(&text);
	return to->text ? 0 : ERR_NOMEM;
}

int j9_add_compiled(struct j9_stack *s, const struct j9core *j, uint64_t pc, uint64_t sp, uint64_t end,
    struct err *err)
{
	uint64_t table, back, pushed = 0;
	int code = 0;

	while (pushed < PUSHED_MOST && !leads_back(s, j, pc, sp + pushed * j->word, end))
		pushed++;
	if (pushed == PUSHED_MOST)
		return 0;
	sp += pushed * j->word;
	while (!code && (table = frame_at(s, j, pc, sp, end, &back))) {
		code = add(s, j, table, sp, back + j->word, err);
		pc = j9_word(j, back);
		sp = back + j->word;
	}
	return code;
}
