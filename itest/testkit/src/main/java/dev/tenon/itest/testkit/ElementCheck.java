package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.kernel.cpu.ElementKernel;
import dev.tenon.itest.testkit.reference.PlainElements;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

/// Compares an [ElementKernel], bit for bit, with [PlainElements]: arrays and memory off the heap, rows somewhere in
/// them, ordinary numbers and extreme ones. Elements around the rows must stay as they are.
final class ElementCheck {
    /// Elements in a row: fewer and more than vectors and strands have.
    static final int[] LENGTHS = {1, 3, 8, 15, 16, 17, 31, 32, 33, 64, 77, 128, 200, 2048, 5632};

    private static final int AROUND = 5;
    private static final int ROWS = 3;
    private static final float[] EXTREMES = {
        0f,
        -0f,
        1e-45f,
        -1e-45f,
        1e-38f,
        -3e-39f,
        86.4f,
        86.5f,
        86.51f,
        87f,
        88.6f,
        88.7f,
        88.71f,
        89f,
        1e10f,
        3e38f,
        -86.4f,
        -86.5f,
        -86.51f,
        -87f,
        -88.6f,
        -88.7f,
        -88.71f,
        -89f,
        -1e10f,
        -3e38f,
        Float.MAX_VALUE,
        1f,
        -1f,
        0.5f,
        Float.POSITIVE_INFINITY,
        Float.NEGATIVE_INFINITY,
        Float.NaN,
        Float.intBitsToFloat(0x7F812345),
        Float.intBitsToFloat(0xFFC00001),
        -7.9f,
        8.1f,
        12582912f
    };

    private final ElementKernel kernel;
    private final ElementKernel plain = new PlainElements();
    private final int n;
    private final Random random = new Random(11);

    /// Prepares a check.
    ///
    /// @param n elements in a row
    ElementCheck(ElementKernel kernel, int n) {
        this.kernel = kernel;
        this.n = n;
    }

    private interface Call {
        void run(ElementKernel kernel, MemorySegment x, MemorySegment y, MemorySegment out);
    }

    /// Gated activations.
    ///
    /// @param activation which; the kernel accepts it
    void gate(Activation activation) {
        int stride = n + AROUND;
        compare("gate " + activation, (k, x, y, out) -> {
            k.gate(activation, ROWS, n, x, y, 2, stride);
            k.gate(activation, 1, n, y, out, 1, 0);
        });
    }

    /// Norms, results elsewhere and in place.
    void norm() {
        compare("norm", (k, x, y, out) -> {
            MemorySegment weight = y.asSlice(8, 4L * n);
            k.norm(ROWS, x, 3, weight, 1e-5f, out, 2);
            k.norm(1, x, 1, weight, 0f, x, 1);
        });
    }

    /// Sums.
    void add() {
        compare("add", (k, x, y, out) -> {
            k.add(ROWS, n, x, out, 2, n + AROUND);
            k.add(1, n, y, x, 3, 0);
        });
    }

    private void compare(String what, Call call) {
        for (boolean extreme : new boolean[] {false, true}) {
            float[] x = numbers(extreme);
            float[] y = numbers(extreme);
            float[] out = numbers(false);
            float[][] expected = {x.clone(), y.clone(), out.clone()};
            float[][] heap = {x.clone(), y.clone(), out.clone()};
            call.run(
                    plain,
                    MemorySegment.ofArray(expected[0]),
                    MemorySegment.ofArray(expected[1]),
                    MemorySegment.ofArray(expected[2]));
            call.run(
                    kernel,
                    MemorySegment.ofArray(heap[0]),
                    MemorySegment.ofArray(heap[1]),
                    MemorySegment.ofArray(heap[2]));
            String where = kernel.name() + ", " + what + " of " + n + (extreme ? " extreme" : "") + " elements";
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment[] outside = {copy(arena, x), copy(arena, y), copy(arena, out)};
                call.run(kernel, outside[0], outside[1], outside[2]);
                for (int i = 0; i < expected.length; i++) {
                    assertArrayEquals(expected[i], heap[i], where + ", array " + i);
                    assertArrayEquals(
                            expected[i],
                            outside[i].toArray(ValueLayout.JAVA_FLOAT),
                            where + " off the heap, array " + i);
                }
            }
        }
    }

    private static MemorySegment copy(Arena arena, float[] numbers) {
        return arena.allocateFrom(ValueLayout.JAVA_FLOAT, numbers);
    }

    private float[] numbers(boolean extreme) {
        float[] numbers = new float[(ROWS + 1) * (n + AROUND + 1)];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = extreme && random.nextBoolean()
                    ? EXTREMES[random.nextInt(EXTREMES.length)]
                    : (float) (random.nextGaussian() * (i % 7 == 0 ? 30 : 2));
        }
        return numbers;
    }
}
