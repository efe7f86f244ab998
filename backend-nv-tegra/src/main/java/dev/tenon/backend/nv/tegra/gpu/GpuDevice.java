package dev.tenon.backend.nv.tegra.gpu;

import dev.tenon.backend.nv.tegra.code.Arguments;
import dev.tenon.backend.nv.tegra.code.Cubin;
import dev.tenon.backend.nv.tegra.command.Commands;
import dev.tenon.backend.nv.tegra.command.Geometry;
import dev.tenon.backend.nv.tegra.command.Methods;
import dev.tenon.backend.nv.tegra.command.PushBuffer;
import dev.tenon.backend.nv.tegra.command.Qmd;
import dev.tenon.backend.nv.tegra.command.QmdFormat;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// A GPU ready to work: a compute and a copy channel, code, and an order of everything that is
/// submitted.
///
/// One submission waits for the one before, on whichever channel. Safe for any thread; calls come
/// one after the other. Whoever opened it closes it, after modules and command lists.
public final class GpuDevice implements AutoCloseable {
    /// Memory of the command words that are not in a list of their own.
    public static final long COMMAND_BYTES = 2L << 20;
    /// Memory of the launches that are not in a list of their own.
    public static final long LAUNCH_BYTES = 16L << 20;

    private static final int SIGNAL_BYTES = 4096;
    private static final int LOCAL_UNIT = 32;
    private static final int SHADOW_OFFSET = 16;
    private static final int WARP = 32;
    private static final int TPC_UNIT = 0x8000;
    private static final int MOST_TPCS = 0xFF;
    private static final int TOTAL_UNIT = 0x20000;
    /// What CUDA gives the scheduler of a Hopper GPU for launches that it has to put aside.
    private static final long SPILL_PER_MULTIPROCESSOR = 0x8000;

    private final GpuInterface gpu;
    private final GpuWait wait;
    private final List<AutoCloseable> owned = new ArrayList<>();
    private final Timeline timeline;
    private final GpuRing commands;
    private final GpuRing launches;
    private final Gpfifo compute;
    private final Gpfifo copy;
    private final AtomicInteger latches = new AtomicInteger();
    private GpuMemory localMemory;
    private int localBytes;
    private boolean closed;

    /// Opens the channels and sets them up.
    ///
    /// @param gpu the GPU; borrowed
    /// @param timeoutMillis how long it may take before it counts as hung
    public GpuDevice(GpuInterface gpu, long timeoutMillis) {
        this(gpu, timeoutMillis, Timeline.MAX_VALUE, COMMAND_BYTES, LAUNCH_BYTES);
    }

    /// Opens the channels with other sizes than usual.
    ///
    /// @param gpu the GPU; borrowed
    /// @param timeoutMillis how long it may take before it counts as hung
    /// @param lastValue the largest value of the timeline
    /// @param commandBytes memory for command words
    /// @param launchBytes memory for launches
    public GpuDevice(GpuInterface gpu, long timeoutMillis, long lastValue, long commandBytes, long launchBytes) {
        this.gpu = gpu;
        this.wait = new GpuWait(gpu, timeoutMillis);
        boolean done = false;
        try {
            GpuMemory signals = memory(SIGNAL_BYTES, MemoryKind.SIGNAL, "signals");
            timeline = new Timeline(new GpuSignal(signals, 0), new GpuSignal(signals, SHADOW_OFFSET), lastValue, wait);
            commands = new GpuRing(memory(commandBytes, MemoryKind.COMMANDS, "commands"), timeline);
            launches = new GpuRing(memory(launchBytes, MemoryKind.LAUNCHES, "launches"), timeline);
            compute = new Gpfifo(channel(GpuInterface.Engine.COMPUTE), wait);
            copy = new Gpfifo(channel(GpuInterface.Engine.COPY), wait);
            setUp();
            done = true;
        } finally {
            if (!done) {
                release();
            }
        }
    }

    private GpuMemory memory(long bytes, MemoryKind kind, String purpose) {
        GpuMemory memory = gpu.allocate(bytes, kind, purpose);
        owned.add(memory);
        return memory;
    }

