package dev.tenon.platform.server.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The limit on time ends a hang.
@Timeout(60)
class AdmissionTests {
    private final Admission queue = new Admission(1, 100);
    private final List<String> order = Collections.synchronizedList(new ArrayList<>());

    /// Waits on a thread of its own, and leaves at once when its turn has come.
    private Thread waiting(String name, String group, int priority) throws InterruptedException {
        int before = queue.queued();
        Thread thread = Thread.startVirtualThread(() -> {
            try (Admission.Place place = queue.enter(group, priority)) {
                order.add(name);
            } catch (InterruptedException e) {
                order.add(name + " left");
            }
        });
        while (queue.queued() == before) {
            Thread.onSpinWait();
        }
        return thread;
    }

    @Test
    void groupsTakeTurnsAndPriorityGoesFirst() throws Exception {
        List<Thread> threads = new ArrayList<>();
        try (Admission.Place place = queue.enter("a", 0)) {
            threads.add(waiting("a1", "a", 0));
            threads.add(waiting("a2", "a", 0));
            threads.add(waiting("a3", "a", 0));
            threads.add(waiting("b1", "b", 0));
            threads.add(waiting("b2", "b", 0));
            threads.add(waiting("low", "c", -1));
            threads.add(waiting("high", "a", 1));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(List.of("high", "a1", "b1", "a2", "b2", "a3", "low"), order);
        assertEquals(0, queue.running());
        assertEquals(0, queue.queued());
    }

    @Test
    void whoLeavesTheQueueTakesNoTurn() throws Exception {
        Thread leaving;
        Thread staying;
        try (Admission.Place place = queue.enter("a", 0)) {
            leaving = waiting("one", "a", 0);
            staying = waiting("two", "a", 0);
            leaving.interrupt();
            leaving.join();
            assertEquals(1, queue.queued());
        }
        staying.join();
        assertEquals(List.of("one left", "two"), order);
        assertEquals(0, queue.running());
    }

    /// Interrupts come at every moment: before, with and after the turn.
    @Test
    void noPlaceIsLostWhateverTheMoment() throws Exception {
        for (int round = 0; round < 500; round++) {
            CountDownLatch begun = new CountDownLatch(1);
            Admission.Place place = queue.enter("a", 0);
            Thread thread = Thread.startVirtualThread(() -> {
                begun.countDown();
                try (Admission.Place own = queue.enter("b", 0)) {
                    order.add("in");
                } catch (InterruptedException e) {
                    order.add("left");
                }
            });
            begun.await();
            Thread closing = Thread.startVirtualThread(place::close);
            thread.interrupt();
            thread.join();
            closing.join();
            assertEquals(0, queue.running(), "round " + round);
            assertEquals(0, queue.queued(), "round " + round);
        }
    }

    @Test
    void aFullQueueRefuses() throws Exception {
        Admission none = new Admission(1, 0);
        try (Admission.Place place = none.enter("a", 0)) {
            assertThrows(QueueFullException.class, () -> none.enter("a", 0));
        }
        none.enter("a", 0).close();
    }
}
