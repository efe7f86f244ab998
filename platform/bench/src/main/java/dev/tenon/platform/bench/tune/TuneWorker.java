package dev.tenon.platform.bench.tune;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.platform.core.control.MeasuredSession;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// The process in which candidates are measured: it does what it is told on standard input, and answers with a line
/// each.
///
/// ```
/// load defaults|candidate [NAME=VALUE ...]   loads the model, in place of the one loaded there
/// unload candidate
/// warm         runs both until the JIT compiler is quiet
/// block        answers with the nanoseconds of a block of the defaults
/// difference   answers with the mean square of the difference of logits, over that of the logits
/// quad abba    answers with nanoseconds of a token of a prompt and of a generated one: of the
///              defaults and the candidate next to it, of the candidate and the defaults next to it
/// ```
final class TuneWorker {
    /// What each answer begins with.
    static final String ANSWER = "tune: ";
    /// What the answer to something that failed begins with.
    static final String FAILED = "failed ";

    private static final long DECODE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long PROMPT_NANOS = TimeUnit.MILLISECONDS.toNanos(400);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long FIRST_WARM_NANOS = TimeUnit.SECONDS.toNanos(4);
    private static final long MOST_WARM_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final int QUIET = 10;
    private static final int LEAST_TOKENS = 8;
    private static final int LEAST_PROMPT = 16;
    private static final int CHECKED_TOKENS = 24;
    private static final int CHECKED_STEPS = 4;

    private final Engine engine;
    private final LoadRequest request;
    private final Workload workload;
    private Variant defaults;
    private Variant candidate;
    private int promptTokens;
    private int tokens = LEAST_TOKENS;
    private long blockNanos;
    private boolean warm;
    private long seed;

    /// @param engine loads
    /// @param request the model, with room for the workload
    /// @param workload what is measured
    TuneWorker(Engine engine, LoadRequest request, Workload workload) {
        this.engine = engine;
        this.request = request;
        this.workload = workload;
        this.promptTokens = workload.prompt();
    }

    /// A loaded model and its sequence.
    private record Variant(LoadedModel model, Session session) implements AutoCloseable {
        void run(int[] tokens) {
            if (!(session instanceof MeasuredSession measured)) {
                throw new IllegalStateException(session.getClass() + " is no session of the platform");
            }
            measured.evaluateUnread(tokens);
        }

        @Override
        public void close() {
            session.close();
            model.close();
        }
    }

    /// Does what it is told until there is nothing more.
    ///
    /// @param in what to do, a line each
    /// @param out receives answers
    void run(BufferedReader in, PrintWriter out) {
        try {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String answer;
                try {
                    answer = answer(line.split(" "));
                } catch (RuntimeException | LinkageError | OutOfMemoryError e) {
                    answer = FAILED + String.valueOf(e.getMessage()).replaceAll("\\R", " ");
                }
                out.println(ANSWER + answer);
                out.flush();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            unload(candidate);
            unload(defaults);
        }
    }

    private String answer(String[] words) {
        switch (words[0]) {
            case "load" -> {
                Map<String, String> settings = new HashMap<>();
                for (String word : Arrays.copyOfRange(words, 2, words.length)) {
                    int at = word.indexOf('=');
                    settings.put(word.substring(0, at), word.substring(at + 1));
                }
                if (words[1].equals("defaults")) {
                    unload(defaults);
                    defaults = null;
                    defaults = load(settings);
                } else {
                    unload(candidate);
                    candidate = null;
                    candidate = load(settings);
                }
                return "loaded";
            }
            case "unload" -> {
                unload(candidate);
                candidate = null;
                return "unloaded";
            }
            case "warm" -> {
                warm();
                return "warm";
            }
            case "block" -> {
                return Long.toString(blockNanos);
            }
            case "difference" -> {
                return Double.toString(difference());
            }
            case "quad" -> {
                return quad(words[1].equals("baab"));
            }
            default -> throw new IllegalArgumentException("unknown: " + words[0]);
        }
    }

    private Variant load(Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(request.settings());
        all.putAll(settings);
        all.put("tuned", "off");
        LoadRequest.Builder builder = request.toBuilder();
        String threads = all.remove("threads");
        if (threads != null) {
            builder.threads(Integer.parseInt(threads));
        }
        LoadedModel model = engine.load(builder.settings(all).build());
        try {
            return new Variant(model, model.newSession());
        } catch (RuntimeException | Error e) {
            model.close();
            throw e;
        }
    }

    private static void unload(Variant variant) {
        if (variant != null) {
            variant.close();
        }
    }

    private int[] random(SplittableRandom from, int n) {
        int vocabulary = defaults.model.config().vocabularySize();
        return from.ints(n, 0, vocabulary).toArray();
    }