    private GpuChannel channel(GpuInterface.Engine engine) {
        GpuChannel channel = gpu.openChannel(engine);
        owned.add(channel);
        return channel;
    }

    private void setUp() {
        PushBuffer words = new PushBuffer();
        Commands.setObject(words, Methods.COMPUTE, gpu.traits().computeClass());
        Commands.windows(words, gpu.layout());
        if (gpu.traits().qmd() == QmdFormat.V4) {
            long bytes = gpu.traits().multiprocessors() * SPILL_PER_MULTIPROCESSOR;
            Commands.setUpHopper(
                    words, memory(bytes, MemoryKind.DATA, "spilled launches").va(), bytes);
        }
        submit(words);
        words.clear();
        Commands.setObject(words, Methods.COPY, gpu.traits().copyClass());
        submitCopy(words);
        synchronize();
        growLocalMemory(0);
    }

    /// {@return the GPU}
    public GpuInterface gpu() {
        return gpu;
    }

    /// {@return the order of submissions}
    Timeline timeline() {
        return timeline;
    }

    /// {@return a number for a pair of launches}
    int nextLatch() {
        return latches.incrementAndGet();
    }

    /// {@return local memory of a thread in bytes}
    int localBytes() {
        return localBytes;
    }

    /// Loads code.
    ///
    /// @param cubin code for this GPU
    /// @return the module; the caller closes it
    public synchronized LoadedModule load(Cubin cubin) {
        cubin.requireSm(gpu.traits().sm());
        cubin.kernels().values().forEach(k -> growLocalMemory(k.stackBytes()));
        GpuMemory memory = gpu.allocate(cubin.imageBytes(), MemoryKind.CODE, "code");
        boolean done = false;
        try {
            LoadedModule module = new LoadedModule(cubin, memory, localBytes, gpu.traits(), gpu.layout());
            PushBuffer words = new PushBuffer();
            // This memory may have held other code.
            Commands.invalidateShaderCaches(words);
            submit(words);
            done = true;
            return module;
        } finally {
            if (!done) {
                memory.close();
            }
        }
    }

    /// Makes local memory large enough for a stack, on all multiprocessors at once.
    private void growLocalMemory(int stackBytes) {
        int needed = LoadedKernel.round(stackBytes + LoadedKernel.STACK_RESERVE, LOCAL_UNIT);
        if (needed <= localBytes) {
            return;
        }
        GpuTraits traits = gpu.traits();
        long perTpc = round(
                round(needed * (long) WARP, 0x200)
                        * traits.warpsPerMultiprocessor()
                        * GpuTraits.MULTIPROCESSORS_PER_TPC,
                TPC_UNIT);
        long total = round(perTpc * traits.tpcs(), TOTAL_UNIT);
        GpuMemory larger = gpu.allocate(total, MemoryKind.DATA, "local memory");
        PushBuffer words = new PushBuffer();
        Commands.waitForIdle(words);
        Commands.localMemory(words, larger.va(), perTpc, traits.qmd() == QmdFormat.V4 ? traits.tpcs() : MOST_TPCS);
        submit(words);
        synchronize();
        if (localMemory != null) {
            localMemory.close();
        }
        localMemory = larger;
        localBytes = needed;
    }

    private static long round(long value, long unit) {
        return (value + unit - 1) / unit * unit;
    }

    /// Launches a kernel after everything that was submitted before.
    ///
    /// @param kernel a kernel of a module of this device
    /// @param geometry blocks and threads
    /// @param dynamicShared shared memory of a block beside the static one, in bytes
    /// @param arguments parameters
    /// @return what the timeline reaches when it is through
    public synchronized long launch(LoadedKernel kernel, Geometry geometry, int dynamicShared, Arguments arguments) {
        renewTimeline();
        long at = launches.take(kernel.blockBytes(), Qmd.ALIGNMENT);
        // Made elsewhere, because it is read while it is made.
        MemorySegment block = MemorySegment.ofArray(new byte[kernel.blockBytes()]);
        kernel.write(block, launches.va(at), geometry, dynamicShared, arguments);
        launches.host(at, block.byteSize()).copyFrom(block);
        PushBuffer words = new PushBuffer();
        Commands.memoryBarrier(words);
        Commands.launch(
                words, launches.va(at) + kernel.qmdOffset(), gpu.traits().qmd());
        return submit(words);
    }

