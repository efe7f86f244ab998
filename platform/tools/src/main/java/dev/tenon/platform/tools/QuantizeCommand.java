package dev.tenon.platform.tools;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Engines;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.cli.Range;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.text.Sizes;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.tools.gguf.GgufWriter;
import dev.tenon.platform.tools.gguf.Merge;
import dev.tenon.platform.tools.gguf.QuantMix;
import dev.tenon.platform.tools.gguf.Requantizer;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `tenon quantize`: a model in other weight formats.
@Command(
        name = "quantize",
        description = "Converts a model to another weight format. Start from F16 or BF16 if you can.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon quantize model-f16.gguf model-q4_k_m.gguf Q4_K_M",
            "  tenon quantize in.gguf out.gguf Q8_0",
            "  tenon quantize --lora adapter.gguf=0.8 model-f16.gguf merged.gguf F16"
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=quantize",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class QuantizeCommand implements TenonCommand {
    /// What shells offer for the type.
    static final class Types implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return QuantMix.names().iterator();
        }
    }

    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Parameters(index = "0", paramLabel = "IN", description = "The model to read: a GGUF file.")
    private String in;

    @Parameters(index = "1", paramLabel = "OUT", description = "The file to write.")
    private Path out;

    @Parameters(
            index = "2",
            paramLabel = "TYPE",
            completionCandidates = Types.class,
            description = "Format or mix, such as Q8_0, Q6_K, Q4_K_M, F16.")
    private String type;

    @Option(
            names = {"-t", "--threads"},
            paramLabel = "N",
            defaultValue = "0",
            description = "Threads; 0: one per core (default: ${DEFAULT-VALUE}).")
    @Range(max = Range.MOST_THREADS)
    private int threads;

    @Option(
            names = {"-y", "--overwrite"},
            description = "Replace OUT if it exists, without asking.")
    private boolean overwrite;

    @Option(
            names = "--lora",
            paramLabel = "FILE[=SCALE]",
            mapFallbackValue = "1",
            description =
                    "LoRA adapter to merge into the weights, a GGUF file, and the factor on what it adds (default:"
                            + " 1); may be repeated.")
    private Map<Path, Float> adapters = new LinkedHashMap<>();

    @Override
    public Integer call() {
        List<QuantFormat> formats = Engines.require(engine).formats();
        String base = QuantMix.of(type).base();
        if (formats.stream().noneMatch(format -> format.id().equalsIgnoreCase(base))) {
            throw new UnsupportedModelException(
                    ErrorCode.MODEL_TENSOR_FORMAT,
                    "No installed format writes '" + type + "'. Choose one of " + String.join(", ", QuantMix.names())
                            + ".");
        }
        int team = threads > 0 ? threads : Runtime.getRuntime().availableProcessors();
        boolean replace = console.mayReplace(out, overwrite);
        long start = System.nanoTime();
        TensorTypes types = TensorTypes.of(formats);
        try (GgufFile model = GgufReader.open(console.model(in), types);
                Merge merge = Merge.open(adapters, types, model);
                Progress bar = console.progress("quantize", -1, "bytes")) {
            long bytes = Requantizer.quantize(
                    model,
                    merge,
                    GgufWriter.to(out).threads(team).replaceExisting(replace).progress(bar::to),
                    type,
                    formats);
            bar.close();
            console.note(String.format(
                    Locale.ROOT,
                    "%s: %s, from %s, in %.1f s",
                    out,
                    Sizes.bytes(bytes),
                    Sizes.bytes(model.sizeBytes()),
                    (System.nanoTime() - start) / 1e9));
        }
        return 0;
    }
}
