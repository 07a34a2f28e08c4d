/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page.c - writes a report: the frame of text, Markdown and HTML; the printers write its tables. */
#include "command/report/report.h"

#include "base/files.h"
#include "command/commands.h"
#include "dump/source/source.h"
#include "heap/heap.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 76 }; /* of text, so that a window of 80 has room for it */

/* In the head of each page, by which it is known again. */
#define MARK "<meta name=\"generator\" content=\"cairn\">"

bool report_is_page(const char *path)
{
	char head[256];
	int fd = file_open_read(path);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof head - 1, 0);
	if (fd >= 0)
		close(fd);
	head[n > 0 ? n : 0] = '\0';
	return strstr(head, MARK) != NULL;
}

struct page {
	enum print_format format;
	FILE *to;
};

/* --- pieces ------------------------------------------------------------------------------------- */

/* A text of a dump or of ours, as it may stand in the page. */
static void put(const struct page *p, const char *s)
{
	print_escaped(p->format, s, p->to);
}

static void put_heading(const struct page *p, unsigned level, const char *anchor, const char *title)
{
	if (p->format == PRINT_HTML) {
		fprintf(p->to, "<h%u", level);
		if (anchor)
			fprintf(p->to, " id=\"%s\"", anchor);
		putc('>', p->to);
		put(p, title);
		fprintf(p->to, "</h%u>\n", level);
	} else if (p->format == PRINT_MD) {
		fprintf(p->to, "\n%.*s ", (int)level, "######");
		put(p, title);
		fputs("\n", p->to);
	} else {
		fputs(level > 1 ? "\n\n" : "", p->to);
		put(p, title);
		putc('\n', p->to);
		for (size_t n = text_width(title); n; n--)
			putc(level > 1 ? '-' : '=', p->to);
		fputs("\n\n", p->to);
	}
}

/* A sentence: lines of text end where a window does. */
static void put_wrapped(const struct page *p, const char *s)
{
	struct text lines = TEXT_INIT;
	if (p->format != PRINT_TEXT) {
		put(p, s);
		return;
	}
	command_add_wrapped(&lines, s, COLUMNS); /* ends its last line */
	fputs(lines.len ? lines.s : "", p->to);
	text_release(&lines);
}

static void put_paragraph(const struct page *p, const char *class, const char *s)
{
	if (p->format == PRINT_HTML && class)
		fprintf(p->to, "<p class=\"%s\">", class);
	else
		fputs(p->format == PRINT_HTML ? "<p>" : p->format == PRINT_MD ? "\n" : "", p->to);
	put(p, s);
	fputs(p->format == PRINT_HTML ? "</p>\n" : p->format == PRINT_MD ? "\n" : "\n\n", p->to);
}

static void put_list(const struct page *p, char *const *items, size_t n)
{
	bool html = p->format == PRINT_HTML;
	fputs(!n ? "" : html ? "<ul>\n" : p->format == PRINT_MD ? "\n" : "", p->to);
	for (size_t i = 0; i < n; i++) {
		fputs(html ? "<li>" : p->format == PRINT_MD ? "* " : "", p->to);
		put_wrapped(p, items[i]);
		fputs(html ? "</li>\n" : "\n", p->to);
	}
	fputs(n && html ? "</ul>\n" : "", p->to);
}

/* --- the frame ---------------------------------------------------------------------------------- */

/* Tables scroll by themselves where they are too wide; on paper, where nothing can, texts break anywhere instead. */
static const char style[] =
    ":root { color-scheme: light dark; --line: #ccc; --dim: #555; --rest: #eee; --ink: #111; }\n"
    "@media (prefers-color-scheme: dark) { :root { --line: #555; --dim: #aaa; --rest: #333; } }\n"
    "body { font-family: system-ui, sans-serif; line-height: 1.4; max-width: 75em; margin: 0 auto; padding: 1em; }\n"
    "h1 { overflow-wrap: anywhere; }\n"
    "nav ul { display: flex; flex-wrap: wrap; gap: 0 1.5em; list-style: none; padding: 0; }\n"
    "main > ul { padding-left: 1.2em; overflow-wrap: anywhere; } main > ul li { margin: 0.3em 0; max-width: 60em; }\n"
    "section { margin-top: 2em; }\n"
    ".about { color: var(--dim); }\n"
    ".table { overflow-x: auto; }\n"
    "table { border-collapse: collapse; margin: 0.5em 0; font-size: 0.9em; }\n"
    "th, td { padding: 0.1em 0.6em; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line);\n"
    "  white-space: pre-wrap; }\n"
    "th { white-space: nowrap; } th[scope=rowgroup] { padding-top: 0.8em; color: var(--dim); }\n"
    ".n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }\n"
    ".a { white-space: nowrap; }\n"
    "pre { font: inherit; white-space: pre-line; overflow-wrap: anywhere; }\n"
    ".map { width: 100%; min-width: 50em; height: auto; font: 11px sans-serif; }\n"
    ".map rect { stroke: #fff; stroke-width: 1; } .map text { fill: var(--ink); } .map .rest { fill: var(--rest); }\n"
    ".t0 { fill: #7fb3d5; } .t1 { fill: #f0b27a; } .t2 { fill: #82c99a; }\n"
    ".t3 { fill: #c39bd3; } .t4 { fill: #f1c40f; } .t5 { fill: #e59a94; }\n"
    ".i0 { fill: #aed0e6; } .i1 { fill: #f7d2ae; } .i2 { fill: #b5dfc3; }\n"
    ".i3 { fill: #dcc6e5; } .i4 { fill: #f8e08e; } .i5 { fill: #f1c5c1; }\n"
    "@media print { nav { display: none; } body { max-width: none; padding: 0; font-size: 9pt; }\n"
    "  .table { overflow: visible; } .map { min-width: 0; } td { overflow-wrap: anywhere; }\n"
    "  table { font-size: 7pt; } th, td { padding: 0.1em 0.3em; }\n"
    "  .map rect { print-color-adjust: exact; }\n"
    "  h2, .about { break-after: avoid; } tr, svg { break-inside: avoid; } }\n";

