package dev.tenon.models.gemma;

import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.media.encoder.MediaEncoder;
import dev.tenon.itest.testkit.EncoderContract;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

class Gemma3EncoderContractTests extends EncoderContract {
    @Override
    protected MediaEncoder encoder() {
        return new Gemma3Encoder();
    }

    @Override
    protected Map<String, GgufValue> metadata() {
        Map<String, GgufValue> keys = new HashMap<>();
        keys.put("general.architecture", GgufValue.of("clip"));
        keys.put("clip.projector_type", GgufValue.of("gemma3"));
        Map.of(
                        "image_size", 32,
                        "patch_size", 8,
                        "embedding_length", 16,
                        "feed_forward_length", 24,
                        "block_count", 1,
                        "attention.head_count", 2,
                        "projector.scale_factor", 2)
                .forEach((key, value) -> keys.put("clip.vision." + key, GgufValue.ofUint32(value)));
        keys.put("clip.vision.attention.layer_norm_epsilon", GgufValue.of(1e-6f));
        keys.put("clip.vision.image_mean", GgufValue.of(new float[] {0.5f, 0.5f, 0.5f}));
        keys.put("clip.vision.image_std", GgufValue.of(new float[] {0.5f, 0.5f, 0.5f}));
        return keys;
    }

    @Override
    protected Map<String, List<Long>> tensors() {
        Map<String, List<Long>> shapes = new HashMap<>();
        shapes.put("v.patch_embd.weight", List.of(8L, 8L, 3L, 16L));
        shapes.put("v.position_embd.weight", List.of(16L, 16L));
        for (String vector : List.of(
                "patch_embd.bias",
                "post_ln.weight",
                "post_ln.bias",
                "blk.0.ln1.weight",
                "blk.0.ln1.bias",
                "blk.0.ln2.weight",
                "blk.0.ln2.bias",
                "blk.0.attn_q.bias",
                "blk.0.ffn_down.bias")) {
            shapes.put("v." + vector, List.of(16L));
        }
        for (String matrix : List.of("attn_q", "attn_k", "attn_v", "attn_out")) {
            shapes.put("v.blk.0." + matrix + ".weight", List.of(16L, 16L));
        }
        shapes.put("v.blk.0.ffn_up.weight", List.of(16L, 24L));
        shapes.put("v.blk.0.ffn_down.weight", List.of(24L, 16L));
        shapes.put("mm.soft_emb_norm.weight", List.of(16L));
        shapes.put("mm.input_projection.weight", List.of(12L, 16L));
        return shapes;
    }

    @Override
    protected int width() {
        return 12;
    }
}
