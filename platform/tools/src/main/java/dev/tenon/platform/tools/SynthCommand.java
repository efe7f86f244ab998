package dev.tenon.platform.tools;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Engines;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.cli.Range;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.text.Sizes;
import dev.tenon.platform.core.files.OutputFile;
import dev.tenon.platform.tools.gguf.GgufWriter;
import dev.tenon.platform.tools.gguf.Synth;
import dev.tenon.platform.tools.gguf.SynthShape;
import java.nio.file.Path;
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

/// `tenon synth`: a model with random weights.
@Command(
        name = "synth",
        sortOptions = false,
        description = {
            "Writes a model with the shape of a real one and random weights, to measure speed without a download.",
            "Shapes: all-minilm-l6-v2, bge-base-en-v1.5, bge-large-en-v1.5, bge-small-en-v1.5, command-r7b, "
                    + "command-r-08-2024, command-r-35b, deepseek-v2-lite, ernie-4.5-0.3b, ernie-4.5-21b-a3b, "
                    + "exaone-4-1.2b, exaone-4-32b, falcon-h1-0.5b, falcon-h1-1.5b, falcon-h1-3b, falcon-h1-7b, "
                    + "falcon-h1-34b, gemma-2b, gemma-2-2b, gemma-2-9b, gemma-3-270m, gemma-3-1b, gemma-3-4b, "
                    + "gemma-3-12b, gemma-3-27b, gemma-3n-e2b, gemma-3n-e4b, gemma-4-e2b, gemma-4-e4b, gemma-7b, "
                    + "glm-4-9b, glm-4-32b, glm-4.5-air, gpt-oss-20b, gpt-oss-120b, granite-3.1-1b-a400m, "
                    + "granite-3.1-3b-a800m, granite-3.3-2b, granite-3.3-8b, hunyuan-0.5b, hunyuan-1.8b, hunyuan-4b, "
                    + "hunyuan-7b, kimi-linear-48b-a3b, lfm2-1.2b, lfm2-8b-a1b, ling-mini-2.0, llama-3-8b, "
                    + "llama-3.2-1b, llama-3.2-3b, mamba2-2.7b, mistral-7b-v0.3, modernbert-base, "
                    + "nemotron-3-nano-30b-a3b, nemotron-h-4b, nemotron-nano-9b-v2, nomic-embed-text-v1.5, olmo-2-1b, "
                    + "olmo-2-7b, olmoe-1b-7b, phi-3-mini-4k, phi-3.5-moe, phi-4, phi-4-mini, qwen2.5-0.5b, "
                    + "qwen2.5-1.5b, qwen2.5-3b, qwen2.5-7b, qwen2.5-14b, qwen2.5-32b, qwen3-0.6b, qwen3-1.7b, "
                    + "qwen3-4b, qwen3-8b, qwen3-14b, qwen3-30b-a3b, qwen3.5-4b, qwen3.5-9b, qwen3.5-27b, "
                    + "qwen3.5-35b-a3b, seed-oss-36b, smollm3-3b, stablelm-2-1.6b, stablelm-3b-4e1t, starcoder2-3b, "
                    + "starcoder2-7b, starcoder2-15b."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon synth llama-3.2-1b -o 1b-q6_k.gguf --type Q6_K",
            "  tenon synth gpt-oss-20b -o oss.gguf --type MXFP4_MOE",
            "  tenon synth qwen3-0.6b -o tiny.gguf --type Q8_0 --layers 2 --vocab 1000",
            "  tenon synth qwen3-0.6b -o mine.gguf --arch mymodel --key attention.sliding_window=512",
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=synth",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class SynthCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Parameters(index = "0", paramLabel = "SHAPE", description = "One of the shapes above.")
    private String shape;

    @Option(
            names = {"-o", "--output"},
            required = true,
            paramLabel = "FILE",
            description = "The file to write.")
    private Path out;

    @Option(
            names = "--type",
            paramLabel = "TYPE",
            defaultValue = "Q4_K_M",
            description = "Weight format or mix (default: ${DEFAULT-VALUE}).")
    private String type;

    @Option(names = "--layers", paramLabel = "N", description = "Number of layers (default: the shape's).")
    @Range(min = 1, max = 4096)
    private Integer layers;

    @Option(names = "--embedding", paramLabel = "N", description = "Embedding length (default: the shape's).")
    @Range(min = 1, max = 1 << 20)
    private Integer embedding;

    @Option(names = "--heads", paramLabel = "N", description = "Query heads (default: the shape's).")
    @Range(min = 1, max = 1 << 16)
    private Integer heads;

    @Option(names = "--heads-kv", paramLabel = "N", description = "Key and value heads (default: the shape's).")
    @Range(min = 1, max = 1 << 16)
    private Integer headsKv;

    @Option(names = "--head-length", paramLabel = "N", description = "Length of a head (default: the shape's).")
    @Range(min = 2, max = 1 << 16)
    private Integer headLength;

    @Option(
            names = "--feed-forward",
            paramLabel = "N",
            description = "Feed-forward length, of an expert if there are experts (default: the shape's).")
    @Range(min = 1, max = 1 << 24)
    private Integer feedForward;

    @Option(names = "--vocab", paramLabel = "N", description = "Number of tokens (default: the shape's).")
    @Range(min = SynthShape.MIN_VOCABULARY, max = 1 << 22)
    private Integer vocabulary;

    @Option(names = "--context", paramLabel = "N", description = "Context length (default: the shape's).")
    @Range(min = 1, max = Integer.MAX_VALUE)
    private Integer context;

    @Option(
            names = "--tied",
            negatable = true,
            description = "Use one matrix for embedding and output (--no-tied: two).")
    private Boolean tied;

    @Option(
            names = "--arch",
            paramLabel = "ID",
            description = "Another architecture with the numbers of the shape, such as one of your bundle.")
    private String architecture;

    @Option(
            names = "--key",
            paramLabel = "KEY=VALUE",
            description = "A metadata key of the architecture, such as attention.sliding_window=512; may be repeated.")
    private Map<String, String> keys = Map.of();

    @Option(
            names = "--tensor",
            paramLabel = "NAME",
            description = "A tensor that the architecture can do without, such as blk.*.attn_q.bias; may be repeated.")
    private List<String> tensors = List.of();

    @Option(
            names = {"-s", "--seed"},
            paramLabel = "N",
            defaultValue = "1",
            description = "Random seed (default: ${DEFAULT-VALUE}).")
    @Range(min = Long.MIN_VALUE)
    private long seed;

    @Option(
            names = {"-t", "--threads"},
            paramLabel = "N",
            defaultValue = "0",
            description = "Threads; 0: one per core (default: ${DEFAULT-VALUE}).")
    @Range(max = Range.MOST_THREADS)
    private int threads;

    @Option(
            names = {"-y", "--overwrite"},
            description = "Replace the file if it exists, without asking.")
    private boolean overwrite;

    @Override
    public Integer call() {
        Engine installed = Engines.require(engine);
        SynthShape wanted = shape();
        int team = threads > 0 ? threads : Runtime.getRuntime().availableProcessors();
        boolean replace = console.mayReplace(out, overwrite);
        OutputFile.check(out, replace);
        long start = System.nanoTime();
        long bytes;
        try (Progress bar = console.progress("synth", -1, "bytes")) {
            bytes = Synth.write(
                    GgufWriter.to(out).threads(team).replaceExisting(replace).progress(bar::to),
                    wanted,
                    type,
                    installed.architectures(),
                    installed.formats());
        }
        console.note(String.format(
                Locale.ROOT, "%s: %s in %.1f s", out, Sizes.bytes(bytes), (System.nanoTime() - start) / 1e9));
        return 0;
    }

    private SynthShape shape() {
        SynthShape base = SynthShape.preset(shape);
        Map<String, GgufValue> further = new LinkedHashMap<>();
        keys.forEach((key, value) -> further.put(key, value(value)));
        return base.toBuilder()
                .architecture(architecture == null ? base.architecture() : architecture)
                .keys(further)
                .optional(tensors)
                .heads(or(heads, base.heads()), or(headsKv, base.headsKv()), or(headLength, base.headLength()))
                .layers(or(layers, base.layers()))
                .embedding(or(embedding, base.embedding()))
                .feedForward(or(feedForward, base.feedForward()))
                .vocabulary(or(vocabulary, base.vocabulary()))
                .context(or(context, base.context()))
                .tied(tied == null ? base.tied() : tied)
                .seed(seed)
                .build();
    }

    private static GgufValue value(String text) {
        return switch (text) {
            case "true", "false" -> GgufValue.of(Boolean.parseBoolean(text));
            case String number when number.matches("[0-9]{1,9}") -> GgufValue.ofUint32(Long.parseLong(number));
            case String number
            when number.matches("-?[0-9]+(\\.[0-9]+)?([eE]-?[0-9]+)?") -> GgufValue.of(Float.parseFloat(number));
            default -> GgufValue.of(text);
        };
    }

    private static int or(Integer given, int otherwise) {
        return given == null ? otherwise : given;
    }
}
