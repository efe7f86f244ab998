package dev.tenon.platform.contracts.itest;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.media.encoder.EncoderDefinition;
import dev.tenon.api.media.encoder.MediaEncoder;
import dev.tenon.api.media.encoder.MediaLayout;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelSource;
import dev.tenon.itest.testkit.EncoderContract;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/// The encoder contract for the encoder that the command was told, with the keys and shapes of a file of its kind, or
/// of a tiny one that has the usual keys and the tensors that the encoder then asks for. JUnit makes the object, so
/// what it is about comes through [#select]; one run at a time.
final class SelectedEncoderContract extends EncoderContract {
    /// What to test.
    ///
    /// @param encoder the encoder
    /// @param file a companion file of its kind
    record Selection(MediaEncoder encoder, Optional<ModelSource> file) {}

    private static final String ENOUGH = ": give a small companion file by --model";
    private static final String POSITIONS = "v.position_embd.weight";
    private static final long MOST_WEIGHTS = 20_000_000;
    private static final int MODEL = 32;
    private static final int ENCODER = 16;
    private static final int PATCH = 8;
    private static final int PATCHES = 12; // whole blocks of 2, 3 or 4

    private static volatile Selection selected;

    private final Selection selection = Objects.requireNonNull(selected, "nothing is selected");

    static void select(Selection next) {
        selected = next;
    }

    @Override
    protected MediaEncoder encoder() {
        return selection.encoder();
    }

    @Override
    protected Map<String, GgufValue> metadata() {
        return selection.file().map(file -> file.metadata().values()).orElseGet(this::usual);
    }

    @Override
    protected int width() {
        return selection
                .file()
                .map(file -> file.metadata()
                        .integer("clip.vision.projection_dim")
                        .orElseThrow(() -> file.metadata().missing("clip.vision.projection_dim")))
                .orElse(MODEL);
    }

    @Override
    protected Map<String, List<Long>> tensors() {
        return selection.file().map(SelectedEncoderContract::shapes).orElseGet(this::needed);
    }

    private static Map<String, List<Long>> shapes(ModelSource file) {
        Map<String, List<Long>> shapes = new LinkedHashMap<>();
        long weights = 0;
        for (TensorInfo tensor : file.tensors().values()) {
            shapes.put(tensor.name(), tensor.shape());
            weights += tensor.elements();
        }
        if (weights > MOST_WEIGHTS) {
            abort("a companion file of " + weights + " weights takes too long, at most " + MOST_WEIGHTS + ENOUGH);
        }
        return shapes;
    }

    private Map<String, GgufValue> usual() {
        Map<String, GgufValue> keys = new LinkedHashMap<>();
        keys.put("general.architecture", GgufValue.of("clip"));
        keys.put("clip.projector_type", GgufValue.of(encoder().id()));
        keys.put("clip.use_gelu", GgufValue.of(true));
        Map<String, Integer> integers = Map.of(
                "image_size",
                PATCHES * PATCH,
                "patch_size",
                PATCH,
                "embedding_length",
                ENCODER,
                "feed_forward_length",
                24,
                "block_count",
                2,
                "projection_dim",
                MODEL,
                "attention.head_count",
                2);
        integers.forEach((key, value) -> keys.put("clip.vision." + key, GgufValue.ofUint32(value)));
        keys.put("clip.vision.attention.layer_norm_epsilon", GgufValue.of(1e-6f));
        keys.put("clip.vision.image_mean", GgufValue.of(new float[] {0.5f, 0.5f, 0.5f}));
        keys.put("clip.vision.image_std", GgufValue.of(new float[] {0.5f, 0.5f, 0.5f}));
        return keys;
    }

    /// The tensors of the graph, and the table of positions.
    private Map<String, List<Long>> needed() {
        EncoderDefinition defined = defined();
        Map<String, List<Long>> shapes = new LinkedHashMap<>();
        for (Weight weight : defined.graph().weights()) {
            shapes.put(weight.name(), List.of((long) weight.cols(), (long) weight.rows()));
        }
        Set<String> others = new HashSet<>(defined.layout().tensors());
        others.removeAll(shapes.keySet());
        others.remove("v.patch_embd.bias"); // which no file needs to have
        if (others.remove(POSITIONS)) {
            shapes.put(POSITIONS, List.of((long) ENCODER, (long) PATCHES * PATCHES));
        }
        if (!others.isEmpty()) {
            abort("nobody knows the shapes of " + String.join(", ", others) + ENOUGH);
        }
        return shapes;
    }

    private EncoderDefinition defined() {
        ModelConfig text = ModelConfig.builder("tiny").embeddingLength(MODEL).build();
        EncoderDefinition defined = null;
        try {
            defined = encoder().define(new ModelSource(GgufMetadata.of("tiny.mmproj.gguf", usual()), Map.of()), text);
        } catch (TenonException e) {
            abort("the usual keys of companion files are not enough (" + e.getMessage() + ")" + ENOUGH);
        }
        if (defined.layout() instanceof MediaLayout.OfSounds) {
            abort("it takes sounds; the contract is of pictures");
        }
        return defined;
    }
}
