package dev.tenon.models.qwen3;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Value;
import dev.tenon.api.media.Grid;
import dev.tenon.api.media.GridRule;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.PictureRule;
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
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.osgi.service.component.annotations.Component;

/// The `internvl` encoder of the InternVL models: tiles of one size, then the whole picture, each with a token for
/// its class. That token stands before the patches, as the models were trained.
@Component(service = MediaEncoder.class, property = "media.encoder=internvl")
@ServiceProvider(value = MediaEncoder.class, resolution = Resolution.OPTIONAL)
public final class InternVlEncoder implements MediaEncoder {
    private static final float PROJECTOR_EPS = 1e-5f;

    @Override
    public String id() {
        return "internvl";
    }

    @Override
    public EncoderDefinition define(ModelSource source, ModelConfig text) {
        VisionKeys keys = VisionKeys.of(source);
        int side = keys.side("projector.scale_factor", 2);
        int patches = keys.patchesOf(side);
        // The largest one, InternViT 6B, is normed in another way, which its file does not say.
        VisionBlocks v = new VisionBlocks(keys, keys.width() == 3200 && keys.blocks() == 45 ? Norm.RMS : Norm.LAYER);
        Value x = v.encoded(v.embedded(), Optional.empty()); //                                       [T, E]
        x = v.graph().joinRows("joined", x, side * side); //                                   [L, side^2 E]
        x = v.layerNorm("mm.model.mlp.0", x, PROJECTOR_EPS);
        x = v.projected(x, "mm.model.mlp.1", "mm.model.mlp.3", text.embeddingLength());
        int least = keys.keys().integerOr("vision.preproc_min_tiles", 1, 1, 1024);
        int most = keys.keys().integerOr("vision.preproc_max_tiles", Math.max(12, least), least, 1024);
        GridRule grid = GridRule.best(Grid.ofTiles(least, most), keys.tile())
                .when(size -> Math.max(size.width(), size.height()) > keys.image());
        return new EncoderDefinition(
                v.graph().build(x), patches * patches + 1, new Layout(keys, side, keys.tiled(grid)));
    }

    private record Layout(VisionKeys keys, int side, PictureRule rule) implements MediaLayout.OfPictures {
        @Override
        public Set<String> tensors() {
            return Set.of("v.position_embd.weight", "v.patch_embd.bias", "v.class_embd");
        }

        @Override
        public void lay(Picture picture, EncoderTensors tensors, MediaPrompt prompt) {
            float[] positions = tensors.values("v.position_embd.weight");
            prompt.text("<img>");
            for (Picture piece : rule.apply(picture)) {
                Patches patches = new Patches(piece, keys);
                PositionTable table = PositionTable.of(
                        Arrays.copyOfRange(positions, keys.width(), positions.length), keys.width(), patches.columns());
                List<float[]> rows =
                        patches.rows(patches.inBlocks(side), keys.width(), table.and(keys.patchBias(tensors)));
                float[] whole = patches.blank(tensors.values("v.class_embd"), positions, 0);
                prompt.rows(EncoderStep.of(rows, side * side).after(whole), patches.columns() / side, false);
            }
            prompt.text("</img>");
        }
    }
}
