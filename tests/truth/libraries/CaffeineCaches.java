/* SPDX-License-Identifier: GPL-3.0-or-later */
/** Caffeine's caches. */
import com.github.benmanes.caffeine.cache.*;

@SuppressWarnings({"unchecked", "rawtypes"})
public class CaffeineCaches extends Planted {
	public static void plant() {
		Cache bounded = Caffeine.newBuilder().maximumSize(100).build(), plain = Caffeine.newBuilder().build();
		Cache weak = Caffeine.newBuilder().weakKeys().softValues().build();
		fill(17, bounded, i -> bounded.put("k" + i, "v" + i));
		fill(18, plain, i -> plain.put("k" + i, "v" + i));
		fill(19, weak, i -> weak.put("k" + i, "v" + i));
		is(19, weak.asMap());
	}
}
