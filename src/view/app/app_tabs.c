/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app_tabs.c - the main pages, one key away: each with a stack of pages of its own, kept while another one is
 * shown.
 */
#include "view/app/app.h"

#include <string.h>

static const struct {
	const char *name, *line;
} tabs[TABS] = {
    [TAB_OVERVIEW] = {"overview", "overview"},
    [TAB_HISTOGRAM] = {"histogram", "histo"},
    [TAB_HEAP] = {"heap", "heap"},
    [TAB_LEAKS] = {"leaks", "leaks"},
    [TAB_THREADS] = {"threads", "threads"},
    [TAB_PACKAGES] = {"packages", "tree -by package"},
    [TAB_INFO] = {"info", "info"},
    [TAB_GROWTH] = {"growth", "growth"},
    [TAB_TREND] = {"trend", "trend"},
    [TAB_DUMPS] = {"dumps", "dumps"},
};

static const char *name_of(const struct app *a, enum tab tab)
{
	bool processes = tab == TAB_DUMPS && !a->session.n_dumps && a->session.folder && a->session.folder->here;

	return processes ? "processes" : tabs[tab].name;
}

bool tabs_offers(const struct app *a, enum tab tab)
{
	bool alone = app_profiles_alone(a);

	if (tab == TAB_GROWTH)
		return a->session.n_dumps > 1;
	if (tab == TAB_DUMPS && a->session.folder)
		return true;
	return tab > TAB_GROWTH ? session_compares(&a->session) : !alone;
}

void tabs_add_keys(const struct app *a, struct text *to)
{
	enum tab first[TABS], last[TABS];
	unsigned n = 0;

	for (enum tab tab = 0; tab < TABS; tab++) {
		if (!tabs_offers(a, tab))
			continue;
		if (n == 0 || last[n - 1] + 1 != tab)
			first[n++] = tab;
		last[n - 1] = tab;
	}
	for (unsigned i = 0; i < n; i++) {
		text_addf(to, "%s%u", i ? " " : "", first[i]);
		if (last[i] > first[i])
			text_addf(to, n == 1 ? " to %u" : "-%u", last[i]);
	}
}

enum tab tabs_first(const struct app *a)
{
	if (!tabs_offers(a, TAB_HISTOGRAM))
		return a->session.folder ? TAB_DUMPS : TAB_TREND;
	return a->options->start == TAB_OVERVIEW ? TAB_OVERVIEW : TAB_HISTOGRAM;
}

/* "365 profiles", and " · 2025-11-21 to 2026-11-20", as far as they were read. */
void app_tell_profiles(struct app *a)
{
	enum { DAY = sizeof "2026-11-21" - 1 };
	const struct session *s = &a->session;
	const char *what = s->folder ? "dump" : "profile";
	const char *first = NULL, *last = NULL;

	for (size_t i = 0; i < s->n_dumps; i++) {
		const struct session_dump *d = s->dumps[i];
		const char *created = d->listed ? d->listed->created : session_created(d);
		if (strlen(created) > DAY) {
			first = first ? first : created;
			last = created;
		}
	}
	text_clear(&a->profiles);
	text_clear(&a->profiles_when);
	if (!s->n_dumps) /* processes alone */
		return;
	text_add_count(&a->profiles, s->n_dumps);
	text_addf(&a->profiles, " %s%s", what, s->n_dumps == 1 ? "" : "s");
	if (!first)
		return;
	text_addf(&a->profiles_when, " %s %.*s", theme_glyph(GLYPH_DOT), DAY, first);
	if (strncmp(first, last, DAY) != 0)
		text_addf(&a->profiles_when, " to %.*s", DAY, last);
}

static void go_to(struct app *a, enum tab tab)
{
	if (tab == a->here.tab)
		return;
	a->here.kept[a->here.tab] = a->here.pages;
	a->here.pages = a->here.kept[tab];
	a->here.kept[tab] = (struct page_stack){.n = 0};
	a->here.tab = tab;
	a->dirty = true;
	if (app_page(a))
		tour_look(&a->tour, app_page(a)->line);
}

bool tabs_has(const struct app *a, enum tab tab)
{
	return (tab == a->here.tab ? a->here.pages.n : a->here.kept[tab].n) > 0;
}

void tabs_return(struct app *a, enum tab tab, size_t at)
{
	go_to(a, tab);
	if (at < a->here.pages.n)
		a->here.pages.at = at;
}

void tabs_show(struct app *a, enum tab tab)
{
	struct err none = ERR_INIT;
	if (!tabs_offers(a, tab)) {
		bool no_dump = tab < TAB_GROWTH && a->session.folder && session_no_dump(&a->session, &none);
		app_say(a, ROLE_NOTE, no_dump ? none.message : tab < TAB_GROWTH ? NO_DUMP_AT_HAND :
		    app_profiles_alone(a) ? "only one profile is open (cairn OLD... PROFILE or open FILE compares)" :
		    "only one dump is open (cairn OLD... DUMP or open FILE compares)");
		return;
	}
	if (tab == a->here.tab && a->here.pages.n > 0) {
		a->here.pages.at = 0;
		return;
	}
	if (a->here.kept[tab].n > 0) {
		go_to(a, tab);
		if (a->here.pages.at > 0) {
			struct text said = TEXT_INIT;
			text_addf(&said, "the last place in %s; %d again: its first view", tabs[tab].name, (int)tab);
			app_say(a, ROLE_NOTE, said.s);
			text_release(&said);
		}
		return;
	}
	a->wanted_tab = tab;
	app_run_line(a, tabs[tab].line);
	a->wanted_tab = TABS;
}

