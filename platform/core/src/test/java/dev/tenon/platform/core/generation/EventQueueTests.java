package dev.tenon.platform.core.generation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EventQueueTests {
    private static final int WINDOW = 128;

    private final AtomicInteger arrivals = new AtomicInteger();
    private final AtomicInteger rooms = new AtomicInteger();
    private final EventQueue queue = new EventQueue(arrivals::incrementAndGet, rooms::incrementAndGet);

    @Test
    void theEventsOfAStepArriveTogether() throws InterruptedException {
        GenerationEvent token = new GenerationEvent.Token(GeneratedToken.of(7));
        GenerationEvent text = new GenerationEvent.Text("seven");
        queue.publish(token);
        queue.publish(text);
        assertEquals(0, arrivals.get());
        assertFalse(queue.tell());
        assertEquals(1, arrivals.get());
        assertSame(token, queue.take(true));
        assertSame(text, queue.take(true));
        assertFalse(queue.tell());
        assertEquals(1, arrivals.get(), "nothing has come");
        assertNull(queue.take(false));
    }

    @Test
    void aConsumerThatWaitsIsWoken() throws InterruptedException, ExecutionException {
        FutureTask<List<GenerationEvent>> taken = new FutureTask<>(() -> {
            List<GenerationEvent> all = new ArrayList<>();
            for (GenerationEvent event = queue.take(true); event != null; event = queue.take(true)) {
                all.add(event);
            }
            return all;
        });
        Thread consumer = Thread.ofVirtual().start(taken);
        awaitState(consumer, Thread.State.WAITING);
        GenerationEvent first = new GenerationEvent.Text("a");
        queue.publish(first);
        queue.tell();
        GenerationEvent last = new GenerationEvent.Text("b");
        queue.publish(last);
        queue.end(null, new IllegalStateException("the end tells, too"));
        assertEquals(List.of(first, last), taken.get());
    }

    @Test
    void theSequencePausesUntilTheConsumerHasRoom() throws InterruptedException {
        queue.consume();
        for (int i = 0; i < WINDOW; i++) {
            queue.publish(new GenerationEvent.Text("x"));
        }
        assertTrue(queue.tell());
        assertTrue(queue.paused());
        while (queue.paused()) {
            assertNotNull(queue.take(false));
        }
        assertEquals(1, rooms.get());
        assertFalse(queue.tell());
    }

    private static void awaitState(Thread thread, Thread.State state) throws InterruptedException {
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
    }
}
