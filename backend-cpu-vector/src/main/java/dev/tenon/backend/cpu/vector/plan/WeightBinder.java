package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.device.Weights;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.api.kernel.cpu.OpKernel;
import dev.tenon.api.kernel.cpu.OpWeight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.kernel.lowrank.LowRankMath;
import dev.tenon.backend.cpu.vector.kernel.lowrank.LowRankPair;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.PackedActivations;
import dev.tenon.backend.cpu.vector.memory.PlanMemory;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import dev.tenon.backend.cpu.vector.op.LowRankChange;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntBinaryOperator;

/// Binds the weights of a graph: matrices in place, vectors decoded once.
final class WeightBinder {
    private static final float[] NONE = new float[0];

    private final Weights weights;
    private final KernelSet kernels;
    private final Map<Weight, float[]> vectors = new HashMap<>();
    private final Map<Weight, float[]> decoded = new HashMap<>();
    private final List<PackedActivations> packedRows = new ArrayList<>();
    private final List<BoundLinear> linears = new ArrayList<>();
    private final List<LowRankChange> changes = new ArrayList<>();
    private final Map<String, MemorySegment> matrices = new HashMap<>();

    /// Creates a binder.
    ///
    /// @param weights the weights
    /// @param kernels selects kernels
    WeightBinder(Weights weights, KernelSet kernels) {
        this.weights = weights;
        this.kernels = kernels;
    }

    /// {@return the format of a weight}
    ///
    /// @param weight the weight
    QuantFormat format(Weight weight) {
        return weights.format(weight.name());
    }

    /// {@return bytes of a row of a weight}
    ///
    /// @param weight the weight
    long rowBytes(Weight weight) {
        QuantFormat format = format(weight);
        if (weight.cols() % format.blockSize() != 0) {
            throw new ModelFormatException(
                    ErrorCode.MODEL_TENSOR_SHAPE,
                    "tensor " + weight.name() + " has rows of " + weight.cols() + " elements; " + format.id()
                            + " needs a multiple of " + format.blockSize() + "; get an undamaged file");
        }
        return format.bytesFor(weight.cols());
    }

    /// {@return the bytes of a tensor, checked to hold all of its rows, from the weight's first row on}
    ///
    /// @param weight the weight
    MemorySegment data(Weight weight) {
        matrices.put(weight.name(), weights.data(weight.name()));
        return checked(weight);
    }

    private MemorySegment checked(Weight weight) {
        MemorySegment data = weights.data(weight.name());
        long needed = Math.multiplyExact(rowBytes(weight), (long) weight.tensorRows() * weight.slices());
        if (data.byteSize() < needed) {
            throw new ModelFormatException(
                    ErrorCode.MODEL_TENSOR_SHAPE,
                    "tensor " + weight.name() + " holds " + data.byteSize() + " bytes; its shape " + weight.tensor()
                            + " needs " + needed + "; get an undamaged file");
        }
        return weight.firstRow() == 0 ? data : data.asSlice(rowBytes(weight) * weight.firstRow());
    }

    /// {@return a vector weight in float32; decoded once, shared, not to be changed}
    ///
    /// @param weight the weight
    float[] vector(Weight weight) {
        float[] known = vectors.get(weight);
        if (known == null) {
            known = new float[Math.multiplyExact(weight.cols(), weight.rows())];
            format(weight).dequantize(checked(weight), 0, known, 0, known.length);
            vectors.put(weight, known);
        }
        return known;
    }

    /// {@return a weight of an op that a model bundle defines, to be read in place}
    ///
    /// @param weight the weight
    OpWeight inPlace(Weight weight) {
        return new OpWeight(weight, format(weight), data(weight));
    }

    /// {@return a weight of any shape in float32, which counts as memory of the plan; decoded once,
    ///     shared, not to be changed}
    ///
    /// @param weight the weight
    /// @param memory gives memory
    float[] decoded(Weight weight, PlanMemory memory) {
        float[] known = decoded.get(weight);
        if (known == null) {
            known = memory.floats(weight.elements(), "decoded weight " + weight.name());
            new OpWeight(weight, format(weight), checked(weight)).decode(known);
            decoded.put(weight, known);
        }
        return known;
    }

