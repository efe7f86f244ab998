package dev.tenon.itest.testkit.models;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;

/// Two small formats that the contracts need themselves: plain F32, and one that no backend has heard of.
public final class TestFormats {
    /// F32, little-endian; type 0.
    public static final QuantFormat F32 = new PlainF32();

    /// `TESTKIT_5`: 5 elements in 7 bytes, a float16 scale and 5 signed bytes; type 9001. Its block
    /// size and bytes divide nothing, and no backend has a kernel for it.
    public static final QuantFormat UNHEARD_OF = new FiveInSeven();

    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort F16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private TestFormats() {}

    /// {@return whether a format can hold weights: not one of whole numbers, such as indices}
    ///
    /// @param format any format
    public static boolean holdsWeights(QuantFormat format) {
        byte[] blocks = new byte[64 * format.blockBytes()];
        new Random(1).nextBytes(blocks);
        float[] values = new float[64 * format.blockSize()];
        format.dequantize(MemorySegment.ofArray(blocks), 0, values, 0, values.length);
        for (float value : values) {
            if (Float.isFinite(value) && value != Math.rint(value)) {
                return true;
            }
        }
        return false;
    }

    private abstract static class Simple implements QuantFormat {
        private final String id;
        private final int ggmlType;
        private final int blockSize;
        private final int blockBytes;

        Simple(String id, int ggmlType, int blockSize, int blockBytes) {
            this.id = id;
            this.ggmlType = ggmlType;
            this.blockSize = blockSize;
            this.blockBytes = blockBytes;
        }

        abstract void decodeBlock(MemorySegment source, long offsetBytes, float[] target, int at);

        abstract void encodeBlock(float[] source, int at, MemorySegment target, long offsetBytes);

        @Override
        public String id() {
            return id;
        }

        @Override
        public int ggmlType() {
            return ggmlType;
        }

        @Override
        public int blockSize() {
            return blockSize;
        }

        @Override
        public int blockBytes() {
            return blockBytes;
        }

        private void check(MemorySegment blocks, long offsetBytes, float[] values, int at, int n) {
            Objects.checkFromIndexSize(offsetBytes, bytesFor(n), blocks.byteSize());
            Objects.checkFromIndexSize(at, n, values.length);
        }

        @Override
        public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
            check(source, offsetBytes, target, targetOffset, n);
            for (int b = 0; b < n / blockSize; b++) {
                decodeBlock(source, offsetBytes + (long) b * blockBytes, target, targetOffset + b * blockSize);
            }
        }

        @Override
        public Optional<Quantizer> quantizer() {
            return Optional.of((source, at, target, offsetBytes, n) -> {
                check(target, offsetBytes, source, at, n);
                for (int b = 0; b < n / blockSize; b++) {
                    encodeBlock(source, at + b * blockSize, target, offsetBytes + (long) b * blockBytes);
                }
            });
        }
    }

    private static final class PlainF32 extends Simple {
        PlainF32() {
            super("F32", 0, 1, 4);
        }

        @Override
        void decodeBlock(MemorySegment source, long offsetBytes, float[] target, int at) {
            target[at] = source.get(FLOAT, offsetBytes);
        }

        @Override
        void encodeBlock(float[] source, int at, MemorySegment target, long offsetBytes) {
            target.set(FLOAT, offsetBytes, source[at]);
        }
    }

    private static final class FiveInSeven extends Simple {
        FiveInSeven() {
            super("TESTKIT_5", 9001, 5, 7);
        }

        @Override
        void decodeBlock(MemorySegment source, long offsetBytes, float[] target, int at) {
            float d = Float.float16ToFloat(source.get(F16, offsetBytes));
            for (int i = 0; i < 5; i++) {
                target[at + i] = d * source.get(ValueLayout.JAVA_BYTE, offsetBytes + 2 + i);
            }
        }

        @Override
        void encodeBlock(float[] source, int at, MemorySegment target, long offsetBytes) {
            float largest = 0;
            for (int i = 0; i < 5; i++) {
                largest = Math.max(largest, Math.abs(source[at + i]));
            }
            short d = Float.floatToFloat16(largest / 127);
            float inverse = Float.float16ToFloat(d) == 0 ? 0 : 1 / Float.float16ToFloat(d);
            target.set(F16, offsetBytes, d);
            for (int i = 0; i < 5; i++) {
                int q = Math.clamp(Math.round(source[at + i] * inverse), -127, 127);
                target.set(ValueLayout.JAVA_BYTE, offsetBytes + 2 + i, (byte) q);
            }
        }
    }
}
