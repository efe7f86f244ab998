package dev.tenon.platform.cli.model;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.text.Sizes;
import dev.tenon.platform.core.control.Definitions;
import dev.tenon.platform.core.control.ModelPurpose;
import dev.tenon.platform.core.gguf.CompanionFile;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `tenon show`: what a model is, in a few lines.
@Command(
        name = "show",
        description =
                "Shows what a model is: architecture, size, format, context, companion. For all of it, see inspect.",
        footerHeading = "%nExamples:%n",
        footer = {"  tenon show", "  tenon show org/repo-GGUF"})
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=show",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class ShowCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "MODEL",
            description = "A GGUF file, or the name of a pulled model (default: the configured one).")
    private String model;

    @Override
    public Integer call() {
        TensorTypes types = TensorTypes.of(engine == null ? List.of() : engine.formats());
        try (GgufFile file = GgufReader.open(console.model(model), types)) {
            GgufMetadata metadata = file.metadata();
            String architecture = metadata.string("general.architecture").orElse("unknown");
            long bytes =
                    file.tensors().stream().mapToLong(TensorInfo::sizeBytes).sum();
            line("file", file.path());
            metadata.string("general.name").ifPresent(name -> line("name", InspectCommand.shorten(name)));
            line("architecture", architecture);
            line(
                    "parameters",
                    Sizes.parameters(file.tensors().stream()
                            .mapToLong(TensorInfo::elements)
                            .sum()));
            line("size", Sizes.bytes(bytes));
            line("format", formats(file, types));
            Optional<CompanionFile> itself = CompanionFile.read(file.path());
            if (itself.isPresent()) {
                encoders(itself.get());
                return 0;
            }
            line(
                    "context",
                    metadata.integer(architecture + ".context_length").stream()
                            .mapToObj(tokens -> tokens + " tokens")
                            .findFirst()
                            .orElse("unknown"));
            switch (ModelPurpose.of(metadata)) {
                case TEXT ->
                    line(
                            "chat template",
                            Definitions.chatTemplate(architectures(), metadata).isPresent()
                                    ? "yes: 'tenon run MODEL QUESTION' answers"
                                    : "none: 'tenon run MODEL TEXT' continues the text");
                case SCORES -> line("scores", "'tenon rerank MODEL --query TEXT DOCUMENT' gives them");
                case VECTORS -> line("vectors", "'tenon embed MODEL TEXT' makes them");
            }
            CompanionFile.of(file.path()).ifPresent(companion -> {
                line("companion", companion.path().getFileName() + ", " + Sizes.bytes(companion.bytes()));
                encoders(companion);
            });
        }
        return 0;
    }

    private void encoders(CompanionFile companion) {
        line("projector", companion.projector());
        if (companion.sees()) {
            line(
                    "pictures",
                    side(companion.imageSize()) + " pixels, in patches of " + side(companion.patchSize()) + " pixels");
        }
        if (companion.hears()) {
            line("sounds", "yes");
        }
    }

    private static String side(OptionalInt length) {
        return length.stream()
                .mapToObj(pixels -> pixels + " x " + pixels)
                .findFirst()
                .orElse("an unknown number of");
    }

    private List<ModelArchitecture> architectures() {
        return engine == null ? List.of() : engine.architectures();
    }

    private void line(String what, Object value) {
        console.out().printf("%-14s %s%n", what, value);
    }

    /// Formats, the one of most bytes first.
    private static String formats(GgufFile file, TensorTypes types) {
        return InspectCommand.totals(file, types).entrySet().stream()
                .sorted(Comparator.comparingLong((Map.Entry<String, InspectCommand.Total> e) ->
                                e.getValue().bytes())
                        .reversed())
                .map(Map.Entry::getKey)
                .collect(Collectors.joining(", "));
    }
}
