/* SPDX-License-Identifier: GPL-3.0-or-later */
/** Apache Commons Collections 4. */
import org.apache.commons.collections4.bag.HashBag;
import org.apache.commons.collections4.bidimap.DualHashBidiMap;
import org.apache.commons.collections4.bidimap.TreeBidiMap;
import org.apache.commons.collections4.collection.CompositeCollection;
import org.apache.commons.collections4.list.NodeCachingLinkedList;
import org.apache.commons.collections4.list.SetUniqueList;
import org.apache.commons.collections4.list.TreeList;
import org.apache.commons.collections4.map.*;
import org.apache.commons.collections4.multimap.ArrayListValuedHashMap;
import org.apache.commons.collections4.multiset.HashMultiSet;
import org.apache.commons.collections4.queue.CircularFifoQueue;
import org.apache.commons.collections4.set.CompositeSet;
import org.apache.commons.collections4.set.ListOrderedSet;
import org.apache.commons.collections4.trie.PatriciaTrie;
import java.util.ArrayList;
import java.util.HashMap;

@SuppressWarnings({"unchecked", "rawtypes"})
public class Commons4 extends Planted {
	public static void plant() {
		java.util.List shortList = java.util.Arrays.asList("a", "b");
		java.util.Map shortMap = java.util.Collections.singletonMap("b", "c");
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
		CircularFifoQueue buffer = new CircularFifoQueue(12);
		list(12, buffer);
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
		is(12, org.apache.commons.collections4.queue.SynchronizedQueue.synchronizedQueue(buffer));
		is(6, org.apache.commons.collections4.MultiMapUtils.unmodifiableMultiValuedMap(many));
		map(6, new StaticBucketMap());
		CompositeMap maps = new CompositeMap(new HashMap(), new HashedMap());
		is(2, maps);
		CompositeMap more = new CompositeMap(shortMap, new SingletonMap("a", "b"));
		is(2, more);
		is(0, new CompositeCollection());
		CompositeCollection all = new CompositeCollection();
		all.addComposited(shortList, new TreeList(shortList));
		is(4, all);
		CompositeSet sets = new CompositeSet();
		sets.addComposited(new java.util.HashSet(shortList));
		is(2, sets);
		map(9, new TreeBidiMap());
		is(0, new TreeBidiMap());
		map(0, new Flat3Map());
		map(2, new Flat3Map());
		map(3, new Flat3Map());
		map(9, new Flat3Map());
		Flat3Map nullMap = new Flat3Map();
		nullMap.put("a", "b");
		nullMap.put(null, null);
		is(2, nullMap);
		list(20, new TreeList());
		is(0, new TreeList());
		TreeList shuffled = new TreeList();
		for (int i = 0; i < 60; i++)
			shuffled.add(i * 7 % (i + 1), i % 5 == 0 ? null : "e" + i);
		for (int i = 0; i < 40; i += 3)
			shuffled.remove(i);
		is(46, shuffled);
		PatriciaTrie trie = new PatriciaTrie();
		is(0, trie);
		is(0, new PatriciaTrie());
		trie = new PatriciaTrie();
		for (int i = 0; i < 300; i++)
			trie.put("k" + i * 31 % 977, i % 9 == 0 ? null : "v" + i);
		for (int i = 0; i < 300; i += 7)
			trie.remove("k" + i * 31 % 977);
		is(257, trie);
		PatriciaTrie empty = new PatriciaTrie();
		empty.put("", "for the empty key");
		empty.put("a", "v");
		is(2, empty);
		is(2, org.apache.commons.collections4.trie.UnmodifiableTrie.unmodifiableTrie(empty));
	}
}
