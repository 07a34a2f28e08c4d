/* SPDX-License-Identifier: GPL-3.0-or-later */
/** Vavr's persistent collections. */
import io.vavr.collection.*;

@SuppressWarnings({"unchecked", "rawtypes"})
public class Vavr extends Planted {
	public static void plant() {
		List list = List.empty();
		Vector vector = Vector.empty();
		HashMap map = HashMap.empty();
		LinkedHashMap linked = LinkedHashMap.empty();
		HashSet set = HashSet.empty();
		TreeMap tree = TreeMap.empty();
		TreeSet sorted = TreeSet.empty();
		HashMultimap many = HashMultimap.withSeq().empty();
		is(0, list);
		is(0, vector);
		is(0, map);
		is(0, set);
		is(0, tree);
		is(0, sorted);
		for (int i = 0; i < 70; i++) {
			list = list.prepend("e" + i);
			vector = vector.append("e" + i);
			map = map.put("k" + i, "v" + i);
			linked = linked.put("k" + i, "v" + i);
			set = set.add("e" + i);
			tree = tree.put("k" + i, "v" + i);
			sorted = sorted.add("e" + i);
			many = (HashMultimap) many.put("k" + i / 2, "v" + i);
		}
		is(70, list);
		is(70, vector);
		is(70, vector.drop(3).prependAll(List.of(1, 2, 3)));
		is(70, map);
		is(70, linked);
		is(70, set);
		is(70, tree);
		is(70, sorted);
		is(69, tree.remove("k3"));
		is(70, many);
		Queue fifo = Queue.empty();
		is(0, fifo);
		for (int i = 0; i < 9; i++)
			fifo = fifo.enqueue("e" + i);
		is(9, fifo);
		fifo = fifo.tail().enqueue("last");
		is(9, fifo);
		is(0, BitSet.empty());
		is(3, BitSet.of(1, 5, 63));
		is(4, BitSet.of(1, 5, 64, 127));
		is(5, BitSet.of(1, 5, 64, 127, 900));
		is(3, Array.of("a", "b", "c"));
		unknown(CharSeq.of("abc"));
		unknown(Stream.from(1));
	}
}
