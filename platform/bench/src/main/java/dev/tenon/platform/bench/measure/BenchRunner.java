package dev.tenon.platform.bench.measure;

import dev.tenon.api.device.PlanProfile;
import dev.tenon.api.device.PlanProfiler;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.text.LogitsProcessor;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.control.MeasuredSession;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;

/// Runs tests with llama-bench's rules: random tokens (BOS first if the model wants it), no
/// sampling, logits of the last token of each call, which nobody reads, one untimed warm-up, an
/// empty cache before each repetition.
///
/// Several sequences are as many sessions, each on a virtual thread of its own, as if as many people asked;
/// the engine puts their tokens into common steps.
public final class BenchRunner {
    /// The JIT compiler is done when it works for less than this fraction of a repetition. Where
    /// all processors compute, each slice that it gets keeps the whole team waiting.
    private static final int QUIET = 50;
    /// Least time of untimed repetitions: what runs once a token is compiled after some ten
    /// thousand of them, and until then the compiler may be idle for longer than a short
    /// repetition.
    private static final long LEAST_NANOS = TimeUnit.SECONDS.toNanos(4);

    /// Of so many tokens of a text that is edited, one is changed.
    private static final int EDITED = 16;

    private final LoadedModel model;
    private final int nBatch;
    private final int vocabulary;
    private final int bos;
    private final SplittableRandom random = new SplittableRandom(42);
    /// Times of the decoded tokens that are under the clock, if a single sequence decodes;
    /// otherwise empty.
    private long[] tokenNanos = {};

    private int timedTokens;
    /// The model's own tokens of the repetition that runs, if a single sequence generates them; otherwise empty.
    private int[] generated = {};

    /// What was timed.
    ///
    /// @param repetitions nanoseconds of each repetition, without the profiled ones
    /// @param tokens nanoseconds of each decoded token in them; empty where tokens were not decoded
    ///     one by one for a single sequence
    /// @param generated the tokens of the first repetition that a single sequence chose by itself; otherwise empty
    public record Times(long[] repetitions, long[] tokens, int[] generated) {}

    public BenchRunner(LoadedModel model, int nBatch) {
        this.model = model;
        this.nBatch = nBatch;
        this.vocabulary = model.config().vocabularySize();
        Tokenizer tokenizer = model.tokenizer();
        this.bos = tokenizer.addsBos() ? tokenizer.bos().orElse(-1) : -1;
    }

    /// Runs a test.
    ///
    /// @param test what to time
    /// @param repetitions how often
    /// @param warmUp whether to run once before, untimed, and then for as long as the JIT compiler
    ///     is busy
    /// @param warmUpSeconds when to stop waiting for the JIT compiler
    /// @param profile receives a second, profiled run for each repetition; null for none
    /// @param done hears the number of finished repetitions, between two of them
    /// @return the times
    public Times run(
            BenchTest test,
            int repetitions,
            boolean warmUp,
            int warmUpSeconds,
            BenchProfile profile,
            IntConsumer done) {
        long[] nanos = new long[repetitions];
        List<Session> sessions = new ArrayList<>();
        try {
            for (int i = 0; i < test.nParallel(); i++) {
                sessions.add(model.newSession());
            }
            if (warmUp) {
                warmUp(sessions, test);
            }
            for (Session session : sessions) {
                session.truncate(0);
                if (test.nDepth() > 0) {
                    prompt(session, test.nDepth(), random);
                }
            }
            if (warmUp) {
                untilCompiled(sessions, test, warmUpSeconds);
                if (profile != null) {
                    // The first profiled run prepares what the profiler needs, such as a graph with events.
                    profiled(sessions, test);
                }
            }
            boolean single = test.nGen() > 0 && test.nParallel() == 1 && !test.greedy() && !test.edits();
            tokenNanos = new long[single ? repetitions * test.nGen() : 0];
            timedTokens = 0;
            int[] first = {};
            generated = new int[test.greedy() && !test.edits() && test.nParallel() == 1 ? test.nGen() : 0];
            for (int i = 0; i < repetitions; i++) {
                if (profile == null) {
                    nanos[i] = timed(sessions, test);
                } else {
                    nanos[i] = bothWays(sessions, test, profile, i % 2 == 1);
                }
                first = i == 0 ? generated.clone() : first;
                done.accept(i + 1);
            }
            return new Times(nanos, Arrays.copyOf(tokenNanos, timedTokens), first);
        } finally {
            tokenNanos = new long[0];
            generated = new int[0];
            sessions.forEach(Session::close);
        }
    }

    private void warmUp(List<Session> sessions, BenchTest test) {
        if (test.nPrompt() > 0) {
            prompt(sessions.getFirst(), test.nPrompt(), random);
        }
        if (test.nGen() > 0) {
            together(sessions, session -> generate(session, test, 1, random));
        }
    }

