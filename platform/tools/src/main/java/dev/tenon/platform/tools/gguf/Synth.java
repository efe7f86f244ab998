package dev.tenon.platform.tools.gguf;

import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import dev.tenon.platform.core.gguf.TensorType;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;

/// Writes models with random weights, in the shape and formats of real ones: for timing, and for tests.
///
/// Weights are Gaussian with a standard deviation of 1/sqrt(columns), so that activations stay
/// finite. A model of fewer than 50 million weights is encoded row by row. A larger one is filled
/// with blocks that are drawn from a pool, which the format's encoder made of such weights: valid
/// and finite, random enough for timing, and much faster to make.
public final class Synth {
    private record PoolKey(TensorType type, long cols) {}

    /// Encoded blocks to draw from.
    ///
    /// @param bytes the blocks
    /// @param unitBytes bytes of a unit, which is one block, or several of a small one
    /// @param units number of units, a power of two
    private record Pool(byte[] bytes, int unitBytes, int units) {}

    /// Models with fewer weights are encoded row by row.
    private static final long POOLED_FROM = 50_000_000;
    /// Weights that a pool is made of, about.
    private static final int POOL_ELEMENTS = 1 << 18;
    private static final int UNIT_ELEMENTS = 32;

    private Synth() {}

    /// Writes a model. The file does not depend on the number of threads.
    ///
    /// @param out where it goes; nothing has been put into it
    /// @param shape hyperparameters
    /// @param formatOrMix what [QuantMix#of(String)] understands
    /// @param architectures installed architectures
    /// @param formats installed formats
    /// @return bytes written
    /// @throws UnsupportedModelException (`MODEL-003`, `MODEL-006`) if the architecture, or a format
    ///     that is needed, is not installed
    /// @throws TenonException (`IO-001`) if the file cannot be written
    public static long write(
            GgufWriter out,
            SynthShape shape,
            String formatOrMix,
            Collection<? extends ModelArchitecture> architectures,
            Collection<? extends QuantFormat> formats) {
        QuantMix mix = QuantMix.of(formatOrMix);
        FormatSet installed = new FormatSet(formats);
        Map<String, GgufValue> metadata = SynthMetadata.of(shape);
        out.putAll(metadata);
        Requantizer.putFileType(out, mix);
        List<SynthTensors.Tensor> tensors = SynthTensors.of(shape, metadata, architectures);
        boolean pooled =
                tensors.stream().mapToLong(SynthTensors.Tensor::elements).sum() >= POOLED_FROM;
        ConcurrentMap<PoolKey, Pool> pools = new ConcurrentHashMap<>();
        for (SynthTensors.Tensor tensor : tensors) {
            TensorType type = mix.choose(tensor.name(), tensor.shape(), model(shape), installed::writable);
            Quantizer encoder = installed.quantizer(type);
            GgufWriter.TensorWriter data;
            if (tensor.name().startsWith("rope_")) {
                float[] factors = tensor.name().equals("rope_freqs.weight")
                        ? ropeFactors(shape, tensor.elements())
                        : longFactors(tensor);
                data = (target, first, rows) -> encoder.quantize(factors, 0, target, 0, factors.length);
            } else if (tensor.name().endsWith(".ssm_a")) {
                data = decays(tensor, shape, encoder);
            } else if (tensor.shape().size() == 1) {
                data = vector(tensor, shape, encoder);
            } else if (pooled) {
                PoolKey key = new PoolKey(type, tensor.shape().getFirst());
                data = drawn(tensor, shape, type, pools.computeIfAbsent(key, k -> pool(k, encoder, shape.seed())));
            } else {
                data = encoded(tensor, shape, type, encoder);
            }
            out.tensor(tensor.name(), type, tensor.shape(), data);
        }
        return out.write();
    }

    /// {@return the bytes that the weights of a model take, without header and padding}
    ///
    /// @param shape hyperparameters
    /// @param formatOrMix what [QuantMix#of(String)] understands
    /// @param architectures installed architectures
    /// @param types the types that are known
    public static long weightBytes(
            SynthShape shape,
            String formatOrMix,
            Collection<? extends ModelArchitecture> architectures,
            TensorTypes types) {
        QuantMix mix = QuantMix.of(formatOrMix);
        Function<String, Optional<TensorType>> byName = types::find;
        return SynthTensors.of(shape, SynthMetadata.of(shape), architectures).stream()
                .mapToLong(tensor -> mix.choose(tensor.name(), tensor.shape(), model(shape), byName)
                        .bytesFor(tensor.elements()))
                .sum();
    }

    private static QuantMix.Model model(SynthShape shape) {
        return new QuantMix.Model(
                shape.architecture(), shape.layers(), shape.heads(), shape.headsKv(), shape.experts(), !shape.tied());
    }

    private static float[] ropeFactors(SynthShape shape, long pairs) {
        float[] factors = new float[Math.toIntExact(pairs)];
        if (shape.ropeFactors() == SynthShape.RopeFactors.QUARTER) {
            Arrays.fill(factors, 1e30f);
            Arrays.fill(factors, 0, factors.length / 4, 1);
            return factors;
        }
        double scale = 32;
        double longest = 8192;
        double shortest = 8192 / 4.0;
        for (int i = 0; i < factors.length; i++) {
            double wave = 2 * Math.PI * Math.pow(shape.ropeFreqBase(), (double) i / factors.length);
            if (wave < shortest) {
                factors[i] = 1;
            } else if (wave > longest) {
                factors[i] = (float) scale;
            } else {
                double smooth = (longest / wave - 1) / (4 - 1);
                factors[i] = (float) (1 / ((1 - smooth) / scale + smooth));
            }
        }
        return factors;
    }

