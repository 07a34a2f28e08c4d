/* SPDX-License-Identifier: GPL-3.0-or-later */
/** Apache Commons Collections 3. */
import org.apache.commons.collections.ArrayStack;
import org.apache.commons.collections.FastArrayList;
import org.apache.commons.collections.FastHashMap;
import org.apache.commons.collections.FastTreeMap;
import org.apache.commons.collections.bag.HashBag;
import org.apache.commons.collections.buffer.BoundedFifoBuffer;
import org.apache.commons.collections.buffer.PriorityBuffer;
import org.apache.commons.collections.buffer.SynchronizedBuffer;
import org.apache.commons.collections.buffer.UnboundedFifoBuffer;
import org.apache.commons.collections.bidimap.TreeBidiMap;
import org.apache.commons.collections.collection.CompositeCollection;
import org.apache.commons.collections.list.NodeCachingLinkedList;
import org.apache.commons.collections.list.TreeList;
import org.apache.commons.collections.map.*;
import org.apache.commons.collections.set.CompositeSet;
import java.util.HashMap;

@SuppressWarnings({"unchecked", "rawtypes"})
public class Commons3 extends Planted {
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
		map(6, ListOrderedMap.decorate(new HashMap()));
		map(4, LazyMap.decorate(new HashMap(), () -> "x"));
		map(7, new FastHashMap());
		map(5, new FastTreeMap());
		list(6, new FastArrayList());
		list(6, new ArrayStack());
		list(9, new UnboundedFifoBuffer());
		BoundedFifoBuffer buffer = new BoundedFifoBuffer(12);
		list(9, buffer);
		list(12, new BoundedFifoBuffer(12));
		MultiValueMap many = new MultiValueMap();
		for (int i = 0; i < 6; i++)
			many.put("k" + i / 2, "v" + i);
		is(3, many);
		list(9, new PriorityBuffer());
		list(9, new org.apache.commons.collections.BinaryHeap());
		list(9, new org.apache.commons.collections.UnboundedFifoBuffer());
		list(9, new org.apache.commons.collections.BoundedFifoBuffer(12));
		list(12, new org.apache.commons.collections.BoundedFifoBuffer(12));
		list(6, new org.apache.commons.collections.HashBag());
		map(6, new org.apache.commons.collections.SequencedHashMap());
		map(6, new org.apache.commons.collections.LRUMap(9));
		is(9, SynchronizedBuffer.decorate(buffer));
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
		map(9, new org.apache.commons.collections.DoubleOrderedMap());
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
	}
}
