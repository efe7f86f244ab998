package dev.tenon.itest.framework;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// Ends a process that runs for too long, so that whoever reads from it goes on, and tells what its threads did then.
final class Deadline implements AutoCloseable {
    private final Process process;
    private final Duration limit;
    private final Thread watcher;
    private volatile String threads;

    /// Begins to watch.
    ///
    /// @param process a JVM
    /// @param limit how long it may run from now on
    Deadline(Process process, Duration limit) {
        this.process = process;
        this.limit = limit;
        watcher = Thread.ofVirtual().start(this::watch);
    }

    private void watch() {
        try {
            if (!process.waitFor(limit)) {
                threads = threads();
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String threads() throws InterruptedException {
        String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        try {
            Path dump = Files.createTempFile("threads", ".txt");
            Process tool = new ProcessBuilder(jcmd, Long.toString(process.pid()), "Thread.print")
                    .redirectErrorStream(true)
                    .redirectOutput(dump.toFile())
                    .start();
            if (!tool.waitFor(1, TimeUnit.MINUTES)) {
                tool.destroyForcibly().waitFor();
            }
            String text = Files.readString(dump);
            Files.delete(dump);
            return text;
        } catch (IOException e) {
            return "not known: " + e;
        }
    }

    /// Waits for the end of the process.
    ///
    /// @return its exit status
    /// @throws AssertionError with the stacks of its threads if it was ended because it ran too long
    int await() throws InterruptedException {
        int status = process.waitFor();
        watcher.join();
        if (threads != null) {
            throw new AssertionError("it still ran after " + limit + "; its threads: " + threads);
        }
        return status;
    }

    /// Ends the process and the watch.
    @Override
    public void close() {
        watcher.interrupt();
        process.destroyForcibly();
    }
}
