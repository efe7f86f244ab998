package dev.tenon.models.qwen3;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
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
import dev.tenon.api.media.encoder.PositionTable;
import dev.tenon.api.media.encoder.VisionBlocks;
import dev.tenon.api.media.encoder.VisionKeys;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `qwen3vl_merger` encoder of Qwen 3 VL and Qwen 3.5: four patches make a row; what some blocks see is part of it
/// (deepstack), and added to the residual stream of the model.
@Component(service = MediaEncoder.class, property = "media.encoder=qwen3vl_merger")
@ServiceProvider(value = MediaEncoder.class, resolution = Resolution.OPTIONAL)
public final class Qwen3VlEncoder implements MediaEncoder {
    private static final int LEAST_ROWS = 8;
    private static final int MOST_ROWS = 4096;
    private static final float BASE = 10_000;

    @Override
    public String id() {
        return "qwen3vl_merger";
    }

    @Override
    public EncoderDefinition define(ModelSource source, ModelConfig text) {
        VisionKeys keys = VisionKeys.of(source);
        int side = keys.side("spatial_merge_size", 2);
        VisionBlocks v = new VisionBlocks(keys, Norm.LAYER);
        GraphBuilder g = v.graph();
        Value x = v.embedded(); //                                                                    [T, E]
        AttentionParams all = v.attentionParams().build();
        Optional<RopeParams> rope =
                Optional.of(keys.rotation(Pairing.HALF_SPLIT, BASE, 0, 0).build());
        List<Value> deep = new ArrayList<>();
        for (int layer = 0; layer < keys.blocks(); layer++) {
            x = v.block(layer, x, all, rope);
            String stack = "v.deepstack." + layer + ".";
            if (v.has(stack + "fc1.weight")) {
                Value joined = g.joinRows(stack + "joined", x, side * side);
                joined = v.layerNorm(stack + "norm", joined, keys.shape().eps());
                deep.add(v.projected(joined, stack + "fc1", stack + "fc2", text.embeddingLength()));
            }
        }
        x = g.joinRows("joined", v.maybeNorm("v.post_ln", x), side * side); //                     [L, side^2 E]
        x = v.projected(x, "mm.0", "mm.2", text.embeddingLength());
        for (Value each : deep) {
            x = g.join(each.name() + "_joined", x, each, 1);
        }
        return new EncoderDefinition(g.build(x), keys.mostRows(MOST_ROWS) * side * side, new Layout(keys, side));
    }

    private record Layout(VisionKeys keys, int side) implements MediaLayout.OfPictures {
        @Override
        public void lay(Picture picture, EncoderTensors tensors, MediaPrompt prompt) {
            PictureRule rule = keys.anySize(
                    side, LEAST_ROWS, keys.mostRows(MOST_ROWS), Resizing.letterbox(Resampling.BILINEAR, 0));
            Patches patches = new Patches(rule.apply(picture).getFirst(), keys);
            PositionTable table = PositionTable.of(
                    tensors.values("v.position_embd.weight"),
                    keys.width(),
                    patches.columns(),
                    patches.rows(),
                    PositionTable.Resize.ALIGNED);
            List<int[]> order = patches.inBlocks(side);
            List<float[]> rows = patches.rows(order, keys.width(), table.and(keys.patchBias(tensors)));
            prompt.text("<|vision_start|>");
            prompt.rows(EncoderStep.of(rows, side * side).at(Patches.places(order)), patches.columns() / side, false);
            prompt.text("<|vision_end|>");
        }
    }
}
