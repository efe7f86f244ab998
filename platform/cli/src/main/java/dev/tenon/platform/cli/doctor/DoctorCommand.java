package dev.tenon.platform.cli.doctor;

import dev.tenon.api.engine.Engine;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.DoctorCheck;
import dev.tenon.platform.cli.TenonCommand;
import java.util.List;
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
        Diagnosis diagnosis = new Diagnosis(console, engine);
        return diagnosis.print(diagnosis.run(checks), json);
    }
}
