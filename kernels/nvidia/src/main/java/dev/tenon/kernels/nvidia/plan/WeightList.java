package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.device.Weights;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.cpu.OpWeight;
import dev.tenon.api.kernel.cuda.CudaFragment;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.Constant;
import dev.tenon.kernels.nvidia.DeviceFormat;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.launch.BufferList;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The weights of a plan: matrices in the device's formats, vectors decoded to float32 by the host.
final class WeightList {
    /// Kernels read scales of two blocks as one word.
    private static final int SPARE_BYTES = 16;

    private final Weights weights;
    private final Map<String, CudaFragment> fragments;
    private final BufferList buffers;
    private final Map<String, DeviceWeight> matrices = new LinkedHashMap<>();
    private final Map<String, BufferSpec> vectors = new HashMap<>();
    private final Map<Weight, BufferSpec> decoded = new HashMap<>();
    private final List<Constant> constants = new ArrayList<>();

    WeightList(Weights weights, Map<String, CudaFragment> fragments, BufferList buffers) {
        this.weights = weights;
        this.fragments = fragments;
        this.buffers = buffers;
    }

    /// {@return a matrix on the device; the same for each use of it}
    DeviceWeight matrix(Weight weight) {
        return matrices.computeIfAbsent(weight.name(), name -> {
            QuantFormat format = weights.format(name);
            checkedBytes(weight, format);
            DeviceFormat device = DeviceFormat.of(format, fragments);
            BufferSpec buffer = buffers.add(
                    BufferSpec.Kind.WEIGHT, name, device.bytes((long) weight.rows() * weight.cols()) + SPARE_BYTES);
            return new DeviceWeight(buffer, name, device, weight.rows(), weight.cols());
        });
    }

    /// {@return a vector in float32; the same for each use of it}
    BufferSpec vector(Weight weight) {
        BufferSpec known = vectors.get(weight.name());
        if (known == null) {
            MemorySegment data = MemorySegment.ofArray(values(weight));
            known = buffers.add(BufferSpec.Kind.CONSTANT, weight.name(), data.byteSize());
            constants.add(new Constant(known, data));
            vectors.put(weight.name(), known);
        }
        return known;
    }

    /// {@return a weight of any shape in float32, for an op that a bundle defines; the same for each use of it}
    BufferSpec floats(Weight weight) {
        BufferSpec known = decoded.get(weight);
        if (known == null) {
            QuantFormat format = weights.format(weight.name());
            Weight tensor = weight.tensor();
            checkedBytes(
                    new Weight(tensor.name(), tensor.cols(), Math.multiplyExact(tensor.rows(), tensor.slices())),
                    format);
            MemorySegment rows =
                    weights.data(weight.name()).asSlice(format.bytesFor(weight.cols()) * weight.firstRow());
            MemorySegment data = MemorySegment.ofArray(new OpWeight(weight, format, rows).decode());
            known = buffers.add(BufferSpec.Kind.CONSTANT, weight.name(), data.byteSize());
            constants.add(new Constant(known, data));
            decoded.put(weight, known);
        }
        return known;
    }

    /// {@return a vector's values}
    float[] values(Weight weight) {
        QuantFormat format = weights.format(weight.name());
        checkedBytes(weight, format);
        float[] values = new float[Math.multiplyExact(weight.cols(), weight.rows())];
        format.dequantize(weights.data(weight.name()), 0, values, 0, values.length);
        return values;
    }

    /// {@return numbers that the host has computed}
    BufferSpec constant(String purpose, double[] values) {
        MemorySegment data = MemorySegment.ofArray(values);
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
        long needed = Math.multiplyExact(format.bytesFor(weight.cols()), (long) weight.rows());
        long there = weights.data(weight.name()).byteSize();
        if (there < needed) {
            throw new ModelFormatException(
                    ErrorCode.MODEL_TENSOR_SHAPE,
                    "tensor " + weight.name() + " holds " + there + " bytes; its shape [" + weight.cols() + ", "
                            + weight.rows() + "] needs " + needed + "; get an undamaged file");
        }
    }

    List<DeviceWeight> matrices() {
        return List.copyOf(matrices.values());
    }

    List<Constant> constants() {
        return List.copyOf(constants);
    }
}
