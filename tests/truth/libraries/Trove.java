/* SPDX-License-Identifier: GPL-3.0-or-later */
/** Trove 3. */
import gnu.trove.TCollections;
import gnu.trove.TDecorators;
import gnu.trove.list.array.TIntArrayList;
import gnu.trove.list.linked.TIntLinkedList;
import gnu.trove.map.custom_hash.TObjectIntCustomHashMap;
import gnu.trove.map.hash.*;
import gnu.trove.set.hash.*;
import gnu.trove.stack.array.TIntArrayStack;
import gnu.trove.strategy.IdentityHashingStrategy;

@SuppressWarnings({"unchecked", "rawtypes"})
public class Trove extends Planted {
	public static void plant() {
		map(11, new THashMap());
		list(12, new THashSet());
		map(6, new TCustomHashMap(new IdentityHashingStrategy()));
		THashMap nulls = new THashMap();
		nulls.put(null, "for null");
		nulls.put("a", null);
		nulls.put("b", "1");
		nulls.remove("b");
		is(2, nulls);
		THashSet nullSet = new THashSet();
		nullSet.add(null);
		nullSet.add("a");
		is(2, nullSet);
		TObjectIntHashMap nullCounts = new TObjectIntHashMap();
		nullCounts.put(null, 0);
		nullCounts.put("a", 1);
		is(2, nullCounts);
		TIntObjectHashMap<String> objects = new TIntObjectHashMap<>();
		fill(13, objects, i -> objects.put(i, "v" + i));
		TIntIntHashMap ints = new TIntIntHashMap();
		fill(14, ints, i -> ints.put(i, i));
		TObjectIntHashMap<String> counts = new TObjectIntHashMap<>();
		fill(15, counts, i -> counts.put("k" + i, i));
		TLongLongHashMap longs = new TLongLongHashMap();
		fill(5, longs, i -> longs.put(i, i));
		TLongObjectHashMap<String> removed = new TLongObjectHashMap<>();
		for (int i = 0; i < 16; i++)
			removed.put(i, "v" + i);
		for (int i = 0; i < 4; i++)
			removed.remove(i);
		is(12, removed);
		TIntArrayList list = new TIntArrayList();
		fill(17, list, i -> list.add(i));
		TLongHashSet set = new TLongHashSet();
		fill(18, set, i -> set.add(i));
		TIntLinkedList linked = new TIntLinkedList();
		fill(9, linked, i -> linked.add(i));
		TIntArrayStack stack = new TIntArrayStack();
		fill(5, stack, i -> stack.push(i));
		TObjectIntCustomHashMap<String> own = new TObjectIntCustomHashMap<>(new IdentityHashingStrategy());
		fill(6, own, i -> own.put("k" + i, i));
		list(8, new TLinkedHashSet());
		is(13, TCollections.unmodifiableMap(objects));
		is(14, TCollections.synchronizedMap(ints));
		is(15, TCollections.unmodifiableMap(counts));
		is(17, TCollections.unmodifiableList(list));
		is(17, TCollections.synchronizedList(list));
		is(18, TCollections.unmodifiableSet(set));
		is(18, TCollections.synchronizedSet(set));
		is(9, TCollections.unmodifiableCollection(linked));
		is(9, TCollections.synchronizedCollection(linked));
		is(13, TDecorators.wrap(objects));
		is(14, TDecorators.wrap(ints));
		is(15, TDecorators.wrap(counts));
		is(17, TDecorators.wrap(list));
		is(18, TDecorators.wrap(set));
	}
}
