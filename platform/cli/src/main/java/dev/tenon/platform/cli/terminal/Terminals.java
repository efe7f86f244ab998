package dev.tenon.platform.cli.terminal;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/// Finds out which standard streams are terminals, without starting a terminal library.
///
/// The start script checks (`test -t`) and passes the result in the property `tenon.tty`: the
/// digits of the streams that are terminals, such as `012`. Without it, Linux's `/proc/self/fd` is
/// asked, and then [System#console()].
public final class Terminals {
    private Terminals() {}

    /// {@return whether a standard stream is a terminal}
    ///
    /// @param fd 0 input, 1 output, 2 error
    static boolean isTerminal(int fd) {
        String told = System.getProperty("tenon.tty");
        if (told != null) {
            return told.indexOf('0' + fd) >= 0;
        }
        Path link = Path.of("/proc/self/fd/" + fd);
        if (Files.isSymbolicLink(link)) {
            try {
                String target = Files.readSymbolicLink(link).toString();
                return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
            } catch (IOException e) {
                return consoleIsTerminal();
            }
        }
        return consoleIsTerminal();
    }

    /// {@return whether a standard stream is known to be a pipe or socket}
    ///
    /// @param fd 0 input, 1 output, 2 error
    static boolean isPipe(int fd) {
        try {
            String target =
                    Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd)).toString();
            return target.startsWith("pipe:") || target.startsWith("socket:");
        } catch (IOException | UnsupportedOperationException e) {
            return false; // another system: its message decides
        }
    }

    /// {@return columns of the terminal of this process, as the environment or `stty` says; 0 if neither does}
    public static int columns() {
        String told = System.getenv("COLUMNS");
        if (told == null) {
            try {
                Process stty = new ProcessBuilder("stty", "size")
                        .redirectInput(new File("/dev/tty"))
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
                told = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
                        .strip()
                        .replaceFirst("\\d+ ", "");
            } catch (IOException e) {
                return 0; // no terminal, or no such program
            }
        }
        return told.matches("[1-9]\\d{1,3}") ? Integer.parseInt(told) : 0;
    }

    private static boolean consoleIsTerminal() {
        java.io.Console console = System.console();
        return console != null && console.isTerminal();
    }
}
