package dev.tenon.platform.bundles.dev;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Runs the commands of a round one after the other, each with a log of its own. [#stop()] may be called by
/// any thread.
public final class Steps {
    private final Path folder;
    private final Path logs;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private volatile Process running;

    /// Creates the steps of a project.
    ///
    /// @param folder where commands run
    /// @param logs where their logs go
    public Steps(Path folder, Path logs) {
        this.folder = folder;
        this.logs = logs;
    }

    /// How a command ended.
    ///
    /// @param status its exit status
    /// @param lines what it wrote to both of its streams
    /// @param log the file that holds the lines
    public record Result(int status, List<String> lines, Path log) {}

    /// Runs a command to its end.
    ///
    /// @param name of the step, after which its log is called
    /// @param command the command
    /// @param environment further variables
    /// @return how it ended
    /// @throws TenonException (`IO-001`) if it cannot be started
    public Result run(String name, List<String> command, Map<String, String> environment) {
        Path log = logs.resolve(name + ".log");
        try {
            Files.createDirectories(logs);
            ProcessBuilder builder = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile());
            builder.environment().putAll(environment);
            Process process = builder.start();
            running = process;
            process.getOutputStream().close();
            if (isStopped()) {
                end(process);
            }
            int status = process.waitFor();
            // In the charset in which the tools write, and with any byte that is none of it.
            List<String> lines = new String(Files.readAllBytes(log), Charset.defaultCharset())
                    .lines()
                    .toList();
            return new Result(status, lines, log);
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, command.getFirst() + " cannot be run: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            stop();
            Thread.currentThread().interrupt();
            throw new TenonException(ErrorCode.IO, "Interrupted in the step " + name, e);
        } finally {
            running = null;
        }
    }

    /// Ends the command that runs, with the processes that it has started, and lets none begin.
    public void stop() {
        stopped.countDown();
        Process process = running;
        if (process != null) {
            end(process);
        }
    }

    private static void end(Process process) {
        // The first one first: it would go on when those that it waits for have ended.
        List<ProcessHandle> below = process.descendants().toList();
        process.destroy();
        below.forEach(ProcessHandle::destroy);
    }

    /// {@return whether it was told to stop}
    public boolean isStopped() {
        return stopped.getCount() == 0;
    }

    /// Waits a moment.
    ///
    /// @param millis at most so long
    /// @return false if it was told to stop
    public boolean pause(long millis) {
        try {
            return !stopped.await(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
