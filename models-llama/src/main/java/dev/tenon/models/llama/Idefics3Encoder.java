package dev.tenon.models.llama;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Value;
import dev.tenon.api.media.GridRule;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.PictureRule;
import dev.tenon.api.media.Piece;
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

/// The `idefics3` encoder of SmolVLM: tiles of one size, each with its place in the text, then the whole picture.
@Component(service = MediaEncoder.class, property = "media.encoder=idefics3")
@ServiceProvider(value = MediaEncoder.class, resolution = Resolution.OPTIONAL)
public final class Idefics3Encoder implements MediaEncoder {
    private static final String AROUND = "<fake_token_around_image>";

    @Override
    public String id() {
        return "idefics3";
    }

    @Override
    public EncoderDefinition define(ModelSource source, ModelConfig text) {
        VisionKeys keys = VisionKeys.of(source);
        int side = keys.side("projector.scale_factor", 1);
        int patches = keys.patchesOf(side);
        int edge = keys.keys().integer("vision.preproc_image_size", keys.image(), 1 << 16);
        VisionBlocks v = new VisionBlocks(keys, Norm.LAYER);
        Value x = v.encoded(v.embedded(), Optional.empty()); //                                       [T, E]
        x = v.graph().joinRows("joined", x, side * side); //                                   [L, side^2 E]
        x = v.linear("mm.model.fc", x, text.embeddingLength());
        return new EncoderDefinition(v.graph().build(x), patches * patches, new Layout(keys, side, edge));
    }

    private record Layout(VisionKeys keys, int side, int edge) implements MediaLayout.OfPictures {
        @Override
        public void lay(Picture picture, EncoderTensors tensors, MediaPrompt prompt) {
            PictureRule rule = keys.tiled(GridRule.of(SizeRule.longestEdge(edge, keys.image()), keys.tile()));
            List<Picture> pictures = rule.apply(picture);
            List<Piece> pieces = rule.pieces(picture.size());
            for (int i = 0; i < pieces.size(); i++) {
                Piece piece = pieces.get(i);
                if (!piece.isTile()) {
                    prompt.token("\n\n");
                } else if (piece.row() > 0 && piece.column() == 0) {
                    prompt.token("\n");
                }
                prompt.token(AROUND);
                if (piece.isTile()) {
                    prompt.text("<row_" + (piece.row() + 1) + "_col_" + (piece.column() + 1) + ">");
                } else {
                    prompt.token("<global-img>");
                }
                Patches patches = new Patches(pictures.get(i), keys);
                PositionTable table =
                        PositionTable.of(tensors.values("v.position_embd.weight"), keys.width(), patches.columns());
                List<float[]> rows =
                        patches.rows(patches.inBlocks(side), keys.width(), table.and(keys.patchBias(tensors)));
                prompt.rows(EncoderStep.of(rows, side * side), patches.columns() / side, false);
            }
            prompt.token(AROUND);
        }
    }
}
