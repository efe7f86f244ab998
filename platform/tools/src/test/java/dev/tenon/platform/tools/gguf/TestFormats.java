package dev.tenon.platform.tools.gguf;

import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/// Formats that these tests bring along, so that they need no format bundle.
public final class TestFormats {
    private static final ValueLayout.OfShort HALF = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private TestFormats() {}

    /// F16 and Q8_0 that encode truly, and Q4_K, Q5_K, Q6_K, Q5_0, MXFP4 that write zeros of the right size.
    public static List<QuantFormat> all() {
        return List.of(
                new F16(),
                new Q8_0(),
                new Zeros("Q4_K", 12, 256, 144),
                new Zeros("Q5_K", 13, 256, 176),
                new Zeros("Q6_K", 14, 256, 210),
                new Zeros("Q5_0", 6, 32, 22),
                new Zeros("MXFP4", 39, 32, 17));
    }

    record F16() implements QuantFormat, Quantizer {
        @Override
        public String id() {
            return "F16";
        }

        @Override
        public int ggmlType() {
            return 1;
        }

        @Override
        public int blockSize() {
            return 1;
        }

        @Override
        public int blockBytes() {
            return 2;
        }

        @Override
        public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
            for (int i = 0; i < n; i++) {
                target[targetOffset + i] = Float.float16ToFloat(source.get(HALF, offsetBytes + 2L * i));
            }
        }

        @Override
        public Optional<Quantizer> quantizer() {
            return Optional.of(this);
        }

        @Override
        public void quantize(float[] source, int sourceOffset, MemorySegment target, long offsetBytes, int n) {
            for (int i = 0; i < n; i++) {
                target.set(HALF, offsetBytes + 2L * i, Float.floatToFloat16(source[sourceOffset + i]));
            }
        }
    }

    record Q8_0() implements QuantFormat, Quantizer {
        @Override
        public String id() {
            return "Q8_0";
        }

        @Override
        public int ggmlType() {
            return 8;
        }

        @Override
        public int blockSize() {
            return 32;
        }

        @Override
        public int blockBytes() {
            return 34;
        }

        @Override
        public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
            for (int i = 0; i < n; i++) {
                long block = offsetBytes + i / 32 * 34L;
                float d = Float.float16ToFloat(source.get(HALF, block));
                target[targetOffset + i] = d * source.get(ValueLayout.JAVA_BYTE, block + 2 + i % 32);
            }
        }

        @Override
        public Optional<Quantizer> quantizer() {
            return Optional.of(this);
        }

        @Override
        public void quantize(float[] source, int sourceOffset, MemorySegment target, long offsetBytes, int n) {
            for (int block = 0; block < n / 32; block++) {
                int from = sourceOffset + block * 32;
                float largest = 0;
                for (int i = 0; i < 32; i++) {
                    largest = Math.max(largest, Math.abs(source[from + i]));
                }
                float d = largest / 127;
                float inverse = d == 0 ? 0 : 1 / d;
                long to = offsetBytes + block * 34L;
                target.set(HALF, to, Float.floatToFloat16(d));
                for (int i = 0; i < 32; i++) {
                    float scaled = source[from + i] * inverse;
                    float rounded = Math.signum(scaled) * (float) Math.floor(Math.abs(scaled) + 0.5f);
                    target.set(ValueLayout.JAVA_BYTE, to + 2 + i, (byte) rounded);
                }
            }
        }
    }

    /// Has the sizes of a format, but all its values are zero.
    record Zeros(String id, int ggmlType, int blockSize, int blockBytes) implements QuantFormat, Quantizer {
        @Override
        public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
            Arrays.fill(target, targetOffset, targetOffset + n, 0f);
        }

        @Override
        public Optional<Quantizer> quantizer() {
            return Optional.of(this);
        }

        @Override
        public void quantize(float[] source, int sourceOffset, MemorySegment target, long offsetBytes, int n) {
            target.asSlice(offsetBytes, bytesFor(n)).fill((byte) 0);
        }
    }

    /// {@return the architectures of the project}
    public static List<ModelArchitecture> architectures() {
        return ServiceLoader.load(ModelArchitecture.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
    }
}
