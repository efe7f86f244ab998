package dev.tenon.platform.launcher.log;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/// Keeps messages out of texts where standard output and standard error go to one place, such as a
/// terminal: a message that comes in the middle of a line of text begins on a new line.
public final class OwnLines {
    private final PrintStream out;
    private final PrintStream err;
    private volatile boolean inText;
    private volatile boolean inMessage;
    private static volatile boolean written;
    /// Whether both go to one place; asked when the first message comes in the middle of a line.
    private Boolean together;

    private OwnLines(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    /// Takes over the standard streams of the process.
    public static void take() {
        PrintStream out = System.out;
        PrintStream err = System.err;
        OwnLines lines = new OwnLines(out, err);
        System.setOut(new PrintStream(lines.new Text(), false, out.charset()));
        System.setErr(new PrintStream(lines.new Messages(), true, err.charset()));
    }

    /// {@return whether anything was written since then}
    public static boolean written() {
        return written;
    }

    private boolean together() {
        if (together == null) {
            try {
                Object text = Files.readAttributes(Path.of("/dev/fd/1"), BasicFileAttributes.class)
                        .fileKey();
                together = text != null
                        && text.equals(Files.readAttributes(Path.of("/dev/fd/2"), BasicFileAttributes.class)
                                .fileKey());
            } catch (IOException e) {
                together = false; // no such files here: nothing is known
            }
        }
        return together;
    }

    private final class Text extends OutputStream {
        @Override
        public void write(int b) {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            if (length > 0) {
                written = true;
                out.write(bytes, offset, length);
                inText = bytes[offset + length - 1] != '\n';
                inMessage = false;
            }
        }

        @Override
        public void flush() throws IOException {
            if (out.checkError()) {
                throw new IOException("standard output takes no more");
            }
        }
    }

    private final class Messages extends OutputStream {
        @Override
        public void write(int b) {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public synchronized void write(byte[] bytes, int offset, int length) {
            if (length > 0) {
                written = true;
                if (inText && !inMessage && together()) {
                    err.write('\n');
                    inText = false;
                }
                err.write(bytes, offset, length);
                inMessage = bytes[offset + length - 1] != '\n';
            }
        }

        @Override
        public void flush() {
            err.flush();
        }
    }
}
