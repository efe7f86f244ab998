package dev.tenon.platform.core.placement;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.quant.QuantFormat;
import java.lang.foreign.MemorySegment;

/// Decodes all weights and looks for NaN and infinity.
final class DataCheck {
    private DataCheck() {}

    static void run(ModelWeights weights, String source) {
        weights.names().parallelStream().forEach(name -> check(weights, name, source));
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
