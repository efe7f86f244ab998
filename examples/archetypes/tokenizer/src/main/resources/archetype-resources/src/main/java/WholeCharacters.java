package ${package};

import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/// Decodes the bytes of tokens as UTF-8, and keeps those of a character that is still cut. Serves one stream.
final class WholeCharacters implements StreamDecoder {
    private final Tokenizer tokenizer;
    private final CharsetDecoder decoder = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);
    private ByteBuffer kept = ByteBuffer.allocate(0);

    WholeCharacters(Tokenizer tokenizer) {
        this.tokenizer = tokenizer;
    }

    @Override
    public String next(int id) {
        byte[] bytes = tokenizer.bytes(id);
        kept = ByteBuffer.allocate(kept.remaining() + bytes.length)
                .put(kept)
                .put(bytes)
                .flip();
        return decode(false);
    }

    @Override
    public String finish() {
        return decode(true);
    }

    private String decode(boolean last) {
        CharBuffer text = CharBuffer.allocate(kept.remaining() + 1);
        decoder.decode(kept, text, last);
        return text.flip().toString();
    }
}
