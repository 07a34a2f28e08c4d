/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layouts_libraries.c - collections of Guava, Scala, Kotlin and Android, and of frameworks.
 *
 * Field names are those of the libraries' sources; between '|' stand other names of the same field in other releases,
 * and a class has several lines where releases store it in different ways.
 */
#include "analysis/describe/layouts.h"

#define NODES " next=next key=key value=value"
#define G "com.google.common.collect."

const char *const layouts_guava[] = {
	G "RegularImmutableList array store=array next=offset size=size", /* Android; JRE before 20 */
	G "RegularImmutableList array store=array",
	G "SingletonImmutableList fields value=element",
	G "RegularImmutableAsList view store=delegateList",
	G "ImmutableList$ReverseImmutableList view store=forwardList",
	G "RegularImmutableSet array store=elements size=size", /* Android: beside a table */
	G "RegularImmutableSet array store=elements",
	G "SingletonImmutableSet fields value=element",
	G "RegularImmutableSortedSet wrapper store=elements",
	G "ImmutableEnumSet wrapper store=delegate",
	G "RegularImmutableMap pairs map store=alternatingKeysAndValues size=size", /* Android */
	G "RegularImmutableMap buckets map store=entries next= key=key value=value table=table",
	G "JdkBackedImmutableMap wrapper map store=delegateMap",
	G "SingletonImmutableBiMap fields map key=singleKey value=singleValue",
	G "RegularImmutableBiMap pairs map store=alternatingKeysAndValues size=size",
	G "RegularImmutableBiMap buckets map store=entries next= key=key value=value table=keyTable",
	G "ImmutableEnumMap wrapper map store=delegate",
	G "ImmutableSortedMap columns map store=keySet.elements.array value=valueList.array",
	G "ImmutableSortedMap fields map key=keySet.elements.element value=valueList.element",
	G "JdkBackedImmutableSet wrapper store=delegate",
	G "JdkBackedImmutableMultiset wrapper map store=delegateMap size=size counts=value",
	G "RegularImmutableMultiset buckets map store=entries next= key=element value=count table=hashTable size=size "
	  "counts=value",
	G "RegularImmutableMultiset wrapper map store=contents counts=value",
	G "ObjectCountHashMap columns map store=keys value=values end=size size=size",
	G "ConcurrentHashMultiset wrapper map store=countMap counts=value",
	G "Maps$UnmodifiableNavigableMap wrapper map store=delegate",
	G "Maps$UnmodifiableBiMap wrapper map store=delegate",
	G "Maps$UnmodifiableEntries view map store=entries",
	G "Maps$TransformedEntriesMap view map store=fromMap",
	G "Maps$AsMapView view store=set",
	G "Maps$KeySet view keys store=map",
	G "Maps$Values view values store=map",
	G "RegularImmutableMap$KeySet view keys store=map",
	G "RegularImmutableMap$Values view values store=map",
	G "ImmutableMapKeySet view keys store=map",
	G "ImmutableMapValues view values store=map",
	G "ImmutableMapEntrySet$RegularEntrySet view map store=map",
	G "MapMakerInternalMap buckets map parts=segments store=table.array next=next key=key|referent "
	  "value=value|valueReference.referent size=count",
	"com.google.common.cache.LocalCache buckets map parts=segments store=table.array next=next key=key|referent "
	"value=valueReference.referent size=count",
	"com.google.common.cache.LocalCache$LocalManualCache wrapper map store=localCache",
	G "HashBiMap columns map store=keys value=values end=size size=size", /* Android */
	G "HashBiMap buckets map store=hashTableKToV next=nextInKToVBucket key=key value=value size=size",
	G "AbstractBiMap wrapper map store=delegate",
	/* a multimap is a map of collections */
	G "LinkedListMultimap chain map store=head next=next key=key value=value size=size",
	G "AbstractMapBasedMultimap wrapper map store=map size=totalSize counts=value",
	G "ImmutableMultimap wrapper map store=map size=size counts=value",
	G "LinkedHashMultimap$ValueSet buckets store=hashTable next=nextInValueBucket value=value size=size",
	G "Multimaps$UnmodifiableMultimap wrapper map store=delegate",
	G "Multisets$UnmodifiableMultiset wrapper map store=delegate",
	G "AbstractMapBasedMultiset wrapper map store=backingMap size=size counts=value",
	G "TreeMultiset tree map store=rootReference.value key=elem value=elemCount size=rootReference.value.totalCount "
	  "counts=value unless=range.hasLowerBound|range.hasUpperBound",
	G "EnumMultiset columns map store=enumConstants value=counts hash=counts size=size counts=value",
	G "StandardTable wrapper map store=backingMap counts=value",
	G "SparseImmutableTable wrapper map store=rowMap counts=value",
	G "SingletonImmutableTable fields map key=singleRowKey value=singleValue",
	G "ArrayTable nested store=array", /* of all rows and columns: null is a value, too */
	G "DenseImmutableTable nested store=values null=free",
	G "Tables$UnmodifiableTable wrapper map store=delegate",
	G "Tables$TransposeTable view map store=original",
	G "Tables$TransformedTable view map store=fromTable",
	G "TreeRangeMap wrapper map store=entriesByLowerBound",
	G "TreeRangeSet wrapper map store=rangesByLowerBound",
	G "ImmutableRangeMap columns map store=ranges.array value=values.array",
	G "ImmutableRangeMap fields map key=ranges.element value=values.element",
	G "ImmutableRangeSet wrapper store=ranges",
	G "MutableClassToInstanceMap wrapper map store=delegate",
	G "ImmutableClassToInstanceMap wrapper map store=delegate",
	G "EvictingQueue wrapper store=delegate",
	G "MinMaxPriorityQueue array store=queue size=size",
	G "CompactHashMap columns map store=keys value=values end=size size=size",
	G "CompactHashMap wrapper map store=table", /* where many keys have one hash */
	G "CompactHashSet array store=elements size=size",
	G "CompactHashSet wrapper store=table",
	G "Lists$TransformingRandomAccessList view store=fromList",
	G "Lists$TransformingSequentialList view store=fromList",
	G "Lists$ReverseList view store=forwardList",
	G "Collections2$TransformedCollection view store=fromCollection",
	G "Iterables$UnmodifiableIterable view store=iterable",
	G "Iterables$* view store=val$fromIterable", /* of transform() */
	G "DescendingImmutableSortedSet view store=forward",
	G "Sets$DescendingSet view store=forward",
	G "Multimaps$MapMultimap view map store=map",
	G "Sets$UnmodifiableNavigableSet wrapper store=delegate",
	G "Synchronized$SynchronizedObject wrapper store=delegate",
	NULL
};

