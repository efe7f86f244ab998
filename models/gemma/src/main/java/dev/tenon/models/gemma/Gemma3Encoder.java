package dev.tenon.models.gemma;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.GraphBuilder;
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
import org.osgi.service.component.annotations.Component;

/// The `gemma3` encoder: pictures of one size, of which neighbouring patches are averaged.
@Component(service = MediaEncoder.class, property = "media.encoder=gemma3")
@ServiceProvider(value = MediaEncoder.class, resolution = Resolution.OPTIONAL)
public final class Gemma3Encoder implements MediaEncoder {
    @Override
    public String id() {
        return "gemma3";
    }

    @Override
    public EncoderDefinition define(ModelSource source, ModelConfig text) {
        VisionKeys keys = VisionKeys.of(source);
        int side = keys.side("projector.scale_factor", 4);
        int patches = keys.patchesOf(side);
        VisionBlocks v = new VisionBlocks(keys, Norm.LAYER);
        GraphBuilder g = v.graph();
        Value x = v.encoded(v.embedded(), Optional.empty()); //                                       [T, E]
        x = v.rmsNorm("mm.soft_emb_norm", v.means(x, side * side), keys.width()); //                  [L, E]
        // Stored the other way round, with the model's width as the fastest dimension.
        Weight projection = new Weight("mm.input_projection.weight", text.embeddingLength(), keys.width());
        x = g.transposedLinear("rows", x, projection);
        return new EncoderDefinition(g.build(x), patches * patches, new Layout(keys, side));
    }

    private record Layout(VisionKeys keys, int side) implements MediaLayout.OfPictures {
        @Override
        public void lay(Picture picture, EncoderTensors tensors, MediaPrompt prompt) {
            PictureRule rule = keys.oneSize(Resizing.letterbox(Resampling.BILINEAR, 0));
            Patches patches = new Patches(rule.apply(picture).getFirst(), keys);
            PositionTable table =
                    PositionTable.of(tensors.values("v.position_embd.weight"), keys.width(), patches.columns());
            List<float[]> rows = patches.rows(patches.inBlocks(side), keys.width(), table.and(keys.patchBias(tensors)));
            prompt.text("<start_of_image>");
            prompt.rows(EncoderStep.of(rows, side * side), patches.columns() / side, true);
            prompt.text("<end_of_image>");
        }
    }
}
