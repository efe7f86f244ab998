package dev.tenon.platform.cli.pull;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Random;

/// Small files that the reader accepts.
final class TestGguf {
    private static final int UINT16 = 2;
    private static final int INT32 = 5;
    private static final int BOOL = 7;
    private static final int STRING = 8;
    private static final int F32 = 0;

    private TestGguf() {}

    /// {@return a file with one tensor of random bytes}
    ///
    /// @param floats its elements, a multiple of eight so that no padding follows
    /// @param seed of the bytes
    static byte[] model(int floats, long seed) {
        return file(ByteBuffer.allocate(1024).order(ByteOrder.LITTLE_ENDIAN), 0, "t", floats, seed);
    }

    /// {@return a part of a split file}
    ///
    /// @param number its number, from 0
    /// @param count the number of parts
    /// @param seed of its bytes
    static byte[] part(int number, int count, long seed) {
        ByteBuffer keys = ByteBuffer.allocate(1024).order(ByteOrder.LITTLE_ENDIAN);
        text(keys, "split.no").putInt(UINT16).putShort((short) number);
        text(keys, "split.count").putInt(UINT16).putShort((short) count);
        text(keys, "split.tensors.count").putInt(INT32).putInt(count);
        return file(keys, 3, "t" + number, 800, seed);
    }

    /// {@return a model whose file names a pooling}
    ///
    /// @param type value of `pooling_type`
    static byte[] pooling(int type) {
        ByteBuffer keys = ByteBuffer.allocate(1024).order(ByteOrder.LITTLE_ENDIAN);
        text(text(keys, "general.architecture").putInt(STRING), "bert");
        text(keys, "bert.pooling_type").putInt(INT32).putInt(type);
        return file(keys, 2, "t", 8, 1);
    }

    /// {@return a text model that rows of a companion fit}
    ///
    /// @param width of its rows, a multiple of eight
    static byte[] text(int width) {
        ByteBuffer keys = ByteBuffer.allocate(1024).order(ByteOrder.LITTLE_ENDIAN);
        text(text(keys, "general.architecture").putInt(STRING), "llama");
        text(keys, "llama.embedding_length").putInt(INT32).putInt(width);
        return file(keys, 2, "t", width, 1);
    }

    /// {@return a companion}
    ///
    /// @param width of its rows, a multiple of eight
    /// @param kind `vision` or `audio`
    static byte[] companion(int width, String kind) {
        ByteBuffer keys = ByteBuffer.allocate(1024).order(ByteOrder.LITTLE_ENDIAN);
        text(text(keys, "general.architecture").putInt(STRING), "clip");
        text(text(keys, "clip.projector_type").putInt(STRING), "gemma3");
        text(keys, "clip.has_" + kind + "_encoder").putInt(BOOL).put((byte) 1);
        text(keys, "clip." + kind + ".projection_dim").putInt(INT32).putInt(width);
        text(keys, "clip." + kind + ".image_size").putInt(INT32).putInt(84);
        text(keys, "clip." + kind + ".patch_size").putInt(INT32).putInt(14);
        return file(keys, 6, "mm.2.bias", width, 2);
    }

    private static byte[] file(ByteBuffer keys, int keyCount, String tensor, int floats, long seed) {
        ByteBuffer head = ByteBuffer.allocate(2048).order(ByteOrder.LITTLE_ENDIAN);
        head.put("GGUF".getBytes(StandardCharsets.US_ASCII))
                .putInt(3)
                .putLong(1)
                .putLong(keyCount)
                .put(keys.flip());
        text(head, tensor).putInt(1).putLong(floats).putInt(F32).putLong(0);
        int start = Math.ceilDiv(head.position(), 32) * 32;
        byte[] data = new byte[4 * floats];
        new Random(seed).nextBytes(data);
        return ByteBuffer.allocate(start + data.length)
                .put(head.flip())
                .position(start)
                .put(data)
                .array();
    }

    private static ByteBuffer text(ByteBuffer to, String text) {
        return to.putLong(text.length()).put(text.getBytes(StandardCharsets.US_ASCII));
    }
}
