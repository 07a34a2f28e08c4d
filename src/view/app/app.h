/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app.h - the state of the running screen; private to the files named below and app.c.
 *
 * Main thread only.
 */
#ifndef CAIRN_VIEW_APP_APP_H
#define CAIRN_VIEW_APP_APP_H

#include "command/exec/exec.h"
#include "command/help/help.h"
#include "command/session/session.h"
#include "view/jobs/jobs.h"
#include "view/loading.h"
#include "view/page/page.h"
#include "view/panes/panes.h"
#include "view/saved_state.h"
#include "view/tour.h"
#include "view/view.h"

/* In the order of --start.  Those from growth on are of several dumps or profiles, those before of a current dump. */
enum tab {
	TAB_OVERVIEW, TAB_HISTOGRAM, TAB_HEAP, TAB_LEAKS, TAB_THREADS, TAB_PACKAGES, TAB_INFO, TAB_GROWTH, TAB_TREND,
	TAB_DUMPS, TABS
};

/* A stack of pages, and behind `at` where one has come back from. */
struct page_stack {
	struct page **page; /* owned */
	size_t n, cap;
	size_t at;          /* the page shown, when n > 0 */
};

/* The first alert of the overview: a red line above the first view of each main page, until it is dismissed. */
struct alert {
	bool known;            /* it was looked for */
	/* owned: what it says, and the command of b; without a line there is none, and who asked for the dump, or NULL */
	char *sentence, *line;
	bool dismissed;
};

/* What the screen shows of a dump. */
struct dump_place {
	struct opened *opened;        /* while another one is current */
	enum tab tab;                 /* that is shown */
	struct page_stack pages;      /* of it */
	struct page_stack kept[TABS]; /* of the others */
	struct saved_state state;     /* of the dump, from one run to the next */
	struct alert alert;           /* of the dump */
	enum file_fate fate_told;     /* what of the file of the dump was said */
};

/* A part of a line that can be clicked, as drawn last. */
struct zone {
	int y, x, width;
	int key;     /* the click is that key; 0: it goes back or forward to a page */
	size_t page; /* of the stack */
};
#define ZONES_MOST 64 /* of others clicks mean nothing */

/* What was shown of a heap that the loader takes back, to be asked for again. */
struct gone_view {
	struct invocation *asked; /* NULL: nothing but what comes first anyhow */
	enum tab tab;             /* it is the first page of this one; TABS: it is not a tab's */
};

/* What the screen waits for, all jobs of one command together. */
struct waiting {
	struct invocation *asked; /* NULL: a job of a table */
	uint64_t began, drawn; /* ns; began 0: nothing is waited for */
	bool shown;            /* the screen says so */
	bool owes;             /* keys wait, and there was no turn to answer them in */
	bool ahead;            /* keys were typed before that, so those behind them have to wait, too */
	int wake;              /* where the job wakes the loop */
	struct table *table;   /* that it is a job of */
};

/* A page of the rows that a command has found so far, at the place of the answer until that is there. */
struct so_far {
	struct page *page;   /* NULL: there is none */
	struct page *under;  /* what was in that place; NULL: nothing */
	enum tab tab;
	size_t at, before;   /* its place, and that which was shown */
};

/* A question that a job puts: the main thread asks, the job waits. */
struct asked {
	_Atomic(const char *) question; /* NULL: none */
	bool yes;
	sem_t answered;
};

/* What the lines above the prompt say. */
struct notice {
	struct text text;
	enum role role;
	struct text line;  /* the typed line that it is about; empty: it is about none */
	struct err err;    /* why that failed */
};

/* What waits for the references, or for retained sizes. */
struct pending {
	struct invocation *asked;   /* NULL: nothing does */
	enum tab tab;               /* where its page is pushed: as wanted_tab */
	struct selection selection; /* what was selected then */
	bool moved_on;              /* keys came since it waits */
};

/* What a command works on, on a thread of its own. */
struct app_work {
	struct job *job;          /* what it waits for: ^C ends that */
	struct waiting waiting;   /* on behalf of what */
	struct asked asked;       /* by it */
	bool asking, refused;     /* a question is put; ^C or Esc came meanwhile */
	struct render_lock turns; /* session.hooks.turns */
	struct result *growing;   /* session.hooks.growing */
	struct so_far so_far;     /* its page */
	bool unseen;              /* an answer that was waited for is there and was not drawn yet */
	bool gives_way;           /* the job ends when a key comes, which is another question perhaps */
	bool filter_late;         /* one did so: the rows are not those of the filter as it is typed */
};

/* The line with the path of an object. */
struct path_line {
	struct path_job job;
	bool wanted;  /* P: that of the selected row is shown */
	bool of_row;  /* that is what job is at, not the page's object */
	bool moved;   /* the line is still that of another row */
};

