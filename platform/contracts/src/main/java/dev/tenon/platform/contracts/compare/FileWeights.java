package dev.tenon.platform.contracts.compare;

import dev.tenon.api.device.Weights;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.quant.QuantFormat;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// The weights of a file, decoded by given formats.
///
/// @param file the file; borrowed
/// @param formats the formats to look in
public record FileWeights(GgufFile file, List<QuantFormat> formats) implements Weights {
    @Override
    public TensorInfo info(String name) {
        return file.tensor(name)
                .orElseThrow(() -> new ModelFormatException(
                        ErrorCode.MODEL_TENSOR_MISSING,
                        "Tensor " + name + " is missing in " + file.path().getFileName()
                                + ". Download the file again"));
    }

    @Override
    public QuantFormat format(String name) {
        int type = info(name).ggmlType();
        return formats.stream()
                .filter(format -> format.ggmlType() == type)
                .findFirst()
                .orElseThrow(() -> new UnsupportedModelException(
                        ErrorCode.MODEL_TENSOR_FORMAT,
                        "Tensor " + name + " in " + file.path().getFileName() + " has type " + type
                                + ", which no format here decodes. Install a bundle that offers it"));
    }

    @Override
    public MemorySegment data(String name) {
        return file.data(info(name));
    }
}
