package dev.tenon.platform.bench.tune;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/// Measures in processes of their own ([TuneWorker]), one at a time, so that a candidate that hangs or crashes takes
/// nothing with it. A process goes on from candidate to candidate until one of them ends it.
final class ProcessRig implements Rig {
    /// How much slower than the defaults a candidate may be before it counts as hung.
    private static final long SLOWER = 30;

    private final Supplier<ProcessBuilder> program;
    private final int compilers;
    private final AtomicReference<WorkerProcess> worker = new AtomicReference<>();
    private final Limits limits;
    private volatile boolean stopped;
    private long openNanos;
    private long quadNanos;
    private int quads;

    /// How long a worker may take for an answer.
    ///
    /// @param firstNanos for loading and compiling what was never loaded before
    /// @param leastNanos at least, when a model is loaded again
    /// @param quadNanos at least, when something is measured
    record Limits(long firstNanos, long leastNanos, long quadNanos) {
        static final Limits USUAL =
                new Limits(TimeUnit.MINUTES.toNanos(15), TimeUnit.SECONDS.toNanos(30), TimeUnit.SECONDS.toNanos(10));
    }

    /// @param program makes what starts a worker
    /// @param compilers how many processes compile at once
    /// @param limits how long a worker may take
    ProcessRig(Supplier<ProcessBuilder> program, int compilers, Limits limits) {
        this.program = program;
        this.compilers = compilers;
        this.limits = limits;
        this.openNanos = limits.firstNanos;
    }

    /// Ends what runs; from any thread. Whoever measures gets [Interrupted].
    void stop() {
        stopped = true;
        WorkerProcess now = worker.get();
        if (now != null) {
            now.kill();
        }
    }

    @Override
    public void prepare(List<Candidate> candidates) {
        if (candidates.isEmpty()) {
            return;
        }
        int count = Math.min(compilers, candidates.size());
        try (ExecutorService executor = Executors.newFixedThreadPool(count)) {
            List<Future<?>> parts = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int first = i;
                parts.add(executor.submit(() -> compile(candidates, first, count)));
            }
            for (Future<?> part : parts) {
                part.get();
            }
        } catch (ExecutionException e) {
            throw new TenonException(ErrorCode.ENV_PLATFORM, "Kernels cannot be compiled: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Interrupted();
        }
    }

    private void compile(List<Candidate> candidates, int first, int step) {
        WorkerProcess compiler = null;
        try {
            for (int i = first; i < candidates.size() && !stopped; i += step) {
                try {
                    compiler = compiler == null ? new WorkerProcess(program.get()) : compiler;
                    compiler.ask(load(candidates.get(i), "candidate"), limits.firstNanos);
                    compiler.ask("unload candidate", limits.leastNanos);
                } catch (CandidateFailure e) {
                    // It fails again, and is told, when it is opened to be measured.
                    System.getLogger(ProcessRig.class.getName())
                            .log(System.Logger.Level.DEBUG, candidates.get(i).text(), e);
                    if (compiler != null) {
                        compiler.kill();
                        compiler.close();
                    }
                    compiler = null;
                }
            }
        } finally {
            if (compiler != null) {
                compiler.close();
            }
        }
    }

    private static String load(Candidate candidate, String place) {
        return "load " + place + (candidate.settings().isEmpty() ? "" : " " + candidate.text());
    }

    private String ask(String question, long limitNanos) throws CandidateFailure {
        if (stopped) {
            throw new Interrupted();
        }
        try {
            return worker.get().ask(question, limitNanos);
        } catch (CandidateFailure e) {
            if (stopped) {
                throw new Interrupted();
            }
            end();
            throw e;
        }
    }

    private void end() {
        WorkerProcess now = worker.getAndSet(null);
        if (now != null) {
            now.close();
        }
    }

    private void start() {
        end();
        if (stopped) {
            throw new Interrupted();
        }
        worker.set(new WorkerProcess(program.get()));
        if (stopped) {
            stop();
        }
    }

    /// The defaults must load: if they do not, there is nothing to tune.
    private void defaults() {
        try {
            ask(load(Candidate.DEFAULTS, "defaults"), limits.firstNanos);
        } catch (CandidateFailure e) {
            throw new TenonException(
                    ErrorCode.BACKEND_FAILED,
                    "The model cannot be measured with its default settings: it " + e.getMessage()
                            + ". See whether 'tenon bench' works.",
                    e);
        }
    }

    private void candidate(Candidate candidate) throws CandidateFailure {
        ask(load(candidate, "candidate"), openNanos);
    }

    private void ready(long start) throws CandidateFailure {
        ask("warm", openNanos);
        openNanos = Math.max(limits.leastNanos, SLOWER * (System.nanoTime() - start));
        quadNanos = limits.quadNanos + 4 * SLOWER * Long.parseLong(ask("block", limits.leastNanos));
    }

    /// Loads the defaults again too: a plan that was loaded earlier has more behind it, such as its warm-up.
    @Override
    public void open(Candidate candidate) throws CandidateFailure {
        reopen(candidate, false);
    }

    @Override
    public void reopen(Candidate candidate, boolean process) throws CandidateFailure {
        long start = System.nanoTime();
        if (process || worker.get() == null) {
            start();
        }
        // The order of loading favours neither.
        if (quads % 2 == 0) {
            candidate(candidate);
            defaults();
        } else {
            defaults();
            candidate(candidate);
        }
        ready(start);
    }

    @Override
    public double difference() throws CandidateFailure {
        return Double.parseDouble(ask("difference", quadNanos));
    }

    @Override
    public Workload.Quad quad() throws CandidateFailure {
        String[] words =
                ask("quad " + (quads++ % 2 == 0 ? "abba" : "baab"), quadNanos).split(" ");
        Workload.Times[] times = new Workload.Times[4];
        for (int i = 0; i < times.length; i++) {
            times[i] = new Workload.Times(Double.parseDouble(words[2 * i]), Double.parseDouble(words[2 * i + 1]));
        }
        return new Workload.Quad(times[0], times[1], times[2], times[3]);
    }

    @Override
    public void close() {
        end();
    }
}