    /// Runs both until the JIT compiler is quiet, in a process that was warm before once; and sizes blocks.
    private void warm() {
        CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
        boolean known = compiler != null && compiler.isCompilationTimeMonitoringSupported();
        long begin = System.nanoTime();
        boolean quiet = false;
        while (!quiet) {
            long before = known ? compiler.getTotalCompilationTime() : 0;
            long start = System.nanoTime();
            for (Variant variant : new Variant[] {defaults, candidate}) {
                block(variant, new SplittableRandom(seed++));
            }
            long now = System.nanoTime();
            long compiling = known ? TimeUnit.MILLISECONDS.toNanos(compiler.getTotalCompilationTime() - before) : 0;
            quiet = warm
                    || now - begin >= FIRST_WARM_NANOS && compiling < (now - start) / QUIET
                    || now - begin >= MOST_WARM_NANOS;
        }
        if (!warm) {
            warm = true;
            Workload.Times times = block(defaults, new SplittableRandom(seed++));
            if (workload.prompt() > 0) {
                promptTokens = Math.clamp((long) (PROMPT_NANOS / times.prompt()), LEAST_PROMPT, workload.prompt());
            }
            tokens = Math.clamp((long) (DECODE_NANOS / times.token()), LEAST_TOKENS, room() - promptTokens);
        }
        long start = System.nanoTime();
        block(defaults, new SplittableRandom(seed++));
        blockNanos = System.nanoTime() - start;
    }

    private int room() {
        return request.contextLength() - CHECKED_STEPS;
    }

    /// Times a prompt and generated tokens after it. What is between two blocks, such as threads of the other
    /// variant that are about to park, falls into a pause and an untimed step.
    private Workload.Times block(Variant variant, SplittableRandom random) {
        LockSupport.parkNanos(PAUSE_NANOS);
        int[] prompt = random(random, Math.max(1, promptTokens));
        int[] generated = random(random, tokens + 1);
        variant.session.truncate(0);
        variant.run(new int[] {generated[tokens]});
        variant.session.truncate(0);
        long start = System.nanoTime();
        variant.run(prompt);
        long mid = System.nanoTime();
        variant.run(new int[] {generated[tokens]});
        long from = System.nanoTime();
        if (workload.generated() > 0) {
            for (int i = 0; i < tokens; i++) {
                variant.run(new int[] {generated[i]});
            }
        }
        double token = workload.generated() == 0 ? 1 : (System.nanoTime() - from) / (double) tokens;
        return new Workload.Times(workload.prompt() == 0 ? 1 : (mid - start) / (double) prompt.length, token);
    }

    private String quad(boolean candidateFirst) {
        Workload.Times[] times = new Workload.Times[4]; // a1, b1, b2, a2
        int[] order = candidateFirst ? new int[] {1, 0, 3, 2} : new int[] {0, 1, 2, 3};
        long first = seed++;
        long second = seed++;
        for (int which : order) {
            Variant variant = which == 0 || which == 3 ? defaults : candidate;
            times[which] = block(variant, new SplittableRandom(which < 2 ? first : second));
        }
        StringBuilder text = new StringBuilder();
        for (Workload.Times each : times) {
            text.append(each.prompt()).append(' ').append(each.token()).append(' ');
        }
        return text.toString().strip();
    }

    private double difference() {
        SplittableRandom random = new SplittableRandom(seed++);
        int[] prompt = random(random, CHECKED_TOKENS);
        int[] steps = random(random, CHECKED_STEPS);
        float[][] a = logits(defaults, prompt, steps);
        float[][] b = logits(candidate, prompt, steps);
        double error = 0;
        double power = 0;
        for (int i = 0; i < a.length; i++) {
            for (int j = 0; j < a[i].length; j++) {
                if (Float.floatToRawIntBits(a[i][j]) != Float.floatToRawIntBits(b[i][j])) {
                    double d = (double) a[i][j] - b[i][j];
                    error += Math.max(d * d, Double.MIN_NORMAL);
                }
                power += (double) a[i][j] * a[i][j];
            }
        }
        return error == 0 ? 0 : error / power;
    }

    private static float[][] logits(Variant variant, int[] prompt, int[] steps) {
        float[][] rows = new float[1 + steps.length][];
        variant.session.truncate(0);
        variant.session.evaluate(prompt, Session.Rows.LAST, (index, row) -> rows[0] = row.clone());
        for (int i = 0; i < steps.length; i++) {
            int at = i + 1;
            variant.session.evaluate(new int[] {steps[i]}, Session.Rows.LAST, (index, row) -> rows[at] = row.clone());
        }
        return rows;
    }
}
