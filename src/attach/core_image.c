/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_image.c - see core_image.h. */
#include "attach/core_image.h"

#include "base/mem.h"
#include "base/memory_refusals.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <time.h>
#include <unistd.h>

enum {
	FILE_MOST = 64 << 10,
	REGISTERS_MOST = 1024,
	/* Bytes of notes: of a thread, for threads that come, and of the process */
	THREAD_MOST = sizeof(struct elf_prstatus) + REGISTERS_MOST, THREADS_ADDED = 32, NOTES_ADDED = 8192,
};

static void add_bytes(struct text *to, const void *bytes, size_t n)
{
	text_add_n(to, bytes, n);
}

static void add_zeros(struct text *to, size_t n)
{
	static const char zeros[4096];
	for (size_t now; n; n -= now) {
		now = n < sizeof zeros ? n : sizeof zeros;
		text_add_n(to, zeros, now);
	}
}

static void add_note(struct text *to, const char *owner, unsigned type, const void *bytes, size_t n)
{
	Elf64_Nhdr head = { .n_namesz = (Elf64_Word)strlen(owner) + 1, .n_descsz = (Elf64_Word)n, .n_type = type };
	add_bytes(to, &head, sizeof head);
	add_bytes(to, owner, head.n_namesz);
	add_zeros(to, -to->len % 4);
	add_bytes(to, bytes, n);
	add_zeros(to, -to->len % 4);
}

/* --- notes --------------------------------------------------------------------------------------- */

/* Numbers 4 to 6 of stat: parent, group, session.  *state: number 3. */
static void read_stat(int process, const char *path, long number[3], char *state)
{
	size_t n;
	char *stat = proc_file(process, path, FILE_MOST, &n), *at = stat ? strrchr(stat, ')') : NULL;
	number[0] = number[1] = number[2] = 0;
	*state = '?';
	if (at)
		(void)!sscanf(at + 1, " %c %ld %ld %ld", state, &number[0], &number[1], &number[2]);
	free(stat);
}

/* The number of a thread where it runs, as its own program knows it. */
static pid_t inner_number(const struct ptrace_stop *s, pid_t tid)
{
	char path[40];
	size_t n;
	if (s->vm->inner_pid == s->vm->pid)
		return tid;
	snprintf(path, sizeof path, "task/%ld/status", (long)tid);
	char *status = proc_file(s->process, path, FILE_MOST, &n), *at = status ? strstr(status, "\nNSpid:") : NULL;
	const char *last = at ? at + strcspn(at + 1, "\n") + 1 : NULL;
	while (last && last[-1] >= '0' && last[-1] <= '9')
		last--;
	pid_t inner = last ? (pid_t)strtol(last, NULL, 10) : tid;
	free(status);
	return inner;
}

static void add_threads(struct text *to, const struct ptrace_stop *s)
{
	uint8_t registers[REGISTERS_MOST];
	long number[3];
	char state;

	read_stat(s->process, "stat", number, &state);
	for (size_t i = 0; i < s->n; i++) {
		struct elf_prstatus status = { .pr_pid = inner_number(s, s->list[i].tid), .pr_ppid = (pid_t)number[0],
			.pr_pgrp = (pid_t)number[1], .pr_sid = (pid_t)number[2] };
		(void)ptrace_stop_registers(s, &s->list[i], NT_PRSTATUS, &status.pr_reg, sizeof status.pr_reg);
		size_t n = ptrace_stop_registers(s, &s->list[i], NT_FPREGSET, registers, sizeof registers);
		status.pr_fpvalid = n > 0;
		add_note(to, "CORE", NT_PRSTATUS, &status, sizeof status);
		if (n)
			add_note(to, "CORE", NT_FPREGSET, registers, n);
	}
}

static void add_program(struct text *to, const struct ptrace_stop *s)
{
	struct elf_prpsinfo info = { .pr_pid = s->vm->inner_pid };
	long number[3];
	size_t n;

	read_stat(s->process, "stat", number, &info.pr_sname);
	info.pr_zomb = info.pr_sname == 'Z';
	info.pr_uid = (unsigned short)s->vm->uid;
	info.pr_gid = (unsigned short)s->vm->gid;
	info.pr_ppid = (pid_t)number[0];
	info.pr_pgrp = (pid_t)number[1];
	info.pr_sid = (pid_t)number[2];
	char *name = proc_file(s->process, "comm", sizeof info.pr_fname, &n);
	if (name)
		memcpy(info.pr_fname, name, strcspn(name, "\n"));
	free(name);
	char *line = proc_file(s->process, "cmdline", sizeof info.pr_psargs - 1, &n);
	for (size_t i = 0; line && i < n; i++)
		info.pr_psargs[i] = line[i] ? line[i] : ' ';
	free(line);
	add_note(to, "CORE", NT_PRPSINFO, &info, sizeof info);
}

static void add_auxv(struct text *to, const struct ptrace_stop *s)
{
	size_t n;
	char *auxv = proc_file(s->process, "auxv", FILE_MOST, &n);
	if (auxv)
		add_note(to, "CORE", NT_AUXV, auxv, n);
	free(auxv);
}

/* How many, the size of a page, begin, end and page of the file of each, and their names. */
static void add_files(struct text *to, const struct memory_map *map)
{
	struct text files = TEXT_INIT, names = TEXT_INIT;
	uint64_t head[2] = { 0, map->page_size };

	add_bytes(&files, head, sizeof head);
	for (size_t i = 0; i < map->n; i++) {
		const struct mapping *a = &map->list[i];
		uint64_t entry[3] = { a->begin, a->end, a->offset / map->page_size };
		if (!mapping_has_file(a))
			continue;
		head[0]++;
		add_bytes(&files, entry, sizeof entry);
		add_bytes(&names, a->path, strlen(a->path) + 1);
	}
	if (files.len >= sizeof head)
		memcpy(files.s, head, sizeof head);
	add_bytes(&files, names.s ? names.s : "", names.len);
	add_note(to, "CORE", NT_FILE, files.s, files.len);
	text_release(&files);
	text_release(&names);
}

