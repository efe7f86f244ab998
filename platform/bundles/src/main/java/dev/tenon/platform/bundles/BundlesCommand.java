package dev.tenon.platform.bundles;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.boot.BundleTrust;
import dev.tenon.platform.bundles.control.BundleShell;
import dev.tenon.platform.bundles.control.ControlClient;
import dev.tenon.platform.bundles.listing.BundleTable;
import dev.tenon.platform.bundles.listing.OsgiBundles;
import dev.tenon.platform.bundles.listing.WhyTable;
import dev.tenon.platform.bundles.manager.Accept;
import dev.tenon.platform.bundles.manager.ApiPackages;
import dev.tenon.platform.bundles.manager.BundleJar;
import dev.tenon.platform.bundles.manager.BundleManager;
import dev.tenon.platform.bundles.repository.BundleRepositories;
import dev.tenon.platform.bundles.repository.Coordinates;
import dev.tenon.platform.bundles.trust.TrustList;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Range;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.WorkFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.osgi.framework.BundleContext;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `tenon bundles`: what is installed.
@Command(
        name = "bundles",
        description = {
            "Lists installed bundles with state, version and services, and why one is not running.",
            "Installs, updates and removes bundles, also while models run."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon bundles --problems",
            "  tenon bundles --why -m model.gguf",
            "  tenon bundles install my-format.jar",
            "  tenon bundles install org.example:my-format:1.2.0",
            "  tenon bundles remove org.example.my.format",
            "  tenon bundles verify my-format.jar",
            "",
            "Commands go to the running platform of this installation that was started last, if there is one."
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=bundles",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class BundlesCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Option(names = "--problems", description = "List only bundles that are not running and jars that were ignored.")
    private boolean problems;

    @Option(
            names = "--why",
            description =
                    "Explain each decision of loading a model: all candidates, and why each was selected or rejected.")
    private boolean why;

    @Option(
            names = {"-m", "--model"},
            paramLabel = "FILE",
            description = "Model for --why (default: the configured one).")
    private String model;

    @Option(
            names = "--pid",
            paramLabel = "N",
            description = "Process id of the running platform to use; 0: none (default: the one started last).")
    @Range(min = 0)
    private Long pid;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    BundleShell shell;

    @Reference(
            cardinality = ReferenceCardinality.OPTIONAL,
            policyOption = ReferencePolicyOption.GREEDY,
            target = BundleManager.LAUNCHER)
    BundleTrust trust;

    private BundleContext context;

    /// Called by the component runtime.
    ///
    /// @param context tells where the installation is
    @Activate
    void activate(BundleContext context) {
        this.context = context;
    }

    @Override
    public Integer call() {
        Optional<ControlClient> running = running();
        if (running.isPresent()) {
            console.note(
                    "Bundles of the running platform, process " + running.get().pid());
        }
        if (why) {
            if (running.isEmpty() && shell == null) {
                throw noFramework();
            }
            String file = console.model(model).toAbsolutePath().toString();
            String text = running.isPresent() ? running.get().ask("why", file) : shell.execute("why", file);
            if (json) {
                console.out().println(text);
            } else {
                WhyTable.print(text, console.out());
            }
            return 0;
        }
        List<OsgiBundles.Info> bundles =
                running.map(platform -> parse(platform.ask("list", ""))).orElseGet(this::bundles).stream()
                        .filter(b -> !problems || !b.problems().isEmpty())
                        .toList();
        if (json) {
            console.out().println(BundleTable.json(bundles));
        } else {
            BundleTable.print(bundles, console.out());
        }
        return 0;
    }

    /// Options of the commands that install.
    static final class ChangeOptions {
        @Option(names = "--offline", description = "Use only repositories on this machine.")
        boolean offline;

        @Option(
                names = "--accept-changed-results",
                description = "Take a version with which loaded models compute other logits, by more than rounding, or"
                        + " whose formats decode blocks to other values.")
        boolean acceptChangedResults;

        @Option(names = "--downgrade", description = "Take a version that is lower than that of the installed bundle.")
        boolean downgrade;

        /// The options that the platform must know.
        private String accepted() {
            return (acceptChangedResults ? " " + Accept.CHANGED_RESULTS.option() : "")
                    + (downgrade ? " " + Accept.DOWNGRADE.option() : "");
        }
    }

    @Command(name = "install", description = "Tests a bundle, moves models to it, and keeps it in deploy/.")
    Integer install(
            @Parameters(
                            paramLabel = "BUNDLE",
                            description = "A jar, group:artifact:version of a Maven repository, or a name in an index.")
                    String bundle,
            @Mixin ChangeOptions options) {
        return change("install", bundle, options);
    }

    @Command(name = "update", description = "Like install, for a bundle that is already installed.")
    Integer update(
            @Parameters(paramLabel = "BUNDLE", description = "The new version, as for install.") String bundle,
            @Mixin ChangeOptions options) {
        return change("update", bundle, options);
    }

    /// Fetches the bundle if it is not a file; the process that runs the platform needs no access
    /// to repositories.
    private Integer change(String name, String bundle, ChangeOptions options) {
        String command = name + options.accepted();
        if (Files.exists(Path.of(bundle)) || bundle.endsWith(".jar")) {
            return change(command, Path.of(bundle).toAbsolutePath().normalize().toString());
        }
        Coordinates wanted = Coordinates.parse(bundle);
        String configured = console.setting("bundles.repositories").orElse(BundleRepositories.CENTRAL);
        BundleRepositories repositories = new BundleRepositories(
                configured, options.offline, filter -> context == null || ApiPackages.meets(filter, context));
        try {
            Path folder = Files.createTempDirectory(WorkFolder.path(), "tenon-fetch-");
            try {
                BundleRepositories.Fetched fetched = repositories.fetch(wanted, folder);
                console.note("Fetched " + fetched.from() + "; " + fetched.checked());
                return change(command, fetched.file().toString());
            } finally {
                try (Stream<Path> files = Files.list(folder)) {
                    for (Path file : files.toList()) {
                        Files.delete(file);
                    }
                }
                Files.delete(folder);
            }
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, wanted + " cannot be stored: " + e.getMessage(), e);
        }
    }

    @Command(name = "remove", description = "Removes a bundle that was installed or copied into deploy/.")
    Integer remove(@Parameters(paramLabel = "NAME", description = "The bundle's symbolic name.") String name) {
        return change("remove", name);
    }

    @Command(
            name = "verify",
            description = "Checks a jar and shows which bundle it is, who signed it, and whether it may run.")
    Integer verify(@Parameters(paramLabel = "JAR", description = "The jar.") Path jar) {
        BundleJar read = BundleJar.read(jar);
        console.out().println(read.title() + " is complete. SHA-256 " + read.sha256());
        console.out().println("access: " + (read.access() == null ? "not declared" : read.access()));
        if (trust == null) {
            return 0;
        }
        BundleTrust.Verdict verdict = trust.look(jar);
        console.out().println(verdict.signer().isEmpty() ? "not signed" : "signed by: " + verdict.signer());
        console.out()
                .println("bundles.trust=" + verdict.policy() + ": "
                        + (verdict.allows() ? "may run" : "refused, " + verdict.refusal()));
        return verdict.allows() ? 0 : 1;
    }

    @Command(name = "trust", description = "Adds jars to the list of trusted jars (bundles.trust = listed).")
    Integer trust(
            @Parameters(paramLabel = "JAR", arity = "0..*", description = "The jars.") List<Path> jars,
            @Option(names = "--installed", description = "Add all jars in bundles/ and deploy/.") boolean installed) {
        if (shell == null || trust == null) {
            throw noFramework();
        }
        List<Path> all = new ArrayList<>(jars == null ? List.of() : jars);
        if (installed) {
            all.addAll(shell.jars());
        }
        for (BundleJar added : TrustList.add(trust, all)) {
            console.out().println(added.sha256() + "  " + added.title());
        }
        return 0;
    }

    private Integer change(String command, String argument) {
        Optional<ControlClient> running = running();
        if (running.isEmpty() && shell == null) {
            throw noFramework();
        }
        console.out()
                .println(
                        running.isPresent()
                                ? running.get().ask(command, argument) + " in process "
                                        + running.get().pid()
                                : shell.execute(command, argument));
        return 0;
    }

    private Optional<ControlClient> running() {
        if (context == null || pid != null && pid == 0) {
            return Optional.empty();
        }
        List<ControlClient> all = ControlClient.running(context);
        if (pid == null) {
            return all.stream().findFirst();
        }
        return Optional.of(all.stream()
                .filter(platform -> platform.pid() == pid)
                .findFirst()
                .orElseThrow(() -> new TenonException(
                        ErrorCode.CONTROL,
                        "Process " + pid + " is not a running platform of this installation; running: "
                                + all.stream().map(ControlClient::pid).toList())));
    }

    private static List<OsgiBundles.Info> parse(String json) {
        try {
            return List.of(new ObjectMapper().readValue(json, OsgiBundles.Info[].class));
        } catch (JsonProcessingException e) {
            throw new TenonException(
                    ErrorCode.CONTROL, "The running platform did not send a list: " + e.getMessage(), e);
        }
    }

    private List<OsgiBundles.Info> bundles() {
        if (shell != null) {
            return parse(shell.execute("list", ""));
        }
        List<OsgiBundles.Info> bundles;
        try {
            bundles = OsgiBundles.all();
        } catch (NoClassDefFoundError e) {
            bundles = List.of();
        }
        if (bundles.isEmpty()) {
            throw noFramework();
        }
        return bundles;
    }

    private static TenonException noFramework() {
        return new TenonException(
                ErrorCode.ENV_PLATFORM,
                "There is no OSGi framework, so there are no bundles. Start Tenon with bin/tenon.");
    }
}
