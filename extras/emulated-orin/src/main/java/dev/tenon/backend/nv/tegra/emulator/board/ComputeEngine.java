package dev.tenon.backend.nv.tegra.emulator.board;

import dev.tenon.backend.nv.tegra.code.Cubin;
import dev.tenon.backend.nv.tegra.command.Geometry;
import dev.tenon.backend.nv.tegra.command.Methods;
import dev.tenon.backend.nv.tegra.command.Qmd;
import dev.tenon.backend.nv.tegra.command.QmdFormat;
import dev.tenon.backend.nv.tegra.emulator.launch.GpuFault;
import dev.tenon.backend.nv.tegra.emulator.launch.GpuFault.Sked;
import dev.tenon.backend.nv.tegra.emulator.launch.KernelLaunch;
import dev.tenon.backend.nv.tegra.emulator.launch.KernelLibrary;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/// The compute engine of a channel: its state, and the launches.
public final class ComputeEngine {
    private static final QmdFormat FORMAT = QmdFormat.V3;
    private static final long WINDOW_BYTES = 1L << 32;
    private static final int MAX_BARRIERS = 16;
    private static final int MAX_REGISTERS = 255;
    private static final int REGISTER_FILE = 65536;
    private static final int STACK_TOP = 0xFFFDC0;
    private static final int TPC_MULTIPROCESSORS = 2;
    private static final int WARPS = 48;
    /// The first numbers of generators with small seeds are alike.
    private static final long SEED_SPREAD = 0x9E3779B97F4A7C15L;

    private final EmulatedGpu gpu;
    private final EmulatedChannel channel;
    private final GpuView view;
    private final Map<Integer, Integer> state = new HashMap<>();
    private final List<Long> pending = new ArrayList<>();
    private final Random order;

    ComputeEngine(EmulatedGpu gpu, EmulatedChannel channel, GpuView view) {
        this.gpu = gpu;
        this.channel = channel;
        this.view = view;
        this.order = new Random(gpu.options().seed() * SEED_SPREAD);
    }

    void method(int method, int data) {
        state.put(method, data);
        switch (method) {
            case Methods.SEND_SIGNALING_PCAS2_B -> {
                if (data != Methods.PCAS_SCHEDULE && data != Methods.PCAS_PREFETCH_SCHEDULE) {
                    throw GpuFault.exception("launch action " + data);
                }
                pending.add((get(Methods.SEND_PCAS_A) & 0xFFFFFFFFL) << 8);
                if (!gpu.options().deferred()) {
                    drain();
                }
            }
            case Methods.WAIT_FOR_IDLE, Methods.INVALIDATE_SHADER_CACHES -> drain();
            default -> {
                // Everything else is state that launches read.
            }
        }
    }

    private int get(int method) {
        Integer value = state.get(method);
        if (value == null) {
            throw GpuFault.exception(String.format("method 0x%x was never set", method));
        }
        return value;
    }

    private long pair(int method) {
        return state.containsKey(method) ? (long) get(method) << 32 | get(method + 4) & 0xFFFFFFFFL : 0;
    }

    /// Runs all launches that have not run yet.
    public void drain() {
        List<Long> launches = new ArrayList<>(pending);
        pending.clear();
        if (gpu.options().deferred()) {
            Collections.shuffle(launches, order);
        }
        launches.forEach(this::launch);
    }

