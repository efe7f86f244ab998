package dev.tenon.platform.cli.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// One run of a command takes the place of another one. The limit on time ends a hang.
@Timeout(60)
class RunsTests {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final Runs runs = new Runs();
    private final Runs.Run first = runs.first();

    @Test
    void theNextGetsWhatTheOneBeforeHasThenAndItsStatusCounts() throws Exception {
        assertFalse(runs.canBeSucceeded(), "before it does its work");
        assertThrows(IllegalStateException.class, runs::next);
        first.offer(() -> List.of("a port"));
        Runs.Run next = runs.next();
        assertTrue(next.isTrial());
        assertFalse(first.isSucceeded());
        assertEquals(List.of("a port"), next.offered());
        CompletableFuture<Integer> status = CompletableFuture.supplyAsync(() -> {
            try {
                return runs.awaitEnd();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        next.offer(List::of);
        next.awaitWork(LONG);
        assertFalse(next.isTrial());
        assertTrue(first.isSucceeded());
        first.ended(1);
        assertFalse(next.isSucceeded());
        assertFalse(status.isDone());
        next.ended(3);
        assertEquals(3, status.get());
    }

    @Test
    void oneThatFailsTellsTheFirstReasonAndTheOneBeforeGoesOn() {
        first.offer(List::of);
        Runs.Run next = runs.next();
        Exception why = new Exception("no port");
        next.failed(why);
        next.failed(new Exception("a consequence"));
        next.ended(1);
        assertSame(
                why,
                assertThrows(IllegalStateException.class, () -> next.awaitWork(LONG))
                        .getCause());
        assertTrue(runs.canBeSucceeded());
        assertFalse(first.isSucceeded());
        Runs.Run silent = runs.next();
        silent.ended(0);
        assertEquals(
                "it ended at once, without a reason",
                assertThrows(IllegalStateException.class, () -> silent.awaitWork(LONG))
                        .getMessage());
    }

    @Test
    void oneThatHangsIsNotWaitedForAndCannotBeginLater() {
        first.offer(List::of);
        Runs.Run next = runs.next();
        assertEquals(
                "it did not begin its work within 0 s",
                assertThrows(IllegalStateException.class, () -> next.awaitWork(Duration.ofMillis(20)))
                        .getMessage());
        assertThrows(IllegalStateException.class, () -> next.offer(List::of));
        assertTrue(next.isTrial());
        assertFalse(first.isSucceeded());
        next.ended(1);
        assertTrue(runs.canBeSucceeded());
    }

    @Test
    void aTrialsFailureIsNotPrinted(@org.junit.jupiter.api.io.TempDir java.nio.file.Path folder) {
        first.offer(List::of);
        Runs.Run next = runs.next();
        TestCli cli = new TestCli(folder);
        cli.current = next;
        TestCli.Result result = cli.run("inspect", "missing.gguf");
        assertEquals(1, result.status());
        assertEquals("", result.err());
        next.ended(result.status());
        assertTrue(assertThrows(IllegalStateException.class, () -> next.awaitWork(LONG))
                .getCause()
                .getMessage()
                .contains("missing.gguf"));
    }
}
