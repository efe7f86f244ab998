package dev.tenon.platform.core.steps;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The rows of a sequence as bytes, whole blocks, of which the sequence may have only the first rows.
///
/// ```
/// int blocks | for each: int start | int end | int rows | int columns | boolean together | int width
///     int each token that the sequence does not have | float each element, row by row
/// ```
final class SavedRows {
    private static final int MOST_WIDTH = 1 << 20;

    private SavedRows() {}

    static void write(SequenceRows rows, DataOutputStream out) throws IOException {
        out.writeInt(rows.blocks().size());
        for (SequenceRows.Placed placed : rows.blocks()) {
            RowBlock block = placed.block();
            out.writeInt(placed.start());
            out.writeInt(placed.end());
            out.writeInt(block.length());
            out.writeInt(block.columns());
            out.writeBoolean(block.together());
            out.writeInt(block.width());
            for (int i = placed.end() - placed.start(); i < block.length(); i++) {
                out.writeInt(block.token(i));
            }
            ByteBuffer bytes = ByteBuffer.allocate(block.width() * Float.BYTES);
            for (int i = 0; i < block.length(); i++) {
                bytes.asFloatBuffer().put(block.row(i));
                out.write(bytes.array());
            }
        }
    }

    /// Reads rows.
    ///
    /// @param tokens all of the sequence
    /// @param mostRows of a block
    /// @param to takes them; empty
    static void read(DataInputStream in, int[] tokens, int mostRows, SequenceRows to) throws IOException {
        int blocks = SavedSequence.count(in, 0, tokens.length, "blocks of rows");
        for (int before = 0; blocks > 0; blocks--) {
            int start = SavedSequence.count(in, before, tokens.length - 1, "as the first row of a block");
            before = SavedSequence.count(in, start + 1, tokens.length, "as the end of a block");
            int length = SavedSequence.count(in, before - start, mostRows, "rows of a block");
            int columns = SavedSequence.count(in, 0, length, "columns");
            boolean together = in.readBoolean();
            float[] row = new float[SavedSequence.count(in, 1, MOST_WIDTH, "elements of a row")];
            int[] ids = Arrays.copyOfRange(tokens, start, start + length);
            for (int i = before - start; i < length; i++) {
                ids[i] = in.readInt();
            }
            if (Arrays.stream(ids).anyMatch(id -> id >= 0)) {
                throw SavedSequence.refused("is damaged: a token of the vocabulary has a row", null);
            }
            ByteBuffer bytes = ByteBuffer.allocate(row.length * Float.BYTES);
            List<float[]> rows = new ArrayList<>();
            for (int i = 0; i < length; i++) {
                in.readFully(bytes.array());
                bytes.asFloatBuffer().get(row);
                rows.add(row.clone());
            }
            to.add(start, before, new RowBlock(ids, rows, columns, together));
        }
    }
}
