/* SPDX-License-Identifier: GPL-3.0-or-later */
/** fastutil. */
import it.unimi.dsi.fastutil.PriorityQueues;
import it.unimi.dsi.fastutil.ints.*;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.objects.*;

@SuppressWarnings({"unchecked", "rawtypes"})
public class Fastutil extends Planted {
	public static void plant() {
		IntHash.Strategy strategy = new IntHash.Strategy() {
			@Override public int hashCode(int i) {
				return i;
			}
			@Override public boolean equals(int i, int j) {
				return i == j;
			}
		};
		ints(11, new Int2ObjectOpenHashMap());
		ints(18, new Int2ObjectRBTreeMap());
		ints(19, new Int2ObjectAVLTreeMap());
		ints(9, new Int2ObjectLinkedOpenHashMap());
		ints(5, new Int2ObjectArrayMap());
		longs(13, new Long2LongOpenHashMap());
		map(12, new Object2ObjectOpenHashMap());
		map(6, new Object2ObjectArrayMap());
		numbers(14, new IntArrayList());
		numbers(16, new IntOpenHashSet());
		numbers(9, new IntAVLTreeSet());
		numbers(10, new IntRBTreeSet());
		list(15, new ObjectArrayList());
		list(17, new ObjectOpenHashSet());
		list(7, new ObjectArraySet());
		list(7, new ObjectLinkedOpenHashSet());
		list(8, new ReferenceOpenHashSet());
		list(9, new ObjectRBTreeSet());
		list(4, new ObjectBigArrayBigList());
		list(0, new ObjectAVLTreeSet());
		ObjectArrayFIFOQueue<String> fifo = new ObjectArrayFIFOQueue<>(4);
		for (int i = 0; i < 6; i++)
			fifo.enqueue("e" + i);
		fifo.dequeue();
		is(5, fifo);
		ObjectHeapPriorityQueue<String> heap = new ObjectHeapPriorityQueue<>();
		fill(6, heap, i -> heap.enqueue("e" + i));
		Object2IntOpenHashMap<String> counts = new Object2IntOpenHashMap<>();
		for (int i = 0; i < 10; i++)
			counts.put("k" + i, i);
		counts.put(null, 3);
		is(11, counts);
		Int2IntAVLTreeMap removed = new Int2IntAVLTreeMap();
		for (int i = 0; i < 40; i++)
			removed.put(i * 7 % 40, i);
		for (int i = 0; i < 40; i += 3)
			removed.remove(i);
		is(26, removed);
		is(3, new ObjectImmutableList<>(new String[] {"a", "b", "c"}));
		is(2, IntLists.unmodifiable(new IntArrayList(new int[] {1, 2})));
		is(2, IntSets.synchronize(new IntOpenHashSet(new int[] {1, 2})));
		is(1, IntLists.singleton(4));
		ints(7, new Int2ObjectOpenCustomHashMap(strategy));
		numbers(9, new IntOpenCustomHashSet(strategy));
		numbers(9, new IntLinkedOpenHashSet());
		numbers(12, new IntOpenHashBigSet());
		numbers(0, new IntOpenHashBigSet());
		is(3, new IntOpenHashBigSet(new int[] {0, 4, 7}));
		list(5, new ObjectOpenHashBigSet());
		list(5, new ReferenceOpenHashBigSet());
		ObjectOpenHashBigSet nullSet = new ObjectOpenHashBigSet();
		nullSet.add(null);
		nullSet.add("a");
		is(2, nullSet);
		numbers(6, new IntArraySet());
		numbers(6, new IntBigArrayBigList());
		map(5, new Object2ObjectAVLTreeMap());
		map(5, new Object2ObjectRBTreeMap());
		map(5, new Reference2ReferenceOpenHashMap());
		map(5, new Object2ReferenceArrayMap());
		map(6, new Object2ObjectLinkedOpenHashMap());
		is(0, Int2IntMaps.EMPTY_MAP);
		is(0, IntLists.EMPTY_LIST);
		is(0, IntSets.EMPTY_SET);
		is(0, ObjectBigLists.EMPTY_BIG_LIST);
		is(0, Object2IntSortedMaps.EMPTY_MAP);
		is(1, Int2IntMaps.singleton(1, 2));
		is(1, Int2IntSortedMaps.singleton(1, 2));
		is(1, ObjectSortedSets.singleton("x"));
		is(1, IntBigLists.singleton(1));
		is(2, IntBigLists.asBigList(new IntArrayList(new int[] {1, 2})));
		is(11, Object2IntMaps.unmodifiable(counts));
		is(26, Int2IntMaps.synchronize(removed));
		is(26, Int2IntSortedMaps.unmodifiable(removed));
		is(2, IntLists.synchronize(new IntArrayList(new int[] {1, 2})));
		is(2, IntBigLists.unmodifiable(new IntBigArrayBigList(new int[][] {{1, 2}})));
		is(2, IntCollections.unmodifiable(new IntArrayList(new int[] {1, 2})));
		is(2, IntCollections.asCollection(new IntArrayList(new int[] {1, 2})));
		is(6, PriorityQueues.synchronize(heap));
		IntArrayPriorityQueue slow = new IntArrayPriorityQueue();
		fill(7, slow, i -> slow.enqueue(i));
		IntHeapPriorityQueue fast = new IntHeapPriorityQueue();
		fill(7, fast, i -> fast.enqueue(i));
		is(7, IntPriorityQueues.synchronize(fast));
		IntHeapIndirectPriorityQueue indirect = new IntHeapIndirectPriorityQueue(new int[] {5, 3, 4, 1});
		fill(3, indirect, i -> indirect.enqueue(i));
		IntArrayIndirectPriorityQueue slowest = new IntArrayIndirectPriorityQueue(new int[] {5, 3, 4, 1});
		fill(3, slowest, i -> slowest.enqueue(i));
		unknown(removed.headMap(7));
		unknown(new IntArrayList(new int[] {1, 2, 3}).subList(1, 2));
		unknown(new IntAVLTreeSet(new int[] {1, 2, 3}).headSet(2));
		unknown(removed.keySet());
	}
}
