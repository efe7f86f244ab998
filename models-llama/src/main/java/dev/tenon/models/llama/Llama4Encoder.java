package dev.tenon.models.llama;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams.Pairing;
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
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.osgi.service.component.annotations.Component;

/// The `llama4` encoder: tiles of one size, then the whole picture, each with a token for its class, whose position is
/// the last one of the table and 0 in the rotation.
@Component(service = MediaEncoder.class, property = "media.encoder=llama4")
@ServiceProvider(value = MediaEncoder.class, resolution = Resolution.OPTIONAL)
public final class Llama4Encoder implements MediaEncoder {
    private static final int MOST_TILES = 3;
    private static final float BASE = 10_000;

    @Override
    public String id() {
        return "llama4";
    }

    @Override
    public EncoderDefinition define(ModelSource source, ModelConfig text) {
        VisionKeys keys = VisionKeys.of(source);
        int side = keys.side("projector.scale_factor", 2);
        int patches = keys.patchesOf(side);
        VisionBlocks v = new VisionBlocks(keys, Norm.LAYER);
        GraphBuilder g = v.graph();
        Value x = v.encoded(
                v.norm("v.pre_ln", v.embedded()), //                                                  [T, E]
                Optional.of(keys.rotation(Pairing.INTERLEAVED, BASE, 1, 0).build()));
        x = g.joinRows("joined", x, side * side); //                                           [L, side^2 E]
        x = v.projected(x, "mm.model.mlp.1", "mm.model.mlp.2", v.rowsOf("mm.model.mlp.2.weight"));
        x = v.linear("mm.model.fc", g.activate("act", x, Activation.GELU_TANH), text.embeddingLength());
        GridRule grid = GridRule.best(Grid.upTo(MOST_TILES, MOST_TILES), keys.tile())
                .when(size -> Math.max(size.width(), size.height()) > keys.image());
        return new EncoderDefinition(g.build(x), patches * patches + 1, new Layout(keys, side, keys.tiled(grid)));
    }

    private record Layout(VisionKeys keys, int side, PictureRule rule) implements MediaLayout.OfPictures {
        @Override
        public Set<String> tensors() {
            return Set.of("v.position_embd.weight", "v.patch_embd.bias", "v.class_embd");
        }

        @Override
        public void lay(Picture picture, EncoderTensors tensors, MediaPrompt prompt) {
            float[] positions = tensors.values("v.position_embd.weight");
            prompt.text("<|image_start|>");
            for (Picture piece : rule.apply(picture)) {
                Patches patches = new Patches(piece, keys);
                // Blocks column by column, and row by row in each.
                List<int[]> order = patches.inBlocks(side).stream()
                        .sorted(Comparator.comparingInt(at -> at[0] / side))
                        .toList();
                PositionTable table = PositionTable.of(positions, keys.width(), patches.columns());
                List<float[]> rows = patches.rows(order, keys.width(), table.and(keys.patchBias(tensors)));
                float[] whole = patches.blank(tensors.values("v.class_embd"), positions, rows.size());
                Stream<int[]> places = order.stream().map(at -> new int[] {at[1] + 1, at[0] + 1});
                EncoderStep step = EncoderStep.of(rows, side * side)
                        .after(whole)
                        .at(Stream.concat(Stream.of(new int[] {0, 0}), places).toList());
                prompt.rows(step, patches.columns() / side, false);
            }
            prompt.text("<|image_end|>");
        }
    }
}
