package dev.tenon.platform.bench.tune;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// A process that measures ([TuneWorker]): told a line, it answers with one. One that does not answer in time is
/// killed. For one thread; [#kill()] from any.
final class WorkerProcess implements AutoCloseable {
    private static final int INTERRUPTED = 130;
    private static final int TERMINATED = 143;
    private static final long END_SECONDS = 5;

    private final Process process;
    private final BufferedWriter to;
    /// Answers; empty where there are no more.
    private final BlockingQueue<Optional<String>> answers = new LinkedBlockingQueue<>();

    /// Starts it.
    ///
    /// @param builder starts the process; its standard error goes where the builder says
    WorkerProcess(ProcessBuilder builder) {
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.ENV_PLATFORM,
                    "No process can be started for measuring: " + e.getMessage() + ". Check memory and limits.",
                    e);
        }
        to = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        BufferedReader from =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        Thread.ofPlatform().name("tenon-tune-answers").daemon(true).start(() -> read(from));
    }

    private void read(BufferedReader from) {
        try {
            for (String line = from.readLine(); line != null; line = from.readLine()) {
                if (line.startsWith(TuneWorker.ANSWER)) {
                    answers.add(Optional.of(line.substring(TuneWorker.ANSWER.length())));
                }
            }
        } catch (IOException e) {
            // The process was killed; what asks next hears that there are no more answers.
            System.getLogger(WorkerProcess.class.getName())
                    .log(System.Logger.Level.DEBUG, "a worker's answers ended", e);
        }
        answers.add(Optional.empty());
    }

    /// Asks something.
    ///
    /// @param question one line
    /// @param limitNanos how long the answer may take
    /// @return the answer
    /// @throws CandidateFailure if it answers that it failed, has ended, or does not answer in time; then it is
    ///     killed
    /// @throws Interrupted if a signal from a terminal ended it, or this thread is interrupted
    String ask(String question, long limitNanos) throws CandidateFailure {
        try {
            to.write(question);
            to.newLine();
            to.flush();
        } catch (IOException e) {
            throw ended();
        }
        Optional<String> answer;
        try {
            answer = answers.poll(limitNanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Interrupted();
        }
        if (answer == null) {
            kill();
            throw new CandidateFailure(
                    "hung: no answer within " + TimeUnit.NANOSECONDS.toSeconds(limitNanos) + " s, killed");
        }
        String text = answer.orElse(null);
        if (text == null) {
            throw ended();
        }
        if (text.startsWith(TuneWorker.FAILED)) {
            throw new CandidateFailure("failed: " + text.substring(TuneWorker.FAILED.length()));
        }
        return text;
    }

    private CandidateFailure ended() {
        try {
            if (process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                int status = process.exitValue();
                if (status == INTERRUPTED || status == TERMINATED) {
                    throw new Interrupted();
                }
                return new CandidateFailure("crashed: its process ended with status " + status);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Interrupted();
        }
        kill();
        return new CandidateFailure("crashed: its process closed its output");
    }

    /// Kills it, if it still runs.
    void kill() {
        process.destroyForcibly();
    }

    /// Ends it.
    @Override
    public void close() {
        try {
            to.close();
        } catch (IOException e) {
            System.getLogger(WorkerProcess.class.getName())
                    .log(System.Logger.Level.DEBUG, "a worker had ended before", e);
        }
        try {
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                kill();
            }
        } catch (InterruptedException e) {
            kill();
            Thread.currentThread().interrupt();
        }
    }
}
