/* SPDX-License-Identifier: GPL-3.0-or-later */
/** HPPC. */
import com.carrotsearch.hppc.*;

public class Hppc extends Planted {
	public static void plant() {
		IntIntHashMap ints = new IntIntHashMap();
		fill(11, ints, i -> ints.put(i - 3, i));
		IntObjectHashMap<String> objects = new IntObjectHashMap<>();
		fill(12, objects, i -> objects.put(i, "v" + i));
		ObjectObjectHashMap<String, String> nulls = new ObjectObjectHashMap<>();
		for (int i = 0; i < 9; i++)
			nulls.put(i == 0 ? null : "k" + i, i == 3 ? null : "v" + i);
		for (int i = 5; i < 9; i++)
			nulls.remove("k" + i);
		is(5, nulls);
		ObjectIntHashMap<String> counts = new ObjectIntHashMap<>();
		fill(13, counts, i -> counts.put("k" + i, i));
		ObjectObjectIdentityHashMap<String, String> same = new ObjectObjectIdentityHashMap<>();
		fill(6, same, i -> same.put("k" + i, "v" + i));
		LongLongScatterMap longs = new LongLongScatterMap();
		fill(14, longs, i -> longs.put(i, i));
		is(0, new LongLongHashMap());
		IntHashSet set = new IntHashSet();
		fill(15, set, i -> set.add(i));
		ObjectScatterSet<String> strings = new ObjectScatterSet<>();
		fill(16, strings, i -> strings.add(i == 0 ? null : "e" + i));
		IntArrayList list = new IntArrayList();
		fill(17, list, i -> list.add(i));
		ObjectStack<String> stack = new ObjectStack<>();
		fill(5, stack, i -> stack.push("e" + i));
		IntArrayDeque deque = new IntArrayDeque();
		for (int i = 0; i < 20; i++)
			deque.addLast(i);
		for (int i = 0; i < 12; i++)
			deque.removeFirst();
		for (int i = 0; i < 4; i++)
			deque.addFirst(i);
		is(12, deque);
	}
}
