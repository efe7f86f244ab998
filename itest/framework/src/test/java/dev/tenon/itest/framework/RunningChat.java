package dev.tenon.itest.framework;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/// `tenon chat` of an installation as a process that waits for a question, and what it logs.
final class RunningChat implements AutoCloseable {
    private final Process process;
    private final Installation installation;
    private final Path log;
    private final Deadline deadline;

    /// Starts it, and waits until commands reach it.
    RunningChat(Installation installation) throws Exception {
        this.installation = installation;
        log = Files.createTempFile(installation.home().getParent(), "chat", ".txt");
        Path model = installation.home().resolve("models").resolve(Jars.model().getFileName());
        process = installation.start(log, "chat", "-m", model.toString());
        deadline = new Deadline(process, Duration.ofMinutes(8));
        control();
    }

    Process process() {
        return process;
    }

    ControlChannel control() throws Exception {
        return ControlChannel.of(installation, process);
    }

    void awaitLog(String text) throws Exception {
        Osgi.await(text, () -> {
            String logged = Files.readString(log);
            if (!process.isAlive()) {
                throw new AssertionError("the chat ended: " + logged);
            }
            return logged.contains(text);
        });
    }

    /// Ends the input, and with it the chat.
    @Override
    public void close() throws IOException {
        try {
            process.outputWriter().close();
            process.getInputStream().readAllBytes();
            deadline.await();
        } catch (Exception e) {
            throw new AssertionError("the chat does not end: " + Files.readString(log), e);
        } finally {
            deadline.close();
        }
    }
}
