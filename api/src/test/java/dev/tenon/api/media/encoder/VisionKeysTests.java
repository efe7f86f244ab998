package dev.tenon.api.media.encoder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.media.Grid;
import dev.tenon.api.media.GridRule;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.PictureRule;
import dev.tenon.api.media.Resampling;
import dev.tenon.api.media.Resizing;
import dev.tenon.api.media.Size;
import dev.tenon.api.model.ModelSource;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class VisionKeysTests {
    private static final Resizing BOXED = Resizing.letterbox(Resampling.BILINEAR, 0);
    private static final Picture WHITE = Picture.of(new Size(300, 20), (_, row) -> Arrays.fill(row, (byte) -1));

    private static VisionKeys keys(Map<String, GgufValue> more) {
        Map<String, GgufValue> values = new LinkedHashMap<>(more);
        values.put("general.architecture", GgufValue.of("clip"));
        Map.of(
                        "image_size", 56,
                        "patch_size", 14,
                        "embedding_length", 64,
                        "feed_forward_length", 96,
                        "block_count", 1,
                        "attention.head_count", 4,
                        "projection_dim", 64)
                .forEach((key, value) -> values.put("clip.vision." + key, GgufValue.ofUint32(value)));
        values.put("clip.vision.attention.layer_norm_epsilon", GgufValue.of(1e-6f));
        values.put("clip.vision.image_mean", GgufValue.of(new float[3]));
        values.put("clip.vision.image_std", GgufValue.of(new float[] {1, 1, 1}));
        return VisionKeys.of(new ModelSource(GgufMetadata.of("mmproj.gguf", values), Map.of()));
    }

    /// In a stretched white picture all is white, and pieces are as large as others.
    @Test
    void allRulesStretchPicturesWhereAUserWantsIt() {
        VisionKeys usual = keys(Map.of());
        VisionKeys stretching = keys(Map.of("clip." + VisionKeys.FIT, GgufValue.of("stretch")));
        GridRule grid = GridRule.best(Grid.upTo(3, 3), usual.tile());
        for (Function<VisionKeys, PictureRule> rule : List.<Function<VisionKeys, PictureRule>>of(
                keys -> keys.oneSize(BOXED),
                keys -> keys.anySize(2, 1, 4, BOXED),
                keys -> keys.tiled(grid),
                keys -> keys.fitted(PictureRule.of(size -> new Size(30, 30), BOXED)))) {
            List<Picture> boxed = rule.apply(usual).apply(WHITE);
            List<Picture> stretched = rule.apply(stretching).apply(WHITE);
            assertEquals(
                    boxed.stream().map(Picture::size).toList(),
                    stretched.stream().map(Picture::size).toList());
            assertNotEquals(boxed, stretched);
            for (Picture picture : stretched) {
                for (byte sample : picture.rgb()) {
                    assertEquals(-1, sample);
                }
            }
        }
        assertTrue(usual.tiled(grid).apply(WHITE).size() > 1, "has no tiles");
    }
}
