package dev.tenon.models.deepseek;

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
import dev.tenon.api.media.encoder.PositionTable;
import dev.tenon.api.media.encoder.VisionBlocks;
import dev.tenon.api.media.encoder.VisionKeys;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelSource;
import java.util.List;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `kimivl` encoder of Kimi VL: pictures of any size; neighbouring patches, each normed, make a row.
@Component(service = MediaEncoder.class, property = "media.encoder=kimivl")
@ServiceProvider(value = MediaEncoder.class, resolution = Resolution.OPTIONAL)
public final class KimiVlEncoder implements MediaEncoder {
    private static final int LEAST_ROWS = 8;
    private static final int MOST_ROWS = 1024;
    private static final float BASE = 10_000;
    private static final float PROJECTOR_EPS = 1e-5f;

    @Override
    public String id() {
        return "kimivl";
    }

    @Override
    public EncoderDefinition define(ModelSource source, ModelConfig text) {
        VisionKeys keys = VisionKeys.of(source);
        int side = keys.side("projector.scale_factor", 2);
        VisionBlocks v = new VisionBlocks(keys, Norm.LAYER);
        Value x = v.encoded(
                v.embedded(), //                                                                      [T, E]
                Optional.of(keys.rotation(Pairing.INTERLEAVED, BASE, 1, 0).build()));
        x = v.layerNorm("mm.input_norm", x, PROJECTOR_EPS);
        x = v.graph().joinRows("joined", x, side * side); //                                   [L, side^2 E]
        x = v.projected(x, "mm.1", "mm.2", text.embeddingLength());
        return new EncoderDefinition(
                v.graph().build(x), keys.mostRows(MOST_ROWS) * side * side, new Layout(keys, side));
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
                    PositionTable.Resize.ANTIALIASED);
            List<int[]> order = patches.inBlocks(side);
            List<float[]> rows = patches.rows(order, keys.width(), table.and(keys.patchBias(tensors)));
            prompt.text("<|media_start|>");
            prompt.rows(EncoderStep.of(rows, side * side).at(Patches.places(order)), patches.columns() / side, false);
            prompt.text("<|media_end|>");
        }
    }
}
