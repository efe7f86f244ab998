package dev.tenon.platform.cli.terminal;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/// Standard streams, and which of them are terminals.
///
/// @param in standard input
/// @param output standard output, not buffered; knows whether a write failed
/// @param outBytes standard output
/// @param errBytes standard error
/// @param out standard output as text; not flushed by itself; on a terminal harmless
/// @param err standard error as text; flushed at each line end; on a terminal harmless
/// @param styledOut the same as `out` for text that is harmless, with our own escape sequences
/// @param styledErr the same as `err` for such text
/// @param inTerminal whether input is a terminal
/// @param outTerminal whether output is a terminal
/// @param errTerminal whether error is a terminal
public record Streams(
        InputStream in,
        StandardOutput output,
        OutputStream outBytes,
        OutputStream errBytes,
        PrintWriter out,
        PrintWriter err,
        PrintWriter styledOut,
        PrintWriter styledErr,
        boolean inTerminal,
        boolean outTerminal,
        boolean errTerminal) {
    /// {@return streams around bytes, as UTF-8}
    ///
    /// @param in standard input
    /// @param out standard output
    /// @param err standard error
    /// @param terminals whether input, output and error are terminals
    public static Streams of(InputStream in, OutputStream out, OutputStream err, boolean... terminals) {
        return of(in, new StandardOutput(out, false), err, terminals);
    }

    private static Streams of(InputStream in, StandardOutput output, OutputStream err, boolean... terminals) {
        OutputStream buffered = new BufferedOutputStream(output, 8192);
        Writer out = new OutputStreamWriter(buffered, StandardCharsets.UTF_8);
        Writer messages = new OutputStreamWriter(err, StandardCharsets.UTF_8);
        return new Streams(
                in,
                output,
                buffered,
                err,
                new PrintWriter(terminals[1] ? new SafeWriter(out) : out, false),
                new PrintWriter(terminals[2] ? new SafeWriter(messages) : messages, true),
                new PrintWriter(out, false),
                new PrintWriter(messages, true),
                terminals[0],
                terminals[1],
                terminals[2]);
    }

    /// {@return the standard streams of the process}
    public static Streams ofProcess() {
        return of(
                System.in,
                // System.out hides failures.
                new StandardOutput(new FileOutputStream(FileDescriptor.out), Terminals.isPipe(1)),
                System.err,
                Terminals.isTerminal(0),
                Terminals.isTerminal(1),
                Terminals.isTerminal(2));
    }
}
