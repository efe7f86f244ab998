package dev.tenon.itest.command;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Probe;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/// `tenon itest`: the contract that every backend keeps, run on this machine.
@Command(
        name = "itest",
        description = {
            "Runs the backend contract on this machine: every op, format, cache type and batch against a float64"
                    + " reference, limits, memory, life cycle, errors.",
            "Ends with status 1 if a test failed."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  tenon itest --backend cuda", "  tenon itest --backend cuda --formats Q6_K,F16 --report itest.txt"})
@Component(service = TenonCommand.class, scope = ServiceScope.PROTOTYPE, property = TenonCommand.NAME + "=itest")
public final class ItestCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.MULTIPLE)
    List<Backend> backends;

    @Reference(cardinality = ReferenceCardinality.MULTIPLE)
    List<QuantFormat> formats;

    @Option(names = "--backend", paramLabel = "ID", required = true, description = "The backend, as in tenon devices.")
    private String backend;

    @Option(names = "--device", paramLabel = "ID", defaultValue = "", description = "Its device (default: the first).")
    private String device;

    @Option(names = "--formats", paramLabel = "ID", split = ",", description = "Weight formats (default: all).")
    private Set<String> wanted = Set.of();

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "20",
            description = "How often plans and devices are opened and closed (default: ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--set",
            paramLabel = "NAME=VALUE",
            description = "Setting for the backend's device; may be repeated.")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Option(names = "--report", paramLabel = "FILE", description = "Write the report to a file, too.")
    private Path report;

    @Override
    public Integer call() throws Exception {
        Backend found = backends.stream()
                .filter(b -> b.id().equals(backend))
                .findFirst()
                .orElseThrow(() -> new BackendException(
                        ErrorCode.BACKEND_UNAVAILABLE,
                        "Backend '" + backend + "' is not installed; installed backends: "
                                + backends.stream().map(Backend::id).sorted().collect(Collectors.joining(", "))));
        Probe probe = found.probe();
        if (!probe.available()) {
            throw new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE, "Backend " + backend + " is not available here: " + probe.reason());
        }
        List<QuantFormat> chosen = formats.stream()
                .filter(f -> wanted.isEmpty() || wanted.contains(f.id()))
                .sorted(Comparator.comparing(QuantFormat::id))
                .toList();
        long begin = System.nanoTime();
        SelectedBackendContract.select(new SelectedBackendContract.Selection(found, device, settings, chosen, rounds));
        ContractRun run = ContractRun.of(SelectedBackendContract.class);
        String text = text(probe, chosen, run, (System.nanoTime() - begin) / 1e9);
        console.out().print(text);
        console.out().flush();
        if (report != null) {
            Files.writeString(report, text);
        }
        return run.failures().isEmpty() && run.passed() > 0 ? 0 : 1;
    }

    private String text(Probe probe, List<QuantFormat> chosen, ContractRun run, double seconds) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        out.printf("backend %s: %s%n", backend, probe.reason());
        out.printf("formats %s%n%n", chosen.stream().map(QuantFormat::id).collect(Collectors.joining(" ")));
        out.printf("%6s %6s %7s%n", "passed", "failed", "skipped");
        run.tallies()
                .forEach((name, tally) ->
                        out.printf("%6d %6d %7d  %s%n", tally.passed, tally.failed, tally.skipped, name));
        run.skips().forEach(skip -> out.printf("%nSKIPPED %s%n    %s%n", skip.name(), skip.reason()));
        run.failures().forEach(failure -> out.printf("%nFAILED %s%n    %s%n", failure.name(), failure.reason()));
        out.printf(
                "%n%d passed, %d failed, %d skipped in %.1f s%n",
                run.passed(), run.failures().size(), run.skips().size(), seconds);
        return text.toString();
    }
}
