package dev.tenon.backend.nv.tegra.check;

import dev.tenon.backend.nv.tegra.code.Arguments;
import dev.tenon.backend.nv.tegra.code.Cubin;
import dev.tenon.backend.nv.tegra.command.AddressLayout;
import dev.tenon.backend.nv.tegra.command.Geometry;
import dev.tenon.backend.nv.tegra.gpu.CommandList;
import dev.tenon.backend.nv.tegra.gpu.GpuDevice;
import dev.tenon.backend.nv.tegra.gpu.GpuInterface;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.GpuTraits;
import dev.tenon.backend.nv.tegra.gpu.GpuWait;
import dev.tenon.backend.nv.tegra.gpu.LoadedKernel;
import dev.tenon.backend.nv.tegra.gpu.LoadedModule;
import dev.tenon.backend.nv.tegra.gpu.MemoryKind;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/// The steps that use the drivers and the GPU. Gives everything back when it is closed, last taken
/// first.
final class GpuSteps implements AutoCloseable {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final int SMALL = 4096;
    /// Less where the processor reads over a bus.
    private static final int LARGE = 64 << 20;

    private static final int LARGE_OVER_A_BUS = 4 << 20;
    private static final int NUMBERS = 1000;
    private static final int DEPENDENT = 200;
    private static final int SUBMISSIONS = 1200;
    private static final int LIST_RUNS = 100;
    private static final int TIMED_LAUNCHES = 10_000;
    private static final int TIMED_LISTS = 1000;
    private static final int STEP_LAUNCHES = 230;
    private static final double NANOS = 1e9;
    private static final double MB = 1e6;

    private final Target target;
    private final Map<String, String> settings;
    private final Deque<Runnable> taken = new ArrayDeque<>();
    private GpuInterface gpu;
    private int large;
    private GpuDevice device;
    private GpuMemory from;
    private GpuMemory to;
    private LoadedKernel add;

    GpuSteps(Target target, Map<String, String> settings) {
        this.target = target;
        this.settings = settings;
    }

    /// Takes the steps until one fails.
    ///
    /// @return whether all passed
    boolean run(BoardCheck check) {
        return check.step("characteristics", target.expected(), this::look)
                && check.step("address space and group", "opened in the layout asked for", this::open)
                && check.step("memory", "zeroed, the same for processor and driver", this::memory)
                && check.step("memory speed", "a figure: copies by the processor", this::copySpeed)
                && check.step("channels and first semaphores", "compute and copy channel signal", this::channels)
                && check.step("copy engine", "the bytes that were there", this::copy)
                && check.step("first kernel", "a sum, exact", this::kernel)
                && check.step("dependent launches", "no launch is lost", this::dependent)
                && check.step("more submissions than ring entries", "all of them", this::wrap)
                && check.step("command list", "the same list " + LIST_RUNS + " times", this::list);
    }

    private String look() {
        GpuTraits traits = target.describe();
        large = traits.sharedMemory() ? LARGE : LARGE_OVER_A_BUS;
        return String.format(
                "%s, sm_%d, %d multiprocessors, compute class 0x%x, copy class 0x%x",
                traits.name(), traits.sm(), traits.multiprocessors(), traits.computeClass(), traits.copyClass());
    }

    private String open() {
        gpu = take(target.open(), GpuInterface::close);
        AddressLayout layout = gpu.layout();
        return String.format(
                "buffers from 0x%x to 0x%x, windows at 0x%x and 0x%x",
                layout.start(), layout.end(), layout.localWindow(), layout.sharedWindow());
    }

    private <T> T take(T thing, Consumer<T> close) {
        taken.push(() -> close.accept(thing));
        return thing;
    }

    private GpuMemory allocate(long bytes, String purpose) {
        return take(gpu.allocate(bytes, MemoryKind.DATA, purpose), GpuMemory::close);
    }

    private String memory() throws Surprise {
        from = allocate(large, "source");
        to = allocate(large, "target");
        for (int i = 0; i < large; i += SMALL) {
            if (from.host().get(BYTE, i) != 0) {
                throw new Surprise(
                        "byte " + i + " of new memory is " + from.host().get(BYTE, i), "");
            }
            from.host().set(BYTE, i, (byte) (i / SMALL));
        }
        for (int i = 0; i < large; i += SMALL) {
            if (from.host().get(BYTE, i) != (byte) (i / SMALL)) {
                throw new Surprise("byte " + i + " reads otherwise than it was written", "");
            }
        }
        return String.format("two buffers of %d MiB at 0x%x and 0x%x", large >> 20, from.va(), to.va());
    }

    private String copySpeed() {
        copyOnce();
        double seconds = copyOnce();
        return String.format(Locale.ROOT, "the processor copies %.0f MB/s (%d MiB)", large / MB / seconds, large >> 20);
    }

    private double copyOnce() {
        long begin = System.nanoTime();
        MemorySegment.copy(from.host(), 0, to.host(), 0, large);
        return (System.nanoTime() - begin) / NANOS;
    }

    private String channels() {
        device = take(new GpuDevice(gpu, GpuWait.timeoutMillis(settings)), GpuDevice::close);
        return "both have signalled; the first numbers of the timeline are reached";
    }

