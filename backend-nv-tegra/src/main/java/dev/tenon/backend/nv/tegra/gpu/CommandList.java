package dev.tenon.backend.nv.tegra.gpu;

import dev.tenon.backend.nv.tegra.code.Arguments;
import dev.tenon.backend.nv.tegra.code.CubinKernel;
import dev.tenon.backend.nv.tegra.command.Commands;
import dev.tenon.backend.nv.tegra.command.Geometry;
import dev.tenon.backend.nv.tegra.command.PushBuffer;
import dev.tenon.backend.nv.tegra.command.Qmd;
import dev.tenon.backend.nv.tegra.command.QmdFormat;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// Launches that are encoded once and submitted again and again, with one entry in the ring each
/// time.
///
/// ```
/// words:  wait for n - 1 | launch | idle | launch | ... | signal n
/// blocks: one for each launch: bank 0 with parameters, launch descriptor
///
/// Hopper:
/// words:  wait for n - 1 | launch | signal n
/// blocks: descriptor -> descriptor -> ...
/// ```
///
/// On Hopper a descriptor names the one that the scheduler takes next, so that nothing is fetched
/// between two launches that depend on each other.
///
/// Only what changes from run to run is written: the two numbers of the timeline, and parameters or
/// sizes that the caller patches. Patching and running wait for the run before. Add launches,
/// [#build], then run. For one thread at a time; whoever made it closes it, before the device.
public final class CommandList implements AutoCloseable {
    private final GpuDevice device;
    private final boolean early;
    private final List<Long> chained = new ArrayList<>();
    private final List<Entry> entries = new ArrayList<>();
    private final List<Boolean> barriers = new ArrayList<>();
    private final PushBuffer words = new PushBuffer();
    private GpuMemory blocks;
    private GpuMemory wordMemory;
    private int acquire;
    private int afterWait;
    private int release;
    private long running;
    private long runningEpoch;

    /// A launch.
    private record Entry(LoadedKernel kernel, Geometry geometry, int dynamicShared, Arguments arguments, long offset) {}

    /// @param device where it runs
    public CommandList(GpuDevice device) {
        this(device, false);
    }

    /// @param device where it runs
    /// @param early whether kernels may start before the ones before them have ended, where the
    ///     hardware can do that: they wait by themselves where they need results
    public CommandList(GpuDevice device, boolean early) {
        this.device = device;
        this.early = early;
    }

    /// Adds a launch.
    ///
    /// @param kernel a kernel of a module of the device
    /// @param geometry blocks and threads
    /// @param dynamicShared shared memory of a block beside the static one, in bytes
    /// @param arguments parameters; kept until [#build]
    /// @param dependsOnBefore whether it reads what launches before it write, so that it has to
    ///     wait for them
    /// @return its number, for patches
    public int add(
            LoadedKernel kernel, Geometry geometry, int dynamicShared, Arguments arguments, boolean dependsOnBefore) {
        if (blocks != null) {
            throw new IllegalStateException("the list has been built");
        }
        long offset = entries.isEmpty()
                ? 0
                : round(entries.getLast().offset + entries.getLast().kernel.blockBytes());
        entries.add(new Entry(kernel, geometry, dynamicShared, arguments, offset));
        barriers.add(dependsOnBefore);
        return entries.size() - 1;
    }

    private static long round(long value) {
        return (value + Qmd.ALIGNMENT - 1) / Qmd.ALIGNMENT * Qmd.ALIGNMENT;
    }

