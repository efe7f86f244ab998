package dev.tenon.backend.nv.rm;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.backend.nv.tegra.check.BoardCheck;
import dev.tenon.backend.nv.tegra.check.Finding;
import dev.tenon.backend.nv.tegra.check.Finding.Level;
import dev.tenon.backend.nv.tegra.sys.LinuxSyscalls;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `tenon doctor nv`: a server's GPU behind NVIDIA's kernel driver, step by step.
@Command(
        name = "nv",
        description = {
            "Checks a Hopper GPU through NVIDIA's kernel driver (branch 580), without its CUDA driver: memory,"
                    + " channels,"
                    + " copies, kernels, what a launch costs. Stops at the first unexpected result.",
            "Exit status 1 if there was one. Kernels are compiled by NVRTC."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  tenon doctor nv --set nv.rm=on"})
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=doctor nv",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class DoctorNvCommand implements TenonCommand {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--set",
            paramLabel = "NAME=VALUE",
            description = "Setting of the backend; nv.rm=on has to be among them.")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Override
    public Integer call() {
        if (!settings.getOrDefault(NvBackend.SWITCH, "off").equals("on")) {
            throw new TenonException(
                    ErrorCode.CONFIG, "the backend nv is an experiment and off; switch it on with --set nv.rm=on");
        }
        PrintWriter out = ((Console) spec.root().userObject()).out();
        try {
            List<Finding> findings = BoardCheck.run(
                    new RmTarget(new LinuxSyscalls(), settings), settings, finding -> tell(finding, out));
            return findings.stream().anyMatch(f -> f.level() == Level.SURPRISE) ? 1 : 0;
        } catch (IllegalArgumentException e) {
            throw new TenonException(ErrorCode.CONFIG, e.getMessage(), e);
        }
    }

    private static void tell(Finding finding, PrintWriter out) {
        out.printf("%-8s  %s: %s%n", finding.level(), finding.step(), finding.found());
        if (finding.level() == Level.SURPRISE) {
            out.println("          expected: " + finding.expected());
        }
        out.flush();
    }
}