static void add_own(struct text *to, const struct ptrace_stop *s)
{
	struct text note = TEXT_INIT;
	struct timespec now = { 0 };
	char path[PATH_MAX + 1];
	ssize_t n = readlinkat(s->process, "exe", path, sizeof path - 1);

	(void)clock_gettime(CLOCK_REALTIME, &now);
	uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	path[n > 0 ? n : 0] = '\0';
	add_bytes(&note, &ms, sizeof ms);
	add_bytes(&note, path, strlen(path) + 1);
	text_addf(&note, "%s/%ld/root%s", proc_folder(), (long)s->vm->pid, path);
	text_add_char(&note, '\0');
	add_note(to, "cairn", CORE_NOTE_CAIRN, note.s, note.len);
	text_release(&note);
}

/* --- headers ------------------------------------------------------------------------------------- */

int core_target_read(struct core_target *to, const struct vm_process *p, int process, struct err *err)
{
	Elf64_Ehdr head = { .e_type = 0 };
	char name[VM_TITLE];
	int exe = openat(process, "exe", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	bool read = exe >= 0 && pread(exe, &head, sizeof head, 0) == sizeof head;

	vm_process_title(p, name);
	if (exe >= 0)
		close(exe);
	if (!read)
		return err_set(err, ERR_IO, "%s: its program cannot be read", name);
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 || sizeof(void *) != 8)
		return err_set(err, ERR_UNSUPPORTED, "%s is not a program of 64 bits, which cairn cannot copy (open a core "
		    "file of it: gcore %ld)", name, (long)p->pid);
	*to = (struct core_target){ .machine = head.e_machine, .flags = head.e_flags };
	return 0;
}

static void add_elf_header(struct text *to, const struct core_target *target, size_t headers)
{
	bool many = headers >= PN_XNUM; /* then the only section header has their number */
	Elf64_Ehdr h = { .e_type = ET_CORE, .e_machine = target->machine, .e_version = EV_CURRENT,
		.e_flags = target->flags, .e_phoff = sizeof h, .e_ehsize = sizeof h, .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = many ? PN_XNUM : (Elf64_Half)headers, .e_shentsize = many ? sizeof(Elf64_Shdr) : 0,
		.e_shnum = many, .e_shoff = many ? sizeof h + headers * sizeof(Elf64_Phdr) : 0 };
	int one = 1;

	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = *(const char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
	h.e_ident[EI_VERSION] = EV_CURRENT;
	add_bytes(to, &h, sizeof h);
}

static void add_load(struct text *to, const struct mapping *a, uint64_t offset, uint64_t page_size)
{
	Elf64_Phdr p = { .p_type = PT_LOAD, .p_offset = offset, .p_vaddr = a->begin, .p_filesz = a->copied,
		.p_memsz = a->end - a->begin, .p_align = page_size,
		.p_flags = (a->readable ? PF_R : 0U) | (a->writable ? PF_W : 0U) | (a->executable ? PF_X : 0U) };
	add_bytes(to, &p, sizeof p);
}

static uint64_t whole_units(uint64_t n)
{
	return (n + CORE_HEAD_UNIT - 1) / CORE_HEAD_UNIT * CORE_HEAD_UNIT;
}

/* Headers, and that of their number if that is large. */
static uint64_t headers_end(size_t headers)
{
	return sizeof(Elf64_Ehdr) + headers * sizeof(Elf64_Phdr) + (headers >= PN_XNUM ? sizeof(Elf64_Shdr) : 0);
}

uint64_t core_image_head_size(const struct memory_map *map, uint64_t threads)
{
	uint64_t bytes = headers_end(map->n + 1) + NOTES_ADDED + (threads + THREADS_ADDED) * THREAD_MOST;
	for (size_t i = 0; i < map->n; i++)
		bytes += 3 * sizeof(uint64_t) + strlen(map->list[i].path) + 1;
	return whole_units(bytes);
}

int core_image_head(struct text *to, const struct core_target *target, const struct ptrace_stop *stop,
    const struct memory_map *map, uint64_t size, struct err *err)
{
	struct text notes = TEXT_INIT;
	size_t headers = map->n + 1;
	uint64_t at = headers_end(headers), before = mem_refusals();

	add_threads(&notes, stop);
	add_program(&notes, stop);
	add_auxv(&notes, stop);
	add_files(&notes, map);
	add_own(&notes, stop);
	add_elf_header(to, target, headers);
	Elf64_Phdr p = { .p_type = PT_NOTE, .p_offset = at, .p_filesz = notes.len, .p_align = 4 };
	add_bytes(to, &p, sizeof p);
	size = at + notes.len > size ? whole_units(at + notes.len) : size;
	for (size_t i = 0; i < map->n; i++)
		add_load(to, &map->list[i], size + map->list[i].page * map->page_size, map->page_size);
	if (headers >= PN_XNUM)
		add_bytes(to, &(Elf64_Shdr){ .sh_info = (Elf64_Word)headers }, sizeof(Elf64_Shdr));
	add_bytes(to, notes.s ? notes.s : "", notes.len);
	add_zeros(to, size - at - notes.len);
	text_release(&notes);
	return memory_refusals_check(before, err);
}
