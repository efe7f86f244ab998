package dev.tenon.kernels.nvidia.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.kernels.nvidia.plan.TestGraphs;
import java.util.Map;
import org.junit.jupiter.api.Test;

class KernelCatalogueTests {
    @Test
    void aSourceBringsEveryHeaderThatItIncludes() {
        CudaSource source = KernelCatalogue.source(KernelModule.of("linear.cu", "Q6_K"), Map.of());
        assertTrue(source.headers().containsKey("formats.cuh"), source.headers().keySet()::toString);
        assertTrue(
                source.headers().containsKey("format_Q6_K.cuh"),
                source.headers().keySet()::toString);
        assertEquals("linear.Q6_K", source.name());
    }

    @Test
    void anUnknownSourceIsRefused() {
        assertThrows(
                IllegalArgumentException.class, () -> KernelCatalogue.source(KernelModule.of("nothing.cu"), Map.of()));
    }

    @Test
    void hopperIsCompiledForWithItsOwnInstructions() {
        assertEquals("sm_90a", TestGraphs.HOPPER.architecture());
        assertEquals("sm_87", TestGraphs.ORIN.architecture());
        assertTrue(KernelCatalogue.options(KernelModule.of("linear.cu", "Q6_K"), "sm_87")
                .contains("-DTENON_FORMAT=Q6_K"));
    }
}
