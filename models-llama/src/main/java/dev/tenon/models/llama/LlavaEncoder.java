package dev.tenon.models.llama;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.AttentionParams;
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
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import org.osgi.service.component.annotations.Component;

/// The `mlp` encoder of the Llava models: pictures of one size, of which each patch is a row. A token for the class of
/// the picture stands before the patches, as CLIP was trained, and the last block is left out.
@Component(service = MediaEncoder.class, property = "media.encoder=mlp")
@ServiceProvider(value = MediaEncoder.class, resolution = Resolution.OPTIONAL)
public final class LlavaEncoder implements MediaEncoder {
    private static final int AROUND = 0x7A7468;

    @Override
    public String id() {
        return "mlp";
    }

    @Override
    public EncoderDefinition define(ModelSource source, ModelConfig text) {
        VisionKeys keys = VisionKeys.of(source);
        refuse(keys.keys(), "vision.feature_layer");
        refuse(keys.keys(), "vision.image_grid_pinpoints");
        int patches = keys.patchesOf(1);
        VisionBlocks v = new VisionBlocks(keys, Norm.LAYER);
        AttentionParams all = v.attentionParams().build();
        Value x = v.maybeNorm("v.pre_ln", v.embedded()); //                                           [T, E]
        x = v.encoded(x, keys.blocks() - 1, _ -> all, Optional.empty());
        x = v.projected(v.graph().selectRows("patches_alone", x), "mm.0", "mm.2", text.embeddingLength());
        return new EncoderDefinition(v.graph().build(x), patches * patches + 1, new Layout(keys));
    }

    private static void refuse(ModelKeys keys, String key) {
        if (keys.has(key)) {
            throw keys.unsupported(key, "there", "files without this key");
        }
    }

    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return tensor.startsWith("v.blk." + (VisionKeys.of(source).blocks() - 1) + ".");
    }

    private record Layout(VisionKeys keys) implements MediaLayout.OfPictures {
        @Override
        public Set<String> tensors() {
            return Set.of("v.position_embd.weight", "v.patch_embd.bias", "v.class_embd");
        }

        @Override
        public void lay(Picture picture, EncoderTensors tensors, MediaPrompt prompt) {
            PictureRule rule = keys.oneSize(Resizing.letterbox(Resampling.BICUBIC, AROUND));
            Patches patches = new Patches(rule.apply(picture).getFirst(), keys);
            float[] positions = tensors.values("v.position_embd.weight");
            boolean whole = keys.keys().source().has("v.class_embd");
            PositionTable table = PositionTable.of(
                    whole ? Arrays.copyOfRange(positions, keys.width(), positions.length) : positions,
                    keys.width(),
                    patches.columns());
            EncoderStep step = EncoderStep.of(
                    patches.rows(patches.inBlocks(1), keys.width(), table.and(keys.patchBias(tensors))), 1);
            prompt.rows(
                    whole ? step.after(patches.blank(tensors.values("v.class_embd"), positions, 0)) : step,
                    patches.columns(),
                    false);
        }
    }
}