    private String copy() throws Surprise {
        to.host().fill((byte) 0);
        device.await(device.copy(from.va(), to.va(), SMALL));
        compare(SMALL);
        long begin = System.nanoTime();
        device.await(device.copy(from.va(), to.va(), large));
        double seconds = (System.nanoTime() - begin) / NANOS;
        compare(large);
        return String.format(Locale.ROOT, "equal; the copy engine copies %.0f MB/s", large / MB / seconds);
    }

    private void compare(int bytes) throws Surprise {
        long at = from.host().asSlice(0, bytes).mismatch(to.host().asSlice(0, bytes));
        if (at >= 0) {
            throw new Surprise("byte " + at + " of " + bytes + " differs", "");
        }
    }

    private String kernel() throws Surprise {
        KernelModule module = KernelModule.of("small.cu");
        byte[] bytes = target.cubin(module)
                .orElseThrow(
                        () -> new Surprise("the bundle of kernels has no machine code of small.cu", "Get it again."));
        LoadedModule loaded = take(device.load(new Cubin(bytes, module.name())), LoadedModule::close);
        add = loaded.kernel("add");
        for (int i = 0; i < NUMBERS; i++) {
            from.host().setAtIndex(FLOAT, i, i);
            to.host().setAtIndex(FLOAT, i, 2 * i);
        }
        device.await(launch());
        expect(3, 0);
        return NUMBERS + " sums";
    }

    /// `to = from + to`, once more.
    private Arguments arguments() {
        return new Arguments(add.kernel())
                .set(0, from.va())
                .set(1, to.va())
                .set(2, to.va())
                .set(3, (long) NUMBERS);
    }

    private long launch() {
        return device.launch(add, Geometry.of(4, 256), 0, arguments());
    }

    private void expect(int factor, int constant) throws Surprise {
        for (int i = 0; i < NUMBERS; i++) {
            float found = to.host().getAtIndex(FLOAT, i);
            if (found != (float) factor * i + constant) {
                throw new Surprise("number " + i + " is " + found + "; expected " + (factor * i + constant), "");
            }
        }
    }

    private void ones() {
        for (int i = 0; i < NUMBERS; i++) {
            from.host().setAtIndex(FLOAT, i, 1);
            to.host().setAtIndex(FLOAT, i, 0);
        }
    }

    private String dependent() throws Surprise {
        ones();
        try (CommandList list = list(DEPENDENT, false)) {
            device.await(list.run());
        }
        expect(0, DEPENDENT);
        return DEPENDENT + " in one submission, each after the one before";
    }

    private CommandList list(int launches, boolean early) {
        CommandList list = new CommandList(device, early);
        for (int i = 0; i < launches; i++) {
            list.add(add, Geometry.of(4, 256), 0, arguments(), true);
        }
        list.build();
        return list;
    }

    private String wrap() throws Surprise {
        ones();
        long last = 0;
        long begin = System.nanoTime();
        for (int i = 0; i < SUBMISSIONS; i++) {
            last = launch();
        }
        device.await(last);
        double micros = (System.nanoTime() - begin) / 1e3 / SUBMISSIONS;
        expect(0, SUBMISSIONS);
        return String.format(Locale.ROOT, "%d launches, %.1f us each", SUBMISSIONS, micros);
    }

    private String list() throws Surprise {
        ones();
        try (CommandList list = list(2, true)) {
            long begin = System.nanoTime();
            for (int i = 0; i < LIST_RUNS; i++) {
                device.await(list.run());
            }
            double micros = (System.nanoTime() - begin) / 1e3 / LIST_RUNS;
            expect(0, 2 * LIST_RUNS);
            return String.format(Locale.ROOT, "%.1f us from submission to result", micros);
        }
    }

    /// What a launch costs, alone and as one of a list, by the processor's clock.
    String latency() {
        return wall("one launch", TIMED_LAUNCHES, () -> device.await(launch())) + "; " + dependentLatency();
    }

    private String dependentLatency() {
        try (CommandList list = list(STEP_LAUNCHES, false);
                CommandList early = list(STEP_LAUNCHES, true)) {
            return wall(
                            "a list of " + STEP_LAUNCHES + " dependent launches",
                            TIMED_LISTS,
                            () -> device.await(list.run()))
                    + "; "
                    + wall("where they start early", TIMED_LISTS, () -> device.await(early.run()));
        }
    }

    private static String wall(String what, int times, Runnable work) {
        double[] micros = new double[times];
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < times; i++) {
                long begin = System.nanoTime();
                work.run();
                micros[i] = (System.nanoTime() - begin) / 1e3;
            }
        }
        Arrays.sort(micros);
        return String.format(
                Locale.ROOT,
                "%s: mean %.2f, p50 %.2f, p99 %.2f us (%d times)",
                what,
                Arrays.stream(micros).average().orElseThrow(),
                micros[times / 2],
                micros[times * 99 / 100],
                times);
    }

    @Override
    public void close() {
        while (!taken.isEmpty()) {
            taken.pop().run();
        }
    }
}
