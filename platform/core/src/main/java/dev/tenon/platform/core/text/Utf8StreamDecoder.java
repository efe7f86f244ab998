package dev.tenon.platform.core.text;

import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Turns tokens into text as they come and keeps back the bytes of a character that is still cut.
///
/// What all calls give out, put together, equals `new String(allBytes, UTF_8)`. Not safe for several
/// threads.
final class Utf8StreamDecoder implements StreamDecoder {
    private final Tokenizer tokenizer;
    private boolean dropSpace;
    private byte[] pending = {};

    /// Creates a decoder.
    ///
    /// @param tokenizer where tokens get their bytes from
    /// @param dropSpace whether one blank at the very start is left out, since the encoder had put it there
    Utf8StreamDecoder(Tokenizer tokenizer, boolean dropSpace) {
        this.tokenizer = tokenizer;
        this.dropSpace = dropSpace;
    }

    @Override
    public String next(int id) {
        byte[] bytes = tokenizer.bytes(id);
        int from = 0;
        if (dropSpace && bytes.length > 0) {
            dropSpace = false;
            from = bytes[0] == ' ' ? 1 : 0;
        }
        if (bytes.length == from) {
            return "";
        }
        int kept = pending.length;
        byte[] all = bytes;
        if (kept > 0 || from > 0) {
            all = Arrays.copyOf(pending, kept + bytes.length - from);
            System.arraycopy(bytes, from, all, kept, bytes.length - from);
        }
        int complete = all.length - cutTail(all);
        pending = complete == all.length ? new byte[0] : Arrays.copyOfRange(all, complete, all.length);
        return new String(all, 0, complete, StandardCharsets.UTF_8);
    }

    @Override
    public String finish() {
        String rest = new String(pending, StandardCharsets.UTF_8);
        pending = new byte[0];
        return rest;
    }

    /// {@return how many bytes at the end begin a character without ending it, 0 to 3}
    private static int cutTail(byte[] bytes) {
        int n = bytes.length;
        for (int back = 1; back <= 3 && back <= n; back++) {
            int lead = bytes[n - back] & 0xff;
            if ((lead & 0xc0) == 0x80) {
                continue;
            }
            int length = lead >= 0xc2 && lead <= 0xdf ? 2 : lead >> 4 == 0xe ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 1;
            return back < length && (back == 1 || canFollow(lead, bytes[n - back + 1] & 0xff)) ? back : 0;
        }
        return 0;
    }

    private static boolean canFollow(int lead, int second) {
        return switch (lead) {
            case 0xe0 -> second >= 0xa0;
            case 0xf0 -> second >= 0x90;
            case 0xf4 -> second <= 0x8f;
            default -> true;
        };
    }
}