    /// Made-up factors in the order of real ones: 1 for short contexts, up to 32 for long ones.
    private static float[] longFactors(SynthTensors.Tensor tensor) {
        float[] factors = new float[Math.toIntExact(tensor.elements())];
        float most = tensor.name().contains("long") ? 32 : 1;
        for (int i = 0; i < factors.length; i++) {
            factors[i] = (float) Math.pow(most, (double) i / factors.length);
        }
        return factors;
    }

    private static GgufWriter.TensorWriter vector(SynthTensors.Tensor tensor, SynthShape shape, Quantizer encoder) {
        int n = Math.toIntExact(tensor.shape().getFirst());
        int mean = tensor.name().endsWith("_norm.weight") || tensor.name().endsWith("_scale.weight") ? 1 : 0;
        return (target, first, rows) -> {
            float[] values = new float[n];
            Gauss gauss = new Gauss(seed(shape, tensor, 0));
            for (int i = 0; i < n; i++) {
                values[i] = mean + 0.02f * gauss.next();
            }
            encoder.quantize(values, 0, target, 0, n);
        };
    }

    /// Negative numbers: a state that does not decay grows without bound.
    private static GgufWriter.TensorWriter decays(SynthTensors.Tensor tensor, SynthShape shape, Quantizer encoder) {
        long cols = tensor.shape().getFirst();
        return (target, first, rows) -> {
            float[] values = new float[Math.toIntExact(rows * cols)];
            for (int i = 0; i < values.length; i++) {
                values[i] = -0.5f - Math.abs(new Gauss(seed(shape, tensor, first * cols + i)).next());
            }
            encoder.quantize(values, 0, target, 0, values.length);
        };
    }

    private static GgufWriter.TensorWriter encoded(
            SynthTensors.Tensor tensor, SynthShape shape, TensorType type, Quantizer encoder) {
        int cols = Math.toIntExact(tensor.shape().getFirst());
        long rowBytes = type.bytesFor(cols);
        float deviation = (float) (1 / Math.sqrt(cols));
        return (target, first, rows) -> {
            float[] values = new float[cols];
            for (long row = 0; row < rows; row++) {
                new Gauss(seed(shape, tensor, first + row)).fill(values, deviation);
                encoder.quantize(values, 0, target, row * rowBytes, cols);
            }
        };
    }

    private static Pool pool(PoolKey key, Quantizer encoder, long seed) {
        TensorType type = key.type();
        int elements = type.blockSize();
        while (elements < UNIT_ELEMENTS && key.cols() % (2L * elements) == 0) {
            elements *= 2;
        }
        int units = Integer.highestOneBit(Math.max(1024, POOL_ELEMENTS / elements));
        int unitBytes = Math.toIntExact(type.bytesFor(elements));
        MemorySegment bytes = MemorySegment.ofArray(new byte[Math.multiplyExact(units, unitBytes)]);
        float deviation = (float) (1 / Math.sqrt(key.cols()));
        Gauss gauss = new Gauss((seed * 31 + type.number()) * 1_000_003L + key.cols());
        float[] values = new float[elements];
        for (int unit = 0; unit < units; unit++) {
            gauss.fill(values, deviation);
            encoder.quantize(values, 0, bytes, (long) unit * unitBytes, elements);
        }
        return new Pool((byte[]) bytes.heapBase().orElseThrow(), unitBytes, units);
    }

    private static GgufWriter.TensorWriter drawn(
            SynthTensors.Tensor tensor, SynthShape shape, TensorType type, Pool pool) {
        long rowBytes = type.bytesFor(tensor.shape().getFirst());
        return (target, first, rows) -> {
            long units = rows * rowBytes / pool.unitBytes();
            int mask = pool.units() - 1;
            SplittableRandom random = new SplittableRandom(seed(shape, tensor, first));
            byte[] some = new byte[pool.unitBytes() * 64];
            MemorySegment from = MemorySegment.ofArray(some);
            for (long unit = 0; unit < units; ) {
                int n = (int) Math.min(64, units - unit);
                for (int i = 0; i < n; i++) {
                    int drawn = random.nextInt() & mask;
                    System.arraycopy(
                            pool.bytes(), drawn * pool.unitBytes(), some, i * pool.unitBytes(), pool.unitBytes());
                }
                MemorySegment.copy(from, 0, target, unit * pool.unitBytes(), (long) n * pool.unitBytes());
                unit += n;
            }
        };
    }

    private static long seed(SynthShape shape, SynthTensors.Tensor tensor, long row) {
        return (shape.seed() * 0x9E3779B97F4A7C15L + tensor.name().hashCode()) * 0xBF58476D1CE4E5B9L + row;
    }

    /// Gaussian numbers, limited to four standard deviations. Belongs to one thread.
    private static final class Gauss {
        private final SplittableRandom random;

        Gauss(long seed) {
            random = new SplittableRandom(seed);
        }

        float next() {
            return (float) Math.clamp(random.nextGaussian(), -4.0, 4.0);
        }

        void fill(float[] values, float deviation) {
            for (int i = 0; i < values.length; i++) {
                values[i] = deviation * next();
            }
        }
    }
}
