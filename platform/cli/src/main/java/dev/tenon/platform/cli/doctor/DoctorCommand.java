package dev.tenon.platform.cli.doctor;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.Probe;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.DoctorCheck;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.doctor.DoctorReport.Level;
import dev.tenon.platform.cli.terminal.CliErrors;
import dev.tenon.platform.cli.text.Json;
import dev.tenon.platform.cli.text.Sizes;
import dev.tenon.platform.core.control.Origins;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/// `tenon doctor`: checks the installation and says what to do about problems.
@Command(
        name = "doctor",
        description = "Checks JVM, memory, backends, bundles and the default model. Exit status 1 if a check fails.",
        footerHeading = "%nExamples:%n",
        footer = {"  tenon doctor", "  tenon doctor --json"})
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=doctor",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class DoctorCommand implements TenonCommand {
    private static final long GIB = 1L << 30;

    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Reference(policyOption = ReferencePolicyOption.GREEDY)
    List<DoctorCheck> checks = List.of();

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Override
    public Integer call() {
        DoctorReport report = new DoctorReport();
        JvmChecks.run(report);
        memory(report);
        engine(report);
        checks.forEach(check -> check.run(report));
        model(report);
        if (json) {
            console.out().println(json(report));
        } else {
            for (DoctorReport.Finding finding : report.findings()) {
                console.out().printf("%s  %-14s %s%n", finding.level(), finding.name(), finding.found());
                if (!finding.advice().isEmpty()) {
                    console.out().println("      " + " ".repeat(15) + "-> " + finding.advice());
                }
            }
            console.out()
                    .printf(
                            "%d passed, %d warnings, %d failed%n",
                            report.count(Level.PASS), report.count(Level.WARN), report.count(Level.FAIL));
        }
        return report.count(Level.FAIL) > 0 ? CliErrors.FAILED : 0;
    }

    private static void memory(DoctorReport report) {
        long heap = Runtime.getRuntime().maxMemory();
        try {
            String found = Sizes.bytes(HotSpot.memoryBytes()) + " memory, " + Sizes.bytes(HotSpot.freeBytes())
                    + " free, heap at most " + Sizes.bytes(heap);
            if (HotSpot.memoryBytes() < 2 * GIB) {
                report.warn("memory", found, "Use small models; those above 1 GB will not run well.");
            } else {
                report.pass("memory", found);
            }
        } catch (NoClassDefFoundError e) {
            report.pass("memory", "heap at most " + Sizes.bytes(heap) + "; this JVM does not tell the rest");
        }
    }

    private void engine(DoctorReport report) {
        if (engine == null) {
            report.fail("engine", "not installed", "See the bundles below, and install what is missing.");
            return;
        }
        named(
                report,
                "architectures",
                engine.architectures().stream()
                        .map(a -> a.id() + " (" + Origins.of(a) + ")")
                        .toList());
        named(report, "formats", engine.formats().stream().map(f -> f.id()).toList());
        boolean any = false;
        for (Backend backend : engine.backends()) {
            Probe probe = backend.probe();
            any |= probe.available();
            if (backend.rank() < 0 && !probe.available() && probe.issues().isEmpty()) {
                continue; // hardware that is named by those who have it, and is not here
            }
            if (probe.available()) {
                report.pass(backend.id(), probe.reason() + devices(backend));
            } else {
                report.warn(backend.id(), "not available: " + probe.reason(), "");
            }
            for (Issue issue : probe.issues()) {
                String text = issue.message() + " [" + issue.code() + "]";
                switch (issue.severity()) {
                    case NOTICE -> report.pass(backend.id(), text);
                    case WARNING -> report.warn(backend.id(), text, "");
                    case ERROR -> report.fail(backend.id(), text, "");
                }
            }
        }
        if (!any) {
            report.fail("backends", "none is available, so no model can run", "See the bundles below.");
        }
    }

    private static String devices(Backend backend) {
        List<DeviceInfo> devices = backend.devices();
        return devices.isEmpty()
                ? ""
                : "; " + devices.stream().map(DeviceInfo::name).collect(Collectors.joining(", "));
    }

    private static void named(DoctorReport report, String name, List<String> ids) {
        if (ids.isEmpty()) {
            report.fail(name, "none installed, so no model can run", "Install a bundle that provides one.");
        } else {
            report.pass(name, String.join(", ", ids));
        }
    }

    private void model(DoctorReport report) {
        if (console.setting("model").isEmpty()) {
            report.warn("default model", "none is configured", "Give one with -m, or set TENON_MODEL.");
            return;
        }
        Path path = console.model(null);
        TensorTypes types = TensorTypes.of(engine == null ? List.of() : engine.formats());
        try (GgufFile file = GgufReader.open(path, types)) {
            report.pass(
                    "default model",
                    path + ", " + file.metadata().string("general.architecture").orElse("no architecture") + ", "
                            + Sizes.bytes(file.sizeBytes()));
        } catch (TenonException e) {
            report.fail("default model", CliErrors.text(e), "Set another with TENON_MODEL.");
        }
    }

    private static String json(DoctorReport report) {
        return Json.pretty(json -> {
            json.writeStartArray();
            for (DoctorReport.Finding finding : report.findings()) {
                json.writeStartObject();
                json.writeStringField("level", finding.level().name());
                json.writeStringField("name", finding.name());
                json.writeStringField("found", finding.found());
                json.writeStringField("advice", finding.advice());
                json.writeEndObject();
            }
            json.writeEndArray();
        });
    }
}
