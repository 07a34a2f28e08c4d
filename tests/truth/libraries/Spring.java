/* SPDX-License-Identifier: GPL-3.0-or-later */
/** Spring's maps. */
import org.springframework.util.*;

@SuppressWarnings({"unchecked", "rawtypes"})
public class Spring extends Planted {
	public static void plant() {
		LinkedMultiValueMap<String, String> many = new LinkedMultiValueMap<>();
		for (int i = 0; i < 6; i++)
			many.add("k" + i / 2, "v" + i);
		is(3, many);
		map(11, new ConcurrentReferenceHashMap());
		map(12, new LinkedCaseInsensitiveMap());
	}
}
