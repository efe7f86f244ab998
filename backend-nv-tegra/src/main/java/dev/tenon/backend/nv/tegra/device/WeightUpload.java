package dev.tenon.backend.nv.tegra.device;

import dev.tenon.api.device.Weights;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.Constant;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Copies weights from the mapped file into the plan's memory, once: pages of a file cannot be seen
/// by the GPU. A format with a layout of its own is rearranged by a kernel, piece by piece out of a
/// buffer that is gone afterwards; one without kernels is decoded to F16 on the way.
///
/// @param memory the plan's memory
/// @param launcher launches the kernels that rearrange weights
/// @param allocator gives the buffer between
record WeightUpload(PlanMemory memory, Launcher launcher, NvAllocator allocator) {
    private static final Logger LOG = LoggerFactory.getLogger(WeightUpload.class);
    private static final long PIECE_BYTES = 32L << 20;
    private static final float LARGEST_F16 = 65504;
    private static final int REPACK_BLOCK = 256;
    private static final int REPACK_GRID = 4096;

    /// Brings everything that a plan needs before its first step to where it belongs.
    ///
    /// @param planned what goes where
    /// @param weights the weights' bytes
    void run(PlannedGraph planned, Weights weights) {
        long begin = System.nanoTime();
        for (Constant constant : planned.constants()) {
            MemorySegment.copy(
                    constant.data(),
                    0,
                    memory.host(constant.buffer()),
                    0,
                    constant.data().byteSize());
        }
        long largest = planned.matrices().stream()
                .filter(w -> w.format().repacked())
                .mapToLong(w -> w.blocks() * w.format().blockBytes())
                .max()
                .orElse(0);
        if (largest > 0) {
            try (NvAllocator.Buffer staging =
                    allocator.allocate(Math.min(PIECE_BYTES, largest), "staging of weights")) {
                planned.matrices().forEach(weight -> upload(weight, weights, staging));
            }
        } else {
            planned.matrices().forEach(weight -> upload(weight, weights, null));
        }
        LOG.info(
                "{} MB of weights copied in {} ms",
                planned.matrices().stream().mapToLong(DeviceWeight::bytes).sum() / 1_000_000,
                (System.nanoTime() - begin) / 1_000_000);
    }

    private void upload(DeviceWeight weight, Weights weights, NvAllocator.Buffer staging) {
        MemorySegment data = weights.data(weight.tensor());
        if (weight.format().transcoded()) {
            transcode(weight, weights.format(weight.tensor()), data);
        } else if (weight.format().repacked()) {
            repack(weight, data, staging);
        } else {
            MemorySegment.copy(data, 0, memory.host(weight.buffer()), 0, weight.bytes());
        }
    }

    private void repack(DeviceWeight weight, MemorySegment data, NvAllocator.Buffer staging) {
        int blockBytes = weight.format().blockBytes();
        long blocksAtOnce = staging.sizeBytes() / blockBytes;
        for (long first = 0; first < weight.blocks(); first += blocksAtOnce) {
            long blocks = Math.min(blocksAtOnce, weight.blocks() - first);
            MemorySegment.copy(data, first * blockBytes, staging.memory(), 0, blocks * blockBytes);
            int grid = (int) Math.min(REPACK_GRID, (blocks + REPACK_BLOCK - 1) / REPACK_BLOCK);
            // The address of a buffer that is not the plan's is passed as a plain number.
            long value = launcher.launch(new Launch(
                    weight.repackModule(),
                    weight.repackEntry(),
                    grid,
                    1,
                    1,
                    REPACK_BLOCK,
                    0,
                    1,
                    List.of(
                            new Argument.Long(staging.va()),
                            new Argument.Address(weight.buffer().id(), 0),
                            new Argument.Long(blocks),
                            new Argument.Long(first),
                            new Argument.Long(weight.blocks())),
                    0));
            launcher.device().await(value);
        }
    }

    private void transcode(DeviceWeight weight, QuantFormat format, MemorySegment data) {
        long rowBytes = format.bytesFor(weight.cols());
        MemorySegment target = memory.host(weight.buffer());
        IntStream.range(0, weight.rows()).parallel().forEach(row -> {
            float[] values = new float[weight.cols()];
            format.dequantize(data, row * rowBytes, values, 0, values.length);
            for (int c = 0; c < values.length; c++) {
                if (Math.abs(values[c]) > LARGEST_F16) {
                    throw new ModelFormatException(
                            ErrorCode.MODEL_DATA,
                            "tensor " + weight.tensor() + " holds " + values[c] + " in row " + row
                                    + "; there is no GPU kernel for " + format.id()
                                    + ", and F16, into which it is decoded instead, ends at 65504;"
                                    + " use another backend or convert the model");
                }
                target.set(
                        ValueLayout.JAVA_SHORT_UNALIGNED,
                        2L * ((long) row * weight.cols() + c),
                        Float.floatToFloat16(values[c]));
            }
        });
    }
}