    /// Runs untimed repetitions for some seconds, and on until one passes in which the JIT compiler
    /// hardly worked: what comes after is the speed that stays.
    private void untilCompiled(List<Session> sessions, BenchTest test, int seconds) {
        CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
        if (compiler == null || !compiler.isCompilationTimeMonitoringSupported()) {
            return;
        }
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(seconds)) {
            long before = compiler.getTotalCompilationTime();
            long nanos = timed(sessions, test);
            long compiling = TimeUnit.MILLISECONDS.toNanos(compiler.getTotalCompilationTime() - before);
            if (isWarm(compiling, nanos, System.nanoTime() - begin)) {
                return;
            }
        }
    }

    /// {@return whether it is time to begin timing, from the nanoseconds that the JIT compiler
    ///     worked in a repetition, those of the repetition, and those of all so far}
    static boolean isWarm(long compiling, long repetition, long all) {
        return all >= LEAST_NANOS && compiling < repetition / QUIET;
    }

    /// Runs a repetition without profiler and one with it, in turns first, so that a machine that
    /// gets faster or slower favours neither.
    private long bothWays(List<Session> sessions, BenchTest test, BenchProfile profile, boolean profiledFirst) {
        long plain = profiledFirst ? 0 : timed(sessions, test);
        int plainTokens = timedTokens;
        Profiled profiled = profiled(sessions, test);
        timedTokens = plainTokens;
        plain = profiledFirst ? timed(sessions, test) : plain;
        profile.add(profiled.kernels, profiled.nanos, plain);
        return plain;
    }

    private record Profiled(PlanProfile kernels, long nanos) {}

    private Profiled profiled(List<Session> sessions, BenchTest test) {
        PlanProfiler profiler = model.profiler().orElseThrow();
        profiler.start();
        long nanos = timed(sessions, test);
        return new Profiled(profiler.stop(), nanos);
    }

    /// Shortens the sessions to the test's depth, and times what follows.
    private long timed(List<Session> sessions, BenchTest test) {
        sessions.forEach(session -> session.truncate(test.nDepth()));
        return together(sessions, session -> {
            if (test.nPrompt() > 0) {
                prompt(session, test.nPrompt(), random);
            }
            if (test.nGen() > 0) {
                generate(session, test, test.nGen(), random);
            }
        });
    }

    /// What one sequence does.
    @FunctionalInterface
    private interface Work {
        void run(Session session);
    }

    /// Runs the work of all sessions at once.
    ///
    /// @return nanoseconds from the common start until the last one ended
    private static long together(List<Session> sessions, Work work) {
        if (sessions.size() == 1) {
            long start = System.nanoTime();
            work.run(sessions.getFirst());
            return Math.max(1, System.nanoTime() - start);
        }
        CountDownLatch ready = new CountDownLatch(sessions.size());
        CountDownLatch go = new CountDownLatch(1);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (Session session : sessions) {
            threads.add(Thread.ofVirtual().name("tenon-bench-sequence").start(() -> {
                ready.countDown();
                Waiting.await(go);
                try {
                    work.run(session);
                } catch (RuntimeException | Error e) {
                    failure.compareAndSet(null, e);
                }
            }));
        }
        Waiting.await(ready);
        long start = System.nanoTime();
        go.countDown();
        threads.forEach(Waiting::join);
        long nanos = Math.max(1, System.nanoTime() - start);
        switch (failure.get()) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable t -> throw new IllegalStateException(t);
        }
        return nanos;
    }

    private void prompt(Session session, int n, SplittableRandom from) {
        int[] tokens = new int[n];
        for (int i = 0; i < n; i++) {
            tokens[i] = nextToken(from);
        }
        if (bos >= 0) {
            tokens[0] = bos;
        }
        for (int at = 0; at < n; at += nBatch) {
            int[] part = Arrays.copyOfRange(tokens, at, Math.min(n, at + nBatch));
            measured(session).evaluateUnread(part);
        }
    }

    private void generate(Session session, BenchTest test, int n, SplittableRandom from) {
        int[] token = {bos >= 0 ? bos : nextToken(from)};
        if (test.greedy() || test.edits()) {
            int[] count = new int[1];
            session.generate(
                    GenerationRequest.builder()
                            .prompt(token)
                            .sampling(SamplingParams.greedy())
                            .maxNewTokens(n)
                            .ignoreEndOfGeneration(true)
                            .processors(test.edits() && session.length() > 0 ? List.of(edit(session, from)) : List.of())
                            .build(),
                    GenerationListener.ofTokens(t -> {
                        if (count[0] < generated.length) {
                            generated[count[0]++] = t.id();
                        }
                    }));
            return;
        }
        MeasuredSession step = measured(session);
        for (int i = 0; i < n; i++) {
            long start = System.nanoTime();
            step.evaluateUnread(token);
            token[0] = nextToken(from);
            if (timedTokens < tokenNanos.length) {
                tokenNanos[timedTokens++] = System.nanoTime() - start;
            }
        }
    }

    /// {@return what makes the tokens of a session the most probable ones again, but for some of them}
    private LogitsProcessor edit(Session session, SplittableRandom from) {
        int[] text = session.tokens();
        for (int i = EDITED - 1; i < text.length; i += EDITED) {
            text[i] = nextToken(from);
        }
        int first = text.length + 1;
        return (history, logits) -> logits[text[(history.length() - first) % text.length]] = Float.MAX_VALUE;
    }

    private static MeasuredSession measured(Session session) {
        if (session instanceof MeasuredSession measured) {
            return measured;
        }
        throw new IllegalStateException(session.getClass() + " cannot be measured; expected a session of the platform");
    }

    private int nextToken(SplittableRandom from) {
        synchronized (from) {
            return from.nextInt(vocabulary);
        }
    }
}
