package dev.tenon.platform.bundles;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.bundles.control.BundleShell;
import dev.tenon.platform.bundles.control.ControlClient;
import dev.tenon.platform.bundles.dev.BundleProject;
import dev.tenon.platform.bundles.dev.StepLog;
import dev.tenon.platform.bundles.dev.Steps;
import dev.tenon.platform.bundles.manager.Accept;
import dev.tenon.platform.bundles.manager.BundleJar;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.osgi.framework.BundleContext;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/// `tenon dev`: from a change in a bundle's sources to the bundle in a running platform.
@Command(
        name = "dev",
        sortOptions = false,
        description = {
            "Keeps the running platform up to date with the bundle's project in this folder: whenever its sources"
                    + " change, builds the bundle, runs the contract tests, updates it in the running platform, and"
                    + " compares old and new outputs.",
            "Prints one line for each step; whole logs are in target/tenon-dev. Ctrl-C ends it."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon dev",
            "  tenon dev -m model-in-my-format.gguf",
            "  tenon dev --once --build \"gradle build\"",
            "",
            "The bundle goes to the running platform of this installation that was started last; if there is none, to"
                    + " this process. It is kept in deploy/ as by 'tenon bundles install'."
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=dev",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class DevCommand implements TenonCommand {
    private static final int INTERRUPTED = 130;
    private static final long POLL_MILLIS = 250;

    @ParentCommand
    Console console;

    @Option(
            names = {"-m", "--model"},
            paramLabel = "FILE",
            description =
                    "A model that uses the bundle, for the comparison; of an architecture, for its contract, too.")
    private String model;

    @Option(names = "--once", description = "Do all steps once and end; exit status 1 if one fails.")
    private boolean once;

    @Option(
            names = "--build",
            paramLabel = "COMMAND",
            description = "The command that builds the bundle (default: ./mvnw verify, or mvn verify).")
    private String build;

    @Reference
    BundleShell shell;

    private BundleContext context;
    private BundleProject project;
    private Steps steps;

    /// Called by the component runtime.
    ///
    /// @param context tells where the installation is
    @Activate
    void activate(BundleContext context) {
        this.context = context;
    }

    @Override
    public Integer call() {
        Path java = Path.of(System.getProperty("java.home"));
        project = BundleProject.in(Path.of("").toAbsolutePath(), build, java, System.getenv());
        steps = new Steps(project.folder(), project.logs());
        Optional<Path> file = Optional.ofNullable(model).map(console::model).map(Path::toAbsolutePath);
        try (Console.Interrupt interrupt = console.onInterrupt(steps::stop)) {
            long built = project.stamp();
            boolean passed = round(file);
            if (once) {
                return interrupt.happened() ? INTERRUPTED : passed ? 0 : 1;
            }
            console.note("Watching " + project.folder() + "; Ctrl-C ends");
            while (steps.pause(POLL_MILLIS)) {
                long seen = project.stamp();
                // Not while an editor is still writing: when two looks find the same.
                if (seen != built && steps.pause(POLL_MILLIS) && seen == project.stamp()) {
                    built = seen;
                    round(file);
                }
            }
        }
        return 0;
    }

    /// What a step found wrong.
    private static final class Failed extends RuntimeException {
        private static final long serialVersionUID = 1;

        Failed(String message) {
            super(message, null, false, false);
        }
    }

    /// All steps until one fails.
    private boolean round(Optional<Path> file) {
        Path before = project.logs().resolve("previous.jar");
        return step("build", this::build)
                && step("contract", () -> contract(file))
                && step("update", () -> update(before))
                && step("compare", () -> compare(before, file));
    }

    private boolean step(String name, Supplier<String> work) {
        long begin = System.nanoTime();
        String text;
        boolean passed = false;
        try {
            text = work.get();
            passed = true;
        } catch (Failed | TenonException e) {
            text = "failed: " + e.getMessage();
        }
        if (steps.isStopped()) {
            return false;
        }
        console.out().printf(Locale.ROOT, "%-8s %6.1f s  %s%n", name, (System.nanoTime() - begin) / 1e9, text);
        console.out().flush();
        return passed;
    }

    private String build() {
        String tests = check(steps.run("build", project.build(), project.environment()), StepLog.BUILD);
        return BundleJar.read(project.jar()).title() + (tests.isEmpty() ? "" : ", " + tests + " tests passed");
    }

    private String contract(Optional<Path> file) {
        List<String> arguments = new ArrayList<>(List.of("itest", project.jar().toString()));
        file.ifPresent(given -> arguments.addAll(List.of("--model", given.toString())));
        return check(tenon("contract", arguments), StepLog.CONTRACT);
    }

    private String update(Path before) {
        Path jar = project.jar();
        try {
            Files.deleteIfExists(before);
            Optional<Path> installed =
                    shell.kept(BundleJar.read(jar).name()).stream().findFirst();
            if (installed.isPresent()) {
                Files.copy(installed.get(), before, StandardCopyOption.REPLACE_EXISTING);
            }
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, "The installed version of " + jar + " cannot be kept: " + e, e);
        }
        String install = "install " + Accept.CHANGED_RESULTS.option() + " " + Accept.DOWNGRADE.option();
        return ControlClient.running(context).stream()
                .findFirst()
                .map(platform -> platform.ask(install, jar.toString()) + " in process " + platform.pid())
                .orElseGet(() -> shell.execute(install, jar.toString()) + "; no other platform is running");
    }

    private String compare(Path before, Optional<Path> file) {
        if (file.isEmpty()) {
            return "not done: give a model that uses the bundle with -m FILE";
        }
        if (!Files.exists(before)) {
            return "not done: no earlier version was installed";
        }
        Path jar = project.jar();
        if (BundleJar.read(before).sha256().equals(BundleJar.read(jar).sha256())) {
            return "not done: the bundle has not changed";
        }
        Steps.Result result = tenon(
                "compare",
                List.of(
                        "compare",
                        "-m",
                        file.get().toString(),
                        "--bundle",
                        before.toString(),
                        "--bundle",
                        jar.toString()));
        return check(result, StepLog.COMPARE);
    }

    /// Runs a command of this installation in another process.
    private Steps.Result tenon(String step, List<String> arguments) {
        String program = File.separatorChar == '\\' ? "tenon.cmd" : "tenon";
        List<String> command = new ArrayList<>();
        command.add(Path.of(context.getProperty("tenon.home"), "bin", program).toString());
        command.addAll(arguments);
        return steps.run(step, command, Map.of("TENON_JAVA_HOME", System.getProperty("java.home")));
    }

    /// {@return what the log says of a step that passed}
    ///
    /// @throws Failed with the first useful line of one that did not
    private String check(Steps.Result result, StepLog log) {
        if (result.status() != 0) {
            String line = log.failure(result).replace(project.folder() + File.separator, "");
            throw new Failed(line + "; all of it: " + project.folder().relativize(result.log()));
        }
        return log.success(result);
    }
}
