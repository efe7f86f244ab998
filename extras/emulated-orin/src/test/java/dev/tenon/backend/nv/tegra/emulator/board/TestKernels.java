package dev.tenon.backend.nv.tegra.emulator.board;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import dev.tenon.backend.nv.tegra.code.Cubin;
import dev.tenon.backend.nv.tegra.emulator.launch.KernelLaunch;
import dev.tenon.backend.nv.tegra.emulator.launch.KernelLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;

/// The kernels of `kernels.cu` in Java.
public final class TestKernels {
    private TestKernels() {}

    static Cubin cubin() {
        try (InputStream in = TestKernels.class.getResourceAsStream("/kernels/kernels_sm87.cubin")) {
            return new Cubin(in.readAllBytes(), "kernels_sm87");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static KernelLibrary library() {
        Cubin cubin = cubin();
        return new KernelLibrary()
                .add(cubin, "square_plus_one", TestKernels::squarePlusOne)
                .add(cubin, "saxpy", TestKernels::saxpy)
                .add(cubin, "add_one", TestKernels::addOne)
                .add(cubin, "scale_by_constant", TestKernels::scaleByConstant)
                .add(cubin, "count", TestKernels::count)
                .add(cubin, "mixed", TestKernels::mixed)
                .add(cubin, "block_sum", TestKernels::blockSum)
                .add(cubin, "local_array", TestKernels::localArray)
                .add(cubin, "two_barriers", TestKernels::twoBarriers);
    }

    private static int threads(KernelLaunch launch) {
        return launch.geometry().gridX() * launch.geometry().blockX();
    }

    private static void squarePlusOne(KernelLaunch launch) {
        int n = Math.min(launch.intParameter(1), threads(launch));
        MemorySegment out = launch.memory(launch.longParameter(0), 4L * n);
        for (int i = 0; i < n; i++) {
            out.set(JAVA_INT_UNALIGNED, 4L * i, i * i + 1);
        }
    }

    private static void saxpy(KernelLaunch launch) {
        int n = Math.min(launch.intParameter(3), threads(launch));
        MemorySegment y = launch.memory(launch.longParameter(0), 4L * n);
        MemorySegment x = launch.memory(launch.longParameter(1), 4L * n);
        float a = launch.floatParameter(2);
        for (long i = 0; i < 4L * n; i += 4) {
            y.set(JAVA_FLOAT_UNALIGNED, i, a * x.get(JAVA_FLOAT_UNALIGNED, i) + y.get(JAVA_FLOAT_UNALIGNED, i));
        }
    }

    private static void addOne(KernelLaunch launch) {
        MemorySegment value = launch.memory(launch.longParameter(0), 4);
        value.set(JAVA_INT_UNALIGNED, 0, value.get(JAVA_INT_UNALIGNED, 0) + 1);
    }

    private static void scaleByConstant(KernelLaunch launch) {
        float factor = launch.constants(3).get(JAVA_FLOAT_UNALIGNED, 4L * (launch.intParameter(1) & 3));
        int n = launch.geometry().blockX();
        MemorySegment y = launch.memory(launch.longParameter(0), 4L * n);
        for (long i = 0; i < 4L * n; i += 4) {
            y.set(JAVA_FLOAT_UNALIGNED, i, y.get(JAVA_FLOAT_UNALIGNED, i) * factor);
        }
    }

    /// Bank 4 holds the addresses of counter, counter_address, zeroed, fourth.
    private static void count(KernelLaunch launch) {
        MemorySegment table = launch.constants(4);
        long counterAddress =
                launch.memory(table.get(JAVA_LONG_UNALIGNED, 8), 8).get(JAVA_LONG_UNALIGNED, 0);
        MemorySegment counter = launch.memory(counterAddress, 4);
        MemorySegment out = launch.memory(launch.longParameter(0), 8);
        out.set(JAVA_INT_UNALIGNED, 0, counter.get(JAVA_INT_UNALIGNED, 0));
        counter.set(JAVA_INT_UNALIGNED, 0, counter.get(JAVA_INT_UNALIGNED, 0) + 1);
        out.set(
                JAVA_INT_UNALIGNED,
                4,
                launch.memory(table.get(JAVA_LONG_UNALIGNED, 16), 256).get(JAVA_INT_UNALIGNED, 0));
    }

    private static void mixed(KernelLaunch launch) {
        MemorySegment m = launch.structParameter(0);
        int sum = m.get(JAVA_INT_UNALIGNED, 0)
                + m.get(JAVA_INT_UNALIGNED, 36)
                + launch.byteParameter(1)
                + launch.shortParameter(2)
                + (int) launch.doubleParameter(3);
        launch.memory(launch.longParameter(4), 4).set(JAVA_INT_UNALIGNED, 0, sum);
    }

    private static void blockSum(KernelLaunch launch) {
        int n = launch.intParameter(2);
        MemorySegment x = launch.memory(launch.longParameter(1), 4L * n);
        float sum = 0;
        for (int i = 0; i < n; i++) {
            sum += x.get(JAVA_FLOAT_UNALIGNED, 4L * i);
        }
        MemorySegment out =
                launch.memory(launch.longParameter(0), 4L * launch.geometry().gridX());
        for (int i = 0; i < launch.geometry().gridX(); i++) {
            out.set(JAVA_FLOAT_UNALIGNED, 4L * i, sum);
        }
    }

    private static void localArray(KernelLaunch launch) {
        int n = launch.intParameter(1);
        launch.memory(launch.longParameter(0), 4).set(JAVA_INT_UNALIGNED, 0, n % 200 * n + n * 7 % 200 * n);
    }

    private static void twoBarriers(KernelLaunch launch) {
        MemorySegment out = launch.memory(launch.longParameter(0), 256);
        for (int i = 0; i < 64; i++) {
            out.set(JAVA_FLOAT_UNALIGNED, 4L * i, 63 - i);
        }
    }
}
