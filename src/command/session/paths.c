/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paths.c - shortest paths for commands: command_find_path of session.h. */
#include "command/session/session.h"
#include "heap/ids.h"

enum {
	EFFORT = 4 << 20,      /* references looked at backward, before all are followed forward */
};

struct growing {
	struct path_tree *tree;
	const struct path_rules *rules;
	uint32_t to;
};

static int grow(void *context, struct progress *progress, struct err *err)
{
	struct growing *g = context;
	return path_tree_grow(g->tree, g->rules, g->to, progress, err);
}

int command_find_path(const struct session *s, const struct path_rules *rules, uint32_t to,
    struct path *out, struct err *err)
{
	bool plain = !rules->relaxed && !rules->bars && rules->from == HEAP_NONE && !rules->not_itself;
	const struct path_tree *tree = plain ? opened_path_tree(s->dump, rules->weak) : NULL;
	int code = 0;
	*out = (struct path){.n = 0};
	if (!tree) {
		code = path_search(out, rules, to, EFFORT, session_progress(s), err);
		if (code || !out->gave_up)
			return code;
	}
	if (plain) {
		code = session_find(s, rules->weak ? FIND_WEAK_PATHS : FIND_PATHS, err);
		return code ? code : path_tree_path(opened_path_tree(s->dump, rules->weak), to, out, err);
	}
	struct path_tree grown;
	struct growing growing = {&grown, rules, to};
	code = session_work(s, grow, &growing, err);
	if (code)
		return code;
	code = path_tree_path(&grown, to, out, err);
	path_tree_release(&grown);
	return code;
}
