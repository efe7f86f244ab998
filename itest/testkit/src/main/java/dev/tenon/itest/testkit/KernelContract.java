package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.api.kernel.cpu.ElementKernel;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.models.RandomModels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// What every kernel that a bundle offers to other bundles' backends has to do: extend this class, name the
/// provider and the formats, and run it with JUnit.
///
/// Kernels for CPU devices are compared with the decoder of their format in float64, those for
/// attention and elements with the order of operations that [AttentionKernel] and [ElementKernel]
/// give, bit for bit, those for ops of an architecture by [ArchitectureContract]. A kernel for another
/// kind of device is compared by running [BackendContract] on such a device.
public abstract class KernelContract {
    private static final int ROWS = 11;
    private static final float GUARD = 123.25f;

    /// For subclasses.
    protected KernelContract() {}

    /// {@return the provider under test}
    protected abstract KernelProvider provider();

    /// {@return the formats that its kernels read}
    protected abstract Collection<QuantFormat> formats();

    /// {@return how far a dot product may be off, as a fraction of the length of the weight row times the
    ///     root mean square of the activations; the default suits activations packed to 8 bits. Float32
    ///     activations allow `1e-6 * sqrt(n)`}
    ///
    /// @param kernel the kernel
    /// @param n elements in a row
    protected double tolerance(Kernel kernel, int n) {
        return 5e-2;
    }

    /// What the provider has by itself, and what it makes for the formats.
    private List<Kernel> kernels() {
        List<Kernel> kernels = new ArrayList<>(provider().kernels());
        for (QuantFormat format : formats()) {
            provider().kernels(format).stream()
                    .filter(kernel -> !kernels.contains(kernel))
                    .forEach(kernels::add);
        }
        return kernels;
    }

    private QuantFormat format(Kernel kernel) {
        return formats().stream()
                .filter(f -> f.id().equals(kernel.format()))
                .findFirst()
                .orElseGet(() -> fail(kernel.name() + " reads format " + kernel.format() + ", which is not installed"));
    }

    // --- description

    @Test
    void kernelsNameThemselvesAndStayTheSame() {
        List<Kernel> kernels = kernels();
        for (Kernel kernel : kernels) {
            for (String text : List.of(kernel.name(), kernel.deviceKind(), kernel.op(), kernel.format())) {
                assertFalse(text.isBlank(), "a blank name, device, op or format in " + kernel.name());
            }
        }
        List<String> names = kernels.stream().map(Kernel::name).toList();
        assertEquals(names.size(), names.stream().distinct().count(), "one name, two kernels: " + names);
        assertEquals(names, kernels().stream().map(Kernel::name).toList(), "asked twice, it offers others");
    }

    // --- numbers

    @TestFactory
    Stream<DynamicTest> kernelsMultiplyAsTheirFormatDecodes() {
        List<DynamicTest> tests = new ArrayList<>();
        for (Kernel kernel : kernels()) {
            if (!kernel.op().equals("linear")) {
                continue;
            }
            for (int blocks : new int[] {1, 2, 3, 8, 17}) {
                tests.add(DynamicTest.dynamicTest(kernel.name() + " blocks=" + blocks, () -> {
                    int n = blocks * format(kernel).blockSize();
                    if (kernel instanceof LinearKernel packed) {
                        packed(packed, n);
                    } else {
                        assumeTrue(
                                false,
                                kernel.name() + " is for devices of kind " + kernel.deviceKind()
                                        + ": the backend contract tests it there");
                    }
                }));
            }
        }
        return tests.stream();
    }

