/* SPDX-License-Identifier: GPL-3.0-or-later */
/** Scala before 2.13. */
import scala.Tuple2;
import scala.collection.concurrent.TrieMap;
import scala.collection.immutable.BitSet$;
import scala.collection.immutable.HashMap;
import scala.collection.immutable.HashSet;
import scala.collection.immutable.IntMap;
import scala.collection.immutable.IntMap$;
import scala.collection.immutable.LongMap;
import scala.collection.immutable.LongMap$;
import scala.collection.immutable.Map;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Set;
import scala.collection.immutable.Vector;
import scala.collection.mutable.*;

@SuppressWarnings({"unchecked", "rawtypes"})
public class Scala extends Planted {
	public static void plant() {
		scala.collection.mutable.HashMap map = new scala.collection.mutable.HashMap();
		fill(11, map, i -> map.put("k" + i, "v" + i));
		LinkedHashMap linked = new LinkedHashMap();
		fill(12, linked, i -> linked.put("k" + i, "v" + i));
		scala.collection.mutable.HashSet set = new scala.collection.mutable.HashSet();
		fill(13, set, i -> set.add("e" + i));
		LinkedHashSet linkedSet = new LinkedHashSet();
		fill(14, linkedSet, i -> linkedSet.add("e" + i));
		ArrayBuffer array = new ArrayBuffer();
		fill(15, array, i -> array.$plus$eq("e" + i));
		ListBuffer list = new ListBuffer();
		fill(16, list, i -> list.$plus$eq("e" + i));
		is(16, list.toList());
		is(0, Nil$.MODULE$);
		Queue queue = new Queue();
		fill(6, queue, i -> queue.$plus$eq("e" + i));
		is(0, new Queue());
		ArrayStack stack = new ArrayStack();
		fill(6, stack, i -> stack.$plus$eq("e" + i));
		AnyRefMap any = new AnyRefMap();
		fill(9, any, i -> any.update("k" + i, "v" + i));
		AnyRefMap nulls = new AnyRefMap();
		for (int i = 0; i < 5; i++)
			nulls.update("k" + i, null);
		nulls.update(null, "for null");
		nulls.remove("k3");
		is(5, nulls);
		scala.collection.immutable.ListMap listed = new scala.collection.immutable.ListMap();
		for (int i = 0; i < 6; i++)
			listed = listed.updated("k" + i, "v" + i);
		is(6, listed);
		ListMap pairs = new ListMap();
		fill(7, pairs, i -> pairs.update("k" + i, "v" + i));
		Stack pushed = new Stack();
		fill(8, pushed, i -> pushed.push("e" + i));
		scala.collection.immutable.ListSet once = new scala.collection.immutable.ListSet();
		is(0, once);
		for (int i = 0; i < 6; i++)
			once = once.$plus("k" + i);
		is(6, once);
		TrieMap trie = new TrieMap();
		fill(700, trie, i -> trie.put("k" + i, "v" + i));
		WeakHashMap weak = new WeakHashMap();
		fill(5, weak, i -> weak.put("k" + i, "v"));
		HashMap maps = new HashMap();
		HashSet sets = new HashSet();
		for (int i = 0; i < 900; i++) {
			maps = maps.$plus(new Tuple2("k" + i, "v" + i));
			sets = (HashSet) sets.$plus("k" + i);
		}
		is(900, maps);
		is(900, sets);
		Vector vector = new Vector(0, 0, 0), both = vector;
		for (int i = 0; i < 2100; i++) {
			vector = vector.appendBack("e" + i);
			if (i == 0 || i == 31 || i == 32 || i == 99 || i == 1023 || i == 1056 || i == 2099)
				is(i + 1, vector);
		}
		for (int i = 0; i < 50; i++)
			both = both.appendFront("f" + i).appendBack("e" + i);
		is(100, both);
		IntMap ints = IntMap$.MODULE$.empty();
		LongMap longs = LongMap$.MODULE$.empty();
		is(0, ints);
		is(0, longs);
		for (int i = 0; i < 40; i++) {
			ints = ints.updated(i * i - 100, "v" + i);
			longs = longs.updated((long) i * i * i * 1000003 - 5, i % 4 == 0 ? null : "v" + i);
			if (i == 0 || i == 1 || i == 39) {
				is(i + 1, ints);
				is(i + 1, longs);
			}
		}
		BitSet bits = new BitSet(), none = new BitSet();
		scala.collection.immutable.BitSet fixed = BitSet$.MODULE$.empty();
		is(0, none);
		is(0, fixed);
		for (int i : new int[] {3, 5, 63, 64, 127, 128, 700, 701}) {
			bits.add(i);
			fixed = fixed.$plus(i);
			is(bits.size(), bits.clone());
			is(bits.size(), fixed);
		}
		OpenHashMap open = new OpenHashMap();
		is(0, new OpenHashMap());
		for (int i = 0; i < 30; i++)
			open.put("k" + i, i % 4 == 0 ? null : "v" + i);
		for (int i = 0; i < 9; i++)
			open.remove("k" + i);
		is(21, open);
		scala.collection.mutable.LongMap packed = new scala.collection.mutable.LongMap();
		is(0, new scala.collection.mutable.LongMap());
		for (long i = -7; i < 9; i++)
			if (i != 0)
				packed.update(i, i % 4 == 0 ? null : "v" + i);
		is(15, packed);
		scala.collection.mutable.LongMap odd = packed.clone(), removed = packed.clone();
		removed.$minus$eq(3L);
		unknown(removed);
		removed = removed.clone();
		removed.repack();
		is(14, removed);
		odd.update(0L, "for 0");
		unknown(odd);
		LinkedList links = new LinkedList("a", new LinkedList(null, new LinkedList()));
		is(2, links);
		is(0, new LinkedList());
		is(2, new DoubleLinkedList("a", new DoubleLinkedList("b", new DoubleLinkedList())));
		scala.collection.immutable.Queue fifo = scala.collection.immutable.Queue$.MODULE$.empty();
		is(0, fifo);
		for (int i = 0; i < 9; i++)
			fifo = fifo.enqueue("e" + i);
		is(9, fifo);
		fifo = (scala.collection.immutable.Queue) fifo.tail();
		is(8, fifo);
		fifo = fifo.enqueue("last").enqueue((Object) null);
		is(10, fifo);
		is(11, map.withDefaultValue("x"));
		is(900, maps.withDefaultValue("x"));
		is(2, new scala.collection.immutable.Stack().push("a").push("b"));
		is(1, new Map.Map1("a", "b"));
		is(2, new Map.Map2("a", "b", "c", "d"));
		is(3, new Set.Set3("a", "b", "c"));
	}
}
