/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layouts_primitive.c - collections of numbers, and such as are made of arrays alone: fastutil, Trove, HPPC, Eclipse
 * Collections, Netty and JCTools.
 *
 * A class stands there for each pair of types, so their names are patterns.  Field names are those of the libraries'
 * sources; a class has several lines where releases store it in different ways.
 */
#include "analysis/describe/layouts.h"

#define F "it.unimi.dsi.fastutil."
#define H "com.carrotsearch.hppc."
#define LUCENE "org.apache.lucene.internal.hppc."
#define T3 "gnu.trove."
#define TROVE_FREE " free=gnu.trove.impl.hash.TObjectHash.FREE|gnu.trove.impl.hash.TObjectHash.REMOVED null=key"
#define TROVE2_FREE " free=gnu.trove.TObjectHash.FREE|gnu.trove.TObjectHash.REMOVED null=key"
#define N "io.netty."

#define HPPC(package)                                                                                                  \
	package "*OpenHashMap columns map store=keys value=values taken=allocated size=assigned", /* before 0.7 */     \
	package "*OpenHashSet columns store=keys taken=allocated size=assigned",                                       \
	package "*HashMap columns map store=keys value=values last=hasEmptyKey size=assigned+hasEmptyKey",             \
	package "*HashSet columns store=keys last=hasEmptyKey size=assigned+hasEmptyKey",                              \
	package "*ArrayList array store=buffer size=elementsCount",                                                    \
	package "*ArrayDeque ring store=buffer next=head tail=tail"

#define ECLIPSE(package)                                                                                               \
	package "list.mutable.FastList array store=items size=size",                                                   \
	package "list.mutable.ArrayAdapter array store=items",                                                         \
	package "list.mutable.CompositeFastList wrapper store=lists counts=value",                                     \
	package "list.immutable.ImmutableArrayList array store=items",                                                 \
	package "list.immutable.ImmutableEmptyList empty",                                                             \
	package "list.immutable.Immutable*tonList fields value=element1|element2|element3|element4|element5|element6|" \
	        "element7|element8|element9|element10",                                                                \
	package "list.mutable.primitive.*ArrayList array store=items size=size",                                       \
	package "list.immutable.primitive.Immutable*ArrayList array store=items",                                      \
	package "stack.mutable.ArrayStack wrapper store=delegate",                                                     \
	package "map.mutable.UnifiedMap pairs map store=table size=occupied chained=" package                          \
	        "map.mutable.UnifiedMap.CHAINED_KEY|" package "map.mutable.AbstractUnifiedMap.CHAINED_KEY",            \
	package "map.strategy.mutable.UnifiedMapWithHashingStrategy pairs map store=table size=occupied chained="      \
	        package "map.strategy.mutable.UnifiedMapWithHashingStrategy.CHAINED_KEY",                              \
	package "map.immutable.ImmutableUnifiedMap wrapper map store=delegate",                                        \
	package "map.immutable.ImmutableEmptyMap empty map",                                                           \
	package "map.immutable.ImmutableSingletonMap fields map key=key1 value=value1",                                \
	package "map.immutable.ImmutableDoubletonMap fields map key=key1|key2 value=value1|value2",                    \
	package "map.immutable.ImmutableTripletonMap fields map key=key1|key2|key3 value=value1|value2|value3",        \
	package "map.immutable.ImmutableQuadrupletonMap fields map key=key1|key2|key3|key4 "                           \
	        "value=value1|value2|value3|value4",                                                                   \
	package "map.mutable.primitive.*HashMap pairs map store=keysValues size=occupiedWithData extra=sentinelValues",\
	package "map.mutable.primitive.Object*HashMap columns map store=keys value=values size=occupiedWithData "      \
	        "free=this.REMOVED_KEY",                                                                               \
	package "map.mutable.primitive.*HashMap columns map store=keys value=values size=occupiedWithData "            \
	        "extra=sentinelValues",                                                                                \
	package "set.mutable.UnifiedSet sparse store=table size=occupied chained=" package                             \
	        "set.mutable.UnifiedSet$ChainedBucket",                                                                \
	package "set.immutable.ImmutableUnifiedSet wrapper store=delegate",                                            \
	package "set.immutable.ImmutableEmptySet empty",                                                               \
	package "set.immutable.Immutable*tonSet fields value=element1|element2|element3|element4",                     \
	package "set.mutable.primitive.*HashSet columns store=table size=occupiedWithData+zeroToThirtyOneOccupied "    \
	        "extra=zeroToThirtyOne"

/* Queues that grow have arrays, the last place of which leads to the next one. */
#define JCTOOLS(package)                                                                                               \
	package "*ArrayQueue sparse store=consumerBuffer.array|consumerBuffer next=last free="                         \
	        package "BaseMpscLinkedArrayQueue.JUMP|" package "BaseSpscLinkedArrayQueue.JUMP|"                      \
	        package "BaseMpscLinkedAtomicArrayQueue.JUMP|" package "BaseSpscLinkedAtomicArrayQueue.JUMP",          \
	package "*ArrayQueue sparse store=buffer.array|buffer",                                                        \
	package "*LinkedQueue* queue store=consumerNode next=next value=value"

