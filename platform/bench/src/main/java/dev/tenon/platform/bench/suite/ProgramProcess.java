package dev.tenon.platform.bench.suite;

import dev.tenon.platform.bench.suite.programs.TenonProcess;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Runs one program of the suite to its end; replaced in tests.
@FunctionalInterface
interface ProgramProcess {
    /// The status of a process that took longer than it may.
    int TOO_LONG = -1;

    /// Runs it.
    ///
    /// @param arguments of `tenon`
    /// @param limitSeconds how long it may take
    /// @return its exit status, or [#TOO_LONG]
    int run(List<String> arguments, double limitSeconds) throws IOException, InterruptedException;

    /// {@return what starts processes of this installation, which show their progress on our
    ///     standard error}
    static ProgramProcess ofInstallation(TenonProcess tenon) {
        return (arguments, limitSeconds) -> {
            Process process = tenon.builder(arguments)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try {
                process.getOutputStream().close();
                boolean ended = process.waitFor((long) (1000 * limitSeconds), TimeUnit.MILLISECONDS);
                return ended ? process.exitValue() : TOO_LONG;
            } finally {
                process.descendants().forEach(ProcessHandle::destroy);
                TenonProcess.end(process);
            }
        };
    }
}
