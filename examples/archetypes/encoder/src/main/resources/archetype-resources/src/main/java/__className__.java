package ${package};

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
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
import java.util.Set;
import org.osgi.service.component.annotations.Component;

/// The `${id}` encoder: a pure function from the metadata of a companion file to a graph, and the rule by which
/// pictures become what the graph reads.
///
/// As it is, the smallest one: a matrix over the patches, the mean of the patches of a block, a matrix over that.
@Component(service = MediaEncoder.class, property = "media.encoder=${id}")
@ServiceProvider(value = MediaEncoder.class, resolution = Resolution.OPTIONAL)
public final class ${className} implements MediaEncoder {
    /// Patches along a side of a block.
    private static final int SIDE = 2;

    @Override
    public String id() {
        return "${id}";
    }

    /// Comments give the shapes: T patches, E the encoder's width, R rows for the model.
    @Override
    public EncoderDefinition define(ModelSource source, ModelConfig text) {
        VisionKeys keys = VisionKeys.of(source);
        int patches = keys.patchesOf(SIDE);
        VisionBlocks v = new VisionBlocks(keys, Norm.LAYER);
        Value x = v.convolved(v.given(0)); //                       [T, E]; v.encoded adds layers
        x = v.means(x, SIDE * SIDE); //                             [R, E]
        x = v.linear("mm.0", x, text.embeddingLength()); //         [R, model's width]
        return new EncoderDefinition(v.graph().build(x), patches * patches, new Layout(keys));
    }

    private record Layout(VisionKeys keys) implements MediaLayout.OfPictures {
        /// The graph has all tensors.
        @Override
        public Set<String> tensors() {
            return Set.of();
        }

        @Override
        public void lay(Picture picture, EncoderTensors tensors, MediaPrompt prompt) {
            PictureRule rule = keys.oneSize(Resizing.letterbox(Resampling.BILINEAR, 0));
            Patches patches = new Patches(rule.apply(picture).getFirst(), keys);
            List<float[]> rows = patches.rows(patches.inBlocks(SIDE));
            prompt.text("<image>"); // as the model's prompts have it
            prompt.rows(EncoderStep.of(rows, SIDE * SIDE), patches.columns() / SIDE, false);
            prompt.text("</image>");
        }
    }
}