#define SI "scala.collection.immutable."
#define SM "scala.collection.mutable."
#define TREE_SLASHES "scala$collection$immutable$RedBlackTree$Tree$$"

#define VECTOR                                                                                                         \
	"nested store=prefix1|prefix2|prefix3|prefix4|prefix5|data2|data3|data4|data5|data6|suffix5|suffix4|suffix3|"  \
	"suffix2|suffix1 size=length0"

#define OF_MAP(n, field) "scala$collection$immutable$Map$Map" #n "$$" field
#define TREE_SET "scala$collection$mutable$TreeSet$$tree."
#define TREE_MAP "scala$collection$mutable$TreeMap$$tree."

const char *const layouts_scala[] = {
	SI "$colon$colon chain store=this next=next|tl value=head", /* 2.13, 2.12 */
	SI "Nil$ empty",
	SM "ListBuffer chain store=first|scala$collection$mutable$ListBuffer$$start next=next|tl value=head size=len",
	SI "Vector0$ empty",
	SI "Vector2 " VECTOR, SI "Vector3 " VECTOR, SI "Vector4 " VECTOR, SI "Vector5 " VECTOR, SI "Vector6 " VECTOR,
	SI "Vector1 nested store=prefix1",
	/* 2.12: of its displays the highest that is there is the whole */
	SI "Vector radix store=display5|display4|display3|display2|display1|display0 deep=depth first=startIndex "
	   "focus=focus size=endIndex-startIndex",
	SI "ArraySeq$ofRef array store=unsafeArray",
	SM "ArraySeq$ofRef array store=array",
	SM "WrappedArray$ofRef array store=array",
	SM "ArrayBuffer array store=array size=size0",
	SM "ResizableArray array store=array size=size0",
	SM "ArrayDeque ring store=array next=start tail=end",
	SM "ArraySeq array store=array size=length",
	SM "PriorityQueue wrapper store=resarr",
	SM "MutableList chain store=first0 next=next value=elem size=len", /* Queue, too, before 2.13 */
	SM "ArrayStack array store=scala$collection$mutable$ArrayStack$$table "
	   "size=scala$collection$mutable$ArrayStack$$index",
	"scala.collection.convert.*Wrappers$J*MapWrapper wrapper map store=underlying",
	"scala.collection.convert.*Wrappers$J*Wrapper wrapper store=underlying",
	SM "ListMap wrapper store=elems size=siz", /* pairs, before 2.13 */
	SM "Stack wrapper store=elems",
	SM "PriorityQueue$ResizableArrayAccess sparse store=array", /* whose first place is never taken */
	/* 2.13 tries: entries, behind them nodes */
	SI "HashMap trie map store=rootNode value=content next=dataMap key=nodeMap size=rootNode",
	SI "HashSet trie store=rootNode value=content next=dataMap key=nodeMap size=rootNode",
	/* 2.12 tries: each node is a map itself */
	SI "HashMap$HashMap1 fields map key=key value=value",
	SI "HashMap$HashTrieMap trie map store=this value=elems0|elems leaf=key|value size=size0",
	SI "HashSet$HashSet1 fields value=key",
	SI "HashSet$HashTrieSet trie store=this value=elems leaf=key size=size0",
	"scala.collection.concurrent.TrieMap trie map store=root value=mainnode.array leaf=k|v",
	SI "HashMap$EmptyHashMap$ empty map",
	SI "HashSet$EmptyHashSet$ empty",
	SI "Map$EmptyMap$ empty map",
	SI "Set$EmptySet$ empty",
	SI "Map$Map1 fields map key=key1 value=value1",
	SI "Map$Map2 fields map key=key1|key2 value=value1|value2",
	SI "Map$Map2 fields map key=" OF_MAP(2, "key1") "|" OF_MAP(2, "key2") " "
	   "value=" OF_MAP(2, "value1") "|" OF_MAP(2, "value2"), /* 2.13 */
	SI "Map$Map3 fields map key=key1|key2|key3 value=value1|value2|value3",
	SI "Map$Map3 fields map key=" OF_MAP(3, "key1") "|" OF_MAP(3, "key2") "|" OF_MAP(3, "key3") " "
	   "value=" OF_MAP(3, "value1") "|" OF_MAP(3, "value2") "|" OF_MAP(3, "value3"),
	SI "Map$Map4 fields map key=key1|key2|key3|key4 value=value1|value2|value3|value4",
	SI "Map$Map4 fields map key=" OF_MAP(4, "key1") "|" OF_MAP(4, "key2") "|" OF_MAP(4, "key3") "|"
	   OF_MAP(4, "key4") " value=" OF_MAP(4, "value1") "|" OF_MAP(4, "value2") "|" OF_MAP(4, "value3") "|"
	   OF_MAP(4, "value4"),
	SI "SeqMap$SeqMap1 fields map key=key1 value=value1", /* 2.13 */
	SI "SeqMap$SeqMap2 fields map key=key1|key2 value=value1|value2",
	SI "SeqMap$SeqMap3 fields map key=key1|key2|key3 value=value1|value2|value3",
	SI "SeqMap$SeqMap4 fields map key=key1|key2|key3|key4 value=value1|value2|value3|value4",
	SI "VectorMap wrapper map store=underlying", /* values: with their places */
	SI "ListMap empty map", SI "ListMap$EmptyListMap$ empty map",
	SI "ListMap$Node chain map store=this next=_init|$outer key=key value=_value|value",
	SI "ListSet empty", SI "ListSet$EmptyListSet$ empty",
	SI "ListSet$Node chain store=this next=$outer value=head",
	SI "BitSet$BitSet1 bits next=elems",
	SI "BitSet$BitSet2 bits next=elems0|elems1",
	SI "BitSet$BitSetN bits next=elems",
	SI "IntMap$Bin tree map store=this key=key value=value",
	SI "IntMap$Tip fields map key=key value=value",
	SI "IntMap$Nil$ empty map",
	SI "LongMap$Bin tree map store=this key=key value=value",
	SI "LongMap$Tip fields map key=key value=value",
	SI "LongMap$Nil$ empty map",
	SI "Map$WithDefault wrapper map store=underlying",
	SI "Stack wrapper store=elems",
	SI "Queue joined store=out|in", /* the second is reversed */
	SI "Set$Set1 fields value=elem1",
	SI "Set$Set2 fields value=elem1|elem2",
	SI "Set$Set3 fields value=elem1|elem2|elem3",
	SI "Set$Set4 fields value=elem1|elem2|elem3|elem4",
	SI "TreeMap tree map store=tree|tree0|scala$collection$immutable$TreeMap$$tree "
	   "key=key|_key|" TREE_SLASHES "_key value=value|_value|" TREE_SLASHES "_value",
	SI "TreeSet tree store=tree|scala$collection$immutable$TreeSet$$tree value=key|_key|" TREE_SLASHES "_key",
	/* mutable */
	SM "HashMap buckets map store=table|scala$collection$mutable$HashMap$$table next=next|_next key=key|_key "
	   "value=value|_value size=contentSize|tableSize",
	SM "HashSet buckets store=scala$collection$mutable$HashSet$$table|table next=_next value=_key size=contentSize",
	SM "HashSet sparse store=table size=tableSize", /* 2.12 */
	SM "LinkedHashMap chain map store=firstEntry next=later key=key value=value size=contentSize|tableSize "
	   "table=table|scala$collection$mutable$LinkedHashMap$$table",
	SM "LinkedHashSet chain store=firstEntry next=later value=key size=contentSize|tableSize "
	   "table=table|scala$collection$mutable$LinkedHashSet$$table",
	SM "TreeSet tree store=" TREE_SET "root value=key size=" TREE_SET "size", /* 2.12, 2.13 */
	SM "TreeMap tree map store=" TREE_MAP "root key=key value=value size=" TREE_MAP "size",
	SM "TreeSet$TreeSet* view store=from", /* of a range, which is not known; nor is its bound a collection */
	SM "TreeMap$TreeMap* view map store=from",
	SM "BitSet bits next=elems",
	SM "OpenHashMap buckets map store=scala$collection$mutable$OpenHashMap$$table|table next= key=key "
	   "value=value.x|value.value|value size=_size free=scala.None$.MODULE$",
	/* the keys 0 and -2^63, which are elsewhere, and -2^63 where a key was removed, are unknown */
	SM "LongMap columns map store=scala$collection$mutable$LongMap$$_keys|_keys "
	   "value=scala$collection$mutable$LongMap$$_values|_values size=_size "
	   "unless=scala$collection$mutable$LongMap$$extraKeys|extraKeys|_vacant",
	SM "LinkedList chain store=this next=next value=elem",
	SM "DoubleLinkedList chain store=this next=next value=elem",
	SM "Map$WithDefault wrapper map store=underlying",
	SM "AnyRefMap columns map store=scala$collection$mutable$AnyRefMap$$_keys|_keys "
	   "value=scala$collection$mutable$AnyRefMap$$_values|_values "
	   "hash=scala$collection$mutable$AnyRefMap$$_hashes|_hashes "
	   "size=scala$collection$mutable$AnyRefMap$$_size|_size",
	NULL
};

