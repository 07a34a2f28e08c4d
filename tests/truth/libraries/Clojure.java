/* SPDX-License-Identifier: GPL-3.0-or-later */
/** Clojure's persistent collections. */
import clojure.lang.*;
import java.util.Arrays;

@SuppressWarnings({"unchecked", "rawtypes"})
public class Clojure extends Planted {
	public static void plant() {
		Object[] many = new Object[2000];
		for (int i = 0; i < many.length; i++)
			many[i] = "e" + i;
		is(2000, PersistentVector.create(many));
		is(3, PersistentVector.create("a", "b", "c"));
		is(33, PersistentVector.create(Arrays.copyOf(many, 33)));
		is(4, PersistentArrayMap.createWithCheck(Arrays.copyOf(many, 8)));
		is(3, PersistentArrayMap.EMPTY.assoc(null, "for nil").assoc("a", null).assoc("b", "2"));
		is(0, PersistentArrayMap.EMPTY);
		is(2, PersistentVector.create(null, "a"));
		is(9, PersistentList.create(Arrays.asList(many).subList(0, 9)));
		is(1000, PersistentHashMap.create(many));
		is(2000, PersistentHashSet.create(many));
		is(0, PersistentHashMap.EMPTY);
		is(5, PersistentHashMap.create("Aa", "1", "BB", "2", "C#", "3").assoc(null, "for nil").assoc("nil", null));
		Object map = PersistentArrayMap.createWithCheck(Arrays.copyOf(many, 4)); /* a key with a field `array` */
		is(3, PersistentHashMap.create(map, map, "b", map, PersistentVector.create(many), "c"));
		ITransientMap growing = PersistentHashMap.EMPTY.asTransient();
		ITransientCollection vector = PersistentVector.EMPTY.asTransient(), set = PersistentHashSet.EMPTY.asTransient();
		for (int i = 0; i < 70; i++) {
			growing = growing.assoc("k" + i, "v" + i);
			vector = vector.conj("e" + i);
			set = set.conj("e" + i);
		}
		for (int i = 0; i < 9; i++)
			growing = growing.without("k" + i);
		is(61, growing);
		is(70, vector);
		is(70, set);
		PersistentQueue queue = PersistentQueue.EMPTY;
		is(0, queue);
		for (int i = 0; i < 90; i++) {
			queue = queue.cons("e" + i);
			if (i == 0 || i == 1 || i == 89)
				is(i + 1, queue);
		}
		queue = queue.pop().pop();
		is(88, queue);
		for (int i = 0; i < 40; i++)
			queue = queue.pop().cons(i % 7 == 0 ? null : "f" + i);
		is(88, queue);
		is(2000, PersistentVector.create(many).seq());
		is(1999, PersistentVector.create(many).seq().next());
		ISeq later = PersistentVector.create(many).seq();
		for (int i = 0; i < 1100; i++)
			later = later.next();
		is(900, later);
		is(1, PersistentVector.create("a").seq());
		is(2000, ArraySeq.create(many));
		is(1999, ArraySeq.create(many).next());
		is(2, RT.seq(new long[] {1, 2, 3}).next());
		IFn numbers = RT.var("clojure.core", "vector-of");
		is(3, numbers.invoke(Keyword.intern("int"), 1, 2, 3));
		Object longs = numbers.invoke(Keyword.intern("long"));
		is(0, longs);
		for (int i = 0; i < 1100; i++)
			longs = RT.conj((IPersistentCollection) longs, (long) i);
		is(1100, longs);
		unknown(LongRange.create(3, 9));
		unknown(PersistentArrayMap.EMPTY.asTransient().assoc("a", "b"));
		is(8, PersistentTreeMap.create(RT.seq(Arrays.asList(many).subList(0, 16))));
	}
}
