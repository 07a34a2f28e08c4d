/* SPDX-License-Identifier: GPL-3.0-or-later */
/**
 * What VisualVM's own reader finds in a dump: instances by class, objects that are roots, and a sum over all objects and
 * the references of each in their order.
 */
import java.io.File;
import java.util.Iterator;
import java.util.TreeMap;
import java.util.TreeSet;
import org.graalvm.visualvm.lib.jfluid.heap.*;

public class Graph {
	static long references, sum, own;

	static void take(Instance to) {
		if (to == null)
			return;
		references++;
		own = own * 31 + to.getInstanceId();
	}

	public static void main(String[] args) throws Exception {
		for (String path : args) {
			Heap heap = HeapFactory.createHeap(new File(path));
			TreeMap<String, String> classes = new TreeMap<>();
			for (Object o : heap.getAllClasses()) {
				JavaClass c = (JavaClass) o;
				classes.merge(c.getName(), c.getInstancesCount() + " " + c.getFields().size(), (a, b) -> a + ", " + b);
			}
			System.out.println("dump " + path);
			classes.forEach((name, counts) -> System.out.println(name + " " + counts));
			references = sum = 0;
			for (Iterator<?> all = heap.getAllInstancesIterator(); all.hasNext();) {
				Instance i = (Instance) all.next();
				own = i.getInstanceId();
				for (Object v : i.getFieldValues())
					if (v instanceof ObjectFieldValue)
						take(((ObjectFieldValue) v).getInstance());
				if (i instanceof ObjectArrayInstance)
					for (Object v : ((ObjectArrayInstance) i).getValues())
						take((Instance) v);
				sum += own * 31;
			}
			TreeSet<Long> roots = new TreeSet<>();
			for (Object r : heap.getGCRoots())
				roots.add(((GCRoot) r).getInstance().getInstanceId());
			System.out.println("roots " + roots.hashCode() + " references " + references + " sum " + sum);
		}
		System.exit(0);
	}
}
