package dev.tenon.platform.core.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.bundle.BundleChange;
import dev.tenon.api.bundle.BundleChangeListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Events for the services of a kind.
@Timeout(60)
class NotifierTests {
    private final ServiceRegistry registry = new ServiceRegistry();
    private final Notifier<BundleChangeListener> notifier = new Notifier<>(registry, BundleChangeListener.class);
    private final List<String> heard = new CopyOnWriteArrayList<>();

    private void tell(String text) {
        BundleChange change = new BundleChange(BundleChange.Kind.INSTALLED, "a", "1", "", text);
        notifier.tell(listener -> listener.changed(change));
    }

    private BundleChangeListener listener(String name) {
        return change -> heard.add(name + " " + change.text());
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void allAreToldInOrderThoughOneFails() {
        registry.add(listener("one"));
        registry.add((BundleChangeListener) change -> {
            throw new IllegalStateException("broken");
        });
        registry.add(listener("two"));
        List<String> expected = new ArrayList<>();
        IntStream.range(0, 100).forEach(i -> {
            tell("event " + i);
            expected.add("one event " + i);
            expected.add("two event " + i);
        });
        notifier.close();
        assertEquals(expected, heard);
    }

    @Test
    void thoseThatAreHeldOrGoneAreNotTold() {
        BundleChangeListener going = listener("going");
        registry.hold(7);
        registry.add(listener("held"), 7);
        registry.add(going, 8);
        registry.add(listener("one"), 9);
        registry.remove(going);
        tell("event");
        notifier.close();
        assertEquals(List.of("one event"), heard);
    }

    @Test
    void theCallerDoesNotWaitAndWhatDoesNotFitIsDroppedAndCounted() {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        registry.add((BundleChangeListener) change -> {
            called.countDown();
            await(go);
            heard.add(change.text());
        });
        tell("first");
        await(called);
        IntStream.range(0, 1005).forEach(i -> tell("event " + i));
        assertEquals(List.of(), heard);
        assertEquals(5, notifier.dropped());
        go.countDown();
        notifier.close();
        assertEquals(1001, heard.size());
        assertEquals("event 999", heard.getLast());
    }

    @Test
    void aServiceIsRemovedWhenItsCallHasEnded() throws InterruptedException {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        BundleChangeListener slow = change -> {
            called.countDown();
            await(go);
            heard.add("called");
        };
        registry.add(slow);
        tell("event");
        await(called);
        Thread remover = Thread.ofPlatform().start(() -> {
            registry.remove(slow);
            heard.add("removed");
        });
        while (remover.getState() != Thread.State.TIMED_WAITING) {
            assertTrue(remover.isAlive(), "it waits");
            Thread.onSpinWait();
        }
        go.countDown();
        remover.join();
        assertEquals(List.of("called", "removed"), heard);
        notifier.close();
    }

    @Test
    void aServiceMayRemoveItself() {
        BundleChangeListener[] self = new BundleChangeListener[1];
        self[0] = change -> {
            registry.remove(self[0]);
            heard.add(change.text());
        };
        registry.add(self[0]);
        tell("first");
        tell("second");
        notifier.close();
        assertEquals(List.of("first"), heard);
    }

    @Test
    void anInterruptOfOneCallIsNotSeenByTheNext() {
        registry.add((BundleChangeListener) change -> Thread.currentThread().interrupt());
        registry.add((BundleChangeListener) change -> heard.add("interrupted " + Thread.interrupted()));
        tell("event");
        notifier.close();
        assertEquals(List.of("interrupted false"), heard);
        assertFalse(Thread.interrupted());
    }
}
