package dev.tenon.platform.cli.doctor;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.Probe;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.DoctorCheck;
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

/// What `tenon doctor` and `tenon self-check` have in common: the checks of what is there, and how
/// a report is printed.
final class Diagnosis {
    private static final long GIB = 1L << 30;

    private final Console console;
    private final Engine engine;

    /// @param console of the command
    /// @param engine the engine, or null when there is none
    Diagnosis(Console console, Engine engine) {
        this.console = console;
        this.engine = engine;
    }

    /// {@return what is found about JVM, memory, backends, bundles and the default model}
    ///
    /// @param checks those of bundles
    DoctorReport run(List<DoctorCheck> checks) {
        DoctorReport report = new DoctorReport();
        JvmChecks.run(report);
        memory(report);
        engine(report);
        checks.forEach(check -> check.run(report));
        model(report);
        return report;
    }

    /// Prints a report.
    ///
    /// @param report what was found
    /// @param json whether as JSON
    /// @return exit status of the command
    int print(DoctorReport report, boolean json) {
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
                report.warn(
                        "memory",
                        found + code(ErrorCode.ENV_LIMIT),
                        "Use small models; those above 1 GB will not run well.");
            } else {
                report.pass("memory", found);
            }
        } catch (NoClassDefFoundError e) {
            report.pass("memory", "heap at most " + Sizes.bytes(heap) + "; this JVM does not tell the rest");
        }
    }

    private void engine(DoctorReport report) {
        if (engine == null) {
            report.fail(
                    "engine",
                    "not installed" + code(ErrorCode.ENV_PLATFORM),
                    "See the bundles below, and install what is missing.");
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
                report.warn(backend.id(), "not available: " + probe.reason() + code(ErrorCode.BACKEND_UNAVAILABLE), "");
            }
            for (Issue issue : probe.issues()) {
                String text = issue.message() + code(issue.code());
                switch (issue.severity()) {
                    case NOTICE -> report.pass(backend.id(), text);
                    case WARNING -> report.warn(backend.id(), text, "");
                    case ERROR -> report.fail(backend.id(), text, "");
                }
            }
        }
        if (!any) {
            report.fail(
                    "backends",
                    "none is available, so no model can run" + code(ErrorCode.BACKEND_UNAVAILABLE),
                    "See the bundles below.");
        }
    }

    private static String code(String code) {
        return " [" + code + "]";
    }

    private static String devices(Backend backend) {
        List<DeviceInfo> devices = backend.devices();
        return devices.isEmpty()
                ? ""
                : "; " + devices.stream().map(DeviceInfo::name).collect(Collectors.joining(", "));
    }

    private static void named(DoctorReport report, String name, List<String> ids) {
        if (ids.isEmpty()) {
            report.fail(
                    name,
                    "none installed, so no model can run" + code(ErrorCode.ENV_PLATFORM),
                    "Install a bundle that provides one.");
        } else {
            report.pass(name, String.join(", ", ids));
        }
    }

    private void model(DoctorReport report) {
        if (console.setting("model").isEmpty()) {
            report.warn(
                    "default model",
                    "none is configured" + code(ErrorCode.CONFIG),
                    "Give one with -m, or set TENON_MODEL.");
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
