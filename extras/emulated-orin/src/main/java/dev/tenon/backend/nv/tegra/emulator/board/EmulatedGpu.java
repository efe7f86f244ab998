package dev.tenon.backend.nv.tegra.emulator.board;

import dev.tenon.backend.nv.tegra.emulator.launch.GpuFault;
import dev.tenon.backend.nv.tegra.emulator.launch.KernelLibrary;
import dev.tenon.backend.nv.tegra.emulator.stream.StreamRecorder;
import dev.tenon.backend.nv.tegra.gpu.Gpfifo;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The GPU: reads rings, executes methods, launches kernels. Used under the lock of its board.
public final class EmulatedGpu {
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final int WARP_ERROR = 0x10;

    private final KernelLibrary kernels;
    private final EmulatorOptions options;
    private final Faults faults;
    private final Map<EmulatedChannel, Host> hosts = new LinkedHashMap<>();
    private final List<String> log = new ArrayList<>();
    private final Map<AddressSpace, MemoryTracker> trackers = new HashMap<>();
    private volatile boolean waiting;
    private long time = 1_000_000;
    /// Receives what is fetched, or null.
    public StreamRecorder recorder;

    EmulatedGpu(EmulatorOptions options, KernelLibrary kernels, Faults faults) {
        this.options = options;
        this.kernels = kernels;
        this.faults = faults;
    }

    KernelLibrary kernels() {
        return kernels;
    }

    EmulatorOptions options() {
        return options;
    }

    List<String> log() {
        return log;
    }

    /// {@return nanoseconds of the GPU, later with every call}
    long clock() {
        time += 32;
        return time;
    }

    /// A doorbell rang for a channel: what PUT says now will be executed.
    void schedule(EmulatedChannel channel) {
        if (channel.tornDown) {
            return;
        }
        Host host = hosts.computeIfAbsent(channel, c -> new Host(this, c));
        host.limit = (int) INT.getVolatile(channel.userd.pages(), (long) Gpfifo.PUT);
    }

    void forget(EmulatedChannel channel) {
        hosts.remove(channel);
    }

    boolean isWaiting() {
        return waiting;
    }

    /// Works until every channel is through or waits.
    void run() {
        if (faults.isHung()) {
            return;
        }
        boolean progress = true;
        while (progress) {
            progress = false;
            for (Host host : List.copyOf(hosts.values())) {
                progress |= step(host);
            }
        }
        waiting = hosts.values().stream().anyMatch(Host::isWaiting);
    }

    private boolean step(Host host) {
        EmulatedChannel channel = host.channel;
        if (channel.tornDown) {
            return false;
        }
        try {
            boolean progress = false;
            while (host.hasWork()) {
                if (!host.isInside() && !fetch(host)) {
                    return progress;
                }
                if (!host.execute()) {
                    return progress | host.moved();
                }
                progress = true;
                advance(host);
                if (recorder != null) {
                    host.compute.drain();
                    tracker(channel).gpu(channel.token, recorder);
                    recorder.done(channel.token);
                }
            }
            host.compute.drain();
            return progress;
        } catch (GpuFault fault) {
            tearDown(channel, fault);
            return true;
        }
    }

    private MemoryTracker tracker(EmulatedChannel channel) {
        return trackers.computeIfAbsent(channel.addressSpace, MemoryTracker::new);
    }

    /// Begins to tell a recorder everything; null ends it.
    void record(StreamRecorder to) {
        recorder = to;
        trackers.clear();
    }

    /// Reads the next ring entry and its words.
    private boolean fetch(Host host) {
        EmulatedChannel channel = host.channel;
        if (host.limit < 0 || host.limit >= channel.entries) {
            throw GpuFault.pbdma("PUT is " + host.limit + " in a ring of " + channel.entries);
        }
        long entry = (long) LONG.getVolatile(channel.ring.pages(), 8L * host.get);
        long va = entry & 0xFF_FFFF_FFFCL;
        int words = (int) (entry >>> 42 & 0x1F_FFFF);
        if ((entry & 3) != 0 || (entry >>> 40 & 1) != 0) {
            throw GpuFault.pbdma(String.format("ring entry 0x%016x has reserved bits", entry));
        }
        if (words == 0) {
            throw GpuFault.pbdma(String.format("ring entry 0x%016x has no words", entry));
        }
        if (host.view.isWriteCombined(va)) {
            throw GpuFault.pbdma("command words in write-combined memory may not have arrived");
        }
        if (recorder != null) {
            tracker(channel).processor(recorder);
        }
        MemorySegment memory = host.view.at(va, 4L * words, "command words");
        host.enter(memory.toArray(ValueLayout.JAVA_INT));
        if (recorder != null) {
            recorder.words(channel.token, va, host.words());
        }
        return true;
    }

    private void advance(Host host) {
        host.get = (host.get + 1) % host.channel.entries;
        INT.setVolatile(host.channel.userd.pages(), (long) Gpfifo.GET, host.get);
    }

    private void tearDown(EmulatedChannel channel, GpuFault fault) {
        log.add("channel " + channel.token + ": " + fault.getMessage());
        channel.tearDown(fault, clock());
        channel.group.globalError = 4;
        channel.group.warpError = WARP_ERROR;
        hosts.remove(channel);
    }
}