    /// Copies memory with the copy engine after everything that was submitted before. The processor
    /// copies as fast; this is for what is in the middle of other submissions.
    ///
    /// @param from source address
    /// @param to target address
    /// @param bytes how many
    /// @return what the timeline reaches when it is through
    public synchronized long copy(long from, long to, long bytes) {
        PushBuffer words = new PushBuffer();
        Commands.copy(words, from, to, bytes);
        return submitCopy(words);
    }

    /// Submits command words to the compute channel.
    ///
    /// @param work the words
    /// @return what the timeline reaches when they are through
    public synchronized long submit(PushBuffer work) {
        renewTimeline();
        PushBuffer words = afterTheOneBefore();
        words.append(work);
        Commands.release(words, timeline.signal().va(), timeline.next());
        return submit(compute, words);
    }

    /// Submits command words to the copy channel.
    ///
    /// @param work the words
    /// @return what the timeline reaches when they are through
    public synchronized long submitCopy(PushBuffer work) {
        renewTimeline();
        PushBuffer words = afterTheOneBefore();
        words.append(work);
        Commands.copySignal(words, timeline.signal().va(), (int) timeline.next());
        return submit(copy, words);
    }

    /// {@return whether the wait for the submission before can be left out: it is through, and to look
    /// at its signal costs the GPU a way over a bus}
    boolean canBeginAtOnce() {
        return !gpu.traits().sharedMemory() && timeline.isReached(timeline.next() - 1);
    }

    private PushBuffer afterTheOneBefore() {
        PushBuffer words = new PushBuffer();
        if (!canBeginAtOnce()) {
            Commands.acquire(words, timeline.signal().va(), timeline.next() - 1);
        }
        return words;
    }

    private long submit(Gpfifo queue, PushBuffer words) {
        requireOpen();
        long at = commands.take(4L * words.size(), 16);
        words.copyTo(commands.host(at, 4L * words.size()), 0);
        long value = timeline.next();
        queue.submit(commands.va(at), words.size());
        timeline.advance();
        commands.mark(value);
        launches.mark(value);
        return value;
    }

    /// Submits words that are in the GPU's memory already and contain wait and signal.
    ///
    /// @param va where
    /// @param words how many
    /// @return what the timeline reaches when they are through
    long submitBound(long va, int words) {
        requireOpen();
        long value = timeline.next();
        compute.submit(va, words);
        timeline.advance();
        return value;
    }

    /// Starts the timeline again when its values have run out.
    void renewTimeline() {
        requireOpen();
        if (timeline.isExhausted()) {
            timeline.renew();
            commands.reset();
            launches.reset();
        }
    }

    /// Waits for a submission.
    ///
    /// @param value what it signals
    public synchronized void await(long value) {
        timeline.await(value);
    }

    /// Waits for everything that was submitted.
    public synchronized void synchronize() {
        timeline.synchronize();
    }

    private void requireOpen() {
        if (closed) {
            throw new dev.tenon.api.error.BackendException(
                    dev.tenon.api.error.ErrorCode.CLOSED, "This GPU was closed. Open it again.");
        }
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            try {
                if (!wait.isFailed()) {
                    timeline.synchronize();
                }
            } finally {
                closed = true;
                release();
            }
        }
    }

    private void release() {
        if (localMemory != null) {
            localMemory.close();
        }
        // Channels first: nothing may run when its memory goes.
        owned.stream().filter(GpuChannel.class::isInstance).forEach(o -> ((GpuChannel) o).close());
        owned.stream().filter(GpuMemory.class::isInstance).forEach(o -> ((GpuMemory) o).close());
        owned.clear();
    }
}
