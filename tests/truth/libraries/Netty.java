/* SPDX-License-Identifier: GPL-3.0-or-later */
/** Netty 4.1. */
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.LongObjectHashMap;
import io.netty.util.internal.ConcurrentSet;
import io.netty.util.internal.PlatformDependent;
import io.netty.util.internal.RecyclableArrayList;
import java.util.Queue;

@SuppressWarnings({"unchecked", "rawtypes"})
public class Netty extends Planted {
	public static void plant() {
		IntObjectHashMap<String> ints = new IntObjectHashMap<>();
		fill(11, ints, i -> ints.put(i, "v" + i));
		LongObjectHashMap<String> longs = new LongObjectHashMap<>();
		fill(12, longs, i -> longs.put((long) i, "v" + i));
		DefaultHttpHeaders headers = new DefaultHttpHeaders();
		fill(7, headers, i -> headers.add("k" + i, "v" + i));
		Queue grows = PlatformDependent.newMpscQueue(), fixed = PlatformDependent.newFixedMpscQueue(32);
		fill(3000, grows, i -> grows.add("e" + i));
		fill(6, fixed, i -> fixed.add("e" + i));
		RecyclableArrayList list = RecyclableArrayList.newInstance();
		fill(4, list, i -> list.add("e" + i));
		list(5, new ConcurrentSet());
	}
}
