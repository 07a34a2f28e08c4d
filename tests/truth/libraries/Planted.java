/* SPDX-License-Identifier: GPL-3.0-or-later */
/** Collections whose numbers of elements are known, and a dump of the heap with them: Planted FILE CLASS... */
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;

@SuppressWarnings({"unchecked", "rawtypes"})
public class Planted {
	static final Object[] planted = new Object[1000];
	static final List<String> expected = new ArrayList<>();

	/** A collection that is listed in so many rows; how many elements it has it says itself. */
	static void is(int rows, Object collection) {
		planted[expected.size()] = collection;
		expected.add(rows + "\t" + sizeOf(collection) + "\t" + collection.getClass().getName());
	}

	/** A collection that shows a part of another, by a rule that no dump holds. */
	static void unknown(Object collection) {
		planted[expected.size()] = collection;
		expected.add("?\t?\t" + collection.getClass().getName());
	}

	private static String sizeOf(Object o) {
		if (o instanceof Collection)
			return "" + ((Collection) o).size();
		if (o instanceof Map)
			return "" + ((Map) o).size();
		for (String name : new String[] {"size", "count", "estimatedSize"})
			for (Class<?> c = o.getClass(); c != null; c = c.getSuperclass())
				try {
					java.lang.reflect.Method m = c.getDeclaredMethod(name);
					m.setAccessible(true);
					return "" + m.invoke(o);
				} catch (NoSuchMethodException e) {
					continue;
				} catch (Exception e) {
					throw new RuntimeException(e);
				}
		return ""; /* it has no such method */
	}

	static void fill(int size, Object collection, IntConsumer add) {
		for (int i = 0; i < size; i++)
			add.accept(i);
		is(size, collection);
	}

	static void map(int size, Map map) {
		fill(size, map, i -> map.put("k" + i, "v" + i));
	}

	static void ints(int size, Map map) {
		fill(size, map, i -> map.put(i + 3, "v" + i));
	}

	static void longs(int size, Map map) {
		fill(size, map, i -> map.put((long) i, (long) i + 5));
	}

	static void list(int size, Collection collection) {
		fill(size, collection, i -> collection.add("e" + i));
	}

	static void numbers(int size, Collection collection) {
		fill(size, collection, i -> collection.add(i + 2));
	}

	public static void main(String[] args) throws Exception {
		for (int i = 1; i < args.length; i++)
			Class.forName(args[i]).getMethod("plant").invoke(null);
		java.nio.file.Files.write(java.nio.file.Paths.get(args[0] + ".tsv"), expected);
		java.lang.management.ManagementFactory.getPlatformMXBeans(com.sun.management.HotSpotDiagnosticMXBean.class)
		    .get(0).dumpHeap(args[0] + ".hprof", true);
		System.exit(0);
	}
}
