/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * library.h - which classes belong to the runtime's own library, and which to the program: the one place with
 * that rule.  library.txt has the names.
 *
 * The library of Java is the JDK's, the VM's own (HotSpot, OpenJ9) and the part of Android that a VM needs.
 * The library of Go is its runtime and standard library.  Whatever else is in the heap, a web server as well, is
 * the program; the user may say otherwise (library_wish).
 *
 * Any thread may ask.  library_wish only while no other thread asks.
 */
#ifndef CAIRN_HEAP_LIBRARY_H
#define CAIRN_HEAP_LIBRARY_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap;

/* Does this name of a class or an array begin with a package of the JDK, its VMs or the Android platform?  It is in
 * every dump, so it says nothing of the program.  Not what the user wishes. */
bool library_public_name(const char *name);
/* "int", "byte[][]" */
bool library_primitive_name(const char *name);
/* Does a type or variable of Go name a package that is not Go's own?  *any: it names one at all. */
bool library_go_foreign(const char *name, bool *any);
/* Is this, n bytes, the first part of the path of one of Go's own packages? */
bool library_go_package(const char *package, size_t n);
/* "runtime.g", "[]*runtime.p", "internal/abi.Type": what Go's runtime needs itself. */
bool library_go_runtime(const char *name);

/* Is what has this name, of a class, an array, a frame or a variable, the program's?  java: the program is one for a
 * JVM. */
bool library_programs_name(bool java, const char *name);
/* The same of a class of a heap.  Where the dump says who loaded it, packages that were in the JDK once and that a
 * program brings along now are the program's. */
bool library_programs_class(const struct heap *h, uint32_t class);

/* The loader of the class path, by the name of its class. */
bool library_class_path_loader(const char *name);
/* A loader that every program has: of the JDK, of the class path, the boot loader. */
bool library_usual_loader(const struct heap *h, uint32_t loader);

/* What the user counts as the program's (mine), or as not: classes and beginnings of names with * at the end, between
 * blanks or commas, in place of those before; "" for none.  The longest that fits a name holds.  0, or ERR_USAGE. */
MUST_CHECK int library_wish(bool mine, const char *patterns, struct err *err);
/* What was given last, borrowed until the next; NULL: none. */
const char *library_wished(bool mine);

#endif
