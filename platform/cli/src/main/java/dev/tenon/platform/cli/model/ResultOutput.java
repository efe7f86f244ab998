package dev.tenon.platform.cli.model;

import dev.tenon.platform.cli.Console;
import dev.tenon.platform.core.files.OutputFile;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/// Where a command's result goes: to standard output, or to a file.
final class ResultOutput {
    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            defaultValue = "-",
            description = "The file to write; - for standard output (default: ${DEFAULT-VALUE}).")
    private String output;

    @Option(
            names = {"-y", "--overwrite"},
            description = "Replace the file if it exists, without asking.")
    private boolean overwrite;

    private boolean replace;

    /// Writes a result.
    @FunctionalInterface
    interface Content {
        /// Writes it.
        ///
        /// @param out where to; not closed
        void write(OutputStream out) throws IOException;
    }

    /// {@return whether a file is written}
    boolean isFile() {
        return !output.equals("-");
    }

    /// {@return what messages call it}
    String name() {
        return isFile() ? output : "standard output";
    }

    /// {@return whether another file may be replaced, too, as [Console#mayReplace] says}
    ///
    /// @param console asks
    /// @param other the file
    boolean mayReplace(Console console, Path other) {
        return console.mayReplace(other, overwrite);
    }

    /// {@return numbers as little-endian float32}
    ///
    /// @param row the numbers
    static byte[] littleEndian(float[] row) {
        ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES * row.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(row);
        return bytes.array();
    }

    /// Checks whether the file may be written, before long work begins; asks where it is there.
    ///
    /// @param console asks
    /// @param inputs files that the command reads
    void check(Console console, Path... inputs) {
        if (isFile()) {
            replace = console.mayReplace(Path.of(output), overwrite);
            OutputFile.checkStream(Path.of(output), replace, inputs);
        }
    }

    /// Writes the result, after [#check].
    ///
    /// @param console has standard output
    /// @param content writes it
    /// @param inputs files that the command reads
    void write(Console console, Content content, Path... inputs) {
        if (!isFile()) {
            console.out().flush();
            try {
                OutputStream out = new BufferedOutputStream(console.outBytes());
                content.write(out);
                out.flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return;
        }
        try (OutputFile file = OutputFile.openStream(Path.of(output), replace, inputs)) {
            content.write(file.bytes());
            file.complete();
        } catch (IOException e) {
            throw OutputFile.failed(Path.of(output), e);
        }
    }
}
