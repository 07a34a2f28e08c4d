/* SPDX-License-Identifier: GPL-3.0-or-later */
/** fastutil. */
import it.unimi.dsi.fastutil.ints.*;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.objects.*;

@SuppressWarnings({"unchecked", "rawtypes"})
public class Fastutil extends Planted {
	public static void plant() {
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
	}
}