#define KB "kotlin.collections.builders."
#define KX "kotlinx.collections.immutable.implementations."

const char *const layouts_kotlin[] = {
	"kotlin.collections.EmptyList empty",
	"kotlin.collections.EmptySet empty",
	"kotlin.collections.EmptyMap empty map",
	"kotlin.collections.ArrayDeque ring store=elementData next=head size=size",
	"kotlin.collections.ArrayAsCollection array store=values",
	"kotlin.collections.ReversedListReadOnly view store=delegate",
	KB "MapBuilder columns map store=keysArray value=valuesArray end=length index=presenceArray size=size",
	KB "SetBuilder wrapper keys store=backing",
	KB "ListBuilder array store=array|backing next=offset size=length",
	KX "immutableList.SmallPersistentVector array store=buffer",
	KX "immutableList.PersistentVectorBuilder nested store=root|tail next=rootShift size=size",
	KX "immutableMap.PersistentHashMapBuilder trie map store=node value=buffer next=dataMap key=nodeMap size=size",
	KX "immutableSet.PersistentHashSetBuilder trie store=node value=buffer size=size",
	KX "persistentOrderedMap.PersistentOrderedMapBuilder wrapper map store=hashMapBuilder",
	KX "persistentOrderedSet.PersistentOrderedSetBuilder wrapper keys store=hashMapBuilder",
	KX "immutableList.PersistentVector nested store=root|tail next=rootShift|shiftStart size=size",
	KX "immutableMap.PersistentHashMap trie map store=node value=buffer next=dataMap key=nodeMap size=size",
	KX "immutableSet.PersistentHashSet trie store=node value=buffer size=size",
	KX "persistentOrderedMap.PersistentOrderedMap wrapper map store=hashMap",
	KX "persistentOrderedSet.PersistentOrderedSet wrapper keys store=hashMap",
	NULL
};

