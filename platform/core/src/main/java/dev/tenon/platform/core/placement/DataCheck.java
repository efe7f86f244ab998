package dev.tenon.platform.core.placement;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import java.lang.foreign.MemorySegment;

/// Decodes weights and looks for what cannot be right.
final class DataCheck {
    private DataCheck() {}

    /// Looks for NaN and infinity in all weights.
    static void run(ModelWeights weights, String source) {
        weights.names().parallelStream().forEach(name -> check(weights, name, source));
    }

    /// Looks at the divisors of rotation frequencies, which are few: each is a positive number.
    static void ropeFactors(Graph graph, ModelWeights weights, String source) {
        Weight last = null; // most often all layers have the same
        for (Op op : graph.ops()) {
            if (op instanceof CoreOp.Rope rope) {
                Weight factors = rope.params().freqFactors().orElse(null);
                if (factors != null && !factors.equals(last)) {
                    ropeFactors(weights, factors.name(), source);
                    last = factors;
                }
            }
        }
    }

    private static void ropeFactors(ModelWeights weights, String name, String source) {
        float[] factors = new float[Math.toIntExact(weights.info(name).elements())];
        weights.format(name).dequantize(weights.data(name), 0, factors, 0, factors.length);
        for (int i = 0; i < factors.length; i++) {
            if (!(factors[i] > 0 && Float.isFinite(factors[i]))) {
                throw new ModelFormatException(
                        ErrorCode.MODEL_DATA,
                        "Tensor " + name + " in " + source + " holds " + factors[i] + " at index " + i
                                + "; expected positive numbers, which divide frequencies. The file is damaged: download"
                                + " it again.");
            }
        }
    }

    private static void check(ModelWeights weights, String name, String source) {
        TensorInfo info = weights.info(name);
        QuantFormat format = weights.format(name);
        MemorySegment data = weights.data(name);
        int cols = Math.toIntExact(info.cols());
        long rowBytes = format.bytesFor(cols);
        float[] row = new float[cols];
        for (long r = 0; r < info.rows(); r++) {
            format.dequantize(data, r * rowBytes, row, 0, cols);
            for (int c = 0; c < cols; c++) {
                if (!Float.isFinite(row[c])) {
                    throw new ModelFormatException(
                            ErrorCode.MODEL_DATA,
                            "Tensor " + name + " in " + source + " holds " + row[c] + " at row " + r + ", column " + c
                                    + "; expected finite numbers. The file is damaged: download it again.");
                }
            }
        }
    }
}
