/* SPDX-License-Identifier: GPL-3.0-or-later */
/** Apache Commons Collections 4. */
import org.apache.commons.collections4.bag.HashBag;
import org.apache.commons.collections4.bidimap.DualHashBidiMap;
import org.apache.commons.collections4.list.NodeCachingLinkedList;
import org.apache.commons.collections4.list.SetUniqueList;
import org.apache.commons.collections4.map.*;
import org.apache.commons.collections4.multimap.ArrayListValuedHashMap;
import org.apache.commons.collections4.multiset.HashMultiSet;
import org.apache.commons.collections4.queue.CircularFifoQueue;
import org.apache.commons.collections4.set.ListOrderedSet;
import java.util.ArrayList;

@SuppressWarnings({"unchecked", "rawtypes"})
public class Commons4 extends Planted {
	public static void plant() {
		map(11, new HashedMap());
		map(12, new LinkedMap());
		map(13, new LRUMap(50));
		map(14, new ReferenceMap());
		map(15, new CaseInsensitiveMap());
		list(5, new NodeCachingLinkedList());
		list(0, new NodeCachingLinkedList());
		list(6, new HashBag());
		map(4, new PassiveExpiringMap());
		map(8, new DualHashBidiMap());
		list(9, new CircularFifoQueue(12));
		list(12, new CircularFifoQueue(12));
		list(6, ListOrderedSet.listOrderedSet(new ArrayList()));
		list(4, SetUniqueList.setUniqueList(new ArrayList()));
		list(6, new HashMultiSet());
		ArrayListValuedHashMap many = new ArrayListValuedHashMap();
		for (int i = 0; i < 6; i++)
			many.put("k" + i / 2, "v" + i);
		is(6, many);
		ArrayListValuedHashMap own = new ArrayListValuedHashMap() {
		};
		own.putAll(many);
		is(6, own);
		HashBag bag = new HashBag();
		bag.add("a", 5);
		bag.add("b");
		is(2, bag);
		is(2, org.apache.commons.collections4.bag.UnmodifiableBag.unmodifiableBag(bag));
		HashMultiSet set = new HashMultiSet();
		set.add("a", 7);
		is(1, set);
		HashedMap nulls = new HashedMap();
		nulls.put(null, null);
		is(1, nulls);
		is(1, new SingletonMap("a", "b"));
	}
}
