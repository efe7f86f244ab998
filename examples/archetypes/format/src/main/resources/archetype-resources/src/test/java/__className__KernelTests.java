package ${package};

import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.KernelContract;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The kernel multiplies as the format decodes.
class ${className}KernelTests extends KernelContract {
    @Override
    protected KernelProvider provider() {
        return new ${className}Kernels();
    }

    @Override
    protected Collection<QuantFormat> formats() {
        return List.of(new ${className}());
    }

    @Test
    void theVectorApiIsThereAndSoIsTheKernel() {
        assertFalse(provider().kernels().isEmpty(), "start the tests with --add-modules jdk.incubator.vector");
    }

    /// Activations stay float32.
    @Override
    protected double tolerance(Kernel kernel, int n) {
        return 1e-6 * Math.sqrt(n);
    }
}
