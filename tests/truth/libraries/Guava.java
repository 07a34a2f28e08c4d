/* SPDX-License-Identifier: GPL-3.0-or-later */
/** Guava's collections and caches. */
import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import com.google.common.collect.*;
import java.util.LinkedHashMap;
import java.util.Map;

@SuppressWarnings({"unchecked", "rawtypes"})
public class Guava extends Planted {
	public static void plant() {
		Map<String, String> seven = new LinkedHashMap<>();
		for (int i = 0; i < 7; i++)
			seven.put("k" + i, "v" + i);
		is(7, ImmutableMap.copyOf(seven));
		is(1, ImmutableMap.of("a", "b"));
		is(0, ImmutableMap.of());
		is(7, ImmutableBiMap.copyOf(seven));
		is(7, ImmutableSortedMap.copyOf(seven));
		is(1, ImmutableSortedMap.of("a", "b"));
		is(7, ImmutableSet.copyOf(seven.keySet()));
		is(1, ImmutableSet.of("x"));
		is(7, ImmutableSortedSet.copyOf(seven.keySet()));
		is(7, ImmutableList.copyOf(seven.keySet()));
		is(1, ImmutableList.of("x"));
		is(0, ImmutableList.of());
		is(3, Maps.immutableEnumMap(Map.of(Thread.State.NEW, 1, Thread.State.BLOCKED, 2, Thread.State.RUNNABLE, 3)));
		is(2, Sets.immutableEnumSet(Thread.State.NEW, Thread.State.BLOCKED));
		map(11, HashBiMap.create());
		map(6, Maps.synchronizedBiMap(HashBiMap.<String, String>create()));
		map(14, new MapMaker().weakKeys().makeMap());
		map(15, new MapMaker().weakValues().makeMap());
		list(4, EvictingQueue.create(4));
		list(12, MinMaxPriorityQueue.create());
		list(13, Sets.newConcurrentHashSet());

		Multimap lists = ArrayListMultimap.create(), sets = HashMultimap.create(), linked = LinkedListMultimap.create();
		Multimap linkedSets = LinkedHashMultimap.create(), sorted = TreeMultimap.create();
		for (int i = 0; i < 8; i++) {
			lists.put("k" + i / 2, "v" + i);
			sets.put("k" + i / 2, "v" + i);
			linked.put("k" + i / 2, "v" + i);
			linkedSets.put("k" + i / 2, "v" + i);
			sorted.put("k" + i / 2, "v" + i);
		}
		is(4, lists);
		is(4, sets);
		is(8, linked);
		is(4, linkedSets);
		is(4, sorted);
		is(4, ImmutableListMultimap.copyOf(lists));
		is(4, ImmutableSetMultimap.copyOf(sets));
		Multiset bag = HashMultiset.create(), tree = TreeMultiset.create();
		for (int i = 0; i < 10; i++) {
			bag.add("k" + i / 2);
			tree.add("k" + i / 2);
		}
		is(5, bag);
		is(5, tree);
		is(5, ImmutableMultiset.copyOf(bag));
		is(0, TreeMultiset.create());
		Table table = HashBasedTable.create();
		for (int i = 0; i < 6; i++)
			table.put("r" + i / 2, "c" + i, "v");
		is(3, table);
		TreeRangeMap<Integer, String> ranges = TreeRangeMap.create();
		fill(5, ranges, i -> ranges.put(Range.closedOpen(i, i + 1), "v" + i));
		ClassToInstanceMap instances = MutableClassToInstanceMap.create();
		instances.put(String.class, "x");
		is(1, instances);
		Cache cache = CacheBuilder.newBuilder().maximumSize(100).build();
		fill(17, cache, i -> cache.put("k" + i, "v" + i));
		Cache weak = CacheBuilder.newBuilder().weakKeys().softValues().build();
		fill(18, weak, i -> weak.put("k" + i, "v" + i));
	}
}
