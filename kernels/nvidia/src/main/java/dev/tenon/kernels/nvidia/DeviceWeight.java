package dev.tenon.kernels.nvidia;

import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.IntStream;

/// A weight matrix on the device: a tensor of the file, or those of its rows that are used, slice after slice.
///
/// @param buffer its memory
/// @param weight what it is in the file
/// @param format how it lies there
public record DeviceWeight(BufferSpec buffer, Weight weight, DeviceFormat format) {
    private static final float LARGEST_F16 = 65504;
    private static final int REPACK_BLOCK = 256;
    private static final int REPACK_GRID = 4096;

    /// Rows that lie one after the other in the file, and on the device.
    ///
    /// @param firstRow index of the first one on the device
    /// @param rows how many
    /// @param data their bytes in the file
    public record Run(int firstRow, int rows, MemorySegment data) {}

    /// {@return the name of the tensor in the file}
    public String tensor() {
        return weight.name();
    }

    /// {@return whether its format has kernels of its own}
    public Support.Level level() {
        return format.transcoded() ? Support.Level.GENERIC : Support.Level.FAST;
    }

    /// {@return rows, of all slices}
    public int rows() {
        return Math.multiplyExact(weight.rows(), weight.slices());
    }

    /// {@return elements of a row}
    public int cols() {
        return weight.cols();
    }

    /// {@return the number of blocks}
    public long blocks() {
        return (long) rows() * cols() / format.blockSize();
    }

    /// {@return bytes on the device}
    public long bytes() {
        return format.bytes((long) rows() * cols());
    }

    /// {@return its rows in the file: one run of a whole tensor, one a slice of a view}
    ///
    /// @param weights the file's tensors
    public List<Run> runs(Weights weights) {
        MemorySegment data = weights.data(tensor());
        long rowBytes = weights.format(tensor()).bytesFor(cols());
        boolean whole = !weight.isView();
        int runRows = whole ? rows() : weight.rows();
        return IntStream.range(0, whole ? 1 : weight.slices())
                .mapToObj(s -> new Run(
                        s * runRows,
                        runRows,
                        data.asSlice(
                                ((long) s * weight.tensorRows() + weight.firstRow()) * rowBytes, runRows * rowBytes)))
                .toList();
    }

    /// {@return the module that has `repack_FORMAT`}
    public KernelModule repackModule() {
        return new KernelModule("embedding.cu", format.macros());
    }

    /// {@return the launch of [#repackModule] that rearranges blocks of the file into the weight's memory}
    ///
    /// @param from address of the blocks on the device
    /// @param first index of the first block in the weight
    /// @param count how many
    public Launch repack(long from, long first, long count) {
        int grid = (int) Math.min(REPACK_GRID, (count + REPACK_BLOCK - 1) / REPACK_BLOCK);
        // An address that is in no buffer of the plan is passed as a plain number.
        List<Argument> arguments = List.of(
                new Argument.Long(from),
                at(),
                new Argument.Long(count),
                new Argument.Long(first),
                new Argument.Long(blocks()));
        return new Launch(
                repackModule(), "repack_" + format.id(), new Blocks(grid, 1, 1, REPACK_BLOCK, 0), 1, arguments, 0);
    }

    /// Decodes rows of the file to float16, by several threads.
    ///
    /// @param file how the file has them
    /// @param data the file's bytes of a run
    /// @param first index of the first row in it
    /// @param count how many
    /// @param target receives `[count][cols]`
    /// @throws ModelFormatException if a number is beyond the range of float16
    public void decode(QuantFormat file, MemorySegment data, int first, int count, MemorySegment target) {
        int cols = cols();
        long rowBytes = file.bytesFor(cols);
        IntStream.range(0, count).parallel().forEach(r -> {
            float[] values = new float[cols];
            file.dequantize(data, (first + r) * rowBytes, values, 0, cols);
            for (int c = 0; c < cols; c++) {
                if (Math.abs(values[c]) > LARGEST_F16) {
                    throw new ModelFormatException(
                            ErrorCode.MODEL_DATA,
                            "tensor " + tensor() + " holds " + values[c] + " in row " + (first + r)
                                    + "; there is no GPU kernel for " + file.id()
                                    + ", and F16, into which it is decoded instead, ends at 65504;"
                                    + " use another backend or convert the model");
                }
                target.set(ValueLayout.JAVA_SHORT, 2 * ((long) r * cols + c), Float.floatToFloat16(values[c]));
            }
        });
    }

    /// {@return its address}
    public Argument.Address at() {
        return buffer.at(0);
    }
}
