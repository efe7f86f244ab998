package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// What services have in common that are told of events, on a thread for which nobody waits.
///
/// @param <E> the events
abstract class ToldContract<E> {
    private static final long END_SECONDS = 60;
    private static final int NAME_LENGTH = 100;

    /// {@return what tells the service under test}
    abstract Consumer<E> told();

    /// Events of all sorts.
    abstract Stream<E> events();

    @TestFactory
    Stream<DynamicTest> everyEventIsTaken() {
        return events().map(event -> {
            String name = event.toString();
            return DynamicTest.dynamicTest(name.substring(0, Math.min(name.length(), NAME_LENGTH)), () -> {
                assertDoesNotThrow(() -> told().accept(event));
                assertFalse(Thread.interrupted(), "its thread was left interrupted");
            });
        });
    }

    @Test
    void aCallMayComeFromAnotherThread() throws InterruptedException {
        Consumer<E> told = told();
        List<E> events = events().toList();
        told.accept(events.getFirst());
        assertNull(failure(() -> events.forEach(told)), "on another thread");
    }

    /// As when its bundle is to go and it does not return.
    @Test
    void aCallThatIsInterruptedReturns() throws InterruptedException {
        failure(() -> {
            Thread.currentThread().interrupt();
            told().accept(events().findFirst().orElseThrow());
        });
    }

    private static Throwable failure(Runnable call) throws InterruptedException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread thread = Thread.ofPlatform().daemon().start(() -> {
            try {
                call.run();
            } catch (RuntimeException | Error e) {
                failure.set(e);
            }
        });
        thread.join(TimeUnit.SECONDS.toMillis(END_SECONDS));
        assertFalse(thread.isAlive(), "the call does not return");
        return failure.get();
    }
}
