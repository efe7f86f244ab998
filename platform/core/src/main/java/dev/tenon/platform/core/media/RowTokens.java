package dev.tenon.platform.core.media;

import dev.tenon.platform.core.tuned.TunedIdentity;
import java.nio.ByteBuffer;

/// Tokens below 0 that stand for rows: drawn from a digest of what was encoded and of what encoded it. Equal content
/// has
/// equal tokens, here and after a restart; those of other content differ, but for one in 2³¹, row by row.
final class RowTokens {
    private final byte[] content;
    private int count;

    /// @param content a digest of 32 bytes
    RowTokens(byte[] content) {
        this.content = content.clone();
    }

    /// {@return the next tokens}
    ///
    /// @param length how many
    int[] next(int length) {
        int[] tokens = new int[length];
        for (int i = 0; i < length; i++) {
            byte[] drawn = TunedIdentity.sha256()
                    .digest(ByteBuffer.allocate(content.length + Integer.BYTES)
                            .put(content)
                            .putInt(count++)
                            .array());
            tokens[i] = ByteBuffer.wrap(drawn).getInt() | Integer.MIN_VALUE;
        }
        return tokens;
    }
}