/* The first two places of an array of pairs have something else. */
#define NON_BLOCKING(package)                                                                                          \
	package "NonBlockingHashMap pairs map store=_kvs next=2 free=" package "NonBlockingHashMap.TOMBSTONE "         \
	        "unless=_kvs[0]._newkvs",                                                                              \
	package "NonBlockingIdentityHashMap pairs map store=_kvs next=2 free=" package                                 \
	        "NonBlockingIdentityHashMap.TOMBSTONE unless=_kvs[0]._newkvs",                                         \
	package "NonBlockingHashMapLong columns map store=_chm._keys value=_chm._vals taken=_chm._vals extra=_val_1 "  \
	        "free=" package "NonBlockingHashMapLong.TOMBSTONE unless=_chm._newchm",                                \
	package "NonBlockingHashSet wrapper keys store=_map"

const char *const layouts_primitive[] = {
	F "*2*Open*HashMap columns map store=key value=value taken=used size=size", /* before 7 */
	F "*2*Open*HashMap columns map store=key value=value last=containsNullKey|containsNull size=size",
	F "*Open*HashSet columns store=key taken=used size=size",
	F "*Open*HashSet columns store=key last=containsNull|containsNullKey size=size",
	F "*Open*HashBigSet nested store=key null=free extra=containsNull size=size",
	F "*2*ArrayMap columns map store=key value=value end=size size=size",
	F "*ArraySet array store=a size=size",
	F "*ImmutableList array store=a",
	F "*ArrayList array store=a size=size",
	F "*ArrayFIFOQueue ring store=array next=start tail=end",
	F "*PriorityQueues$*Queue wrapper store=q",
	F "*HeapPriorityQueue array store=heap size=size",
	F "*ArrayPriorityQueue array store=array size=size",
	F "*IndirectPriorityQueue array store=heap|array size=size", /* indexes of an array that is not its own */
	F "*2*TreeMap tree map store=tree key=key value=value size=count control=info",
	F "*TreeSet tree store=tree value=key size=count control=info",
	F "*BigArrayBigList nested store=a size=size",
	F "*Functions$Singleton fields map key=key value=value",
	F "*Lists$Singleton fields value=element",
	F "*Sets$Singleton fields value=element",
	F "*Maps$Empty*Map empty map",
	F "*Lists$Empty*List empty",
	F "*Sets$EmptySet empty",
	F "*BigLists$ListBigList wrapper store=list",
	F "*Maps$*Map wrapper map store=map",
	F "*Collections$*Collection wrapper store=collection|iterable",
	T3 "map.*HashMap columns map store=_set value=_values taken=_states size=_size",
	T3 "map.*HashMap columns map store=_set value=_values size=_size" TROVE_FREE,
	T3 "set.*HashSet columns store=_set taken=_states size=_size",
	T3 "set.*HashSet columns store=_set size=_size" TROVE_FREE,
	T3 "list.array.*ArrayList array store=_data size=_pos",
	T3 "list.linked.T*LinkedList chain store=head next=next value=value size=size",
	T3 "stack.array.T*ArrayStack wrapper store=_list",
	T3 "impl.*Map wrapper map store=m", /* unmodifiable and synchronized */
	T3 "impl.*Collection wrapper store=c",
	T3 "decorator.*MapDecorator wrapper map store=_map",
	T3 "decorator.*SetDecorator wrapper store=_set",
	T3 "decorator.*ListDecorator wrapper store=list",
	T3 "T*HashMap columns map store=_set value=_values taken=_states size=_size", /* 2 */
	T3 "T*HashMap columns map store=_set value=_values size=_size" TROVE2_FREE,
	T3 "T*HashSet columns store=_set taken=_states size=_size",
	T3 "T*HashSet columns store=_set size=_size" TROVE2_FREE,
	T3 "T*ArrayList array store=_data size=_pos",
	HPPC(H), HPPC(LUCENE),
	ECLIPSE("org.eclipse.collections.impl."), ECLIPSE("com.gs.collections.impl."),
	N "util.collection.*ObjectHashMap columns map store=keys value=values taken=values size=size",
	N "util.Recycler$Stack array store=elements size=size",
	N "util.internal.ConcurrentSet wrapper keys store=map",
	N "util.internal.DefaultPriorityQueue array store=queue size=size",
	JCTOOLS(N "util.internal.shaded.org.jctools.queues."),
	N "handler.codec.CodecOutputList array store=array size=size",
	N "handler.codec.DefaultHeaders buckets map store=entries next=next key=key value=value size=size",
	N "handler.codec.http.DefaultHttpHeaders wrapper map store=headers",
	JCTOOLS("org.jctools.queues."),
	NON_BLOCKING("org.jctools.maps."), NON_BLOCKING("org.cliffc.high_scale_lib."),
	NULL
};
