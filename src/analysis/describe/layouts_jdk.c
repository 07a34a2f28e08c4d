/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layouts_jdk.c - collections of java.util.
 *
 * Field names are those of the sources of JDK 5 to 25; between '|' stand other names of the same field in older
 * releases, and in the library of Apache Harmony, which IBM's VMs and Android up to 6 had.
 */
#include "analysis/describe/layouts.h"

#define U "java.util."
#define UC "java.util.concurrent."
#define NODES " next=next key=key value=value"

const char *const layouts_jdk[] = {
	/* lists */
	U "ArrayList array store=elementData|array next=firstIndex size=size",
	U "Vector array store=elementData size=elementCount",
	U "Arrays$ArrayList array store=a",
	UC "CopyOnWriteArrayList array store=array",
	U "ImmutableCollections$ListN array store=elements",
	U "LinkedList chain store=first|header|voidLink next=next value=item|element|data size=size",
	U "ImmutableCollections$List12 fields value=e0|e1",
	U "ImmutableCollections$List1 fields value=e0",
	U "ImmutableCollections$List2 fields value=e0|e1",
	U "Collections$SingletonList fields value=element",
	U "Collections$EmptyList empty",
	U "ImmutableCollections$List0 empty",
	/* queues */
	U "PriorityQueue array store=queue size=size",
	UC "PriorityBlockingQueue array store=queue size=size",
	U "ArrayDeque ring store=elements next=head tail=tail",
	UC "ArrayBlockingQueue ring store=items next=takeIndex size=count",
	UC "LinkedBlockingQueue queue store=head next=next value=item size=count",
	UC "LinkedBlockingDeque queue store=first next=next value=item size=count",
	UC "ConcurrentLinkedQueue queue store=head next=next value=item",
	UC "ConcurrentLinkedDeque queue store=head next=next value=item",
	UC "LinkedTransferQueue queue store=head next=next value=item",
	UC "DelayQueue wrapper store=q",
	UC "ScheduledThreadPoolExecutor$DelayedWorkQueue array store=queue size=size",
	U "Collections$AsLIFOQueue wrapper store=q",
	/* maps */
	U "LinkedHashMap chain map store=head|header next=after|nxt key=key value=value size=size table=table",
	U "HashMap buckets map store=table|elementData" NODES " size=size|elementCount",
	UC "ConcurrentHashMap buckets map store=table next=next key=key value=val|value size=baseCount",
	UC "ConcurrentHashMap buckets map parts=segments store=table" NODES " size=count", /* before 8 */
	U "Properties wrapper map store=map", /* before Java 9 it is a Hashtable and no more */
	U "Hashtable buckets map store=table|elementData" NODES " size=count|size|elementCount",
	U "WeakHashMap buckets map store=table|elementData next=next key=referent value=value size=size|elementCount",
	"java.lang.ThreadLocal$ThreadLocalMap buckets map store=table next= key=referent value=value size=size",
	U "TreeMap tree map store=root key=key value=value size=size",
	UC "ConcurrentSkipListMap queue map store=head next=next key=key value=val|value size=adder",
	U "IdentityHashMap pairs map store=table|elementData size=size",
	U "EnumMap enum map store=vals key=keyUniverse size=size",
	U "ImmutableCollections$MapN pairs map store=table size=size",
	U "ImmutableCollections$Map1 fields map key=k0 value=v0",
	U "Collections$SingletonMap fields map key=k value=v",
	U "Collections$EmptyMap empty map",
	U "ImmutableCollections$Map0 empty map",
	U "jar.Attributes wrapper map store=map",
	/* sets */
	U "HashSet wrapper keys store=map|backingMap",
	U "TreeSet wrapper keys store=m|backingMap",
	UC "ConcurrentSkipListSet wrapper keys store=m",
	UC "CopyOnWriteArraySet wrapper store=al",
	U "Collections$SetFromMap wrapper keys store=m",
	U "ImmutableCollections$SetN sparse store=elements size=size",
	U "ImmutableCollections$Set12 fields value=e0|e1",
	U "ImmutableCollections$Set1 fields value=e0",
	U "ImmutableCollections$Set2 fields value=e0|e1",
	U "Collections$SingletonSet fields value=element",
	U "Collections$EmptySet empty",
	U "ImmutableCollections$Set0 empty",
	U "RegularEnumSet bits store=universe next=elements",
	U "JumboEnumSet bits store=universe next=elements size=size",
	/* views of others */
	U "ReverseOrderListView view store=base",
	U "ReverseOrderDequeView view store=base",
	U "ReverseOrderSortedMapView view map store=base",
	U "HashMap$KeySet view keys store=this$0",
	U "HashMap$Values view values store=this$0",
	U "HashMap$EntrySet view map store=this$0",
	U "LinkedHashMap$LinkedKeySet view keys store=this$0",
	U "LinkedHashMap$LinkedValues view values store=this$0",
	U "LinkedHashMap$LinkedEntrySet view map store=this$0",
	U "TreeMap$KeySet view keys store=m",
	U "TreeMap$Values view values store=this$0",
	U "Hashtable$KeySet view keys store=this$0",
	UC "ConcurrentHashMap$KeySetView view keys store=map",
	UC "ConcurrentHashMap$ValuesView view values store=map",
	UC "ConcurrentHashMap$EntrySetView view map store=map",
	U "Collections$UnmodifiableCollection wrapper store=c",
	U "Collections$UnmodifiableMap wrapper map store=m",
	U "Collections$SynchronizedCollection wrapper store=c",
	U "Collections$SynchronizedMap wrapper map store=m",
	U "Collections$CheckedCollection wrapper store=c",
	U "Collections$CheckedMap wrapper map store=m",
	NULL
};
