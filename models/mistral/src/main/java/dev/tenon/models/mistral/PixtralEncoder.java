package dev.tenon.models.mistral;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
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
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.osgi.service.component.annotations.Component;

/// The `pixtral` encoder of Pixtral and Mistral Small 3: pictures of any size, with a row at the end of each line.
@Component(service = MediaEncoder.class, property = "media.encoder=pixtral")
@ServiceProvider(value = MediaEncoder.class, resolution = Resolution.OPTIONAL)
public final class PixtralEncoder implements MediaEncoder {
    private static final int LEAST_ROWS = 8;
    private static final int MOST_ROWS = 1024;
    private static final float BASE = 10_000;

    @Override
    public String id() {
        return "pixtral";
    }

    @Override
    public EncoderDefinition define(ModelSource source, ModelConfig text) {
        VisionKeys keys = VisionKeys.of(source);
        VisionBlocks v = new VisionBlocks(keys, Norm.RMS);
        boolean merges = v.has("mm.patch_merger.weight");
        int side = keys.side("spatial_merge_size", 1);
        if (!merges && side > 1) {
            throw keys.keys().impossible("vision.spatial_merge_size", side, "1 without mm.patch_merger.weight");
        }
        Value x = v.norm("v.pre_ln", v.convolved(v.given(0))); //                                     [T, E]
        x = v.encoded(
                x, Optional.of(keys.rotation(Pairing.INTERLEAVED, BASE, 0, 1).build()));
        x = merges ? v.norm("mm.input_norm", x) : x;
        x = v.graph().joinRows("joined", x, side * side); //                                [L, side^2 E]
        if (merges) {
            x = v.linear("mm.patch_merger", v.graph().transpose("across", x, side * side), keys.width());
        }
        x = v.projected(x, "mm.1", "mm.2", text.embeddingLength());
        return new EncoderDefinition(
                v.graph().build(x), keys.mostRows(MOST_ROWS) * side * side, new Layout(keys, side));
    }

    private record Layout(VisionKeys keys, int side) implements MediaLayout.OfPictures {
        @Override
        public Set<String> tensors() {
            return Set.of("v.token_embd.img_break");
        }

        @Override
        public void lay(Picture picture, EncoderTensors tensors, MediaPrompt prompt) {
            PictureRule rule = keys.anySize(
                    side, LEAST_ROWS, keys.mostRows(MOST_ROWS), Resizing.letterbox(Resampling.BILINEAR, 0));
            Patches patches = new Patches(rule.apply(picture).getFirst(), keys);
            List<int[]> order = patches.inBlocks(side);
            EncoderStep step = EncoderStep.of(patches.rows(order), side * side).at(Patches.places(order));
            prompt.lines(step, patches.columns() / side, tensors.values("v.token_embd.img_break"));
            prompt.text("[IMG_END]");
        }
    }
}
