package dev.tenon.platform.cli.doctor;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.Probe;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.error.Issue;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Engines;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.text.Json;
import dev.tenon.platform.cli.text.Sizes;
import dev.tenon.platform.core.control.Origins;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/// `tenon devices`: backends and what they found.
@Command(
        name = "devices",
        description = "Lists backends and their devices, best first, and why a backend cannot be used.",
        footerHeading = "%nExamples:%n",
        footer = {"  tenon devices", "  tenon devices --json"})
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=devices",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class DevicesCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Override
    public Integer call() {
        List<Backend> backends = Engines.require(engine).backends();
        if (json) {
            console.out().println(json(backends));
        } else {
            print(backends);
        }
        return 0;
    }

    private void print(List<Backend> backends) {
        PrintWriter out = console.out();
        if (backends.isEmpty()) {
            out.println("No backend is installed. See 'tenon bundles'.");
        }
        for (Backend backend : backends) {
            Probe probe = backend.probe();
            out.printf(
                    "%s  %s  rank %d  %s%n",
                    backend.id(),
                    probe.available() ? "available" : "not available",
                    backend.rank(),
                    Origins.of(backend));
            out.println("    " + probe.reason());
            for (Issue issue : probe.issues()) {
                out.println("    " + issue.severity() + ": " + issue.message() + " [" + issue.code() + "]");
            }
            for (DeviceInfo device : probe.available() ? backend.devices() : List.<DeviceInfo>of()) {
                out.println("    device " + device.id() + ": " + device.name()
                        + (device.memoryBytes() > 0 ? ", " + Sizes.bytes(device.memoryBytes()) : ""));
                for (Map.Entry<String, String> detail : device.details().entrySet()) {
                    out.println("        " + detail.getKey() + ": " + detail.getValue());
                }
            }
        }
    }

    private static String json(List<Backend> backends) {
        return Json.pretty(json -> {
            json.writeStartArray();
            for (Backend backend : backends) {
                Probe probe = backend.probe();
                json.writeStartObject();
                json.writeStringField("id", backend.id());
                json.writeNumberField("rank", backend.rank());
                json.writeStringField("bundle", Origins.of(backend));
                json.writeBooleanField("available", probe.available());
                json.writeStringField("reason", probe.reason());
                json.writeArrayFieldStart("issues");
                for (Issue issue : probe.issues()) {
                    json.writeStartObject();
                    json.writeStringField("severity", issue.severity().name());
                    json.writeStringField("code", issue.code());
                    json.writeStringField("message", issue.message());
                    json.writeEndObject();
                }
                json.writeEndArray();
                json.writeArrayFieldStart("devices");
                for (DeviceInfo device : probe.available() ? backend.devices() : List.<DeviceInfo>of()) {
                    json.writeStartObject();
                    json.writeStringField("id", device.id());
                    json.writeStringField("name", device.name());
                    json.writeStringField("kind", device.kind());
                    json.writeNumberField("memory_bytes", device.memoryBytes());
                    json.writeObjectFieldStart("details");
                    for (Map.Entry<String, String> detail : device.details().entrySet()) {
                        json.writeStringField(detail.getKey(), detail.getValue());
                    }
                    json.writeEndObject();
                    json.writeEndObject();
                }
                json.writeEndArray();
                json.writeEndObject();
            }
            json.writeEndArray();
        });
    }
}