/* What stands where, as drawn last. */
struct drawn {
	struct pane_page page; /* all of it */
	struct rect area;      /* of the page without its panes */
	struct zone zone[ZONES_MOST];
	size_t n_zones;
};

/* What keys before the next one said. */
struct key_state {
	bool copied_row;        /* the one before did */
	enum action letter_for; /* what waits for a letter: ACTION_MARK, ACTION_GO_TO_MARK; else ACTION_NONE */
	struct text offered;    /* the line that Enter runs: nothing was found, and it looks further; empty: none */
	bool stop_asked;        /* ^C while reading: the next one ends it */
};

/* Around work that nobody asked for: what was said before it is not yet read. */
struct notice_kept {
	char *words; /* NULL: nothing */
	char *line;  /* the typed line that failed, or "" */
	enum role role;
};

/* A page that is asked again every few seconds (app_refresh.c). */
struct refresh {
	uint64_t page;   /* that is shown, by its serial; 0: it is none of these */
	uint64_t failed; /* it had no answer, and is not asked again */
	uint64_t last;   /* of progress_clock: when it was asked */
};

/* The box with keys over the page, and what was typed there to search. */
struct key_box {
	bool open;
	struct text typed;
	char *line;    /* of the prompt that it opened from; NULL: of none */
	size_t chosen; /* of the rows found */
};

struct app {
	pthread_t main;
	const struct view_options *options;
	struct session session;
	struct loader loader;
	struct retained_job finding;
	struct app_work work;
	struct path_line path;
	struct panes panes;
	struct about_job about;       /* of the page's object or class */
	struct classes_job classes;
	const struct page *pane_of; /* the page that they stood beside last */
	struct tour tour;
	struct dump_place here;       /* of the current dump, or of all that are profiles */
	struct dump_place *left;      /* the other dumps that are open */
	size_t n_left, cap_left;
	bool came;                    /* the line went to another dump */
	enum tab wanted_tab;          /* where the next page is pushed; TABS: the one that is shown */
	struct drawn drawn;
	struct text profiles, profiles_when; /* where there is nothing else what the title says of them, and their dates */
	struct notice notice;
	struct pending pending;
	struct gone_view gone;
	struct key_state keys;
	struct key_box box;
	struct refresh refresh;
	uint64_t last_serial; /* of the pages that came */

	const struct dump *inflating; /* beside the screen, while it is current; NULL: none, or it is there */
	const struct dump *inflated;  /* the last one of which that was begun */
	bool model_changed;       /* what keeps objects alive is another thing now */
	bool index_due;           /* --index names none that could be used: it is to be written */
	bool mouse_told;          /* was it said how text is selected now? */
	const char *index_told;   /* what of the index was said: the sentence, which is the heap's */
	bool dirty, quit;
	int status;
};

/* app.c: the stack, and what is found beside it */
struct page *app_page(struct app *a); /* NULL: none yet */
bool app_references_ready(const struct app *a);
/* Are profiles all there is?  Then there is no current dump, until one is opened. */
bool app_profiles_alone(const struct app *a);
/* Find retained sizes beside the screen, unless they are known or on their way. */
void app_find_retained(struct app *a);
void app_say(struct app *a, enum role role, const char *sentence);
void app_say_lines(struct app *a, enum role role, const char *lines); /* the same, broken at each \n */
void app_take_signals(struct app *a);
/* On the way out with this exit status: the loop ends, and in case that something does not, see
 * signals_leave. */
void app_quit(struct app *a, int status);
/* The user leaves, unless a dump is in no file, which is said once. */
void app_leave(struct app *a);
/* While something goes on: was ^C or Esc typed?  That drops what was typed before, as a terminal's
 * interrupt does; and so does q, where it would not end the program.  What ends the program there ends it, unless
 * it may belong to a prompt that was opened before.  Other keys wait until they can be heard. */
bool app_stop_typed(struct app *a);
/* Does the key of this action end the program, standing where one stands? */
bool app_leaves(const struct app *a, enum action action);
void app_back(struct app *a);
void app_forward(struct app *a);
void app_push(struct app *a, struct page *p);
void app_drop_pages(struct app *a, size_t from); /* those from this place of the stack on */
void app_drop_tabs(struct app *a); /* all pages of the tabs that are not shown */

/* The pages that a dump begins with. */
void app_first_page(struct app *a);
void app_say_damage(struct app *a); /* of the current dump */

