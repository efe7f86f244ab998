package dev.tenon.models.gemma;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.media.Normalisation;
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
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.osgi.service.component.annotations.Component;

/// The `gemma4v` encoder: pictures of any size, of which neighbouring patches are averaged.
@Component(service = MediaEncoder.class, property = "media.encoder=gemma4v")
@ServiceProvider(value = MediaEncoder.class, resolution = Resolution.OPTIONAL)
public final class Gemma4Encoder implements MediaEncoder {
    private static final int LEAST_ROWS = 40;
    private static final int MOST_ROWS = 280;
    private static final float BASE = 100;

    @Override
    public String id() {
        return "gemma4v";
    }

    @Override
    public EncoderDefinition define(ModelSource source, ModelConfig text) {
        VisionKeys keys = VisionKeys.of(source);
        int side = keys.side("projector.scale_factor", 3);
        VisionBlocks v = new VisionBlocks(keys, Norm.RMS);
        v.normValues();
        GraphBuilder g = v.graph();
        AttentionParams all = AttentionParams.builder(
                        keys.shape().heads(), keys.shape().heads(), 1)
                .causal(false)
                .build();
        RopeParams rope = keys.rotation(Pairing.HALF_SPLIT, BASE, 1, 0)
                .span(keys.shape().headLength() / 2)
                .build();
        Value x = v.encoded(v.embedded(), keys.blocks(), _ -> all, Optional.of(rope)); //             [T, E]
        // What is done to means is done to what they are of, which gives the same.
        x = g.scale("scaled", x, (float) Math.sqrt(keys.width()));
        if (v.has("v.std_scale")) {
            Value bias = g.repeat("std_bias", Weight.vector("v.std_bias", keys.width()));
            x = g.add("centred", x, g.scale("less", bias, -1));
            x = g.multiply("standard", x, g.repeat("std_scale", Weight.vector("v.std_scale", keys.width())));
        }
        x = g.plainRmsNorm("normed", v.means(x, side * side), 1, keys.shape().eps()); //                      [L, E]
        x = v.linear("mm.input_projection", x, text.embeddingLength());
        return new EncoderDefinition(
                g.build(x), keys.mostRows(MOST_ROWS) * side * side, new Layout(keys, side, doubled(keys.keys())));
    }

    /// Samples from -1 to 1 in place of those from 0 to 1.
    private static Normalisation doubled(ModelKeys keys) {
        float[] mean = keys.numberPerLayer("vision.image_mean", 3, -1e6, 1e6);
        float[] std = keys.numberPerLayer("vision.image_std", 3, -1e6, 1e6);
        for (int i = 0; i < 3; i++) {
            std[i] /= 2;
            mean[i] += std[i];
        }
        return Normalisation.of(mean, std);
    }

    private record Layout(VisionKeys keys, int side, Normalisation normalisation) implements MediaLayout.OfPictures {
        @Override
        public Set<String> tensors() {
            return Set.of("v.position_embd.weight");
        }

        @Override
        public void lay(Picture picture, EncoderTensors tensors, MediaPrompt prompt) {
            PictureRule rule = keys.anySize(
                    side, LEAST_ROWS, keys.mostRows(MOST_ROWS), Resizing.letterbox(Resampling.BILINEAR, 0));
            Patches patches = new Patches(rule.apply(picture).getFirst(), keys.patch(), normalisation);
            float[] table = tensors.values("v.position_embd.weight"); //                            [2, n, E]
            int width = keys.width();
            List<float[]> rows = patches.rows(patches.inBlocks(side), width, (column, row, to, at) -> {
                for (int e = 0; e < width; e++) {
                    to[at + e] = table[column * width + e] + table[table.length / 2 + row * width + e];
                }
            });
            List<int[]> places = Patches.places(patches.inBlocks(side));
            prompt.text("<|image>");
            prompt.rows(EncoderStep.of(rows, side * side).at(places), patches.columns() / side, true);
            prompt.text("<image|>");
        }
    }
}
