package dev.tenon.platform.core.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.kernel.cpu.CompileThresholdScaling;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/// Walks over the header of a GGUF file; every read is checked against the bytes that are left.
///
/// It reads from a block of the file that it has copied: a header has some hundred thousand short strings, and code
/// that has run a few times only is slow with memory segments. Belongs to one thread.
@CompileThresholdScaling(10)
final class GgufCursor {
    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /// Longest key or tensor name in bytes, as the GGUF specification has it for keys.
    private static final int MAX_NAME = 65535;
    /// Longest string value in bytes.
    private static final int MAX_STRING = 64 << 20;
    /// Bytes that are copied at a time.
    private static final int BLOCK = 1 << 16;

    private final MemorySegment file;
    private final String source;
    private final long size;
    private long position;
    private byte[] block = new byte[BLOCK];
    private long blockStart;
    private long blockEnd;
    private String context = "";

    GgufCursor(MemorySegment file, String source) {
        this.file = file;
        this.source = source;
        this.size = file.byteSize();
    }

    /// Sets what errors say after the name of the field, such as the metadata key that is being read.
    void context(String text) {
        context = text;
    }

    /// {@return a name as error messages show it: not longer than 100 characters}
    static String show(String name) {
        return name.length() <= 100 ? name : name.substring(0, 100) + "...";
    }

    long position() {
        return position;
    }

    long left() {
        return size - position;
    }

    byte readByte(String what) {
        int at = take(1, what);
        return block[at];
    }

    short readShort(String what) {
        int at = take(2, what);
        return (short) (block[at] & 0xFF | block[at + 1] << 8);
    }

    int readInt(String what) {
        int at = take(4, what);
        return intAt(at);
    }

    long readLong(String what) {
        int at = take(8, what);
        return intAt(at) & 0xFFFF_FFFFL | (long) intAt(at + 4) << 32;
    }

    float readFloat(String what) {
        return Float.intBitsToFloat(readInt(what));
    }

    double readDouble(String what) {
        return Double.longBitsToDouble(readLong(what));
    }

    private int intAt(int at) {
        return block[at] & 0xFF | (block[at + 1] & 0xFF) << 8 | (block[at + 2] & 0xFF) << 16 | block[at + 3] << 24;
    }

    /// Reads a 64-bit count of things that take at least `minBytes` bytes each, so that the result fits
    /// the file.
    int readCount(String what, int minBytes) {
        long at = position;
        long count = readLong(what);
        if (count < 0 || count > Integer.MAX_VALUE - 8) {
            throw new ModelFormatException(
                    ErrorCode.GGUF_HEADER,
                    "The " + describe(what) + " in " + source + " (byte " + at + ") is " + Long.toUnsignedString(count)
                            + ", which is impossible. The file is broken: download it again.");
        }
        if (count * minBytes > left()) {
            throw truncated(describe(what) + " (" + count + ", at least " + count * minBytes + " bytes)", at);
        }
        return (int) count;
    }

    /// Reads a key or tensor name: valid UTF-8, not empty, without control characters, which would
    /// reach terminals.
    String readName(String what) {
        long at = position;
        int length = readCount(what, 1);
        if (length == 0 || length > MAX_NAME) {
            throw new ModelFormatException(
                    ErrorCode.GGUF_HEADER,
                    "The length of the " + describe(what) + " in " + source + " (byte " + at + ") is " + length
                            + "; expected 1 to " + MAX_NAME + ". The file is broken: download it again.");
        }
        int from = take(length, what);
        String name;
        if (ascii(from, length)) {
            name = new String(block, from, length, StandardCharsets.ISO_8859_1);
        } else {
            try {
                name = StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(ByteBuffer.wrap(block, from, length))
                        .toString();
            } catch (CharacterCodingException e) {
                throw badName(what, at, from, length, "is not valid UTF-8");
            }
        }
        for (int i = 0; i < name.length(); i++) {
            if (Character.isISOControl(name.charAt(i))) {
                throw badName(what, at, from, length, "holds a control character");
            }
        }
        return name;
    }

    /// Reads a string value; bytes that are not UTF-8 become U+FFFD.
    String readString(String what) {
        long at = position;
        int length = readCount(what, 1);
        if (length > MAX_STRING) {
            throw new ModelFormatException(
                    ErrorCode.GGUF_HEADER,
                    "The " + describe(what) + " in " + source + " (byte " + at + ") is " + length + "; the limit is "
                            + MAX_STRING + ". The file is broken: download it again.");
        }
        if (length == 0) {
            return "";
        }
        int from = take(length, what);
        return new String(
                block, from, length, ascii(from, length) ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_8);
    }

    /// Claims `bytes` bytes and returns where they start.
    long advance(long bytes, String what) {
        if (bytes > left()) {
            throw truncated(describe(what), position);
        }
        long at = position;
        position += bytes;
        return at;
    }

    /// Claims bytes and returns where they lie in the block.
    private int take(int bytes, String what) {
        long at = advance(bytes, what);
        if (at < blockStart || at + bytes > blockEnd) {
            if (block.length < bytes) {
                block = new byte[bytes];
            }
            int length = (int) Math.min(block.length, size - at);
            MemorySegment.copy(file, ValueLayout.JAVA_BYTE, at, block, 0, length);
            blockStart = at;
            blockEnd = at + length;
        }
        return (int) (at - blockStart);
    }

    private boolean ascii(int from, int length) {
        int bits = 0;
        for (int i = from; i < from + length; i++) {
            bits |= block[i];
        }
        return bits >= 0;
    }

    private String describe(String what) {
        return context.isEmpty() ? what : what + " of " + show(context);
    }

    private ModelFormatException badName(String what, long at, int from, int length, String why) {
        return new ModelFormatException(
                ErrorCode.GGUF_NAME,
                "The " + describe(what) + " in " + source + " (byte " + at + ") " + why + ": bytes "
                        + HexFormat.of().formatHex(block, from, from + Math.min(length, 32))
                        + (length > 32 ? "..." : "")
                        + ". The file is broken: download it again.");
    }

    private ModelFormatException truncated(String what, long at) {
        return new ModelFormatException(
                ErrorCode.GGUF_TRUNCATED,
                source + " ends too early: the " + what + " at byte " + at + " does not fit the " + size
                        + " bytes of the file. Download or copy it again.");
    }
}
