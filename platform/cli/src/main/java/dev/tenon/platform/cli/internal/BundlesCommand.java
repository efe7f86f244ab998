package dev.tenon.platform.cli.internal;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import java.util.List;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/// `tenon bundles`: what is installed.
@Command(
        name = "bundles",
        description = "Lists installed bundles: state, version, services; and why one is not running.",
        footerHeading = "%nExamples:%n",
        footer = {"  tenon bundles", "  tenon bundles --problems", "  tenon bundles --json"})
@Component(service = TenonCommand.class, scope = ServiceScope.PROTOTYPE, property = TenonCommand.NAME + "=bundles")
public final class BundlesCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Option(names = "--problems", description = "List only bundles that are not running.")
    private boolean problems;

    @Override
    public Integer call() {
        List<OsgiBundles.Info> bundles = bundles().stream()
                .filter(b -> !problems || !b.problems().isEmpty())
                .toList();
        if (json) {
            console.out().println(json(bundles));
        } else {
            print(bundles);
        }
        return 0;
    }

    private static List<OsgiBundles.Info> bundles() {
        List<OsgiBundles.Info> bundles;
        try {
            bundles = OsgiBundles.all();
        } catch (NoClassDefFoundError e) {
            bundles = List.of();
        }
        if (bundles.isEmpty()) {
            throw new TenonException(
                    ErrorCode.ENV_PLATFORM,
                    "There is no OSGi framework here, so there are no bundles to list. Start with the tenon script.");
        }
        return bundles;
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

    private static String json(List<OsgiBundles.Info> bundles) {
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
