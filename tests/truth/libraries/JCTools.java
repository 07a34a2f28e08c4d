/* SPDX-License-Identifier: GPL-3.0-or-later */
/** JCTools 2. */
import org.jctools.maps.*;
import org.jctools.queues.*;

@SuppressWarnings({"unchecked", "rawtypes"})
public class JCTools extends Planted {
	public static void plant() {
		list(5, new MpscArrayQueue(16));
		list(6, new SpscArrayQueue(16));
		list(7, new MpmcArrayQueue(16));
		list(3, new SpmcArrayQueue(16));
		list(20, new MpscUnboundedArrayQueue(8));
		list(21, new SpscUnboundedArrayQueue(8));
		list(5, new MpscGrowableArrayQueue(4, 16));
		list(5, new MpscChunkedArrayQueue(4, 16));
		list(8, new MpscLinkedQueue7());
		list(9, new SpscLinkedQueue());
		list(0, new SpscLinkedQueue());
		MpscUnboundedArrayQueue polled = new MpscUnboundedArrayQueue(8);
		for (int i = 0; i < 40; i++)
			polled.add("e" + i);
		for (int i = 0; i < 25; i++)
			polled.poll();
		is(15, polled);
		map(9, new NonBlockingHashMap());
		map(300, new NonBlockingHashMap());
		map(0, new NonBlockingHashMap());
		map(20, new NonBlockingIdentityHashMap());
		list(9, new NonBlockingHashSet());
		longs(50, new NonBlockingHashMapLong());
		longs(1, new NonBlockingHashMapLong());
		is(0, new NonBlockingHashMapLong());
		NonBlockingHashMap removed = new NonBlockingHashMap();
		NonBlockingHashMapLong removedLong = new NonBlockingHashMapLong();
		NonBlockingHashSet removedSet = new NonBlockingHashSet();
		for (int i = 0; i < 30; i++) {
			removed.put("k" + i, "v" + i);
			removedLong.put(i, "v" + i);
			removedSet.add("e" + i);
		}
		for (int i = 0; i < 30; i += 3) {
			removed.remove("k" + i);
			removedLong.remove(i);
			removedSet.remove("e" + i);
		}
		removed.replace("none", "x");
		removed.remove("none");
		is(20, removed);
		is(20, removedLong);
		is(20, removedSet);
		NonBlockingHashMapLong one = new NonBlockingHashMapLong();
		one.put(-1L, "v");
		one.put(1L, "v");
		is(2, one);
	}
}
