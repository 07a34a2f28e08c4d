/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * library.h - which classes belong to the runtime's own library, and which to the program: the one place with
 * that rule and with its table of packages.
 *
 * The library of Java is the JDK's, the VM's own (HotSpot, OpenJ9) and the part of Android that a VM needs.
 * The library of Go is its runtime and standard library (https://pkg.go.dev/std).  Whatever else is in the
 * heap, a web server as well, is the program.
 *
 * Pure functions of their arguments; any thread.
 */
#ifndef CAIRN_HEAP_LIBRARY_H
#define CAIRN_HEAP_LIBRARY_H

#include "heap/heap.h"

/* Does this name of a class, an array or a frame begin with a package of Java's library? */
bool library_java_name(const char *name);
/* The same or of the Android platform: it is in every dump, so it says nothing of the program. */
bool library_public_name(const char *name);
/* "int", "byte[][]" */
bool library_primitive_name(const char *name);
/* Does a type or variable of Go name a package that is not Go's own?  *any: it names one at all. */
bool library_go_foreign(const char *name, bool *any);
/* "runtime.g", "[]*runtime.p", "internal/abi.Type": what Go's runtime needs itself. */
bool library_go_runtime(const char *name);

/* Is what has this name the program's?  java: the program is one for a JVM. */
bool library_programs_name(bool java, const char *name);
/* The same of a class of a heap.  Where the dump says who loaded it, libraries that a program brings along in
 * javax and com.sun are the program's. */
bool library_programs_class(const struct heap *h, uint32_t class);

/* The loader of the class path, by the name of its class. */
bool library_class_path_loader(const char *name);
/* A loader that every program has: of the JDK, of the class path, the boot loader. */
bool library_usual_loader(const struct heap *h, uint32_t loader);

#endif
