package dev.tenon.backend.nv.tegra.device;

import dev.tenon.api.device.Weights;
import dev.tenon.kernels.nvidia.Constant;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import java.lang.foreign.MemorySegment;
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
        for (DeviceWeight.Run run : weight.runs(weights)) {
            if (weight.format().repacked()) {
                repack(weight, run, staging);
                continue;
            }
            long from = run.firstRow() * weight.format().bytes(weight.cols());
            MemorySegment target = memory.host(weight.buffer()).asSlice(from);
            if (weight.format().transcoded()) {
                weight.decode(weights.format(weight.tensor()), run.data(), 0, run.rows(), target);
            } else {
                MemorySegment.copy(run.data(), 0, target, 0, run.data().byteSize());
            }
        }
    }

    private void repack(DeviceWeight weight, DeviceWeight.Run run, NvAllocator.Buffer staging) {
        int blockBytes = weight.format().blockBytes();
        long rowBlocks = weight.cols() / weight.format().blockSize();
        long all = run.rows() * rowBlocks;
        long blocksAtOnce = staging.sizeBytes() / blockBytes;
        for (long first = 0; first < all; first += blocksAtOnce) {
            long blocks = Math.min(blocksAtOnce, all - first);
            MemorySegment.copy(run.data(), first * blockBytes, staging.memory(), 0, blocks * blockBytes);
            launcher.device()
                    .await(launcher.launch(weight.repack(staging.va(), run.firstRow() * rowBlocks + first, blocks)));
        }
    }
}
