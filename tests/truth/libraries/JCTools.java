/* SPDX-License-Identifier: GPL-3.0-or-later */
/** JCTools 2. */
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
	}
}