    @TestFactory
    Stream<DynamicTest> attentionAddsInTheOrderThatIsWritten() {
        List<DynamicTest> tests = new ArrayList<>();
        for (Kernel kernel : kernels()) {
            if (kernel instanceof AttentionKernel attention) {
                for (KvType type : KvType.values()) {
                    for (int[] lengths : new int[][] {{64, 64}, {128, 128}, {32, 96}, {80, 80}}) {
                        String name = kernel.name() + " " + type + " " + lengths[0] + " " + lengths[1];
                        if (attention.accepts(type, type, lengths[0], lengths[1])) {
                            AttentionCheck check = new AttentionCheck(attention, type, lengths[0], lengths[1]);
                            tests.add(DynamicTest.dynamicTest(name, check::run));
                        }
                    }
                }
            }
        }
        return tests.stream();
    }

    @TestFactory
    Stream<DynamicTest> elementsAreComputedAsIsWritten() {
        List<DynamicTest> tests = new ArrayList<>();
        for (Kernel kernel : kernels()) {
            if (kernel instanceof ElementKernel elements) {
                for (int n : ElementCheck.LENGTHS) {
                    String name = kernel.name() + " " + n + " ";
                    ElementCheck check = new ElementCheck(elements, n);
                    for (Activation activation : Activation.values()) {
                        if (elements.accepts(activation)) {
                            tests.add(DynamicTest.dynamicTest(name + activation, () -> check.gate(activation)));
                        }
                    }
                    tests.add(DynamicTest.dynamicTest(name + "norm", check::norm));
                    tests.add(DynamicTest.dynamicTest(name + "add", check::add));
                }
            }
        }
        return tests.stream();
    }

    private void packed(LinearKernel kernel, int n) {
        assumeTrue(kernel.accepts(n), () -> kernel.name() + " does not accept rows of " + n);
        try (Case c = new Case(format(kernel), n)) {
            MemorySegment packed = c.pack(kernel);
            float[] all = run(kernel, c, packed, 0, ROWS, Case.TOKENS);
            for (int t = 0; t < Case.TOKENS; t++) {
                for (int r = 0; r < ROWS; r++) {
                    c.check(kernel, r, t, all[t * ROWS + r], tolerance(kernel, n));
                }
            }
            MemorySegment alone = c.arena.allocate(kernel.packedBytes(n), 64);
            kernel.pack(new HostFloats(c.x), 3, n, alone);
            float[] one = run(kernel, c, alone, 0, ROWS, 1);
            for (int r = 0; r < ROWS; r++) {
                assertEquals(all[r], one[r], kernel.name() + " n=" + n + ": row " + r + " of a token packed alone");
            }
            for (int tokens : new int[] {1, 2, 3, 4, 5, 8}) {
                for (int first : new int[] {0, 3, ROWS - 1}) {
                    int rows = Math.min(4, ROWS - first);
                    float[] part = run(kernel, c, packed, first, rows, tokens);
                    for (int t = 0; t < tokens; t++) {
                        for (int r = 0; r < rows; r++) {
                            assertEquals(
                                    all[t * ROWS + first + r],
                                    part[t * rows + r],
                                    kernel.name() + " n=" + n + ": row " + (first + r) + " of token " + t
                                            + " changes with what else is in the call");
                        }
                    }
                }
            }
            assertTrue(Arrays.equals(c.before, c.x), kernel.name() + " changed the activations");
        }
    }

