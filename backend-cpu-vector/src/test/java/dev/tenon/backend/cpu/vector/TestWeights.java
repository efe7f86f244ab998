package dev.tenon.backend.cpu.vector;

import dev.tenon.api.device.Weights;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/// Weights made by a test, in memory that the garbage collector frees.
public final class TestWeights implements Weights {
    private final Map<String, Entry> entries = new HashMap<>();
    private final Arena arena = Arena.ofAuto();

    private record Entry(Weight weight, QuantFormat format, MemorySegment data) {}

    /// Adds a weight; the values are encoded by the format, or blocks are zeros where it has no encoder.
    ///
    /// @return the values that the format decodes, `[rows, cols]`
    public float[] put(Weight weight, QuantFormat format, float[] values) {
        long rowBytes = format.bytesFor(weight.cols());
        MemorySegment data = arena.allocate(rowBytes * weight.rows(), 64);
        format.quantizer().ifPresent(quantizer -> quantizer.quantize(values, 0, data, 0, values.length));
        entries.put(weight.name(), new Entry(weight, format, data.asReadOnly()));
        float[] decoded = new float[values.length];
        format.dequantize(data, 0, decoded, 0, decoded.length);
        return decoded;
    }

    /// Adds a weight whose values are the first ones of an array.
    Weight putRandom(String name, int cols, int rows, QuantFormat format, float[] values) {
        Weight weight = new Weight(name, cols, rows);
        MemorySegment data = arena.allocate(format.bytesFor(cols) * rows, 64);
        long rowBytes = format.bytesFor(cols);
        // Few different rows: encoding all of them would take long.
        for (int r = 0; r < rows; r++) {
            if (r < 16) {
                format.quantizer().orElseThrow().quantize(values, r * cols, data, r * rowBytes, cols);
            } else {
                MemorySegment.copy(data, (r - 16) * rowBytes, data, r * rowBytes, rowBytes);
            }
        }
        entries.put(name, new Entry(weight, format, data.asReadOnly()));
        return weight;
    }

    /// {@return random values of about unit size over the square root of the row length}
    public static float[] random(Random random, Weight weight) {
        float[] values = new float[weight.cols() * weight.rows()];
        float scale = (float) (weight.rows() == 1 ? 0.3 : 1 / Math.sqrt(weight.cols()));
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian() * scale + (weight.rows() == 1 ? 1 : 0);
        }
        return values;
    }

    /// {@return the decoded values of a weight}
    float[] values(String name) {
        Entry e = entries.get(name);
        float[] decoded = new float[e.weight.cols() * e.weight.rows()];
        e.format.dequantize(e.data, 0, decoded, 0, decoded.length);
        return decoded;
    }

    @Override
    public TensorInfo info(String name) {
        throw new UnsupportedOperationException("the CPU backend does not ask for tensor info");
    }

    @Override
    public QuantFormat format(String name) {
        return entry(name).format;
    }

    @Override
    public MemorySegment data(String name) {
        return entry(name).data;
    }

    private Entry entry(String name) {
        Entry entry = entries.get(name);
        if (entry == null) {
            throw new IllegalArgumentException("no weight " + name);
        }
        return entry;
    }

    /// Float32, written for these tests alone.
    public static final QuantFormat F32 = new QuantFormat() {
        private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;

        @Override
        public String id() {
            return "F32";
        }

        @Override
        public int ggmlType() {
            return 0;
        }

        @Override
        public int blockSize() {
            return 1;
        }

        @Override
        public int blockBytes() {
            return 4;
        }

        @Override
        public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
            MemorySegment.copy(source, FLOAT, offsetBytes, target, targetOffset, n);
        }

        @Override
        public Optional<Quantizer> quantizer() {
            return Optional.of((source, sourceOffset, target, offsetBytes, n) ->
                    MemorySegment.copy(source, sourceOffset, target, FLOAT, offsetBytes, n));
        }
    };
}