    private void launch(long qmdVa) {
        if (view.isWriteCombined(qmdVa)) {
            throw GpuFault.exception("a launch descriptor in write-combined memory may not have arrived");
        }
        MemorySegment copy = MemorySegment.ofArray(new byte[FORMAT.bytes()]);
        copy.copyFrom(view.at(qmdVa, FORMAT.bytes(), "launch descriptor"));
        Qmd qmd = new Qmd(FORMAT, copy);
        checkVersion(qmd);
        Geometry geometry = geometry(qmd);
        checkResources(qmd, geometry);
        checkWindows();
        long program = qmd.get(FORMAT.program());
        KernelLibrary.Entry kernel = program(program);
        Map<Integer, Long> banks = banks(qmd, kernel);
        MemorySegment bank0 = view.at(banks.get(0), bank0Bytes(kernel), "constant bank 0");
        if (gpu.recorder != null) {
            gpu.recorder.launch(
                    channel.token,
                    kernel.kernel().name(),
                    copy.toArray(ValueLayout.JAVA_BYTE),
                    bank0.toArray(ValueLayout.JAVA_BYTE));
        }
        checkBank0(bank0, geometry);
        checkLocal(qmd, kernel);
        kernel.reference()
                .run(new KernelLaunch(
                        kernel.kernel(), geometry, (int) qmd.get(FORMAT.sharedBytes()), bank0, banks, view::at));
        if (qmd.get(FORMAT.releaseEnable()) != 0) {
            MemorySegment signal = view.at(qmd.get(FORMAT.releaseAddress()), 16, "release of a launch");
            signal.set(ValueLayout.JAVA_LONG_UNALIGNED, 8, gpu.clock());
            signal.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, qmd.get(FORMAT.releasePayload()));
        }
    }

    private static int bank0Bytes(KernelLibrary.Entry kernel) {
        return kernel.kernel().parameterBase() + kernel.kernel().parameterBytes();
    }

    private static void checkVersion(Qmd qmd) {
        if (qmd.get(FORMAT.majorVersion()) != 3 || qmd.get(FORMAT.minorVersion()) != 0) {
            throw GpuFault.exception("launch descriptor of version " + qmd.get(FORMAT.majorVersion()) + "."
                    + qmd.get(FORMAT.minorVersion()));
        }
        if (qmd.get(FORMAT.sass()) != FORMAT.sassVersion()) {
            throw GpuFault.exception(String.format("code for 0x%x", qmd.get(FORMAT.sass())));
        }
    }

    private static Geometry geometry(Qmd qmd) {
        long x = qmd.get(FORMAT.blockX());
        long y = qmd.get(FORMAT.blockY());
        long z = qmd.get(FORMAT.blockZ());
        if (x == 0 || y == 0 || z == 0) {
            throw GpuFault.sked(Sked.ZERO_THREADS, "a block of " + x + " x " + y + " x " + z);
        }
        if (x * y * z > 1024 || z > 64) {
            throw GpuFault.sked(Sked.THREADS, "a block of " + x + " x " + y + " x " + z);
        }
        int gridX = (int) qmd.get(FORMAT.gridX());
        int gridY = (int) qmd.get(FORMAT.gridY());
        int gridZ = (int) qmd.get(FORMAT.gridZ());
        if (gridX < 1 || gridY < 1 || gridZ < 1) {
            throw GpuFault.exception("a grid of " + gridX + " x " + gridY + " x " + gridZ);
        }
        return new Geometry(gridX, gridY, gridZ, (int) x, (int) y, (int) z);
    }

    private static void checkResources(Qmd qmd, Geometry geometry) {
        long registers = qmd.get(FORMAT.registers());
        if (registers < 1 || registers > MAX_REGISTERS) {
            throw GpuFault.sked(Sked.REGISTERS, registers + " registers");
        }
        long perWarp = (registers * 32 + 255) / 256 * 256;
        long warps = (geometry.threads() + 31) / 32;
        if (REGISTER_FILE / perWarp / 4 * 4 < warps) {
            throw GpuFault.sked(Sked.REGISTER_FILE, registers + " registers and " + warps + " warps");
        }
        if (qmd.get(FORMAT.barriers()) > MAX_BARRIERS) {
            throw GpuFault.exception(qmd.get(FORMAT.barriers()) + " barriers");
        }
        long shared = qmd.get(FORMAT.sharedBytes());
        long config = qmd.get(FORMAT.targetSharedConfig());
        if (shared % 128 != 0 || shared < 0x400) {
            throw GpuFault.sked(Sked.SHARED_SIZE, shared + " bytes of shared memory");
        }
        if (config < 1 || shared > (config - 1) * 4096 || config > qmd.get(FORMAT.maxSharedConfigBits())) {
            throw GpuFault.sked(Sked.L1_CONFIG, shared + " bytes of shared memory with configuration " + config);
        }
    }

    private void checkWindows() {
        long local = pair(Methods.LOCAL_WINDOW_A);
        long shared = pair(Methods.SHARED_WINDOW_A);
        if (local == 0 || shared == 0 || Math.abs(local - shared) < WINDOW_BYTES) {
            throw GpuFault.sked(
                    Sked.WINDOWS, "windows at 0x" + Long.toHexString(local) + " and 0x" + Long.toHexString(shared));
        }
        for (long window : new long[] {local, shared}) {
            if (view.touches(window, 1L << 24)) {
                throw GpuFault.exception("a buffer lies in the memory window at 0x" + Long.toHexString(window)
                        + ": MISALIGNED_ADDR, warp esr 0x10, global esr 4");
            }
        }
    }

    private KernelLibrary.Entry program(long program) {
        if (program % 128 != 0) {
            throw GpuFault.sked(Sked.PROGRAM, "code at 0x" + Long.toHexString(program));
        }
        long mapped = view.mappedBytes(program);
        KernelLibrary.Entry kernel = gpu.kernels()
                .find(program, view.at(program, mapped, "code"))
                .orElseThrow(() ->
                        GpuFault.exception("illegal instruction: no known kernel at 0x" + Long.toHexString(program)));
        if (mapped < kernel.kernel().codeBytes() + Cubin.PREFETCH_BYTES) {
            throw GpuFault.mmu(
                    program + mapped,
                    "instruction fetch ahead of " + kernel.kernel().name());
        }
        return kernel;
    }

    private Map<Integer, Long> banks(Qmd qmd, KernelLibrary.Entry kernel) {
        Map<Integer, Long> banks = new HashMap<>();
        for (int bank = 0; bank < Qmd.BANKS; bank++) {
            boolean needed = bank == 0 || kernel.kernel().constantBytes().containsKey(bank);
            int minimum = bank == 0
                    ? bank0Bytes(kernel)
                    : kernel.kernel().constantBytes().getOrDefault(bank, 0);
            if (qmd.get(FORMAT.constantValid(bank)) == 0) {
                if (needed) {
                    throw GpuFault.sked(Sked.CONSTANT_SIZE, "constant bank " + bank + " is not there");
                }
                continue;
            }
            long va = qmd.get(FORMAT.constantAddress(bank)) << FORMAT.constantAddressShift();
            long bytes = qmd.get(FORMAT.constantSize(bank)) << 4;
            if (va % 64 != 0 || bytes < minimum) {
                throw GpuFault.sked(
                        Sked.CONSTANT_SIZE,
                        "constant bank " + bank + " of " + bytes + " bytes at 0x" + Long.toHexString(va)
                                + "; the kernel reads " + minimum);
            }
            view.at(va, bytes, "constant bank " + bank);
            banks.put(bank, va);
        }
        return banks;
    }

    /// Compiled code reads sizes and windows there.
    private void checkBank0(MemorySegment bank0, Geometry geometry) {
        int[] sizes = {
            geometry.blockX(),
            geometry.blockY(),
            geometry.blockZ(),
            geometry.gridX(),
            geometry.gridY(),
            geometry.gridZ()
        };
        for (int i = 0; i < sizes.length; i++) {
            int found = bank0.get(ValueLayout.JAVA_INT_UNALIGNED, 4L * i);
            if (found != sizes[i]) {
                throw GpuFault.exception(
                        "constant bank 0 says " + found + " at " + 4 * i + ", the launch descriptor " + sizes[i]);
            }
        }
        long shared = bank0.get(ValueLayout.JAVA_LONG_UNALIGNED, 0x18);
        long local = bank0.get(ValueLayout.JAVA_LONG_UNALIGNED, 0x20);
        if (shared != pair(Methods.SHARED_WINDOW_A) || local != pair(Methods.LOCAL_WINDOW_A)) {
            throw GpuFault.exception(
                    "constant bank 0 has windows 0x" + Long.toHexString(shared) + " and 0x" + Long.toHexString(local));
        }
        if (bank0.get(ValueLayout.JAVA_INT_UNALIGNED, 0x28) != STACK_TOP) {
            throw GpuFault.exception("constant bank 0 has another stack pointer");
        }
    }

    private void checkLocal(Qmd qmd, KernelLibrary.Entry kernel) {
        long bytes = qmd.get(FORMAT.localBytes());
        int stack = kernel.kernel().stackBytes();
        if (stack > 0 && bytes < stack) {
            throw GpuFault.sked(Sked.LOCAL_SIZE, bytes + " bytes of local memory; the kernel uses " + stack);
        }
        if (bytes == 0) {
            return;
        }
        long base = pair(Methods.LOCAL_MEMORY_A);
        long perTpc = pair(Methods.LOCAL_MEMORY_NON_THROTTLED_A);
        if (bytes * 32 * WARPS * TPC_MULTIPROCESSORS > perTpc) {
            throw GpuFault.sked(Sked.LOCAL_SIZE, bytes + " bytes of local memory a thread, " + perTpc + " a TPC");
        }
        long tpcs = (gpu.options().multiprocessors() + TPC_MULTIPROCESSORS - 1) / TPC_MULTIPROCESSORS;
        view.at(base, perTpc * tpcs, "local memory");
    }
}