    /// Encodes the list into the GPU's memory.
    public void build() {
        if (entries.isEmpty() || blocks != null) {
            throw new IllegalStateException(entries.isEmpty() ? "the list is empty" : "the list has been built");
        }
        Entry last = entries.getLast();
        long bytes = last.offset + last.kernel.blockBytes();
        blocks = device.gpu().allocate(bytes, MemoryKind.LAUNCHES, "launches of a command list");
        // Made elsewhere, because it is read while it is made.
        MemorySegment shadow = MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]);
        QmdFormat format = device.gpu().traits().qmd();
        boolean done = false;
        try {
            acquire = Commands.acquire(words, 0, 0);
            afterWait = words.size();
            Commands.memoryBarrier(words);
            for (int i = 0; i < entries.size(); i++) {
                Entry e = entries.get(i);
                e.kernel.write(block(shadow, i), blocks.va() + e.offset, e.geometry, e.dynamicShared, e.arguments);
                long qmd = blocks.va() + e.offset + e.kernel.qmdOffset();
                if (i > 0 && barriers.get(i)) {
                    if (format == QmdFormat.V4) {
                        chain(shadow, i, qmd);
                        continue;
                    }
                    Commands.waitForIdle(words);
                    Commands.memoryBarrier(words);
                }
                Commands.launch(words, qmd, format);
            }
            blocks.host().copyFrom(shadow);
            release = Commands.release(words, 0, 0);
            load(chained);
            wordMemory = device.gpu().allocate(4L * words.size(), MemoryKind.COMMANDS, "words of a command list");
            words.copyTo(wordMemory.host(), 0);
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    /// Has a launch scheduled by the one before, as CUDA does in its graphs.
    private void chain(MemorySegment all, int index, long va) {
        Qmd before = entries.get(index - 1).kernel.qmd(block(all, index - 1));
        Qmd qmd = entries.get(index).kernel.qmd(block(all, index));
        before.schedule(qmd, va);
        if (early) {
            before.startEarly(qmd, device.nextLatch());
        }
        chained.add(va);
    }

    /// Sends descriptors to the scheduler, where they wait for the launches before them. Last first,
    /// so that none is waited for before it is known.
    private void load(List<Long> descriptors) {
        if (!descriptors.isEmpty()) {
            PushBuffer load = new PushBuffer();
            descriptors.reversed().forEach(va -> Commands.launch(load, va, QmdFormat.V4));
            device.await(device.submit(load));
        }
    }

    private MemorySegment block(MemorySegment all, int index) {
        Entry entry = entries.get(index);
        return all.asSlice(entry.offset, entry.kernel.blockBytes());
    }

    /// {@return number of command words of a run}
    public int wordCount() {
        return words.size();
    }

    /// Changes a parameter of 8 bytes.
    ///
    /// @param launch what [#add] returned
    /// @param parameter 0-based
    /// @param value new value
    public void patch(int launch, int parameter, long value) {
        checkSize(launch, parameter, 8);
        awaitRun();
        block(blocks.host(), launch)
                .set(
                        java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED,
                        entries.get(launch).kernel.parameterOffset(parameter),
                        value);
    }

    /// Changes a parameter of 4 bytes.
    ///
    /// @param launch what [#add] returned
    /// @param parameter 0-based
    /// @param value new value
    public void patch(int launch, int parameter, int value) {
        checkSize(launch, parameter, 4);
        awaitRun();
        block(blocks.host(), launch)
                .set(
                        java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED,
                        entries.get(launch).kernel.parameterOffset(parameter),
                        value);
    }

    /// Changes blocks and threads.
    ///
    /// @param launch what [#add] returned
    /// @param geometry new blocks and threads
    public void patch(int launch, Geometry geometry) {
        awaitRun();
        Entry entry = entries.get(launch);
        entry.kernel.geometry(block(blocks.host(), launch), geometry);
        load(chained.stream()
                .filter(va -> va == blocks.va() + entry.offset + entry.kernel.qmdOffset())
                .toList());
    }

    private void checkSize(int launch, int parameter, int bytes) {
        CubinKernel kernel = entries.get(launch).kernel.kernel();
        if (kernel.parameter(parameter).sizeBytes() != bytes) {
            throw new IllegalArgumentException("parameter " + parameter + " of kernel " + kernel.name() + " has "
                    + kernel.parameter(parameter).sizeBytes() + " bytes, not " + bytes);
        }
    }

    /// Submits the list.
    ///
    /// @return what the timeline reaches when it is through
    public long run() {
        if (wordMemory == null) {
            throw new IllegalStateException("the list has not been built");
        }
        synchronized (device) {
            awaitRun();
            device.renewTimeline();
            Timeline timeline = device.timeline();
            patchSemaphore(release, timeline.signal().va(), timeline.next());
            // The words begin with the wait.
            int first = device.canBeginAtOnce() ? afterWait : 0;
            if (first == 0) {
                patchSemaphore(acquire, timeline.signal().va(), timeline.next() - 1);
            }
            running = device.submitBound(wordMemory.va() + 4L * first, words.size() - first);
            runningEpoch = timeline.epoch();
            return running;
        }
    }

    /// Address low, high and payload low, high are words one after the other.
    private void patchSemaphore(int payload, long va, long value) {
        MemorySegment host = wordMemory.host();
        java.lang.foreign.ValueLayout.OfInt word = java.lang.foreign.ValueLayout.JAVA_INT;
        host.setAtIndex(word, payload - 2, (int) va);
        host.setAtIndex(word, payload - 1, (int) (va >>> 32));
        host.setAtIndex(word, payload, (int) value);
        host.setAtIndex(word, payload + 1, (int) (value >>> 32));
    }

    /// The memory of the list may be changed when its last run is through.
    private void awaitRun() {
        synchronized (device) {
            // When values have started again, everything before is through.
            if (running > 0 && device.timeline().epoch() == runningEpoch) {
                device.timeline().await(running);
            }
            running = 0;
        }
    }

    @Override
    public void close() {
        if (blocks != null) {
            blocks.close();
        }
        if (wordMemory != null) {
            wordMemory.close();
        }
    }
}
