package dev.tenon.platform.contracts.framework;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.WorkFolder;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.osgi.framework.FrameworkUtil;

/// Runs a command in a process of its own, with the distribution's bundles and nothing else: no jars of
/// `deploy/`, no settings of `etc/`. What a handed jar leaves open, writes to its working directory or
/// breaks stays there.
public final class FreshFramework {
    private static final String MAIN = "dev.tenon.platform.launcher.Main";
    /// Options of this process that are not for another one.
    private static final List<String> OWN =
            List.of("-Dtenon.home=", "-Dtenon.cache=", "-Dtenon.mark=", "-Dtenon.tty=", "-XX:AOT");
    /// Above this, a status says that a signal ended the process.
    private static final int SIGNALS = 128;

    /// The status after the reader of standard output has gone: no signal, and no fault.
    private static final int READER_GONE = 141;

    private FreshFramework() {}

    /// A command that runs in a process of its own; closing it ends the process and removes what it has written.
    ///
    /// @param process the process
    /// @param folder where it has written
    public record Running(Process process, Path folder) implements AutoCloseable {
        @Override
        public void close() {
            process.destroyForcibly().onExit().join();
            delete(folder);
        }
    }

    /// Starts a server: a command whose output is read, and that no setting of this process's environment reaches.
    ///
    /// @param arguments the command line
    /// @return the process; the caller closes it
    /// @throws TenonException (`IO-001`) if it could not be prepared
    public static Running serve(List<String> arguments) {
        Path fresh = null;
        try {
            fresh = folder();
            ProcessBuilder builder = builder(fresh, arguments).redirectError(ProcessBuilder.Redirect.INHERIT);
            builder.environment().keySet().removeIf(name -> name.startsWith("TENON_SERVE_"));
            return new Running(builder.start(), fresh);
        } catch (IOException e) {
            delete(fresh);
            throw unprepared(e);
        }
    }

    private static TenonException unprepared(IOException e) {
        return new TenonException(ErrorCode.IO, "A fresh framework cannot be prepared: " + e.getMessage(), e);
    }

    private static Path folder() throws IOException {
        Path home = Path.of(
                FrameworkUtil.getBundle(FreshFramework.class).getBundleContext().getProperty("tenon.home"));
        Path fresh = Files.createTempDirectory(WorkFolder.path(), "tenon-itest-");
        Files.createDirectories(fresh.resolve("etc"));
        Files.createDirectories(fresh.resolve("deploy"));
        Files.createDirectories(fresh.resolve("work"));
        Files.createSymbolicLink(fresh.resolve("bundles"), home.resolve("bundles"));
        return fresh;
    }

    private static ProcessBuilder builder(Path fresh, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> OWN.stream().noneMatch(option::startsWith))
                .forEach(command::add);
        command.addAll(List.of("-cp", absolute(System.getProperty("java.class.path")), "-Dtenon.home=" + fresh));
        command.add(MAIN);
        command.addAll(arguments);
        return new ProcessBuilder(command).directory(fresh.resolve("work").toFile());
    }

    /// Runs a command, with this process's streams.
    ///
    /// @param arguments the command line
    /// @return its exit status
    /// @throws TenonException (`BUNDLE-002`) if the process died, (`IO-001`) if it could not be prepared
    public static int run(List<String> arguments) {
        Path fresh = null;
        try {
            fresh = folder();
            Process process = builder(fresh, arguments).inheritIO().start();
            int status = waitFor(process);
            if (status > SIGNALS && status != READER_GONE) {
                throw new TenonException(
                        ErrorCode.BUNDLE_REJECTED,
                        "The process that ran the contracts died with status " + status
                                + "; the last lines above and hs_err_pid*.log say where. Native code of the bundle may"
                                + " be at fault");
            }
            return status;
        } catch (IOException e) {
            throw unprepared(e);
        } finally {
            delete(fresh);
        }
    }

    private static int waitFor(Process process) {
        try {
            return process.waitFor();
        } catch (InterruptedException e) {
            process.destroy();
            Thread.currentThread().interrupt();
            throw new TenonException(ErrorCode.BUNDLE_REJECTED, "Interrupted while contracts ran", e);
        }
    }

    private static String absolute(String classPath) {
        List<String> entries = new ArrayList<>();
        for (String entry : classPath.split(java.io.File.pathSeparator)) {
            entries.add(Path.of(entry).toAbsolutePath().toString());
        }
        return String.join(java.io.File.pathSeparator, entries);
    }

    /// Links are deleted, not followed.
    private static void delete(Path folder) {
        if (folder == null) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            System.getLogger(FreshFramework.class.getName())
                    .log(System.Logger.Level.WARNING, folder + " is left behind: " + e.getMessage());
        }
    }
}
