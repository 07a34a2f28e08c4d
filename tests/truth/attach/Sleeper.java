// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.ArrayList;
import java.util.List;

/** A program that makes so many megabytes of objects, says "ready", and sleeps. */
public class Sleeper {
	static final List<Node> KEPT = new ArrayList<>();

	static class Node {
		Node next;
		long number;
		String name;
	}

	public static void main(String[] arguments) throws Exception {
		int lists = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1;
		for (int i = 0; i < lists; i++) {
			Node first = null;
			for (int k = 0; k < 9000; k++) {
				Node node = new Node();
				node.next = first;
				node.number = k;
				node.name = "node " + k;
				first = node;
			}
			KEPT.add(first);
		}
		System.out.println("ready");
		System.out.flush();
		Thread.sleep(Long.MAX_VALUE);
	}
}
