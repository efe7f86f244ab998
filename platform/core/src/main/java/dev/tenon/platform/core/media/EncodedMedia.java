package dev.tenon.platform.core.media;

import dev.tenon.api.engine.PromptMedia;
import dev.tenon.platform.core.steps.RowBlock;
import java.util.List;

/// What stands in a prompt in the place of a picture or a sound.
public final class EncodedMedia implements PromptMedia {
    private final int[] tokens;
    private final List<RowBlock> blocks;

    /// @param tokens all of it; never changed
    /// @param blocks the rows for which those below 0 stand, in their order
    EncodedMedia(int[] tokens, List<RowBlock> blocks) {
        this.tokens = tokens;
        this.blocks = List.copyOf(blocks);
    }

    @Override
    public int[] tokens() {
        return tokens.clone();
    }

    /// {@return the rows for which its tokens below 0 stand, in their order}
    public List<RowBlock> blocks() {
        return blocks;
    }

    @Override
    public int rows() {
        return blocks.stream().mapToInt(RowBlock::length).sum();
    }

    @Override
    public float[] row(int index) {
        int at = index;
        for (RowBlock block : blocks) {
            if (at < block.length()) {
                return block.row(at).clone();
            }
            at -= block.length();
        }
        throw new IndexOutOfBoundsException("row " + index + " of " + rows());
    }

    /// {@return bytes of its rows}
    long bytes() {
        return blocks.stream()
                .mapToLong(block -> (long) block.length() * block.row(0).length * Float.BYTES)
                .sum();
    }
}
