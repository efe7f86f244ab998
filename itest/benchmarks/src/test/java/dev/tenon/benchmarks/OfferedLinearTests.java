package dev.tenon.benchmarks;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.api.quant.QuantFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/// The setup of the packed benchmark, for every kernel that bundles offer on this machine.
class OfferedLinearTests {
    @Test
    void everyOfferedKernelGivesTheRightProduct() {
        List<LinearKernel> kernels = Services.all(KernelProvider.class).stream()
                .flatMap(p -> Services.all(QuantFormat.class).stream().flatMap(format -> p.kernels(format).stream()))
                .filter(LinearKernel.class::isInstance)
                .map(LinearKernel.class::cast)
                .toList();
        Assumptions.assumeFalse(kernels.isEmpty(), "no bundle offers linear kernels for this processor");
        Set<String> formats = new TreeSet<>();
        kernels.stream().map(Kernel::format).forEach(formats::add);
        for (String format : formats) {
            for (int tokens : new int[] {1, 8, 128}) {
                PackedLinearBenchmark benchmark = new PackedLinearBenchmark();
                benchmark.format = format;
                benchmark.tokens = tokens;
                benchmark.rows = 64;
                benchmark.n = 512;
                benchmark.megabytes = 1;
                benchmark.setUp();
                try {
                    assertTrue(benchmark.multiply(new Work()).length == 64 * tokens);
                } finally {
                    benchmark.tearDown();
                }
            }
        }
    }
}
