/* SPDX-License-Identifier: GPL-3.0-or-later */
/* j9core_files.c - see j9core_files.h. */
#include "dump/j9core/j9core_files.h"

#include "base/files.h"
#include "dump/core/core.h"
#include "dump/facts.h"
#include "dump/j9core/ddr.h"
#include "dump/j9core/j9core.h"
#include "dump/source/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PAGE = 4096 };

/* A file that is sought: fits says why it is not the one, or NULL. */
struct search {
	struct core *core;
	const struct source *dump;
	const struct dump_options *options;
	struct j9_files *files;
	const char *named;      /* its path in the core; or its name alone */
	struct j9_file wanted;
	const char *(*fits)(struct search *s, struct err *err);
	bool found;
	int code;               /* ERR_NOMEM, ERR_CANCELLED: err says more */
	struct err err;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* --- files under the core ---------------------------------------------------------------------------------- */

static int lay(struct core *core, const struct j9_file *f, struct err *err)
{
	return core_add_bytes(core, f->begin, f->source->bytes + f->offset, f->n, err);
}

/* All but the last. */
static int drop_last(struct core *core, struct j9_files *files, struct err *err)
{
	int code = core_drop_added(core, err);

	files->n--;
	for (unsigned i = 0; code == 0 && i < files->n; i++)
		code = lay(core, &files->file[i], err);
	source_close(files->file[files->n].source);
	return code;
}

static void refuse(struct j9_files *files, const char *path, const char *why)
{
	if (files->refused.len)
		return;
	text_add_escaped(&files->refused, path, strlen(path));
	text_addf(&files->refused, " %s", why);
}

/* Others are looked for in spite of all but these. */
static bool stops(struct search *s, int code, const struct err *err)
{
	s->code = code == ERR_NOMEM || code == ERR_CANCELLED ? code : 0;
	s->err = *err;
	return s->code;
}

static int any(const void *context, const uint8_t *head, size_t n, struct err *err)
{
	(void)context, (void)head, (void)n, (void)err;
	return 0;
}

/* Take a file if it is there and fits. */
static void try_file(struct search *s, const char *path)
{
	static const struct source_look look = {.at = any, .most = 1 << 30};
	struct err err = ERR_INIT;
	struct stat st;
	struct j9_file *f = &s->files->file[s->files->n];

	if (s->found || s->code || s->files->n == J9_FILES_MOST || file_stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	*f = s->wanted;
	int code = source_open_if(&f->source, path, &look, progress_own(), &err);
	if (stops(s, code, &err) || code)
		return;
	s->files->n++;
	const char *why = s->fits(s, &err);
	s->found = !why && !err.code;
	if (why)
		refuse(s->files, path, why);
	if (!stops(s, err.code, &err) && !s->found)
		stops(s, drop_last(s->core, s->files, &err), &err);
}

/* --- where it may be --------------------------------------------------------------------------------------- */

static void try_in(struct search *s, const char *folder, size_t n, const char *name)
{
	struct text path = TEXT_INIT;

	text_add_n(&path, folder, n);
	text_add(&path, name);
	try_file(s, path.s);
	text_release(&path);
}

/* The member of the same path, else one of the same name. */
static void try_archive(struct search *s, const char *path)
{
	struct text whole = TEXT_INIT;
	struct source_members *m = NULL;
	struct err err = ERR_INIT;
	const char *by_name = NULL, *best = NULL, *tail = s->named + (*s->named == '/');

	text_addf(&whole, "%s%s", path, source_inside(s->dump));
	const char *member = file_member(whole.s);
	size_t n = member ? (size_t)(member - whole.s) : 0;
	if (member) {
		struct text archive = TEXT_INIT;
		text_add_n(&archive, whole.s, n);
		if (source_members(&m, archive.s, NULL, progress_own(), &err))
			m = NULL;
		text_release(&archive);
	}
	for (size_t i = 0; m && i < m->n; i++) {
		const char *name = m->member[i].name;
		if (!strcmp(name + strspn(name, "./"), tail))
			best = name;
		if (!strcmp(base_name(name), base_name(s->named)))
			by_name = name;
	}
	best = best ? best : by_name;
	if (best) {
		struct text sought = TEXT_INIT;
		text_add_n(&sought, whole.s, n);
		text_addf(&sought, "::%s", best);
		try_file(s, sought.s);
		text_release(&sought);
	}
	source_members_free(m);
	text_release(&whole);
}

/* In the core's folder by its name; by its path from each folder above, of which the last is that of the system. */
static void try_folders(struct search *s, const char *path)
{
	const char *name = base_name(path);
	char *real = file_real_path(path);

	try_in(s, path, (size_t)(name - path), base_name(s->named));
	for (size_t n = real && *s->named == '/' ? strlen(real) : 0; n-- > 0;)
		if (real[n] == '/')
			try_in(s, real, n, s->named);
	free(real);
}

static void find(struct search *s)
{
	const char *path = s->dump->path;

	if (s->options->no_companion)
		return;
	if (source_has_no_file(path)) {
		try_file(s, s->named);
		return;
	}
	const char *member = file_member(path);
	struct text file = TEXT_INIT;
	text_add_n(&file, path, member ? (size_t)(member - path) : strlen(path));
	try_archive(s, path);
	try_folders(s, file.s);
	text_release(&file);
}

static void note(struct j9_files *files, const char *what)
{
	const char *path = files->file[files->n - 1].source->path;

	text_addf(&files->laid, "%s%s from ", files->laid.len ? "; " : "", what);
	text_add_escaped(&files->laid, path, strlen(path));
}

/* --- the description --------------------------------------------------------------------------------------- */

static const char *is_description(struct search *s, struct err *err)
{
	struct j9_file *f = &s->files->file[s->files->n - 1];

	f->n = ddr_bytes(s->core, f->source->bytes, f->source->size);
	if (f->n != f->source->size)
		return "is not a VM's description of its structures";
	if (!core_agrees(s->core, f->begin, f->source->bytes, f->n))
		return "is of another VM: the core has other bytes";
	if (lay(s->core, f, err))
		return NULL;
	return j9core_describes(s->core, err) ? NULL : "is of another VM: its structures have other sizes";
}

/* Where j9ddr.dat was: in the folder of the VM's library. */
static void description_path(const struct core *core, struct text *to)
{
	size_t n;
	const struct core_mapping *m = core_mappings(core, &n);

	for (size_t i = 0; i < n && !to->len; i++) {
		const char *name = base_name(m[i].path);
		if (!strncmp(name, "libj9vm", strlen("libj9vm")))
			text_add_n(to, m[i].path, (size_t)(name - m[i].path));
	}
	text_add(to, "j9ddr.dat");
}

/* False: the core has it, or there is none. */
static bool find_description(struct search *s)
{
	uint64_t address = j9core_description(s->core);
	struct text path = TEXT_INIT;

	if (!address)
		return false;
	description_path(s->core, &path);
	s->named = path.s;
	s->wanted = (struct j9_file){.begin = address};
	s->fits = is_description;
	find(s);
	if (s->found)
		note(s->files, "the VM's description of its structures is");
	text_release(&path);
	return s->found;
}

/* --- classes ----------------------------------------------------------------------------------------------- */

static const char *has_classes(struct search *s, struct err *err)
{
	struct j9_file *f = &s->files->file[s->files->n - 1];
	struct j9core *image = NULL;
	uint64_t size = f->source->size, there = f->offset < size ? size - f->offset : 0;

	if (there + PAGE <= f->n)
		return "is shorter than what the VM had mapped";
	f->n = there < f->n ? there : f->n;
	if (lay(s->core, f, err) || j9core_open(&image, s->core, err))
		return NULL;
	bool fit = j9core_classes_fit(image, f->begin, f->begin + f->n);
	j9core_close(image);
	return fit ? NULL : "does not have this VM's classes";
}

/* Of each mapped file with classes whose names the core does not have.  True: one was found. */
static bool find_classes(struct search *s, const struct j9core *image)
{
	const struct core_mapping *m;
	uint64_t from = 0;
	bool found = false;

	for (unsigned i = 0; i < J9_FILES_MOST && s->code == 0; i++) {
		if (!(m = j9core_nameless_mapping(image, from)))
			break;
		from = m->end;
		s->named = m->path;
		s->wanted = (struct j9_file){.begin = m->begin, .offset = m->offset, .n = m->end - m->begin};
		s->fits = has_classes;
		s->found = false;
		find(s);
		if (s->found)
			note(s->files, "names of classes are");
		found |= s->found;
	}
	return found;
}

/* --- all --------------------------------------------------------------------------------------------------- */

int j9_files_open(struct j9core **out, struct core *core, const struct source *dump,
    const struct dump_options *options, struct j9_files *files, struct err *err)
{
	struct search s = {.core = core, .dump = dump, .options = options, .files = files};
	int code = j9core_open(out, core, err);

	if (code == ERR_TRUNCATED && find_description(&s)) {
		*err = (struct err)ERR_INIT;
		code = j9core_open(out, core, err);
	}
	if (code == 0 && find_classes(&s, *out)) {
		j9core_close(*out);
		code = j9core_open(out, core, err);
	}
	if (code == 0 && s.code) {
		j9core_close(*out);
		*out = NULL;
	}
	if (s.code) {
		*err = s.err;
	} else if (code && files->refused.len) {
		struct err was = *err;
		err_set(err, code, "%s; %s", was.message, files->refused.s);
	}
	return s.code ? s.code : code;
}

void j9_files_close(struct j9_files *files)
{
	for (unsigned i = 0; i < files->n; i++)
		source_close(files->file[i].source);
	text_release(&files->laid);
	text_release(&files->refused);
}
