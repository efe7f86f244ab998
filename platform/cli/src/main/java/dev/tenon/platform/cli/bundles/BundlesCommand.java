package dev.tenon.platform.cli.bundles;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.internal.Json;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.osgi.framework.BundleContext;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `tenon bundles`: what is installed.
@Command(
        name = "bundles",
        description = {
            "Lists installed bundles: state, version, services; and why one is not running.",
            "Installs, updates and removes bundles, while models generate too."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon bundles --problems",
            "  tenon bundles --why -m model.gguf",
            "  tenon bundles install my-format.jar",
            "  tenon bundles remove org.example.my.format",
            "",
            "Commands go to the running platform of this installation that began last, if there is one."
        })
@Component(service = TenonCommand.class, scope = ServiceScope.PROTOTYPE, property = TenonCommand.NAME + "=bundles")
public final class BundlesCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Option(names = "--problems", description = "List only bundles that are not running.")
    private boolean problems;

    @Option(
            names = "--why",
            description = "Tell for each choice that a model takes which candidates there are, and why each was taken"
                    + " or refused.")
    private boolean why;

    @Option(
            names = {"-m", "--model"},
            paramLabel = "FILE",
            description = "The model for --why (default: the configured one).")
    private String model;

    @Option(
            names = "--pid",
            paramLabel = "N",
            description = "Speak to this running platform; 0: to none (default: the one that began last).")
    private Long pid;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    BundleShell shell;

    private Path folder;

    /// Called by the component runtime.
    ///
    /// @param context tells where the installation is
    @Activate
    void activate(BundleContext context) {
        this.folder = ControlClient.folder(context);
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
            String text = running.isPresent() ? running.get().ask("why", file) : shell.run("why", file);
            if (json) {
                console.out().println(text);
            } else {
                WhyTable.print(text, console.out());
            }
            return 0;
        }
        List<OsgiBundles.Info> bundles =
                running.map(platform -> parse(platform.ask("list", ""))).orElseGet(BundlesCommand::bundles).stream()
                        .filter(b -> !problems || !b.problems().isEmpty())
                        .toList();
        if (json) {
            console.out().println(json(bundles));
        } else {
            print(bundles);
        }
        return 0;
    }

    @Command(name = "install", description = "Tries a bundle, has models move to it, and keeps it in deploy/.")
    Integer install(@Parameters(paramLabel = "JAR", description = "The bundle.") Path jar) {
        return change("install", jar.toAbsolutePath().normalize().toString());
    }

    @Command(name = "update", description = "As install, for a bundle that must be there already.")
    Integer update(@Parameters(paramLabel = "JAR", description = "Its new version.") Path jar) {
        return change("update", jar.toAbsolutePath().normalize().toString());
    }

    @Command(name = "remove", description = "Takes a bundle away that was installed or dropped into deploy/.")
    Integer remove(@Parameters(paramLabel = "NAME", description = "Its symbolic name.") String name) {
        return change("remove", name);
    }

    @Command(name = "verify", description = "Reads a jar from end to end and tells what bundle it is.")
    Integer verify(@Parameters(paramLabel = "JAR", description = "The jar.") Path jar) {
        BundleJar read = BundleJar.read(jar);
        console.out().println(read.title() + " is whole. SHA-256 " + read.sha256());
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
                                : shell.run(command, argument));
        return 0;
    }

    private Optional<ControlClient> running() {
        if (folder == null || pid != null && pid == 0) {
            return Optional.empty();
        }
        List<ControlClient> all = ControlClient.running(folder);
        if (pid == null) {
            return all.stream().findFirst();
        }
        return Optional.of(all.stream()
                .filter(platform -> platform.pid() == pid)
                .findFirst()
                .orElseThrow(() -> new TenonException(
                        ErrorCode.CONTROL,
                        "Process " + pid + " is no running platform of this installation; running are: "
                                + all.stream().map(ControlClient::pid).toList())));
    }

    private static List<OsgiBundles.Info> parse(String json) {
        try {
            return List.of(new ObjectMapper().readValue(json, OsgiBundles.Info[].class));
        } catch (JsonProcessingException e) {
            throw new TenonException(ErrorCode.CONTROL, "The running platform gave no list: " + e.getMessage(), e);
        }
    }

    private static List<OsgiBundles.Info> bundles() {
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
                "There is no OSGi framework here, so there are no bundles to list. Start with the tenon script.");
    }

    private void print(List<OsgiBundles.Info> bundles) {
        int width = bundles.stream().mapToInt(b -> b.name().length()).max().orElse(0);
        for (OsgiBundles.Info bundle : bundles) {
            console.out()
                    .println(String.format(
                                    "%4d %-10s %-" + Math.max(1, width) + "s %-12s %s",
                                    bundle.id(),
                                    bundle.state(),
                                    bundle.name(),
                                    bundle.version(),
                                    String.join(", ", bundle.services()))
                            .stripTrailing());
            for (String problem : bundle.problems()) {
                console.out().println("                " + problem);
            }
        }
        if (bundles.isEmpty()) {
            console.out().println("All bundles are running.");
        }
    }

    static String json(List<OsgiBundles.Info> bundles) {
        return Json.pretty(json -> {
            json.writeStartArray();
            for (OsgiBundles.Info bundle : bundles) {
                json.writeStartObject();
                json.writeNumberField("id", bundle.id());
                json.writeStringField("name", bundle.name());
                json.writeStringField("version", bundle.version());
                json.writeStringField("state", bundle.state());
                json.writeArrayFieldStart("services");
                for (String service : bundle.services()) {
                    json.writeString(service);
                }
                json.writeEndArray();
                json.writeArrayFieldStart("problems");
                for (String problem : bundle.problems()) {
                    json.writeString(problem);
                }
                json.writeEndArray();
                json.writeEndObject();
            }
            json.writeEndArray();
        });
    }
}
