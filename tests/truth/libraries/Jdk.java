/* SPDX-License-Identifier: GPL-3.0-or-later */
/** The JDK's own: what states no size, null as a key, wrappers, and views of a part. */
import java.util.*;
import java.util.concurrent.*;

@SuppressWarnings({"unchecked", "rawtypes"})
public class Jdk extends Planted {
	public static void plant() {
		list(16, new ConcurrentLinkedQueue());
		list(17, new ConcurrentLinkedDeque());
		list(5, new LinkedTransferQueue());
		map(9, new ConcurrentSkipListMap());
		map(40, new ConcurrentHashMap());
		map(6, Collections.synchronizedMap(new TreeMap()));
		list(3, Collections.checkedCollection(new ConcurrentLinkedQueue(), String.class));
		list(0, new ConcurrentLinkedQueue());
		Map[] nulls = {new HashMap(), new LinkedHashMap(), new IdentityHashMap(), new WeakHashMap()};
		for (Map map : nulls) {
			map.put(null, null);
			map.put("a", null);
			is(2, Collections.unmodifiableMap(map));
		}
		is(2, Collections.unmodifiableSet(nulls[0].keySet()));
		EnumMap states = new EnumMap(Thread.State.class);
		states.put(Thread.State.NEW, null);
		is(1, states);
		is(1, Collections.singletonList(null));
		TreeMap tree = new TreeMap();
		map(12, tree);
		unknown(tree.headMap("k5"));
		unknown(Collections.unmodifiableMap(tree.tailMap("k5")));
		unknown(new ArrayList(tree.values()).subList(2, 4));
		unknown(Collections.synchronizedList(new ArrayList(tree.values()).subList(2, 4)));
		unknown(new TreeSet(tree.keySet()).headSet("k5"));
	}
}
