package dev.tenon.platform.cli.terminal;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OneLine;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/// Turns failures into one line on standard error and an exit status.
public final class CliErrors {
    /// Code of an error that nobody foresaw.
    static final String UNEXPECTED = ErrorCode.UNEXPECTED;
    /// Exit status of a command that failed.
    public static final int FAILED = 1;
    /// Exit status of a command that was called wrongly.
    static final int USAGE = 2;
    /// Exit status after Ctrl-C, as shells give it.
    public static final int INTERRUPTED = 130;
    /// Status of a process that was told to end a second time.
    public static final int TERMINATED = 143;

    /// Exit status when the reader of standard output has gone, as shells give it (SIGPIPE).
    public static final int READER_GONE = 141;

    private CliErrors() {}

    /// Reports a wrong call.
    ///
    /// @param error what picocli found
    /// @param err where to print
    /// @param debug whether to print the stack trace too
    /// @return exit status
    public static int usage(ParameterException error, PrintWriter err, boolean debug) {
        CommandLine command = error.getCommandLine();
        String text = error instanceof UnmatchedArgumentException unmatched
                ? unmatched(unmatched)
                : sentence(plain(firstLine(error.getMessage())));
        String name = command.getCommandSpec().qualifiedName();
        line(err, text + " See '" + name + " --help'. [" + ErrorCode.USAGE + "]");
        trace(error, err, debug);
        return USAGE;
    }

    /// Reports a failure.
    ///
    /// @param error what happened
    /// @param err where to print
    /// @param debug whether to print the stack trace too
    /// @return exit status
    public static int failure(Throwable error, PrintWriter err, boolean debug) {
        line(err, text(error));
        trace(error, err, debug);
        return error instanceof TenonException e && e.code().equals(ErrorCode.USAGE) ? USAGE : FAILED;
    }

    /// Reports that standard output could not be written; says nothing where its reader has gone.
    ///
    /// @param output standard output, which failed
    /// @param err where to print
    /// @return exit status
    public static int outputLost(StandardOutput output, PrintWriter err) {
        if (output.readerGone()) {
            return READER_GONE;
        }
        IOException error = output.failure().orElseThrow();
        line(
                err,
                "Standard output cannot be written: " + cause(error) + ". Free space, or send it elsewhere. ["
                        + ErrorCode.IO + "]");
        return FAILED;
    }

    /// {@return the text of a failure on one line, with its code}
    ///
    /// @param error what happened
    public static String text(Throwable error) {
        return switch (error) {
            case TenonException e -> e.getMessage().replaceAll("\\s*\\R\\s*", " ");
            case UncheckedIOException e -> text(e.getCause());
            case IOException e -> "Reading or writing failed: " + cause(e) + ". [" + ErrorCode.IO + "]";
            case OutOfMemoryError e
            when String.valueOf(e.getMessage()).contains("native thread") ->
                "No more threads can be started: the number of a user's or container's processes is limited, or memory is"
                        + " used up. Raise the limit (ulimit -u, pids.max). [" + ErrorCode.ENV_LIMIT + "]";
            case OutOfMemoryError e ->
                "Out of memory: " + cause(e) + ". Give the JVM more memory, or use a smaller context or model. ["
                        + ErrorCode.MEMORY + "]";
            default ->
                "Unexpected " + error.getClass().getSimpleName() + ": " + cause(error)
                        + ". This is an error in Tenon: run again with --debug for details. [" + UNEXPECTED
                        + "]";
        };
    }

    /// {@return a message of picocli with types and choices as people say them}
    ///
    /// @param message the message
    public static String plain(String message) {
        return message.replace("option option ", "option ")
                .replace(" should be in KEY=VALUE format but was ", ": expected NAME=VALUE but was ")
                .replace(" (case-insensitive) but was", " but was")
                .replaceFirst("' is not an? (int|long)$", "' is not a whole number in range")
                .replaceFirst("' is not a (float|double)$", "' is not a number");
    }

    private static String unmatched(UnmatchedArgumentException error) {
        CommandLine command = error.getCommandLine();
        String argument = error.getUnmatched().getFirst();
        if (error.isUnknownOption()) {
            return unknownOption(error);
        }
        return command.getSubcommands().isEmpty()
                ? "Unexpected argument '" + argument + "'."
                : "'" + command.getCommandSpec().qualifiedName() + "' has no command '" + argument + "'."
                        + OtherWords.suggestion(
                                argument,
                                command.getParent() == null,
                                command.getSubcommands().keySet());
    }

    private static String unknownOption(UnmatchedArgumentException error) {
        String option = error.getUnmatched().getFirst().replaceFirst("=.*", "");
        List<String> names = error.getCommandLine().getCommandSpec().options().stream()
                .flatMap(o -> Arrays.stream(o.names()))
                .toList();
        return "Unknown option '" + option + "'." + EditDistance.suggestion(option, names);
    }

    private static String cause(Throwable error) {
        return error.getMessage() == null ? error.toString() : firstLine(error.getMessage());
    }

    private static void line(PrintWriter err, String text) {
        err.println("tenon: " + OneLine.of(text));
        err.flush();
    }

    private static void trace(Throwable error, PrintWriter err, boolean debug) {
        if (debug) {
            error.printStackTrace(err);
            err.flush();
        }
    }

    private static String firstLine(String text) {
        return text == null ? "" : text.lines().findFirst().orElse("").strip();
    }

    private static String sentence(String text) {
        return text.isEmpty() || text.endsWith(".") || text.endsWith("?") ? text : text + ".";
    }
}
