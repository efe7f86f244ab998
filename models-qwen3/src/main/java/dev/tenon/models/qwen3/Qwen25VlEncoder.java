package dev.tenon.models.qwen3;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.PictureRule;
import dev.tenon.api.media.Resampling;
import dev.tenon.api.media.Resizing;
import dev.tenon.api.media.encoder.EncoderBlocks.Norm;
import dev.tenon.api.media.encoder.EncoderDefinition;
import dev.tenon.api.media.encoder.EncoderStep;
import dev.tenon.api.media.encoder.EncoderTensors;
import dev.tenon.api.media.encoder.MediaEncoder;
import dev.tenon.api.media.encoder.MediaLayout;
import dev.tenon.api.media.encoder.MediaPrompt;
import dev.tenon.api.media.encoder.Patches;
import dev.tenon.api.media.encoder.VisionBlocks;
import dev.tenon.api.media.encoder.VisionKeys;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.osgi.service.component.annotations.Component;

/// The `qwen2.5vl_merger` encoder of Qwen 2.5 VL: four patches make a row; most blocks see a window of the picture
/// alone.
@Component(service = MediaEncoder.class, property = "media.encoder=qwen2.5vl_merger")
@ServiceProvider(value = MediaEncoder.class, resolution = Resolution.OPTIONAL)
public final class Qwen25VlEncoder implements MediaEncoder {
    private static final int LEAST_ROWS = 8;
    private static final int MOST_ROWS = 4096;
    private static final int SIDE = 2;
    private static final float BASE = 10_000;
    /// Pixels along a side of a window; the file does not say.
    private static final int WINDOW = 112;

    @Override
    public String id() {
        return "qwen2.5vl_merger";
    }

    @Override
    public EncoderDefinition define(ModelSource source, ModelConfig text) {
        VisionKeys keys = VisionKeys.of(source);
        int pattern = keys.keys().integer("vision.n_wa_pattern", 0, keys.blocks());
        VisionBlocks v = new VisionBlocks(keys, Norm.RMS);
        Value x = v.convolved(v.given(0)); //                                                         [T, E]
        AttentionParams all = v.attentionParams().build();
        AttentionParams window = all.toBuilder().spans(true).build();
        x = v.encoded(
                x,
                keys.blocks(),
                layer -> pattern == 0 || (layer + 1) % pattern == 0 ? all : window,
                Optional.of(keys.rotation(Pairing.HALF_SPLIT, BASE, 0, 0).build()));
        x = v.graph().joinRows("joined", x, SIDE * SIDE); //                                        [L, 4 E]
        x = v.projected(x, "mm.0", "mm.2", text.embeddingLength());
        return new EncoderDefinition(v.graph().build(x), keys.mostRows(MOST_ROWS) * SIDE * SIDE, new Layout(keys));
    }

    private record Layout(VisionKeys keys) implements MediaLayout.OfPictures {
        @Override
        public Set<String> tensors() {
            return Set.of();
        }

        @Override
        public void lay(Picture picture, EncoderTensors tensors, MediaPrompt prompt) {
            PictureRule rule = keys.anySize(
                    SIDE, LEAST_ROWS, keys.mostRows(MOST_ROWS), Resizing.letterbox(Resampling.BILINEAR, 0));
            Patches patches = new Patches(rule.apply(picture).getFirst(), keys);
            List<int[]> blocks = patches.inBlocks(SIDE);
            int columns = patches.columns() / SIDE;
            int side = Math.max(1, WINDOW / keys.patch() / SIDE);
            int across = (columns + side - 1) / side;
            IntUnaryOperator window = block -> block / columns / side * across + block % columns / side;
            // Window by window, so that each is a run of tokens.
            int[] order = IntStream.range(0, blocks.size() / (SIDE * SIDE))
                    .boxed()
                    .sorted(Comparator.comparingInt(window::applyAsInt))
                    .mapToInt(Integer::intValue)
                    .toArray();
            int[] inPrompt = new int[order.length];
            List<int[]> ordered = new ArrayList<>();
            List<Integer> starts = new ArrayList<>();
            for (int i = 0; i < order.length; i++) {
                if (i == 0 || window.applyAsInt(order[i]) != window.applyAsInt(order[i - 1])) {
                    starts.add(ordered.size());
                }
                inPrompt[order[i]] = i;
                ordered.addAll(blocks.subList(order[i] * SIDE * SIDE, (order[i] + 1) * SIDE * SIDE));
            }
            EncoderStep step = EncoderStep.of(patches.rows(ordered), SIDE * SIDE)
                    .at(Patches.places(ordered))
                    .in(starts.stream().mapToInt(Integer::intValue).toArray(), inPrompt);
            prompt.text("<|vision_start|>");
            prompt.rows(step, columns, false);
            prompt.text("<|vision_end|>");
        }
    }
}
