package dev.tenon.backend.cuda.plan;

import dev.tenon.api.device.Weights;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cuda.device.Closing;
import dev.tenon.backend.cuda.device.CudaAllocator;
import dev.tenon.backend.cuda.device.CudaContext;
import dev.tenon.backend.cuda.device.PinnedMemory;
import dev.tenon.kernels.nvidia.Constant;
import dev.tenon.kernels.nvidia.DeviceFormat;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Brings weights from the mapped file to the device: pieces are copied into one of two pinned
/// buffers, by several threads, while the other one is on its way. A format with a layout of its
/// own goes through a staging buffer on the device, from which a kernel rearranges it; one without
/// kernels is decoded to F16 on the way.
final class WeightUpload implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WeightUpload.class);
    /// Bytes of a piece at most. Page-locking memory takes about a millisecond a megabyte, so a small model
    /// gets smaller buffers.
    private static final long MOST_PIECE_BYTES = 32L << 20;
    private static final long SLICE_BYTES = 1L << 20;

    private final CudaContext context;
    private final PlanMemory memory;
    private final Launcher launcher;
    private final PinnedMemory[] pinned = new PinnedMemory[2];
    private final long[] events = new long[2];
    private final CudaAllocator.Buffer staging;
    private final PlannedGraph planned;
    private final long pieceBytes;
    private int turn;
    private long uploaded;

    /// @param context the device's; entered by the calling thread
    /// @param memory the plan's memory
    /// @param launcher has the modules that rearrange weights
    /// @param allocator gives staging memory
    /// @param planned what goes where
    WeightUpload(
            CudaContext context, PlanMemory memory, Launcher launcher, CudaAllocator allocator, PlannedGraph planned) {
        this.context = context;
        this.planned = planned;
        this.memory = memory;
        this.launcher = launcher;
        this.pieceBytes = pieceBytes(planned);
        this.staging = allocator.allocateRaw(2 * pieceBytes, "staging of weights");
        boolean done = false;
        try {
            for (int i = 0; i < 2; i++) {
                pinned[i] = new PinnedMemory(context, pieceBytes);
                events[i] = context.binding().createEvent(false);
            }
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    private static long pieceBytes(PlannedGraph planned) {
        long longest = 1;
        for (Constant constant : planned.constants()) {
            longest = Math.max(longest, constant.data().byteSize());
        }
        for (DeviceWeight weight : planned.matrices()) {
            longest = Math.max(longest, weight.bytes());
        }
        return Math.min(MOST_PIECE_BYTES, longest);
    }

    /// Uploads everything that the plan needs before its first step, and waits for it.
    ///
    /// @param weights the weights' bytes
    void run(Weights weights) {
        long begin = System.nanoTime();
        for (Constant constant : planned.constants()) {
            upload(constant);
        }
        long total = planned.matrices().stream().mapToLong(DeviceWeight::bytes).sum();
        int told = 0;
        for (DeviceWeight weight : planned.matrices()) {
            upload(weight, weights);
            int percent = (int) (100 * uploaded / Math.max(1, total));
            if (percent >= told + 25) {
                told = percent / 25 * 25;
                LOG.info("weights on the device: {} % of {} MB", told, total / 1_000_000);
            }
        }
        context.synchronize();
        long millis = (System.nanoTime() - begin) / 1_000_000;
        LOG.info("{} MB of weights uploaded in {} ms", total / 1_000_000, millis);
    }

    private void upload(Constant constant) {
        MemorySegment data = constant.data();
        for (long from = 0; from < data.byteSize(); from += pieceBytes) {
            long bytes = Math.min(pieceBytes, data.byteSize() - from);
            MemorySegment target = nextPinned();
            MemorySegment.copy(data, from, target, 0, bytes);
            send(memory.address(constant.buffer()) + from, bytes);
        }
    }

    private void upload(DeviceWeight weight, Weights weights) {
        DeviceFormat format = weight.format();
        for (DeviceWeight.Run run : weight.runs(weights)) {
            if (format.transcoded()) {
                transcode(weight, weights.format(weight.tensor()), run);
            } else if (format.repacked()) {
                repack(weight, run);
            } else {
                MemorySegment data = run.data();
                long base = memory.address(weight.buffer()) + run.firstRow() * format.bytes(weight.cols());
                for (long from = 0; from < data.byteSize(); from += pieceBytes) {
                    long bytes = Math.min(pieceBytes, data.byteSize() - from);
                    copy(data, from, nextPinned(), bytes);
                    send(base + from, bytes);
                }
            }
        }
        uploaded += weight.bytes();
    }

    private void repack(DeviceWeight weight, DeviceWeight.Run run) {
        int blockBytes = weight.format().blockBytes();
        long rowBlocks = weight.cols() / weight.format().blockSize();
        long all = run.rows() * rowBlocks;
        long blocksAtOnce = pieceBytes / blockBytes;
        for (long first = 0; first < all; first += blocksAtOnce) {
            long blocks = Math.min(blocksAtOnce, all - first);
            copy(run.data(), first * blockBytes, nextPinned(), blocks * blockBytes);
            long at = staging.address() + turn * pieceBytes;
            context.binding().copyToDevice(at, pinned[turn].memory().address(), blocks * blockBytes, context.stream());
            launcher.launch(weight.repack(at, run.firstRow() * rowBlocks + first, blocks), context.stream(), false);
            sent();
        }
    }

    private void transcode(DeviceWeight weight, QuantFormat format, DeviceWeight.Run run) {
        long rowBytes = 2L * weight.cols();
        long base = memory.address(weight.buffer()) + run.firstRow() * rowBytes;
        int rowsAtOnce = (int) Math.max(1, pieceBytes / rowBytes);
        for (int first = 0; first < run.rows(); first += rowsAtOnce) {
            int rows = Math.min(rowsAtOnce, run.rows() - first);
            weight.decode(format, run.data(), first, rows, nextPinned());
            send(base + first * rowBytes, rows * rowBytes);
        }
    }

    /// The next pinned buffer, once the device has read it.
    private MemorySegment nextPinned() {
        turn = 1 - turn;
        context.binding().synchronizeEvent(events[turn]);
        return pinned[turn].memory();
    }

    private void send(long address, long bytes) {
        context.binding().copyToDevice(address, pinned[turn].memory().address(), bytes, context.stream());
        sent();
    }

    private void sent() {
        context.binding().recordEvent(events[turn], context.stream(), false);
    }

    private static void copy(MemorySegment source, long from, MemorySegment target, long bytes) {
        int slices = (int) ((bytes + SLICE_BYTES - 1) / SLICE_BYTES);
        IntStream.range(0, slices).parallel().forEach(i -> {
            long at = i * SLICE_BYTES;
            MemorySegment.copy(
                    source,
                    ValueLayout.JAVA_BYTE,
                    from + at,
                    target,
                    ValueLayout.JAVA_BYTE,
                    at,
                    Math.min(SLICE_BYTES, bytes - at));
        });
    }

    @Override
    public void close() {
        context.enter();
        List<AutoCloseable> all = new ArrayList<>();
        all.add(context::synchronize);
        for (PinnedMemory memory : pinned) {
            if (memory != null) {
                all.add(memory);
            }
        }
        for (long event : events) {
            if (event != 0) {
                all.add(() -> context.binding().destroyEvent(event));
            }
        }
        all.add(staging);
        Closing.all(all);
    }
}
