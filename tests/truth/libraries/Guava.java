/* SPDX-License-Identifier: GPL-3.0-or-later */
/** Guava's collections and caches. */
import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import com.google.common.collect.*;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;

@SuppressWarnings({"unchecked", "rawtypes"})
public class Guava extends Planted {

	/** What wraps a multimap in a class that nothing is known of. */
	static class Fewer extends ForwardingMultimap {
		final Multimap of;
		Fewer(Multimap of) {
			this.of = of;
		}
		@Override protected Multimap delegate() {
			return of;
		}
		@Override public int size() {
			return 1;
		}
	}

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
		is(8, lists);
		is(8, sets);
		is(8, linked);
		is(8, linkedSets);
		is(8, sorted);
		is(8, ImmutableListMultimap.copyOf(lists));
		is(8, ImmutableSetMultimap.copyOf(sets));
		is(8, Multimaps.synchronizedMultimap(lists));
		is(8, Multimaps.unmodifiableMultimap(sets));
		unknown(Multimaps.filterKeys(lists, k -> k.equals("k0")));
		unknown(new Fewer(lists));
		Multiset bag = HashMultiset.create(), tree = TreeMultiset.create();
		for (int i = 0; i < 10; i++) {
			bag.add("k" + i / 2);
			tree.add("k" + i / 2);
		}
		is(5, bag);
		is(5, tree);
		is(5, ImmutableMultiset.copyOf(bag));
		is(5, ConcurrentHashMultiset.create(bag));
		is(5, LinkedHashMultiset.create(bag));
		is(5, Multisets.unmodifiableMultiset(bag));
		EnumMultiset<Thread.State> states = EnumMultiset.create(Thread.State.class);
		is(0, EnumMultiset.create(Thread.State.class));
		states.add(Thread.State.BLOCKED, 4);
		states.add(Thread.State.NEW);
		is(2, states);
		unknown(Multisets.filter(bag, k -> k.equals("k0")));
		unknown(((TreeMultiset<String>) tree).headMultiset("k2", BoundType.OPEN));
		Multimap colliding = HashMultimap.create();
		for (int i = 0; i < 64; i++) {
			StringBuilder key = new StringBuilder();
			for (int bit = 0; bit < 6; bit++)
				key.append((i >> bit & 1) == 0 ? "Aa" : "BB");
			colliding.put(key.toString(), "v");
			colliding.put("k", key.toString());
		}
		is(128, colliding);
		is(0, HashMultiset.create());
		is(0, ConcurrentHashMultiset.create());
		is(0, ArrayListMultimap.create());
		is(0, TreeMultiset.create());
		Table table = HashBasedTable.create();
		for (int i = 0; i < 6; i++)
			table.put("r" + i / 2, "c" + i, "v");
		is(3, table);
		Table sortedTable = TreeBasedTable.create();
		sortedTable.putAll(table);
		is(3, sortedTable);
		is(0, HashBasedTable.create());
		is(3, ImmutableTable.copyOf(table));
		is(1, ImmutableTable.of("r", "c", "v"));
		Table array = ArrayTable.create(seven.keySet(), java.util.Arrays.asList("c0", "c1", "c2"));
		array.put("k0", "c1", "v");
		is(21, array);
		is(0, ArrayTable.create(Collections.emptySet(), Collections.emptySet()));
		Table dense = HashBasedTable.create();
		for (int i = 0; i < 11; i++)
			dense.put("r" + i / 4, "c" + i % 4, "v" + i);
		is(11, ImmutableTable.copyOf(dense));
		is(3, Tables.unmodifiableTable(table));
		is(3, Tables.transpose(table));
		is(3, Tables.transformValues(table, v -> v));
		unknown(Sets.filter(seven.keySet(), k -> k.equals("k1")));
		unknown(Collections2.filter(seven.values(), v -> v.equals("v1")));
		unknown(Collections.unmodifiableSet(Sets.filter(seven.keySet(), k -> k.equals("k1"))));
		unknown(Collections.synchronizedCollection(Collections2.filter(seven.values(), v -> v.equals("v1"))));
		unknown(Collections.checkedSet(Sets.filter(new LinkedHashMap<>(seven).keySet(), k -> true), String.class));
		unknown(Maps.filterKeys(seven, k -> k.equals("k1")));
		unknown(Maps.filterKeys(seven, k -> k.equals("k1")).keySet());
		unknown(Lists.partition(ImmutableList.of("a", "b", "c"), 2));
		unknown(Iterables.filter(seven.keySet(), k -> k.equals("k1")));
		is(7, Iterables.transform(seven.keySet(), k -> k));
		is(7, Iterables.unmodifiableIterable(seven.keySet()));
		is(7, Collections2.transform(seven.keySet(), k -> k + "1"));
		unknown(Collections2.transform(Sets.filter(seven.keySet(), k -> true), k -> k));
		is(7, Maps.transformValues(seven, v -> v + "1"));
		is(7, Maps.transformValues(seven, v -> v + "1").values());
		is(7, Maps.asMap(seven.keySet(), k -> k + "1"));
		is(7, Maps.unmodifiableBiMap(HashBiMap.create(seven)));
		is(7, Multimaps.forMap(seven));
		is(7, ImmutableMap.copyOf(seven).keySet());
		is(7, ImmutableSortedMap.copyOf(seven).values());
		is(7, ImmutableMap.copyOf(seven).values());
		is(7, ImmutableMap.copyOf(seven).entrySet());
		is(7, ImmutableSortedSet.copyOf(seven.keySet()).descendingSet());
		is(7, Collections.checkedMap(seven, String.class, String.class));
		is(7, Collections.checkedSet(new LinkedHashSet(seven.keySet()), String.class));
		TreeRangeMap<Integer, String> ranges = TreeRangeMap.create();
		fill(5, ranges, i -> ranges.put(Range.closedOpen(i, i + 1), "v" + i));
		is(2, ImmutableRangeMap.builder().put(Range.closed(1, 2), "a").put(Range.closed(5, 6), "b").build());
		is(1, ImmutableRangeMap.of(Range.closed(1, 2), "a"));
		is(0, ImmutableRangeMap.of());
		is(2, ImmutableRangeSet.builder().add(Range.closed(1, 2)).add(Range.closed(5, 6)).build());
		ClassToInstanceMap instances = MutableClassToInstanceMap.create();
		instances.put(String.class, "x");
		is(1, instances);
		is(1, ImmutableClassToInstanceMap.of(String.class, "x"));
		Cache cache = CacheBuilder.newBuilder().maximumSize(100).build();
		fill(17, cache, i -> cache.put("k" + i, "v" + i));
		Cache weak = CacheBuilder.newBuilder().weakKeys().softValues().build();
		fill(18, weak, i -> weak.put("k" + i, "v" + i));
	}
}
