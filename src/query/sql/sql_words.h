/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sql_words.h - the tables and functions that SQL has here, each once: for declaring, for help and for completion. */
#ifndef CAIRN_QUERY_SQL_SQL_WORDS_H
#define CAIRN_QUERY_SQL_SQL_WORDS_H

/* X(name, columns, what a row is) */
#define SQL_TABLES(X) \
	X("objects", "address class shallow retained length value; hidden: id reachable dominator loader class_address", \
	    "every object") \
	X("refs", "source field target source_class target_class", "every reference") \
	X("entries(ADDRESS)", "index key value key_address value_address", "what a collection or an array holds") \
	X("dominators", "address class dominator retained", "reachable objects, and what holds each alone") \
	X("retained", "address class shallow retained retained_certainty", "what each object retains") \
	X("gc_paths", "address class path", "where each object hangs") \
	X("locals", "thread frame kind description address class shallow retained value", "what stacks hold") \
	X("frames", "id name frame method", "the stacks of all threads") \
	X("statics", "class field type value address; hidden: class_address", "static fields") \
	X("globals", "class field type value address", "global variables") \
	X("classes", "as histo has them", "every class")

/* X(name, number of arguments, their names, what it is) */
#define SQL_FUNCTIONS(X) \
	X(field, 2, "a, 'customer.name'", "the value at the end of a path of fields, 'items[3]', a class's static field") \
	X(ref, 2, "a, 'customer'", "the address there, also of a text or a number") \
	X(text, 1, "a", "what is in an object: its text, its number, what it is in a few words") \
	X(size, 1, "a", "entries of a collection, characters of a text, elements of an array") \
	X(class, 1, "a", "the name of its class") \
	X(shallow, 1, "a", "its own bytes") \
	X(retained, 1, "a", "bytes that it holds alone") \
	X(path, 1, "a", "where it hangs: static field, thread or root, and the fields from there") \
	X(instanceof, 2, "a, 'CLASS'", "1 of objects of the class or of a subclass") \
	X(addr, 1, "'0xe0000af0'", "an address from its text") \
	X(hex, 1, "a", "an address as text") \
	X(setof, 1, "a", "of a group: the objects as a set, which the row then stands for")

#endif
