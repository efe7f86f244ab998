package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.tenon.api.text.Tokenizer;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// What samplers, logits processors, constraints and proposers of tokens have in common: they are chosen by name, with
/// an argument.
///
/// @param <T> what a provider makes
abstract class NamedRuleContract<T> {
    private static final int THREADS = 8;
    private static final List<String> ARGUMENTS = List.of(
            "",
            " ",
            "0",
            "-1",
            "1",
            "1.5",
            "NaN",
            "99999999999999999999",
            "=",
            "a=b",
            "a,b",
            "{",
            "{}",
            "[1]",
            "\\",
            "(",
            "*",
            "\0",
            "\uD83D",
            "🙂",
            "x".repeat(10_000));

    /// {@return an argument that the provider takes}
    protected String argument() {
        return "";
    }

    /// {@return the tokenizer that it is given; always the same}
    protected Tokenizer tokenizer() {
        return new ByteTokenizer();
    }

    abstract String id();

    abstract T create(String argument, Tokenizer tokenizer);

    /// Uses what was made once.
    abstract void use(T made, Tokenizer tokenizer);

    final T create() {
        return create(argument(), tokenizer());
    }

    /// Does something on several threads that begin together.
    static void onThreads(Runnable task) {
        CyclicBarrier begin = new CyclicBarrier(THREADS);
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Callable<Void>> tasks = Collections.nCopies(THREADS, () -> {
                begin.await();
                task.run();
                return null;
            });
            for (Future<Void> each : threads.invokeAll(tasks)) {
                each.get();
            }
        } catch (ExecutionException | InterruptedException e) {
            throw new AssertionError("on one of several threads: " + e.getMessage(), e);
        }
    }

    @Test
    void theIdIsLowerCaseLettersDigitsAndDashes() {
        assertTrue(id().matches("[a-z0-9-]+"), this::id);
        assertEquals(id(), id(), "the id is always the same");
    }

    /// An argument is from a request: it is understood, or refused with a line for whoever made it.
    @TestFactory
    Stream<DynamicTest> argumentsAreTakenOrRefusedWithTheReason() {
        return ARGUMENTS.stream().map(argument -> {
            String name = argument.length() > 20 ? argument.length() + " times x" : "'" + argument + "'";
            return DynamicTest.dynamicTest(name, () -> takeOrRefuse(argument));
        });
    }

    private void takeOrRefuse(String argument) {
        T made;
        try {
            made = create(argument, tokenizer());
        } catch (IllegalArgumentException e) {
            String text = String.valueOf(e.getMessage());
            assertFalse(
                    text.isBlank() || text.equals("null") || text.contains("\n") || text.contains("Exception"),
                    () -> "it was refused with '" + text + "'; expected a line for people");
            assertTrue(
                    e.getClass() == IllegalArgumentException.class
                            || !e.getClass().getName().startsWith("java."),
                    () -> e + " does not say what is expected");
            return;
        } catch (RuntimeException | LinkageError e) {
            fail("it failed; expected an IllegalArgumentException that says what is expected", e);
            return;
        }
        assertNotNull(made);
        use(made, tokenizer());
    }
}
