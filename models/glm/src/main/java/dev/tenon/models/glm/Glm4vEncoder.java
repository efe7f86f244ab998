package dev.tenon.models.glm;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
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
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.osgi.service.component.annotations.Component;

/// The `glm4v` encoder of GLM 4.1V and 4.5V: pictures of any size; a convolution makes a row of neighbouring patches.
@Component(service = MediaEncoder.class, property = "media.encoder=glm4v")
@ServiceProvider(value = MediaEncoder.class, resolution = Resolution.OPTIONAL)
public final class Glm4vEncoder implements MediaEncoder {
    private static final int LEAST_ROWS = 8;
    private static final int MOST_ROWS = 4096;
    private static final float BASE = 10_000;
    private static final float PROJECTOR_EPS = 1e-5f;

    @Override
    public String id() {
        return "glm4v";
    }

    @Override
    public EncoderDefinition define(ModelSource source, ModelConfig text) {
        VisionKeys keys = VisionKeys.of(source);
        int side = keys.side("spatial_merge_size", 2);
        VisionBlocks v = new VisionBlocks(keys, Norm.RMS);
        GraphBuilder g = v.graph();
        Value given = v.given(keys.width());
        Value bias = g.repeat("patch_bias", Weight.vector("v.patch_embd.bias", keys.width()));
        Value x = v.norm("v.norm_embd", g.add("biased", v.convolved(given), bias)); //                [T, E]
        x = v.encoded(
                g.add("embedded", x, v.places(given)),
                Optional.of(keys.rotation(Pairing.HALF_SPLIT, BASE, 0, 0).build()));
        x = g.transpose("across", g.joinRows("joined", x, side * side), side * side); //       [L, E side^2]
        x = v.linear("mm.model.fc", v.linear("mm.patch_merger", x, text.embeddingLength()), text.embeddingLength());
        x = g.activate("act", v.layerNorm("mm.post_norm", x, PROJECTOR_EPS), Activation.GELU_ERF);
        Value gate = g.activate("gate_act", v.linear("mm.gate", x), Activation.SILU);
        x = v.linear("mm.down", g.multiply("gated", gate, v.linear("mm.up", x)), text.embeddingLength());
        return new EncoderDefinition(g.build(x), keys.mostRows(MOST_ROWS) * side * side, new Layout(keys, side));
    }

    private record Layout(VisionKeys keys, int side) implements MediaLayout.OfPictures {
        @Override
        public Set<String> tensors() {
            return Set.of("v.position_embd.weight");
        }

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
                    PositionTable.Resize.CUBIC);
            List<int[]> order = patches.inBlocks(side);
            List<float[]> rows = patches.rows(order, keys.width(), table.and(new float[keys.width()]));
            prompt.text("<|begin_of_image|>");
            prompt.rows(EncoderStep.of(rows, side * side).at(Patches.places(order)), patches.columns() / side, false);
            prompt.text("<|end_of_image|>");
        }
    }
}
