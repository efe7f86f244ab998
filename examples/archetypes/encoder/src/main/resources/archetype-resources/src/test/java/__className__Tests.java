package ${package};

import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.media.encoder.MediaEncoder;
import dev.tenon.itest.testkit.EncoderContract;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The encoder keeps its contract with a tiny companion file: describe here what a file of yours holds.
class ${className}Tests extends EncoderContract {
    private static final int PATCH = 8;
    private static final long ENCODER = 16;
    private static final int MODEL = 12;

    @Override
    protected MediaEncoder encoder() {
        return new ${className}();
    }

    @Override
    protected Map<String, GgufValue> metadata() {
        Map<String, GgufValue> m = new LinkedHashMap<>();
        m.put("general.architecture", GgufValue.of("clip"));
        m.put("clip.projector_type", GgufValue.of("${id}"));
        m.put("clip.vision.image_size", GgufValue.ofUint32(6 * PATCH));
        m.put("clip.vision.patch_size", GgufValue.ofUint32(PATCH));
        m.put("clip.vision.embedding_length", GgufValue.ofUint32(ENCODER));
        m.put("clip.vision.feed_forward_length", GgufValue.ofUint32(24));
        m.put("clip.vision.block_count", GgufValue.ofUint32(1));
        m.put("clip.vision.attention.head_count", GgufValue.ofUint32(2));
        m.put("clip.vision.attention.layer_norm_epsilon", GgufValue.of(1e-6f));
        m.put("clip.vision.image_mean", GgufValue.of(new float[] {0.5f, 0.5f, 0.5f}));
        m.put("clip.vision.image_std", GgufValue.of(new float[] {0.5f, 0.5f, 0.5f}));
        return m;
    }

    @Override
    protected Map<String, List<Long>> tensors() {
        return Map.of(
                "v.patch_embd.weight", List.of((long) PATCH, (long) PATCH, 3L, ENCODER),
                "mm.0.weight", List.of(ENCODER, (long) MODEL));
    }

    @Override
    protected int width() {
        return MODEL;
    }
}