    /// {@return a matrix with its kernel}
    ///
    /// @param weight the matrix
    /// @param bias its bias, or null
    /// @param changes what adapters change of it
    BoundLinear linear(Weight weight, Weight bias, LowRankChange... changes) {
        KernelSet.Linear kernel = kernels.linear(format(weight), weight.cols());
        BoundLinear linear = new BoundLinear(
                weight.name(),
                kernel.plain(),
                kernel.packed() == null ? null : packedRows(kernel.packed(), weight.cols()),
                data(weight),
                rowBytes(weight),
                weight.rows(),
                weight.cols(),
                bias == null ? NONE : vector(bias),
                changes);
        linears.add(linear);
        return linear;
    }

    /// {@return what an adapter changes, its matrices decoded and put in another order}
    ///
    /// @param part the adapter's part of the op
    /// @param down `[rows, padded rank]`, memory for the product with the first matrix
    /// @param memory gives memory
    LowRankChange change(LowRankAdd.Part part, Activations down, PlanMemory memory) {
        LowRankMath math = kernels.lowRank();
        int rank = part.a().rows();
        int rows = Math.ceilDiv(part.b().rows(), math.lanes()) * math.lanes();
        float[] a = memory.floats(
                (long) part.a().cols() * down.width, "adapter " + part.a().name());
        float[] b = memory.floats((long) rows * rank, "adapter " + part.b().name());
        reorder(part.a(), a, (r, c) -> c * down.width + r);
        reorder(part.b(), b, (r, c) -> math.index(r, c, rank));
        LowRankChange change =
                new LowRankChange(part.adapter(), part.factor(), new LowRankPair(a, down.width, b, rank), down, math);
        changes.add(change);
        return change;
    }

    private void reorder(Weight weight, float[] to, IntBinaryOperator place) {
        rowBytes(weight);
        float[] row = new float[weight.cols()];
        OpWeight bound = new OpWeight(weight, format(weight), checked(weight));
        for (int r = 0; r < weight.rows(); r++) {
            bound.format().dequantize(bound.data(), bound.rowAt(0, r), row, 0, row.length);
            for (int c = 0; c < row.length; c++) {
                to[place.applyAsInt(r, c)] = row[c];
            }
        }
    }

    /// {@return the changes of adapters; they need memory before the first step}
    List<LowRankChange> changes() {
        return changes;
    }

    /// {@return the matrices of experts, each with its kernel}
    ///
    /// @param weight all of them
    /// @param bias `[experts, rows]`, or null
    BoundLinear[] experts(Weight weight, Weight bias) {
        KernelSet.Linear kernel = kernels.linear(format(weight), weight.cols());
        PackedActivations packed = kernel.packed() == null ? null : packedRows(kernel.packed(), weight.cols());
        MemorySegment data = data(weight);
        long rowBytes = rowBytes(weight);
        int rows = weight.rows();
        float[] biases = bias == null ? NONE : vector(bias);
        BoundLinear[] experts = new BoundLinear[weight.slices()];
        for (int e = 0; e < experts.length; e++) {
            experts[e] = new BoundLinear(
                    weight.name(),
                    kernel.plain(),
                    packed,
                    data.asSlice(e * rowBytes * weight.tensorRows(), rowBytes * rows),
                    rowBytes,
                    rows,
                    weight.cols(),
                    bias == null ? NONE : Arrays.copyOfRange(biases, e * rows, (e + 1) * rows),
                    BoundLinear.UNCHANGED);
        }
        linears.add(experts[0]);
        return experts;
    }

    /// {@return a kernel of another bundle for an op of its own, or null if none is offered}
    ///
    /// @param op the op
    OpKernel own(ReferenceOp op) {
        return kernels.own(op, weights);
    }

    /// {@return the matrices bound so far}
    List<BoundLinear> linears() {
        return linears;
    }

    private PackedActivations packedRows(LinearKernel kernel, int n) {
        for (PackedActivations rows : packedRows) {
            if (rows.kernel == kernel && rows.n == n) {
                return rows;
            }
        }
        PackedActivations rows = new PackedActivations(kernel, n);
        packedRows.add(rows);
        return rows;
    }

    /// {@return the holders of packed activations; they need memory before the first step}
    List<PackedActivations> packedRows() {
        return packedRows;
    }

    /// {@return bytes of the matrices that are read in place}
    long boundBytes() {
        return matrices.values().stream().mapToLong(MemorySegment::byteSize).sum();
    }
}