static void begin(const struct page *p, const struct report *r, const char *title)
{
	if (p->format != PRINT_HTML) {
		put_heading(p, 1, NULL, title);
		return;
	}
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	    MARK "\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>", p->to);
	put(p, title);
	fprintf(p->to, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<header>\n", style);
	put_heading(p, 1, NULL, title);
	fputs("<nav aria-label=\"Sections\">\n<ul>\n", p->to);
	for (unsigned i = 0; i < r->n; i++) {
		fprintf(p->to, "<li><a href=\"#%s\">", r->section[i].anchor);
		put(p, r->section[i].title);
		fputs("</a></li>\n", p->to);
	}
	fputs("</ul>\n</nav>\n</header>\n<main>\n", p->to);
}

static void put_map(const struct page *p, const struct treemap *map)
{
	struct text blocks = TEXT_INIT;
	if (p->format == PRINT_HTML) {
		fputs("<div class=\"table\" role=\"region\" aria-label=\"Picture\" tabindex=\"0\">\n", p->to);
		treemap_write_svg(map, p->to);
		fputs("</div>\n", p->to);
		return;
	}
	treemap_add_blocks(map, &blocks);
	fputs(p->format == PRINT_MD ? "\n```\n" : "", p->to);
	fputs(blocks.len ? blocks.s : "", p->to);
	fputs(p->format == PRINT_MD ? "```\n" : "\n", p->to);
	text_release(&blocks);
}

static int put_section(const struct page *p, const struct report *r, const struct report_section *s, struct err *err)
{
	struct print_options options = {.format = p->format, .top = s->top, .within = true};
	bool html = p->format == PRINT_HTML;
	int code = 0;
	fputs(html ? "<section>\n" : "", p->to);
	put_heading(p, 2, s->anchor, s->title);
	put_paragraph(p, "about", s->about);
	if (s->map)
		put_map(p, &r->map);
	if (s->instead)
		put_paragraph(p, NULL, s->instead);
	if (s->result && !s->instead) {
		if (html) /* what scrolls must be reached by keys */
			fprintf(p->to, "<div class=\"table\" role=\"region\" aria-labelledby=\"%s\" tabindex=\"0\">\n",
			    s->anchor);
		fputs(p->format == PRINT_MD ? "\n" : "", p->to);
		code = print_result(s->result, &options, p->to, err);
		fputs(html ? "</div>\n" : "", p->to);
	}
	fputs(html ? "</section>\n" : "", p->to);
	return code;
}

int report_write(const struct report *r, enum print_format format, FILE *to, struct err *err)
{
	const struct page p = {format, to};
	const struct heap *h = session_heap(r->session);
	const char *path = h->source && h->source->path ? h->source->path : "dump", *slash = strrchr(path, '/');
	struct text title = TEXT_INIT;
	int code = 0;
	text_add(&title, r->redacted ? "Heap dump" : "Heap of ");
	if (!r->redacted)
		text_add_escaped(&title, slash ? slash + 1 : path, strlen(slash ? slash + 1 : path));
	begin(&p, r, title.s);
	put_list(&p, r->brief, r->n_brief);
	for (unsigned i = 0; i < r->n && !code; i++)
		code = put_section(&p, r, &r->section[i], err);
	text_clear(&title);
	text_addf(&title, "Made by cairn %s.%s", PACKAGE_VERSION, !r->redacted ? "" : " Without values, messages, "
	    "file names and host names; with names of classes, fields, methods and threads.");
	fputs(format == PRINT_HTML ? "</main>\n<footer>\n" : format == PRINT_MD ? "" : "\n", to);
	put_paragraph(&p, "about", title.s);
	fputs(format == PRINT_HTML ? "</footer>\n</body>\n</html>\n" : "", to);
	text_release(&title);
	errno = 0;
	if (!code && (fflush(to) || ferror(to)))
		code = err_set(err, ERR_IO, "cannot write the report: %s", strerror(errno));
	return code;
}