bool tabs_show_line(struct app *a, const char *line)
{
	for (enum tab tab = 0; tab < TABS; tab++) {
		if (strcmp(tabs[tab].line, line) != 0 || !tabs_offers(a, tab))
			continue;
		tabs_show(a, tab);
		a->here.pages.at = a->here.pages.n > 0 && a->here.tab == tab ? 0 : a->here.pages.at;
		return true;
	}
	return false;
}

void tabs_arrive(struct app *a)
{
	if (a->wanted_tab != TABS)
		go_to(a, a->wanted_tab);
	a->wanted_tab = TABS;
}

void tabs_leave_ready(struct app *a, enum tab shown)
{
	struct text said = TEXT_INIT;
	text_addf(&said, "%s is ready: %d shows it", tabs[a->here.tab].name, (int)a->here.tab);
	go_to(a, shown);
	app_say(a, ROLE_NOTE, said.s);
	text_release(&said);
}

bool tabs_back(struct app *a)
{
	enum tab first = tabs_first(a), list = a->session.folder ? TAB_DUMPS : TABS;

	if (a->here.tab == list)
		return false;
	if (a->here.tab != first && a->here.kept[first].n > 0 && !(list == TAB_DUMPS && a->here.tab >= TAB_GROWTH))
		go_to(a, first);
	else if (list == TAB_DUMPS)
		tabs_show(a, TAB_DUMPS);
	else
		return false;
	return true;
}

/* Is its answer there, or does it wait for nothing of the current dump? */
static bool is_ready(const struct app *a, enum tab tab)
{
	if (tab == a->here.tab || a->here.kept[tab].n > 0 || app_profiles_alone(a))
		return true;
	bool retained = tab == TAB_HEAP || tab == TAB_LEAKS || tab == TAB_GROWTH || tab == TAB_TREND;
	return retained ? a->session.dump && opened_retained(a->session.dump) : app_references_ready(a);
}

/* --- their names ---------------------------------------------------------------------------------- */

/* With less room names give way in this order, then the keys; the one shown and growth, which tells at once what
 * several dumps are good for, keep theirs to the last. */
static const enum tab giving_way[] = {
    TAB_INFO, TAB_PACKAGES, TAB_THREADS, TAB_DUMPS, TAB_LEAKS, TAB_HEAP, TAB_HISTOGRAM, TAB_TREND,
    TAB_OVERVIEW};
enum {
	NAMES_GIVING_WAY = sizeof giving_way / sizeof *giving_way,
	ALL_NAMED = 0, CLOSER, FEWER_NAMED,
	FEW = FEWER_NAMED + NAMES_GIVING_WAY, /* the one shown, and growth */
	ONE,                                  /* the one shown */
	HOW_MUCH
};

static bool is_named(const struct app *a, enum tab tab, int how)
{
	if (tab == a->here.tab || how <= CLOSER)
		return true;
	if (tab == TAB_GROWTH)
		return how <= FEW;
	for (int i = 0; i < NAMES_GIVING_WAY && i <= how - FEWER_NAMED; i++)
		if (giving_way[i] == tab)
			return false;
	return true;
}

static int tab_width(const struct app *a, enum tab tab, int how)
{
	bool named = is_named(a, tab, how);

	if (!tabs_offers(a, tab) || (!named && how >= FEW))
		return 0;
	return 1 + (named ? 1 + (int)strlen(name_of(a, tab)) : 0);
}

static int tabs_width(const struct app *a, int how)
{
	int sum = 0;

	for (enum tab i = 0; i < TABS; i++) {
		int width = tab_width(a, i, how);
		sum += width + (sum > 0 && width > 0 ? how == ALL_NAMED ? 2 : 1 : 0);
	}
	return sum;
}

bool tabs_draw(struct app *a, int y, int x, int width)
{
	int how = ALL_NAMED;

	while (how < HOW_MUCH && tabs_width(a, how) > width)
		how++;
	if (how == HOW_MUCH)
		return false;
	for (enum tab i = 0; i < TABS; i++) {
		char key[2] = {(char)('0' + i), '\0'};
		bool shown = i == a->here.tab, ready = is_ready(a, i);
		int all = tab_width(a, i, how);
		if (all == 0)
			continue;
		mouse_zone(a, (struct zone){y, x, all, .key = key[0]});
		draw_text(y, x, 1, key, theme_role(shown ? ROLE_PLACE : ready ? ROLE_KEY : ROLE_QUIET));
		if (all > 1)
			draw_text(y, x + 2, all - 2, name_of(a, i),
			    theme_role(shown ? ROLE_PLACE : ready ? ROLE_TEXT : ROLE_QUIET));
		x += all + (how == ALL_NAMED ? 2 : 1);
	}
	return true;
}
