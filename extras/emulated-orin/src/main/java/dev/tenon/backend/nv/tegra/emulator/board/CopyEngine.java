package dev.tenon.backend.nv.tegra.emulator.board;

import dev.tenon.backend.nv.tegra.command.Methods;
import dev.tenon.backend.nv.tegra.emulator.launch.GpuFault;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.Map;

/// The copy engine of a channel.
public final class CopyEngine {
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final EmulatedGpu gpu;
    private final GpuView view;
    private final Map<Integer, Integer> state = new HashMap<>();

    CopyEngine(EmulatedGpu gpu, GpuView view) {
        this.gpu = gpu;
        this.view = view;
    }

    void method(int method, int data) {
        if (method != Methods.COPY_LAUNCH) {
            state.put(method, data);
            return;
        }
        switch (data) {
            case Methods.COPY_LINEAR -> copy();
            case Methods.COPY_SIGNAL -> signal();
            default -> throw GpuFault.copyEngine(String.format("launch 0x%x", data));
        }
    }

    private int get(int method) {
        Integer value = state.get(method);
        if (value == null) {
            throw GpuFault.copyEngine(String.format("method 0x%x was never set", method));
        }
        return value;
    }

    private long address(int upper) {
        int high = get(upper);
        if (high >>> 17 != 0) {
            throw GpuFault.copyEngine(String.format("upper address 0x%x", high));
        }
        return (long) high << 32 | get(upper + 4) & 0xFFFFFFFFL;
    }

    private void copy() {
        long bytes = get(Methods.COPY_LINE_LENGTH) & 0xFFFFFFFFL;
        long from = address(Methods.COPY_OFFSET_IN_UPPER);
        long to = address(Methods.COPY_OFFSET_IN_UPPER + 8);
        if (from < to + bytes && to < from + bytes) {
            throw GpuFault.copyEngine("source and target overlap");
        }
        view.at(to, bytes, "target of a copy").copyFrom(view.at(from, bytes, "source of a copy"));
    }

    private void signal() {
        long va = address(Methods.COPY_SEMAPHORE_A);
        if (va % 16 != 0) {
            throw GpuFault.copyEngine("signal at 0x" + Long.toHexString(va));
        }
        MemorySegment memory = view.at(va, 16, "signal of a copy");
        LONG.setVolatile(memory, 8L, gpu.clock());
        INT.setVolatile(memory, 0L, get(Methods.COPY_SEMAPHORE_A + 8));
    }
}
