package dev.tenon.platform.bench.suite.programs;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.WorkFolder;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.osgi.framework.Bundle;
import org.osgi.framework.FrameworkUtil;

/// Starts commands of this installation in processes of their own. Safe for any thread.
public final class TenonProcess {
    private static final Pattern VARIABLE = Pattern.compile("[A-Z][A-Z0-9_]*=.*");
    private static final int SHOWN = 300;
    private static final long GRACE_SECONDS = 10;

    /// {@return the start of a command line that runs this installation}
    ///
    /// @throws TenonException (`ENV-003`) if the process was not started from one
    public List<String> program() {
        String home = home();
        Path program = home == null ? null : Path.of(home, "bin", File.separatorChar == '\\' ? "tenon.cmd" : "tenon");
        if (program == null || !Files.isRegularFile(program)) {
            throw new TenonException(
                    ErrorCode.ENV_PLATFORM,
                    "Measurements start processes of their own, and there is no bin/tenon "
                            + (home == null ? "because tenon.home is not set" : "in " + home)
                            + ". Run it from an unpacked distribution.");
        }
        return List.of(program.toString());
    }

    private static String home() {
        try {
            Bundle bundle = FrameworkUtil.getBundle(TenonProcess.class);
            String home = bundle == null ? null : bundle.getBundleContext().getProperty("tenon.home");
            return home == null ? System.getProperty("tenon.home") : home;
        } catch (NoClassDefFoundError withoutFramework) {
            return System.getProperty("tenon.home");
        }
    }

    /// {@return a builder of a process that runs a command with the same Java}
    ///
    /// @param arguments of `tenon`, after variables of the environment such as `TENON_WARMUP=off`
    public ProcessBuilder builder(List<String> arguments) {
        List<String> command = new ArrayList<>(program());
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("TENON_JAVA_HOME", System.getProperty("java.home"));
        for (String argument : arguments) {
            if (command.size() == 1 && VARIABLE.matcher(argument).matches()) {
                int end = argument.indexOf('=');
                builder.environment().put(argument.substring(0, end), argument.substring(end + 1));
            } else {
                command.add(argument);
            }
        }
        return builder;
    }

    /// Runs a command to its end.
    ///
    /// @param arguments of `tenon`, after variables of the environment such as `TENON_WARMUP=off`
    /// @param limitSeconds how long it may take
    /// @return what it printed on standard output
    /// @throws TenonException (`CLI-001`) if it fails or takes longer, with its last words
    String output(List<String> arguments, double limitSeconds) throws InterruptedException {
        Path out = null;
        Path err = null;
        try {
            out = Files.createTempFile(WorkFolder.path(), "tenon-suite", ".out");
            err = Files.createTempFile(WorkFolder.path(), "tenon-suite", ".err");
            Process process = builder(arguments)
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
            process.getOutputStream().close();
            try {
                if (!process.waitFor((long) (limitSeconds * 1000), TimeUnit.MILLISECONDS)) {
                    throw failed(arguments, "took longer than " + (long) limitSeconds + " s and was ended");
                }
            } finally {
                end(process);
            }
            if (process.exitValue() != 0) {
                throw failed(arguments, "ended with status " + process.exitValue() + ": " + last(err));
            }
            return Files.readString(out);
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.IO, "'tenon " + String.join(" ", arguments) + "' cannot be run: " + e.getMessage(), e);
        } finally {
            delete(out);
            delete(err);
        }
    }

    /// Ends a process: asked first, then without asking.
    public static void end(Process process) {
        process.destroy();
        try {
            if (!process.waitFor(GRACE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    private static TenonException failed(List<String> arguments, String how) {
        return new TenonException(
                ErrorCode.USAGE, "'tenon " + String.join(" ", arguments) + "' " + how + ". Run it alone.");
    }

    private static String last(Path file) throws IOException {
        String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8).strip();
        return text.length() > SHOWN ? "... " + text.substring(text.length() - SHOWN) : text;
    }

    private static void delete(Path file) {
        if (file != null && !file.toFile().delete()) {
            file.toFile().deleteOnExit();
        }
    }
}
