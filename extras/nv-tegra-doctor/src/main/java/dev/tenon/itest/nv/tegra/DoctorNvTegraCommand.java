package dev.tenon.itest.nv.tegra;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.backend.nv.tegra.check.BoardCheck;
import dev.tenon.backend.nv.tegra.check.Finding;
import dev.tenon.backend.nv.tegra.check.Finding.Level;
import dev.tenon.backend.nv.tegra.sys.Board;
import dev.tenon.backend.nv.tegra.sys.BoardProvider;
import dev.tenon.backend.nv.tegra.sys.LinuxSyscalls;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.core.files.OutputFile;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `tenon doctor nv-tegra`: what to run first on a Jetson Orin.
@Command(
        name = "nv-tegra",
        description = {
            "Checks a Jetson Orin step by step, the least dangerous first: release and device nodes, clocks, drivers,"
                    + " memory, channels, copies, kernels. Stops at the first unexpected result.",
            "Exit status 1 if there is one."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon doctor nv-tegra --report orin.txt",
            "  tenon doctor nv-tegra --device emulated",
            "  tenon itest --backend nv-tegra --report contract.txt     (next)"
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=doctor nv-tegra",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class DoctorNvTegraCommand implements TenonCommand {
    private static final String OWN = "0";

    @Reference(cardinality = ReferenceCardinality.MULTIPLE)
    List<BoardProvider> boards = List.of();

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--device",
            paramLabel = "ID",
            defaultValue = OWN,
            description = "0: this machine; emulated: the emulated board, if installed (default: ${DEFAULT-VALUE}).")
    private String device;

    @Option(
            names = "--report",
            paramLabel = "FILE",
            description = "Also write every line to this report file, replaced if it exists.")
    private Path report;

    @Option(
            names = "--set",
            paramLabel = "NAME=VALUE",
            description = "Setting of the backend, such as nv-tegra.layout=reserved-windows; may be repeated.")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Override
    public Integer call() throws IOException {
        Console console = (Console) spec.root().userObject();
        Path root = Path.of("/");
        if (report != null) {
            OutputFile.checkStream(report, true);
        }
        try (FileOutputStream file = report == null ? null : new FileOutputStream(report.toFile());
                Board board = board()) {
            List<Finding> findings = BoardCheck.run(
                    board, device.equals(OWN), root, settings, finding -> tell(finding, console.out(), file));
            boolean surprised = findings.stream().anyMatch(f -> f.level() == Level.SURPRISE);
            String end = surprised
                    ? "Stopped at the first unexpected result. Please send the report."
                    : findings.size() + " steps, all as expected. Next: tenon itest --backend nv-tegra --device "
                            + device;
            line(end, console.out(), file);
            return surprised ? 1 : 0;
        } catch (IllegalArgumentException e) {
            throw new TenonException(ErrorCode.CONFIG, e.getMessage(), e);
        }
    }

    private Board board() {
        if (device.equals(OWN)) {
            return Board.of(new LinuxSyscalls());
        }
        return boards.stream()
                .filter(b -> b.id().equals(device))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no device '" + device + "', only "
                        + boards.stream().map(BoardProvider::id).collect(Collectors.joining(", ", "0, ", ""))))
                .open(settings);
    }

    private static void tell(Finding finding, PrintWriter out, FileOutputStream file) {
        line(String.format("%-8s  %s: %s", finding.level(), finding.step(), finding.found()), out, file);
        if (finding.level() == Level.SURPRISE) {
            line("          expected: " + finding.expected(), out, file);
        }
        if (!finding.advice().isEmpty()) {
            line("          -> " + finding.advice(), out, file);
        }
    }

    /// Brought to the disk at once and under its name: the machine may freeze in the step after it.
    private static void line(String text, PrintWriter out, FileOutputStream file) {
        out.println(text);
        out.flush();
        if (file != null) {
            try {
                file.write((text + "\n").getBytes(StandardCharsets.UTF_8));
                if (file.getChannel().size() > 0) { // a device holds nothing and cannot be synced
                    file.getFD().sync();
                }
            } catch (IOException e) {
                throw new TenonException(ErrorCode.IO, "the report cannot be written: " + e.getMessage(), e);
            }
        }
    }
}
