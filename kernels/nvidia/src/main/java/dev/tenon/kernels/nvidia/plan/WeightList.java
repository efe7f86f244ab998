package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.device.Weights;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.cpu.OpWeight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.Constant;
import dev.tenon.kernels.nvidia.DeviceFormat;
import dev.tenon.kernels.nvidia.DeviceFormats;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.launch.BufferList;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The weights of a plan: matrices in the device's formats, vectors decoded to float32 by the host.
final class WeightList {
    /// Kernels read scales of two blocks as one word.
    private static final int SPARE_BYTES = 16;

    private final Weights weights;
    private final DeviceFormats formats;
    private final BufferList buffers;
    private final Map<Weight, DeviceWeight> matrices = new LinkedHashMap<>();
    private final Map<Weight, BufferSpec> decoded = new HashMap<>();
    private final Map<Integer, BufferSpec> ones = new HashMap<>();
    private final List<Constant> constants = new ArrayList<>();

    WeightList(Weights weights, DeviceFormats formats, BufferList buffers) {
        this.weights = weights;
        this.formats = formats;
        this.buffers = buffers;
    }

    /// {@return a matrix on the device; the same for each use of it}
    DeviceWeight matrix(Weight weight) {
        return matrices.computeIfAbsent(weight, w -> {
            QuantFormat format = weights.format(w.name());
            checkedBytes(w, format);
            DeviceFormat device = formats.of(format);
            long rows = Math.multiplyExact(w.rows(), w.slices());
            BufferSpec buffer =
                    buffers.add(BufferSpec.Kind.WEIGHT, w.name(), device.bytes(rows * w.cols()) + SPARE_BYTES);
            return new DeviceWeight(buffer, w, device);
        });
    }

    /// {@return a matrix that the host decodes to float32; the same for each use of it}
    DeviceWeight exact(Weight weight) {
        return new DeviceWeight(floats(weight), weight, DeviceFormat.F32);
    }

    /// {@return a weight of any shape in float32; the same for each use of it}
    BufferSpec floats(Weight weight) {
        return decoded.computeIfAbsent(weight, w -> constant(w.name(), MemorySegment.ofArray(values(w))));
    }

    /// {@return the weight of a norm that has none}
    ///
    /// @param length elements
    BufferSpec ones(int length) {
        return ones.computeIfAbsent(length, n -> {
            float[] values = new float[n];
            Arrays.fill(values, 1);
            return numbers("ones", values);
        });
    }

    /// {@return a weight's values}
    float[] values(Weight weight) {
        QuantFormat format = weights.format(weight.name());
        checkedBytes(weight, format);
        MemorySegment rows = weights.data(weight.name()).asSlice(format.bytesFor(weight.cols()) * weight.firstRow());
        return new OpWeight(weight, format, rows).decode();
    }

    /// {@return numbers that the host has computed}
    BufferSpec constant(String purpose, double[] values) {
        return constant(purpose, MemorySegment.ofArray(values));
    }

    /// {@return numbers that the host has computed}
    BufferSpec numbers(String purpose, float[] values) {
        return constant(purpose, MemorySegment.ofArray(values));
    }

    private BufferSpec constant(String purpose, MemorySegment data) {
        BufferSpec buffer = buffers.add(BufferSpec.Kind.CONSTANT, purpose, data.byteSize());
        constants.add(new Constant(buffer, data));
        return buffer;
    }

    private void checkedBytes(Weight weight, QuantFormat format) {
        if (weight.cols() % format.blockSize() != 0) {
            throw new ModelFormatException(
                    ErrorCode.MODEL_TENSOR_SHAPE,
                    "tensor " + weight.name() + " has rows of " + weight.cols() + " elements; " + format.id()
                            + " needs a multiple of " + format.blockSize() + "; get an undamaged file");
        }
        Weight tensor = weight.tensor();
        long needed = Math.multiplyExact(format.bytesFor(tensor.cols()), (long) tensor.rows() * tensor.slices());
        long there = weights.data(weight.name()).byteSize();
        if (there < needed) {
            throw new ModelFormatException(
                    ErrorCode.MODEL_TENSOR_SHAPE,
                    "tensor " + weight.name() + " holds " + there + " bytes; " + tensor + " needs " + needed
                            + "; get an undamaged file");
        }
    }

    List<DeviceWeight> matrices() {
        return List.copyOf(matrices.values());
    }

    List<Constant> constants() {
        return List.copyOf(constants);
    }
}