/* app_dumps.c: several dumps */
void app_leave_dump(void *app, struct opened *next); /* session.hooks.leaves */
void app_close_dump(void *app, struct opened *o);    /* session.hooks.closes */
/* The line that went to another dump is done: what is to be seen of that, as it was left or from the beginning. */
void app_come_to_dump(struct app *a);
/* No page that waits has rows of this dump. */
void app_forget_pages(struct app *a, const struct opened *o);
/* Pages that tell which dumps are open, or (others) compare them, tell what was. */
void app_series_changed(struct app *a, bool others);
/* Is the selected row one of another dump?  Says so. */
bool app_is_of_other(struct app *a, const char *key);
void app_release_dumps(struct app *a);

/* app_run.c */
/* Run an invocation and show what it answers.  typed: on an error it goes back to the prompt. */
void app_run(struct app *a, struct invocation *asked, bool typed);
/* The same of the text of a line, which nobody typed. */
void app_run_line(struct app *a, const char *line);
/* The same question again: its answer takes the place of the one shown. */
bool app_asked_again(struct app *a, const struct invocation *asked);
/* A page for a table that answers this; NULL: what it means depends on what was selected. */
struct page *app_new_table(struct app *a, struct result *r, struct invocation *asked);
/* Run the line that waited, if there is one. */
void app_run_pending(struct app *a);
void app_drop_pending(struct app *a);
void app_step_aside(void *app, bool begins);   /* session.hooks.shell */
bool app_change_model(void *app, bool begins); /* session.hooks.model */

/* app_refresh.c */
/* Ask the page again if it is about what runs, and that is due.  True: it was. */
bool app_refresh(struct app *a);
/* Milliseconds until then; -1: it is not asked again. */
int app_refresh_wait_ms(struct app *a);

/* app_later.c */
void app_take_retained(struct app *a); /* when they were found: into all tables */
/* The heap goes, to be read anew: who looks at more than the first page gets that again, once it is there. */
void app_keep_view(struct app *a);
void app_restore_view(struct app *a);
struct notice_kept app_keep_notice(const struct app *a);
void app_restore_notice(struct app *a, struct notice_kept *kept); /* unless something else was said meanwhile */
/* Was work that gives way meant to stop?  ^C comes as a key or as a signal, and Esc as a key; any other key only goes
 * first. */
bool app_was_stopped(void);
void app_fill_pages(struct app *a);    /* all tables of the current dump */
void app_find_band(struct app *a);     /* the page was drawn without what of its lines takes time */
void app_find_alert(struct app *a);    /* once references are read */
const struct alert *app_alert(struct app *a); /* found now, where that can be */
bool app_shows_alert(struct app *a);   /* on the page shown */
void app_release_alert(struct alert *alert);
/* A dump that waits to be inflated is, behind the first page (dump_later). */
void app_inflate(struct app *a);
/* What cells of the page need besides, with progress, before they are drawn. */
void app_find_late(struct app *a);
/* Once retained sizes are known.  True: there is something to draw. */
bool app_refresh_overview(struct app *a);
/* A word of a command line that is this text, whatever stands in it. */
void app_add_word(struct text *to, const char *s);
void app_write_index(struct app *a);   /* once all that stands in it is found */
void app_follow(struct app *a);        /* the selected object's path; what came of the panes */
void app_look_away(struct app *a);     /* nothing of that looks at the current dump any more */
void app_want_panes(struct app *a);    /* after the page was drawn, which knows then whether it has any */
/* The table whose rows the panes are about; NULL: there are none. */
struct table *app_pane_table(struct app *a);

/* app_marks.c */
void app_mark_letter(struct app *a, int key); /* the key behind m or ' */
void app_bring_kept(struct app *a);           /* the dump is read: what was kept of it */
void app_keep(struct app *a);                 /* before it is closed */

/* app_columns.c */
void app_choose_columns(struct app *a); /* the page of them; or what one did there is to be kept */
bool app_on_columns(const struct app *a);
void app_arrange_columns(struct app *a); /* what was kept of them came: in all pages */

/* app_tabs.c */
/* Copy what the title says of profiles alone: while a command works, it owns them. */
void app_tell_profiles(struct app *a);
/* Is there anything that the tab can show? */
bool tabs_offers(const struct app *a, enum tab tab);
/* Append the keys of those that are there, in at most six columns: "0 to 9", "0-6 9". */
void tabs_add_keys(const struct app *a, struct text *to);
/* The one to begin with: Esc on the first pages of all others goes back to it. */
enum tab tabs_first(const struct app *a);
/* Show a tab: its pages, or else what its line answers, once that is there.  Where there is none, say what it takes. */
void tabs_show(struct app *a, enum tab tab);
/* The same of the tab that this line answers; false: it is not a tab's. */
bool tabs_show_line(struct app *a, const char *line);
/* A page is about to be pushed: go to the tab that it was asked for, if there is one. */
void tabs_arrive(struct app *a);
/* Is there a page of it to be shown? */
bool tabs_has(const struct app *a, enum tab tab);
/* Back to this tab and place of its stack, where something was asked. */
void tabs_return(struct app *a, enum tab tab, size_t at);
/* A tab's first page came while another tab is shown: stay there, and say so. */
void tabs_leave_ready(struct app *a, enum tab shown);
/* From the first page of another tab back to the first tab.  False: that is shown. */
bool tabs_back(struct app *a);
/* Draw the names of the tabs from x on, in at most width columns; where they do not fit, nothing: false. */
bool tabs_draw(struct app *a, int y, int x, int width);

