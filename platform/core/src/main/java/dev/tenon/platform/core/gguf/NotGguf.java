package dev.tenon.platform.core.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/// Guesses what a file without GGUF magic is, so that its user learns what to do.
final class NotGguf {
    private static final int LOOK = 512;

    private NotGguf() {}

    static ModelFormatException error(MemorySegment file, String source) {
        byte[] head = new byte[(int) Math.min(LOOK, file.byteSize())];
        MemorySegment.copy(file, ValueLayout.JAVA_BYTE, 0, head, 0, head.length);
        return new ModelFormatException(
                ErrorCode.GGUF_MAGIC, source + " is not a GGUF file: " + guess(head, file.byteSize()));
    }

    private static String guess(byte[] head, long size) {
        if (head.length == 0) {
            return "it is empty. Download or copy it again.";
        }
        String text = new String(head, StandardCharsets.ISO_8859_1);
        if (text.startsWith("version https://git-lfs")) {
            return "it is a Git LFS pointer. Run `git lfs pull`, or download the file itself.";
        }
        if (text.startsWith("PK\u0003\u0004")) {
            return "it is a zip archive (PyTorch files are, too). Unpack it, or get the model as GGUF.";
        }
        if (text.startsWith("\u001f\u008b") || text.startsWith("\u0028\u00b5\u002f\u00fd")) {
            return "it is compressed (gzip or zstd). Unpack it first.";
        }
        if (size > 9 && head.length > 8 && head[8] == '{' && lengthAtStart(head) <= size - 8) {
            return "it is a safetensors file. Convert the model, or get it as GGUF.";
        }
        String magic = text.substring(0, Math.min(4, text.length()));
        if (magic.equals("GGML") || magic.equals("lmgg") || magic.equals("fmgg") || magic.equals("tjgg")) {
            return "it is a GGML file from before GGUF. Get a newer conversion of the model.";
        }
        if (isText(head)) {
            String start = text.strip().toLowerCase(Locale.ROOT);
            return start.startsWith("<!doctype") || start.startsWith("<html") || start.startsWith("<?xml")
                    ? "it is a web page, perhaps the error page of a failed download. Download the file again."
                    : "it is a text file. Give the path of a GGUF file.";
        }
        return "it starts with " + hex(head) + ", expected 47 47 55 46 (GGUF). Give the path of a GGUF file.";
    }

    private static long lengthAtStart(byte[] head) {
        long length = 0;
        for (int i = 7; i >= 0; i--) {
            length = length << 8 | Byte.toUnsignedLong(head[i]);
        }
        return length < 0 ? Long.MAX_VALUE : length;
    }

    private static boolean isText(byte[] head) {
        for (byte b : head) {
            if (b >= 0 && b < ' ' && b != '\n' && b != '\r' && b != '\t') {
                return false;
            }
        }
        String decoded = new String(head, StandardCharsets.UTF_8);
        int bad = decoded.indexOf('\uFFFD');
        return bad < 0 || bad >= decoded.length() - 3;
    }

    private static String hex(byte[] head) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < Math.min(4, head.length); i++) {
            text.append(i == 0 ? "" : " ").append(String.format(Locale.ROOT, "%02x", head[i]));
        }
        return text.toString();
    }
}