#define COMMONS(package)                                                                                               \
	package "map.AbstractHashedMap buckets map store=data next=next key=key value=value size=size",                \
	package "map.SingletonMap fields map key=key value=value",                                                    \
	package "map.Flat3Map wrapper map store=delegateMap",                                                          \
	package "map.Flat3Map fields map key=key1|key2|key3 value=value1|value2|value3 size=size",                     \
	package "map.AbstractMapDecorator wrapper map store=map",                                                      \
	package "collection.AbstractCollectionDecorator wrapper store=collection",                                     \
	package "bidimap.AbstractDualBidiMap wrapper map store=normalMap",                                             \
	package "bidimap.TreeBidiMap tree map store=rootNode[0] key=key|data[0] value=value|data[1] size=nodeCount",   \
	package "DoubleOrderedMap tree map store=rootNode[0] key=data[0] value=data[1] size=nodeCount",                \
	package "list.TreeList tree store=root value=value size=size next=once",                                       \
	package "trie.AbstractPatriciaTrie tree map store=root key=key value=value size=size next=once",               \
	package "trie.UnmodifiableTrie wrapper map store=delegate",                                                    \
	package "bag.AbstractMapBag wrapper map store=map size=size counts=value",                                     \
	package "multiset.AbstractMapMultiSet wrapper map store=map size=size counts=value",                           \
	package "multimap.AbstractMultiValuedMap wrapper map store=map counts=value",                                  \
	package "collection.SynchronizedCollection wrapper store=collection",                                          \
	package "map.CompositeMap array store=composite counts=value",                                                 \
	package "multimap.AbstractMultiValuedMapDecorator wrapper map store=map",                                      \
	package "buffer.PriorityBuffer sparse store=elements size=size",                                               \
	package "map.StaticBucketMap buckets map store=buckets next=next key=key value=value",                         \
	package "list.AbstractLinkedList chain store=header next=next value=value size=size",                          \
	package "buffer.UnboundedFifoBuffer ring store=buffer next=head tail=tail",                                    \
	package "buffer.BoundedFifoBuffer ring store=elements next=start tail=end last=full",                          \
	package "queue.CircularFifoQueue ring store=elements next=start tail=end last=full",                           \
	package "FastHashMap wrapper map store=map", /* of java.util's, but what it holds is elsewhere */              \
	package "FastTreeMap wrapper map store=map",                                                                   \
	package "FastArrayList wrapper store=list"

