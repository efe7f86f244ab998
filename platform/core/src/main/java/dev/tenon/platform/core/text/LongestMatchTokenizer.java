package dev.tenon.platform.core.text;

import dev.tenon.api.gguf.GgufMetadata;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/// Takes the longest token that the rest of a text begins with, again and again, byte by byte (RWKV,
/// `tokenizer.ggml.model` = `rwkv`). There are no merges.
///
/// Texts of tokens are escaped: `\\t`, `\\n`, `\\r`, `\\\\`, and `\\xNN` for a byte.
final class LongestMatchTokenizer extends VocabularyTokenizer {
    private final byte[][] bytes;
    private final Node root = new Node();

    /// What follows the bytes that led here.
    private static final class Node {
        private final Map<Byte, Node> next = new HashMap<>();
        private int id = -1;
    }

    /// Reads a tokenizer.
    ///
    /// @param metadata metadata with the `tokenizer.ggml.*` keys
    /// @throws dev.tenon.api.error.ModelFormatException if the vocabulary is missing or broken
    static LongestMatchTokenizer of(GgufMetadata metadata) {
        return new LongestMatchTokenizer(new Vocabulary(metadata, new Vocabulary.Defaults(false, -1, false, -1)));
    }

    private LongestMatchTokenizer(Vocabulary vocabulary) {
        super(vocabulary);
        bytes = new byte[vocabulary.size()][];
        for (int id = 0; id < bytes.length; id++) {
            bytes[id] = unescaped(vocabulary.text(id));
            if (vocabulary.isText(id) && bytes[id].length > 0) {
                Node node = root;
                for (byte b : bytes[id]) {
                    node = node.next.computeIfAbsent(b, _ -> new Node());
                }
                node.id = node.id < 0 ? id : node.id;
            }
        }
    }

    private static byte[] unescaped(String text) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < text.length(); ) {
            int end = i + Character.charCount(text.codePointAt(i));
            boolean escaped = text.charAt(i) == '\\' && end < text.length();
            if (!escaped) {
                out.writeBytes(text.substring(i, end).getBytes(StandardCharsets.UTF_8));
                i = end;
                continue;
            }
            char kind = text.charAt(end);
            if (kind == 'x'
                    && end + 3 <= text.length()
                    && text.substring(end + 1, end + 3).matches("\\p{XDigit}{2}")) {
                out.write(Integer.parseInt(text.substring(end + 1, end + 3), 16));
                i = end + 3;
            } else {
                out.write(
                        switch (kind) {
                            case 't' -> '\t';
                            case 'n' -> '\n';
                            case 'r' -> '\r';
                            default -> '\\';
                        });
                i = kind == 't' || kind == 'n' || kind == 'r' || kind == '\\' ? end + 1 : end;
            }
        }
        return out.toByteArray();
    }

    @Override
    Encoder encoder(String text, IntList out) {
        return (from, to) -> {
            byte[] part = text.substring(from, to).getBytes(StandardCharsets.UTF_8);
            for (int at = 0; at < part.length; ) {
                int length = 0;
                int id = vocabulary().unknown();
                Node node = root.next.get(part[at]);
                for (int end = at + 1; node != null; end++) {
                    if (node.id >= 0) {
                        id = node.id;
                        length = end - at;
                    }
                    node = end < part.length ? node.next.get(part[end]) : null;
                }
                if (id >= 0) {
                    out.add(id);
                }
                at += Math.max(1, length);
            }
        };
    }

    @Override
    byte[] textBytes(int id) {
        return bytes[id];
    }

    @Override
    boolean dropsSpace() {
        return false;
    }
}