    /// {@return `[tokens][rows]`, one after the other}
    private static float[] run(LinearKernel kernel, Case c, MemorySegment packed, int first, int rows, int tokens) {
        int stride = rows + 3;
        float[] out = guarded(2 + tokens * stride);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment scratch = arena.allocate(Math.max(64, kernel.scratchBytes(c.n, tokens)), 64);
            kernel.run(new LinearCall(scratch)
                    .of(c.weights, c.rowBytes, c.n)
                    .rows(first, rows)
                    .times(packed, tokens)
                    .to(new HostFloats(out), 2, stride));
        }
        for (int i = 0; i < 2; i++) {
            assertEquals(GUARD, out[i], kernel.name() + " writes in front of its sums");
        }
        float[] sums = new float[tokens * rows];
        for (int t = 0; t < tokens; t++) {
            System.arraycopy(out, 2 + t * stride, sums, t * rows, rows);
            for (int gap = rows; gap < stride && 2 + t * stride + gap < out.length; gap++) {
                assertEquals(GUARD, out[2 + t * stride + gap], kernel.name() + " writes after the sums of a token");
            }
        }
        return sums;
    }

    // --- threads

    @Test
    void manyThreadsMayUseAKernelAtOnce() throws Exception {
        for (Kernel kernel : kernels()) {
            if (kernel instanceof LinearKernel packed
                    && packed.accepts(4 * format(kernel).blockSize())) {
                int n = 4 * format(kernel).blockSize();
                try (Case c = new Case(format(kernel), n);
                        ExecutorService pool = Executors.newFixedThreadPool(4)) {
                    MemorySegment rows = c.pack(packed);
                    float[] expected = run(packed, c, rows, 0, ROWS, Case.TOKENS);
                    List<Future<float[]>> results = IntStream.range(0, 64)
                            .mapToObj(i -> pool.submit(() -> run(packed, c, rows, 0, ROWS, Case.TOKENS)))
                            .toList();
                    for (Future<float[]> result : results) {
                        assertTrue(
                                Arrays.equals(expected, result.get()),
                                kernel.name() + " gives other sums when several threads call it");
                    }
                }
            }
        }
    }

    // --- helpers

    private static float[] guarded(int length) {
        float[] out = new float[length];
        Arrays.fill(out, GUARD);
        return out;
    }

    /// A weight matrix `[ROWS, n]` off-heap where a GGUF file may have it, and activation rows.
    private static final class Case implements AutoCloseable {
        private static final int TOKENS = 9;
        private final Arena arena = Arena.ofShared();
        private final QuantFormat format;
        private final int n;
        private final long rowBytes;
        private final MemorySegment weights;
        private final float[] x;
        private final float[] before;

        Case(QuantFormat format, int n) {
            this.format = format;
            this.n = n;
            rowBytes = format.bytesFor(n);
            Random random = new Random(n);
            byte[] blocks = RandomModels.randomRows(format, ROWS * n, 1 / Math.sqrt(n), random);
            weights = arena.allocate(32 + blocks.length, 64).asSlice(32, blocks.length);
            MemorySegment.copy(blocks, 0, weights, ValueLayout.JAVA_BYTE, 0, blocks.length);
            x = new float[3 + TOKENS * n];
            for (int i = 0; i < x.length; i++) {
                x[i] = (float) (random.nextGaussian() * Math.exp((i - 3) / n - 4));
            }
            before = x.clone();
        }

        MemorySegment pack(LinearKernel kernel) {
            long bytes = kernel.packedBytes(n, TOKENS);
            assertEquals(0, bytes % 64, kernel.name() + ": packedBytes");
            assertEquals(0, kernel.packedBytes(n) % 64, kernel.name() + ": packedBytes of a row");
            MemorySegment packed = arena.allocate(bytes, 64);
            for (int t = 0; t < TOKENS; t++) {
                kernel.pack(new HostFloats(x), 3 + t * n, n, packed, t);
            }
            return packed;
        }

        void check(Kernel kernel, int row, int token, float got, double tolerance) {
            float[] w = new float[n];
            format.dequantize(weights, row * rowBytes, w, 0, n);
            double sum = 0;
            double rowLength = 0;
            double size = 0;
            for (int i = 0; i < n; i++) {
                double activation = before[3 + token * n + i];
                sum += w[i] * activation;
                rowLength += (double) w[i] * w[i];
                size += activation * activation;
            }
            double allowed = tolerance * Math.sqrt(rowLength) * Math.sqrt(size / n);
            if (!(Math.abs(sum - got) <= allowed)) {
                fail(kernel.name() + " n=" + n + ": row " + row + " of token " + token + " gives " + got + ", expected "
                        + sum + " within " + allowed);
            }
        }

        @Override
        public void close() {
            arena.close();
        }
    }
}
