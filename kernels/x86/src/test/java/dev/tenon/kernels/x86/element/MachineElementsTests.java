package dev.tenon.kernels.x86.element;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cpu.ElementKernel;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.KernelContract;
import dev.tenon.itest.testkit.reference.PlainElements;
import dev.tenon.kernels.x86.cpu.Here;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The contract of kernels for elements, for every feature set of this machine, and what it does not say.
class MachineElementsTests extends KernelContract {
    private final List<Kernel> kernels =
            Here.SETS.stream().<Kernel>map(MachineElements::new).toList();

    @Override
    protected KernelProvider provider() {
        return () -> kernels;
    }

    @Override
    protected Collection<QuantFormat> formats() {
        return List.of();
    }

    @AfterEach
    void close() {
        kernels.forEach(kernel -> ((MachineElements) kernel).close());
    }

    @Test
    void rowsOfSeveralCallsAreLikeThoseOfOne() {
        int n = 5000;
        int rows = 31;
        float[] x = new float[rows * n];
        for (int i = 0; i < x.length; i++) {
            x[i] = (i % 1013 - 506) * 0.0217f;
        }
        float[] weight = Arrays.copyOf(x, n);
        for (Kernel kernel : kernels) {
            float[] expected = x.clone();
            float[] got = x.clone();
            run(new PlainElements(), rows, n, x, weight, expected);
            run((ElementKernel) kernel, rows, n, x, weight, got);
            assertArrayEquals(expected, got, kernel.name());
        }
    }

    private static void run(ElementKernel kernel, int rows, int n, float[] x, float[] weight, float[] out) {
        MemorySegment from = MemorySegment.ofArray(x);
        MemorySegment to = MemorySegment.ofArray(out);
        kernel.gate(Activation.SILU, rows, n, to, from, 0, n);
        kernel.norm(rows, to, 0, MemorySegment.ofArray(weight), 1e-5f, to, 0);
        kernel.add(rows, n, from, to, 0, n);
    }

    @Test
    void argumentsOutsideOfTheirArraysAreRefused() {
        MemorySegment ten = MemorySegment.ofArray(new float[10]);
        MemorySegment twenty = MemorySegment.ofArray(new float[20]);
        for (Kernel kernel : kernels) {
            ElementKernel elements = (ElementKernel) kernel;
            assertFalse(elements.accepts(Activation.RELU));
            refused(() -> elements.add(2, 5, ten, twenty, 1, 5));
            refused(() -> elements.add(2, 5, twenty, ten, 0, 6));
            refused(() -> elements.add(1, 5, ten, twenty, -1, 5));
            refused(() -> elements.add(1, -5, ten, twenty, 0, 5));
            refused(() -> elements.add(-1, 5, ten, twenty, 0, 5));
            refused(() -> elements.add(2, 5, ten, twenty, 0, Long.MAX_VALUE));
            refused(() -> elements.add(1, 5, ten, twenty, Long.MAX_VALUE, 5));
            refused(() -> elements.add(1, 5, ten, twenty.asReadOnly(), 0, 5));
            refused(() -> elements.norm(3, twenty, 0, ten, 0, twenty, 0));
            refused(() -> elements.norm(1, twenty, 0, MemorySegment.NULL, 0, twenty, 0));
            refused(() -> elements.gate(Activation.RELU, 1, 5, ten, ten, 0, 5));
            refused(() -> elements.gate(Activation.SILU, 4, 5, ten, twenty, 0, 5));
            elements.add(2, 5, ten, twenty, 0, 5);
            elements.add(0, 5, ten, twenty, 10, 5);
            elements.add(3, 0, ten, twenty, 0, 5);
        }
    }

    private static void refused(Runnable call) {
        assertEquals(
                ErrorCode.ARGUMENT,
                assertThrows(BackendException.class, call::run).code());
    }

    @Test
    void aClosedKernelSaysSo() {
        MemorySegment ten = MemorySegment.ofArray(new float[10]);
        for (Kernel kernel : kernels) {
            MachineElements elements = (MachineElements) kernel;
            elements.add(1, 10, ten, ten, 0, 10);
            elements.close();
            BackendException e = assertThrows(BackendException.class, () -> elements.add(1, 10, ten, ten, 0, 10));
            assertEquals(ErrorCode.CLOSED, e.code());
            assertTrue(e.getMessage().contains(elements.name()), e.getMessage());
        }
    }
}