const char *const layouts_frameworks[] = {
	"com.github.benmanes.caffeine.cache.*oundedLocalCache wrapper map store=data", /* values: Caffeine's nodes */
	"com.github.benmanes.caffeine.cache.*oundedLocalCache$*LocalManualCache wrapper map store=cache",
	"com.googlecode.concurrentlinkedhashmap.ConcurrentLinkedHashMap wrapper map store=data",
	"*.ConcurrentHashMapV8 buckets map store=table next=next key=key value=val size=baseCount",
	"org.springframework.util.ConcurrentReferenceHashMap buckets map parts=segments store=references "
	"next=nextReference key=referent.key value=referent.value size=count",
	"org.springframework.util.MultiValueMapAdapter wrapper map store=targetMap",
	"org.springframework.util.LinkedMultiValueMap wrapper map store=targetMap", /* before 5.3 */
	"org.springframework.util.LinkedCaseInsensitiveMap wrapper map store=targetMap",
	"org.springframework.http.HttpHeaders wrapper map store=headers",
	"org.hibernate.collection.*PersistentMap wrapper map store=map",
	"org.hibernate.collection.*PersistentSet wrapper store=set",
	"org.hibernate.collection.*PersistentList wrapper store=list",
	"org.hibernate.collection.*PersistentBag wrapper store=bag",
	"org.hibernate.collection.*PersistentIdentifierBag wrapper store=values",
	"com.fasterxml.jackson.databind.node.ObjectNode wrapper map store=_children",
	"com.fasterxml.jackson.databind.node.ArrayNode wrapper store=_children",
	"tools.jackson.databind.node.ObjectNode wrapper map store=_children",
	"tools.jackson.databind.node.ArrayNode wrapper store=_children",
	"com.google.gson.internal.Linked*TreeMap chain map store=header next=next key=key value=value size=size",
	"com.google.gson.JsonObject wrapper map store=members",
	"com.google.gson.JsonArray wrapper store=elements|values",
	"org.json.JSONObject wrapper map store=map|nameValuePairs",
	"org.json.JSONArray wrapper store=myArrayList|values",
	COMMONS("org.apache.commons.collections."), COMMONS("org.apache.commons.collections4."),
	"org.apache.commons.collections4.collection.CompositeCollection wrapper store=all counts=value",
	"org.apache.commons.collections4.set.CompositeSet wrapper store=all counts=value",
	"org.apache.commons.collections.collection.CompositeCollection array store=all counts=value",
	/* from 2 on */
	"org.apache.commons.collections.DefaultMapBag wrapper map store=_map size=_total counts=value",
	"org.apache.commons.collections.BoundedFifoBuffer ring store=m_elements next=m_start tail=m_end last=m_full",
	"org.apache.commons.collections.UnboundedFifoBuffer ring store=m_buffer next=m_head tail=m_tail",
	"org.apache.commons.collections.BinaryHeap sparse store=m_elements size=m_size",
	"org.apache.commons.collections.SequencedHashMap wrapper map store=entries", /* values: its nodes */
	"clojure.lang.PersistentHashMap trie map store=root value=array null=node leaf=hasNull|nullValue size=count",
	"clojure.lang.PersistentHashMap$TransientHashMap trie map store=root value=array null=node leaf=hasNull|nullValue "
	"size=count",
	"clojure.lang.PersistentVector$TransientVector nested store=root|tail value=array next=shift size=cnt",
	"clojure.lang.PersistentVector$ChunkedSeq nested store=vec.root|vec.tail value=array next=vec.shift "
	"size=vec.cnt-i-offset first=i+offset",
	"clojure.core.Vec nested store=root|tail value=arr next=shift size=cnt", /* of numbers */
	"clojure.lang.PersistentQueue joined store=f|r size=cnt",
	"clojure.lang.ArraySeq array store=array next=i",
	"clojure.lang.ArraySeq$* array store=array next=i",
	"clojure.lang.ATransientSet wrapper keys store=impl",
	"clojure.lang.PersistentVector nested store=root|tail value=array next=shift size=cnt",
	"clojure.lang.PersistentArrayMap pairs map store=array null=key",
	"clojure.lang.APersistentSet wrapper keys store=impl",
	"clojure.lang.PersistentList chain store=this next=_rest value=_first size=_count",
	"clojure.lang.PersistentList$EmptyList empty",
	"clojure.lang.PersistentTreeMap tree map store=tree key=key value=val size=_count",
	"io.vavr.collection.List$Cons chain store=this next=tail value=head size=length",
	"io.vavr.collection.List$Nil empty",
	"io.vavr.collection.Array array store=delegate",
	"io.vavr.collection.Queue joined store=front|rear",
	"io.vavr.collection.Vector wrapper store=trie",
	"io.vavr.collection.BitMappedTrie radix store=array next=depthShift first=offset size=length",
	"io.vavr.collection.HashMap wrapper map store=trie",
	"io.vavr.collection.HashSet wrapper keys store=tree",
	"io.vavr.collection.TreeMap tree map store=entries key=value._1 value=value._2 next=once",
	"io.vavr.collection.TreeSet tree store=tree value=value next=once",
	"io.vavr.collection.AbstractMultimap wrapper map store=back counts=value",
	"io.vavr.collection.BitSetModule$BitSet1 bits next=elements size=len",
	"io.vavr.collection.BitSetModule$BitSet2 bits next=elements1|elements2 size=len",
	"io.vavr.collection.BitSetModule$BitSetN bits next=elements size=len",
	"io.vavr.collection.LinkedHashMap wrapper map store=map",
	"io.vavr.collection.LinkedHashSet wrapper keys store=map",
	"io.vavr.collection.HashArrayMappedTrieModule$EmptyNode empty map",
	"io.vavr.collection.HashArrayMappedTrieModule$LeafSingleton fields map key=key value=value",
	"io.vavr.collection.HashArrayMappedTrieModule$*Node trie map store=this value=subNodes leaf=key|value size=size",
	NULL
};

