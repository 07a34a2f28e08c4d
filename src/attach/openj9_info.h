/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * openj9_info.h - what an OpenJ9 VM that can be attached to says of itself.
 *
 * It writes Java properties into the file .com_ibm_tools_attach/ID/attachInfo of its temporary folder, or ID/attachInfo
 * of -Dcom.ibm.tools.attach.directory (jcl, com.ibm.tools.attach.target.Advertisement).  The bytes are untrusted.
 */
#ifndef CAIRN_ATTACH_OPENJ9_INFO_H
#define CAIRN_ATTACH_OPENJ9_INFO_H

#include "attach/proc.h"

struct openj9_info {
	char *command; /* its displayName: the main class and arguments, raw */
	uint64_t pid;  /* in its pid namespace */
};

/* False: these bytes do not say which process they are about.  Either way openj9_info_release ends it. */
bool openj9_info_parse(const char *bytes, size_t n, struct openj9_info *to);
/* Read that of a process.  False: it has none, or it cannot be reached. */
bool openj9_info_read(int process, const struct proc *p, struct openj9_info *to);
void openj9_info_release(struct openj9_info *i);

/* Append the value of the first property of this name, with its escapes undone.  False: there is none. */
bool openj9_property(const char *bytes, size_t n, const char *name, struct text *to);
/* The folder of all VMs, in their temporary one or where the process was told to have it; that of a process's VM, and
 * what it says.  -1: there is none. */
int openj9_open_folder(int process, int tmp);
int openj9_open_vm(int folder, const struct proc *p, struct openj9_info *to);

#endif
