/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask_views.c - the views that the configuration gives to the questions about every dump. */
#include "command/query/query.h"

#include "base/mem.h"
#include "command/query/ask_tables.h"
#include "command/commands.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Letters, digits and _, so that no statement need quote it. */
static bool is_plain(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			return false;
	return *name && !isdigit((unsigned char)*name);
}

/* What is called so in every dump; NULL: nothing. */
static const char *taken_by(const char *name)
{
	if (sql_table_called(name) || ask_table_called(name))
		return "a table";
	for (const struct command *const *c = commands; *c; c++)
		if (!strcasecmp((*c)->name, name))
			return "a command";
	for (const struct alias *a = alias_list(); a->word; a++)
		if (alias_is_earlier(a) && !strcasecmp(a->word, name))
			return "a command";
	return NULL;
}

const struct sql_view *ask_view(const struct session *s, size_t i)
{
	return i < s->settings.n_views ? &s->settings.views[i] : NULL;
}

const struct sql_view *ask_view_named(const struct session *s, const char *name)
{
	for (size_t i = 0; i < s->settings.n_views; i++)
		if (!strcasecmp(s->settings.views[i].name, name))
			return &s->settings.views[i];
	return NULL;
}

int ask_keep_view(struct session *s, const char *name, const char *text, const char *place, struct err *err)
{
	const char *taken = taken_by(name);
	if (!is_plain(name))
		return err_set(err, ERR_USAGE, "invalid view name (use letters, digits and _)");
	if (taken)
		return err_set(err, ERR_USAGE, "%s has this name already", taken);
	int code = sql_check_view(name, text, err);
	if (code)
		return code;
	struct sql_view *view = (struct sql_view *)ask_view_named(s, name);
	if (view)
		sql_view_release(view);
	else
		view = &VEC_PUSH(s->settings.views, s->settings.n_views, s->settings.cap_views);
	*view = (struct sql_view){.name = xstrdup(name), .text = xstrdup(text), .place = xstrdup(place)};
	return 0;
}
