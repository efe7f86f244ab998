package dev.tenon.platform.core.media;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.media.encoder.EncoderStep;
import dev.tenon.api.media.encoder.MediaPrompt;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.placement.Placement;
import dev.tenon.platform.core.steps.RowBlock;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// Takes what a layout says of a picture or a sound, and encodes it. For one thread, and one picture or sound.
final class LaidMedia implements MediaPrompt {
    private final Placement placement;
    private final Tokenizer tokenizer;
    private final RowTokens ids;
    private final boolean axes;
    private final Map<String, Integer> named;
    private final IntStream.Builder tokens = IntStream.builder();
    private final List<RowBlock> blocks = new ArrayList<>();

    /// @param placement the encoder's; nobody else uses it meanwhile
    /// @param tokenizer of the model that reads the rows
    /// @param ids tokens for the rows
    /// @param axes whether the model rotates along the axes of pictures
    /// @param named ids of tokens that were asked for by name; grows
    LaidMedia(Placement placement, Tokenizer tokenizer, RowTokens ids, boolean axes, Map<String, Integer> named) {
        this.placement = placement;
        this.tokenizer = tokenizer;
        this.ids = ids;
        this.axes = axes;
        this.named = named;
    }

    @Override
    public void text(String text) {
        for (int token : tokenizer.encode(text, false, true)) {
            tokens.add(token);
        }
    }

    @Override
    public void token(String token) {
        tokens.add(named.computeIfAbsent(token, this::find));
    }

    private int find(String token) {
        int size = tokenizer.vocabularySize();
        for (int id = 0; id < size; id++) {
            if (tokenizer.piece(id).equals(token)
                    || new String(tokenizer.bytes(id), StandardCharsets.UTF_8).equals(token)) {
                return id;
            }
        }
        throw new ModelFormatException(
                ErrorCode.MODEL_TOKENIZER,
                "The vocabulary has no token '" + token + "', which stands beside pictures or sounds of the model."
                        + " Use the companion file of this very model.");
    }

    @Override
    public void rows(EncoderStep step, int columns, boolean together) {
        add(EncoderRun.rows(placement, step), columns, together);
    }

    @Override
    public void lines(EncoderStep step, int columns, float[] between) {
        List<float[]> all = EncoderRun.rows(placement, step);
        for (int line = step.results() / columns - 1; line > 0; line--) {
            all.add(line * columns, between.clone());
        }
        add(all, columns, false);
    }

    private void add(List<float[]> rows, int columns, boolean together) {
        RowBlock block = new RowBlock(ids.next(rows.size()), rows, axes ? columns : 0, together);
        blocks.add(block);
        for (int i = 0; i < block.length(); i++) {
            tokens.add(block.token(i));
        }
    }

    /// {@return all that was said}
    EncodedMedia encoded() {
        return new EncodedMedia(tokens.build().toArray(), blocks);
    }
}
