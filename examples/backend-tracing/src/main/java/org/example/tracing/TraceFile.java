package org.example.tracing;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// A table of steps, comma-separated: `kind,tokens,sequences,logit_rows,micros`.
///
/// It is opened when the first step comes; each line is in the file when [#add] returns. Safe for
/// any thread.
final class TraceFile implements AutoCloseable {
    private static final String HEADER = "kind,tokens,sequences,logit_rows,micros\n";

    private final Path path;
    private Writer writer;

    /// Names a file; nothing is opened yet.
    ///
    /// @param path made if it is missing, else lengthened
    TraceFile(Path path) {
        this.path = path;
    }

    /// Adds a line.
    ///
    /// @param kind kind of the step
    /// @param input its batch
    /// @param micros how long it took, in microseconds
    /// @throws BackendException (`BACKEND-003`) if the file cannot be written
    synchronized void add(String kind, StepInput input, long micros) {
        try {
            if (writer == null) {
                writer = Files.newBufferedWriter(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                if (Files.size(path) == 0) {
                    writer.write(HEADER);
                }
            }
            writer.write(kind
                    + ','
                    + input.tokenCount()
                    + ','
                    + input.sequenceCount()
                    + ','
                    + input.logitRows()
                    + ','
                    + micros
                    + '\n');
            writer.flush();
        } catch (IOException e) {
            throw failed(e);
        }
    }

    @Override
    public synchronized void close() {
        if (writer == null) {
            return;
        }
        try (Writer closing = writer) {
            writer = null;
            closing.flush();
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private BackendException failed(IOException e) {
        return new BackendException(
                ErrorCode.BACKEND_FAILED,
                "the trace cannot be written to " + path.toAbsolutePath() + ": " + e
                        + "; set file in etc/org.example.tracing.cfg to a place that can be written",
                0,
                e);
    }
}
