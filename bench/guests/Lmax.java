// The LMAX Disruptor at the same work as the rows of `../src/rows`: one publisher, one reader, each message checked.
//
// Usage: java Lmax WORK CAPACITY MESSAGES. Its two threads are named bench-here and bench-there. It says "ready", begins when it is told a line, and prints
// {"ns": nanoseconds a message}.

import com.lmax.disruptor.BusySpinWaitStrategy;
import com.lmax.disruptor.EventPoller;
import com.lmax.disruptor.RingBuffer;

public final class Lmax {
    /** Long enough for the compiler of the machine. */
    private static final long WARM_UP_NS = 500_000_000;
    private static final int BATCH = 64;

    static final class Event {
        long value;
    }

    /** What the reader does with each message, and where it is. */
    static final class Checker implements EventPoller.Handler<Event> {
        private final int most;
        long next;

        Checker(int most) {
            this.most = most;
        }

        @Override
        public boolean onEvent(Event event, long sequence, boolean endOfBatch) {
            if (event.value != mix(next)) throw new IllegalStateException("message " + next + " is not that of its sequence");
            next++;
            return next % most != 0;
        }
    }

    private final RingBuffer<Event> ring;
    private final EventPoller<Event> poller;
    private final boolean batches;
    /** How many messages there will be, once that is known. */
    private volatile long total = Long.MAX_VALUE;
    private volatile Throwable failure;

    Lmax(int capacity, boolean batches) {
        ring = RingBuffer.createSingleProducer(Event::new, capacity, new BusySpinWaitStrategy());
        poller = ring.newPoller();
        ring.addGatingSequences(poller.getSequence());
        this.batches = batches;
    }

    static long mix(long sequence) {
        return sequence * 0x9E3779B97F4A7C15L + 0x55;
    }

    /** As the row says: one message a look, or up to a batch. */
    void read() {
        try {
            Checker checker = new Checker(batches ? BATCH : 1);
            while (checker.next < total) {
                if (poller.poll(checker) != EventPoller.PollState.PROCESSING) Thread.onSpinWait();
            }
        } catch (Throwable error) {
            failure = error;
        }
    }

    void publish(long first, long end) {
        if (batches) {
            for (long i = first; i < end; i += BATCH) {
                long high = ring.next(BATCH), low = high - (BATCH - 1);
                for (int k = 0; k < BATCH; k++) ring.get(low + k).value = mix(i + k);
                ring.publish(low, high);
            }
        } else {
            for (long i = first; i < end; i++) {
                long sequence = ring.next();
                ring.get(sequence).value = mix(i);
                ring.publish(sequence);
            }
        }
    }

    /** The time until the reader has all of them. */
    double measure(long messages, Thread reader) throws InterruptedException {
        long done = 0;
        for (long begun = System.nanoTime(); System.nanoTime() - begun < WARM_UP_NS && failure == null; done += messages) publish(done, done + messages);
        long begun = System.nanoTime();
        total = done + messages;
        publish(done, total);
        reader.join();
        return (double) (System.nanoTime() - begun) / messages;
    }

    public static void main(String[] arguments) throws Exception {
        Lmax lmax = new Lmax(Integer.parseInt(arguments[1]), arguments[0].equals("batches"));
        long messages = Long.parseLong(arguments[2]);
        java.util.concurrent.CountDownLatch begin = new java.util.concurrent.CountDownLatch(1);
        Thread there = new Thread(() -> {
            await(begin);
            lmax.read();
        }, "bench-there");
        double[] ns = new double[1];
        Thread here = new Thread(() -> {
            await(begin);
            try {
                ns[0] = lmax.measure(messages, there);
            } catch (InterruptedException error) {
                throw new IllegalStateException(error);
            }
        }, "bench-here");
        // A publisher whose reader is gone would wait for ever.
        here.setDaemon(true);
        there.start();
        here.start();
        System.out.println("ready");
        System.in.read();
        begin.countDown();
        there.join();
        if (lmax.failure != null) throw new IllegalStateException(lmax.failure);
        here.join();
        System.out.println("{\"ns\": " + ns[0] + "}");
    }

    private static void await(java.util.concurrent.CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }
}
