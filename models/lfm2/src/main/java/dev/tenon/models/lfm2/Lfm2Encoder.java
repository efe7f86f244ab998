package dev.tenon.models.lfm2;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Value;
import dev.tenon.api.media.GridRule;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.PictureRule;
import dev.tenon.api.media.Piece;
import dev.tenon.api.media.Resampling;
import dev.tenon.api.media.Resizing;
import dev.tenon.api.media.Size;
import dev.tenon.api.media.SizeRule;
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

/// The `lfm2` encoder of LFM2 VL: a picture of any size, or tiles and then the whole if it is large.
@Component(service = MediaEncoder.class, property = "media.encoder=lfm2")
@ServiceProvider(value = MediaEncoder.class, resolution = Resolution.OPTIONAL)
public final class Lfm2Encoder implements MediaEncoder {
    private static final int LEAST_ROWS = 64;
    private static final int MOST_ROWS = 256;
    private static final int LEAST_TILES = 2;
    private static final int MOST_TILES = 10;
    private static final Size TILE = new Size(512, 512);
    private static final float PROJECTOR_EPS = 1e-5f;

    @Override
    public String id() {
        return "lfm2";
    }

    @Override
    public EncoderDefinition define(ModelSource source, ModelConfig text) {
        VisionKeys keys = VisionKeys.of(source);
        int side = keys.side("projector.scale_factor", 2);
        int align = keys.patch() * side;
        if (TILE.width() % align != 0) {
            throw keys.keys().impossible("vision.projector.scale_factor", side, "a divisor of tiles of " + TILE);
        }
        VisionBlocks v = new VisionBlocks(keys, Norm.LAYER);
        Value x = v.encoded(v.embedded(), Optional.empty()); //                                       [T, E]
        x = v.graph().joinRows("joined", x, side * side); //                                   [L, side^2 E]
        x = v.has("mm.input_norm.weight") ? v.layerNorm("mm.input_norm", x, PROJECTOR_EPS) : x;
        x = v.projected(x, "mm.1", "mm.2", text.embeddingLength());
        SizeRule rounded = SizeRule.nearestEven(align, keys.patch());
        GridRule grid = GridRule.closest(LEAST_TILES, MOST_TILES, TILE)
                .when(size -> rounded.of(size).pixels() > 2L * MOST_ROWS * align * align);
        PictureRule rule = keys.fitted(keys.anySize(side, LEAST_ROWS, MOST_ROWS, Resizing.stretch(Resampling.BILINEAR))
                .tiled(grid, TILE, Resizing.letterbox(Resampling.BILINEAR, 0)));
        int most = Math.max(MOST_ROWS * side * side, (int) (TILE.pixels() / keys.patch() / keys.patch()));
        return new EncoderDefinition(v.graph().build(x), most, new Layout(keys, side, rule));
    }

    private record Layout(VisionKeys keys, int side, PictureRule rule) implements MediaLayout.OfPictures {
        @Override
        public void lay(Picture picture, EncoderTensors tensors, MediaPrompt prompt) {
            List<Picture> pictures = rule.apply(picture);
            List<Piece> pieces = rule.pieces(picture.size());
            prompt.text("<|image_start|>");
            for (int i = 0; i < pieces.size(); i++) {
                Piece piece = pieces.get(i);
                if (piece.isTile()) {
                    prompt.text("<|img_row_" + (piece.row() + 1) + "_col_" + (piece.column() + 1) + "|>");
                } else if (i > 0) {
                    prompt.text("<|img_thumbnail|>");
                }
                Patches patches = new Patches(pictures.get(i), keys);
                PositionTable table = PositionTable.of(
                        tensors.values("v.position_embd.weight"),
                        keys.width(),
                        patches.columns(),
                        patches.rows(),
                        PositionTable.Resize.ANTIALIASED);
                List<float[]> rows =
                        patches.rows(patches.inBlocks(side), keys.width(), table.and(keys.patchBias(tensors)));
                prompt.rows(EncoderStep.of(rows, side * side), patches.columns() / side, false);
            }
            prompt.text("<|image_end|>");
        }
    }
}