/* app_row.c */
enum place app_place(struct app *a);    /* where keys act: the page, or a pane of it */
struct table *app_table(struct app *a); /* that the keyboard acts on; NULL: none */
/* What is selected: a row, or the head of the page of an object.  False: that stands for nothing. */
bool app_target(struct app *a, struct target *out);
/* The same as words, the caller's (selection_release). */
void app_select(struct app *a, struct selection *out);
unsigned app_abilities(struct app *a); /* enum row_ability */
/* Does the page have paths, whose steps may be folded or not?  line: gets the command line that shows them the other
 * way; or NULL. */
bool app_unfolding(struct app *a, struct text *line);
void app_open_row(struct app *a);
void app_referrers(struct app *a);
bool app_add_sentence(struct app *a, struct text *to); /* of the selected suspect or alert; false: there is none */
void app_ticket(struct app *a);              /* the prompt with the line that writes a report about the suspect */
void app_run_key(struct app *a, const struct command *c); /* the key of a command */

/* app_copy.c */
void app_copy(struct app *a);                /* what the selected row is called, or its value */
void app_copy_rows(struct app *a, bool all); /* the row as a line, or the table */

/* app_keys.c */
void app_input(struct app *a, const struct input *in);
void app_act(struct app *a, enum action action); /* as its key does */
void app_cancel(struct app *a); /* ^C */
void app_forget_stop(struct app *a); /* the references are read: what one ^C said is not true any more */

/* app_help.c: the keys, in a box over the page or on a page of their own */
void app_help(struct app *a);       /* the box, or where it is open or there is no room for it the page */
void app_help_of_line(struct app *a); /* F1 in the prompt: of the command in its line */
void app_close_help(struct app *a);
/* While the box is open.  False: the key means what it always does. */
bool app_help_key(struct app *a, const struct input *in);
void app_help_click(struct app *a, const struct input *in);
/* *y and *x: the cursor's place, or as they were. */
void app_draw_help(struct app *a, int *y, int *x);

/* app_palette.c: what a typed command may be, in at most height lines that end above line bottom */
void app_draw_candidates(int bottom, int height, int width);
void app_draw_palette(int bottom, int height, int width);
void app_draw_palette_hints(struct app *a, int y, int width);
/* The invocation of a typed line; the caller's.  Of a word that only the list of commands knows: of the one
 * that matches best, unless that changes something. */
struct invocation *app_typed(const char *line);
/* "byte[] (1,106 objects)": append what the selected row is; count: with how many objects.  Appends nothing if there
 * is no row. */
void app_add_row(struct app *a, bool count, struct text *to);
/* "1,106 objects"; nothing where the row does not count any. */
void app_add_row_count(struct app *a, struct text *to);

/* app_mouse.c */
void app_mouse(struct app *a, const struct input *in);
bool mouse_is(const struct input *in);      /* is it no key? */
bool mouse_scrolls(const struct input *in); /* and that is all it does */
void mouse_zone(struct app *a, struct zone zone); /* while drawing */

/* confirm.c: on the main thread; see working_ask */
bool app_ask(struct app *a, const char *question);

/* working.c: session.hooks.work */
/* From here on until working_end all jobs are those of this; NULL: of a table. */
void working_begin(struct app *a, struct invocation *asked);
void working_end(struct app *a);
/* session.settings.writes.ask: app_ask, also where a job asks; then the main thread does. */
bool working_ask(void *app, const char *question);
MUST_CHECK int working_run(void *context, long_work *task, void *argument, struct err *err);

/* app_partial_rows.c: rows appear as they are found.  While a command or a filter works, in a turn: */
/* Show those found so far, if there are any.  False: what is shown must not be drawn now, nor moved in. */
bool so_far_look(struct app *a);
/* The command is done: all pages are where they were.  True: *left is how its table was left, without a result. */
bool so_far_end(struct app *a, struct table *left);

/* chrome_top.c: the first line, and that of the place */
void app_draw_title(struct app *a, int width);
void app_draw_place(struct app *a, int y, int width);

/* chrome.c: everything around the page */
void app_draw(struct app *a);
/* The message alone: the page is in use. */
void app_draw_message(struct app *a);
/* app.c: say when the file of the dump becomes another than was loaded; not while a command works. */
void app_watch_file(struct app *a);

#endif
