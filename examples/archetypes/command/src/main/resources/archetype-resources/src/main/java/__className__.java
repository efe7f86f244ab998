package ${package};

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `tenon ${id}`: counts the tokens of a text. An object serves one call.
@Command(name = "${id}", description = "Says how many tokens of a model a text has.")
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=${id}")
public final class ${className} implements TenonCommand {
    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Parameters(paramLabel = "TEXT", description = "The text.")
    private String text;

    @Option(
            names = {"-m", "--model"},
            paramLabel = "FILE",
            description = "The model: a file or the name of a pulled one (default: the configured one).")
    private String model;

    @Override
    public Integer call() {
        try (LoadedModel loaded = console.load(engine, LoadRequest.of(console.model(model)))) {
            int tokens = loaded.tokenizer().encode(text, false, false).length;
            console.out().println(tokens + (tokens == 1 ? " token" : " tokens"));
            console.out().flush();
        }
        return 0;
    }
}
