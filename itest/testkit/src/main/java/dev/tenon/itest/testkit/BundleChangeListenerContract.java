package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.tenon.api.bundle.BundleChange;
import dev.tenon.api.bundle.BundleChangeListener;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// What every [BundleChangeListener] has to keep to. What it does with a change is its own.
public abstract class BundleChangeListenerContract {
    private static final long END_SECONDS = 60;

    /// For subclasses.
    protected BundleChangeListenerContract() {}

    /// {@return what is under test}
    protected abstract BundleChangeListener listener();

    private static Stream<BundleChange> changes() {
        return Arrays.stream(BundleChange.Kind.values()).flatMap(kind -> {
            boolean had = kind == BundleChange.Kind.UPDATED || kind == BundleChange.Kind.REFUSED;
            return Stream.of(
                    new BundleChange(kind, "org.example.one", "1.2.3", had ? "1.0.0" : "", "it was " + kind),
                    new BundleChange(kind, "org.example.one", "1.2.3.qualifier-1", had ? "2.0.0" : "", "a\ttab, \"x\""),
                    new BundleChange(kind, "one.jar, two.jar", "", "", ""),
                    new BundleChange(kind, "übung", "0.0.0", "", "x".repeat(10_000)));
        });
    }

    @TestFactory
    Stream<DynamicTest> everyChangeIsTaken() {
        return changes()
                .map(change ->
                        DynamicTest.dynamicTest(change.kind() + " " + change.name() + " " + change.version(), () -> {
                            assertDoesNotThrow(() -> listener().changed(change));
                            assertFalse(Thread.interrupted(), "its thread was left interrupted");
                        }));
    }

    @Test
    void aCallMayComeFromAnotherThread() throws InterruptedException {
        BundleChangeListener listener = listener();
        List<BundleChange> changes = changes().toList();
        listener.changed(changes.getFirst());
        assertNull(failure(() -> changes.forEach(listener::changed)), "on another thread");
    }

    /// As when its bundle is to go and it does not return.
    @Test
    void aCallThatIsInterruptedReturns() throws InterruptedException {
        BundleChangeListener listener = listener();
        failure(() -> {
            Thread.currentThread().interrupt();
            listener.changed(changes().findFirst().orElseThrow());
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
