package dev.tenon.platform.cli.terminal;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/// Standard output, whose first failed write ends the command.
///
/// Writers of text hide an [IOException]; so the failure is thrown as [Lost], once. What is written later is dropped.
public final class StandardOutput extends OutputStream {
    /// Output was lost; [#failure()] says why.
    public static final class Lost extends RuntimeException {
        private static final long serialVersionUID = 1;

        Lost(IOException cause) {
            super(cause);
        }
    }

    private final OutputStream out;
    private final boolean pipe;
    private volatile IOException failure;

    /// Wraps an output.
    ///
    /// @param out where bytes go
    /// @param pipe whether it is known to be a pipe or socket, whose writes only fail when the reader has gone
    StandardOutput(OutputStream out, boolean pipe) {
        this.out = out;
        this.pipe = pipe;
    }

    /// {@return why output was lost, if it was}
    public Optional<IOException> failure() {
        return Optional.ofNullable(failure);
    }

    /// {@return whether output was lost because its reader has gone, as after `| head`}
    public boolean readerGone() {
        IOException e = failure;
        return e != null && (pipe || String.valueOf(e.getMessage()).contains("Broken pipe"));
    }

    @Override
    public void write(int b) {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        if (failure == null) {
            try {
                out.write(bytes, offset, length);
            } catch (IOException e) {
                throw lost(e);
            }
        }
    }

    @Override
    public void flush() {
        if (failure == null) {
            try {
                out.flush();
            } catch (IOException e) {
                throw lost(e);
            }
        }
    }

    private Lost lost(IOException e) {
        failure = e;
        return new Lost(e);
    }
}
