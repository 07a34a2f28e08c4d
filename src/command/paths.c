/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paths.c - see paths.h. */
#include "command/paths.h"

enum {
	EFFORT = 4 << 20,      /* references looked at backward, before all are followed forward */
	LINE_EFFORT = 1 << 20, /* for a line that nobody asked for: some hundredths of a second */
};

int command_find_path(const struct session *s, const struct path_rules *rules, uint32_t to,
    struct path *out, struct err *err)
{
	bool plain = !rules->bars && rules->from == HEAP_NONE && !rules->not_itself;
	const struct path_tree *tree = plain ? session_has_path_tree(s, rules->weak) : NULL;
	int code = 0;
	*out = (struct path){.n = 0};
	if (!tree) {
		code = path_search(out, rules, to, EFFORT, NULL, err);
		if (code || !out->gave_up)
			return code;
	}
	if (plain) {
		code = session_path_tree(s, rules->weak, &tree, err);
		if (!code)
			path_tree_path(tree, to, out);
		return code;
	}
	struct path_tree grown;
	code = path_tree_grow(&grown, rules, to, NULL, err);
	if (code)
		return code;
	path_tree_path(&grown, to, out);
	path_tree_release(&grown);
	return 0;
}

bool session_path_line(const struct session *s, uint32_t id, struct text *to)
{
	const struct path_tree *tree = session_has_path_tree(s, false);
	struct path_rules rules;
	struct path p = {.n = 0};
	if (path_rules_init(&rules, s->heap, false, NULL))
		return false;
	int code = 0;
	if (tree)
		path_tree_path(tree, id, &p);
	else
		code = path_search(&p, &rules, id, LINE_EFFORT, NULL, NULL);
	bool found = !code && !p.gave_up;
	if (found && p.n > 0)
		path_line(&rules, &p, to);
	else if (found)
		text_add(to, "none: no root reaches it by strong references");
	path_release(&p);
	path_rules_release(&rules);
	return found;
}