const char *const layouts_android[] = {
	"android.util.ArrayMap pairs map store=mArray end=mSize size=mSize",
	"android.util.ArraySet array store=mArray size=mSize",
	"android.util.SparseArray columns map store=mKeys value=mValues end=mSize size=mSize "
	"free=android.util.SparseArray.DELETED",
	"android.util.LongSparseArray columns map store=mKeys value=mValues end=mSize size=mSize "
	"free=android.util.LongSparseArray.DELETED",
	"android.util.SparseIntArray columns map store=mKeys value=mValues end=mSize size=mSize",
	"android.util.SparseLongArray columns map store=mKeys value=mValues end=mSize size=mSize",
	"android.util.SparseBooleanArray columns map store=mKeys value=mValues end=mSize size=mSize",
	"android.util.LongSparseLongArray columns map store=mKeys value=mValues end=mSize size=mSize",
	"android.util.LruCache wrapper map store=map",
	"android.util.IntArray array store=mValues size=mSize",
	"android.util.LongArray array store=mValues size=mSize",
	/* support library and AndroidX, in Java and in Kotlin */
	"android.support.v4.util.SimpleArrayMap pairs map store=mArray end=mSize size=mSize",
	"android.support.v4.util.ArraySet array store=mArray size=mSize",
	"android.support.v4.util.SparseArrayCompat columns map store=mKeys value=mValues end=mSize size=mSize "
	"free=android.support.v4.util.SparseArrayCompat.DELETED",
	"android.support.v4.util.LongSparseArray columns map store=mKeys value=mValues end=mSize size=mSize "
	"free=android.support.v4.util.LongSparseArray.DELETED",
	"androidx.collection.SimpleArrayMap pairs map store=mArray|array end=mSize|size size=mSize|size",
	"androidx.collection.ArraySet array store=mArray|array size=mSize|_size",
	"androidx.collection.SparseArrayCompat columns map store=mKeys|keys value=mValues|values end=mSize|size "
	"size=mSize|size free=androidx.collection.SparseArrayCompat.DELETED|"
	"androidx.collection.SparseArrayCompatKt.DELETED",
	"androidx.collection.LongSparseArray columns map store=mKeys|keys value=mValues|values end=mSize|size "
	"size=mSize|size free=androidx.collection.LongSparseArray.DELETED|"
	"androidx.collection.LongSparseArrayKt.DELETED",
	"androidx.collection.CircularArray ring store=mElements|elements next=mHead|head tail=mTail|tail",
	"androidx.collection.LruCache wrapper map store=map.map|map",
	"androidx.collection.ObjectList array store=content size=_size",
	"androidx.collection.IntList array store=content size=_size",
	"androidx.collection.LongList array store=content size=_size",
	"androidx.collection.FloatList array store=content size=_size",
	"androidx.collection.ScatterMap columns map store=keys value=values control=metadata size=_size",
	"androidx.collection.ScatterSet columns store=elements control=metadata size=_size",
	"androidx.collection.IntObjectMap columns map store=keys value=values control=metadata size=_size",
	"androidx.collection.LongObjectMap columns map store=keys value=values control=metadata size=_size",
	"androidx.collection.ObjectIntMap columns map store=keys value=values control=metadata size=_size",
	"androidx.collection.ObjectLongMap columns map store=keys value=values control=metadata size=_size",
	"androidx.collection.IntIntMap columns map store=keys value=values control=metadata size=_size",
	"androidx.collection.IntSet columns store=elements control=metadata size=_size",
	"androidx.collection.LongSet columns store=elements control=metadata size=_size",
	NULL
};
