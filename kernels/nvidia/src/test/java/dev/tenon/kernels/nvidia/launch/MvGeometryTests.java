package dev.tenon.kernels.nvidia.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.kernels.nvidia.DeviceFormat;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.MvSchedule;
import dev.tenon.kernels.nvidia.plan.TestGraphs;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MvGeometryTests {
    private static DeviceFormat format(String id) {
        boolean blocksOf256 = id.endsWith("_K");
        return new DeviceFormat(
                id,
                blocksOf256 ? 256 : 32,
                blocksOf256 ? 210 : 34,
                true,
                true,
                false,
                Optional.empty(),
                Optional.empty());
    }

    private static int threads(MvSchedule schedule, String format, int rows, int cols) {
        return MvGeometry.of(schedule, TestGraphs.HOPPER, new MvShape(1, cols, 2, rows), format(format))
                .threadsPerRow();
    }

    // what was faster on a device with 132 multiprocessors
    @ParameterizedTest
    @CsvSource({
        "Q8_0, 4096, 1024, 16",
        "Q8_0, 1024, 2048, 32",
        "Q8_0, 6144, 1024, 16",
        "Q8_0, 1024, 3072, 32",
        "Q8_0, 151936, 1024, 16",
        "Q6_K, 5120, 3072, 16",
        "Q6_K, 3072, 3072, 32",
        "Q6_K, 16384, 3072, 16",
        "Q6_K, 3072, 8192, 32",
        "Q6_K, 128256, 3072, 16",
        "Q6_K, 3072, 2048, 32",
        "Q6_K, 16384, 2048, 32",
        "Q6_K, 2048, 8192, 32"
    })
    void rowsThatAreTooShortForAWarpAreSharedByHalfOfOne(String format, int rows, int cols, int expected) {
        assertEquals(expected, threads(MvSchedule.DEFAULT, format, rows, cols));
    }

    @Test
    void aBlockThatMustBeAloneAsksForMoreThanHalfOfTheSharedMemory() {
        DeviceTraits hopper = TestGraphs.HOPPER;
        MvGeometry one = MvGeometry.of(MvSchedule.DEFAULT, hopper, new MvShape(1, 2048, 2, 2048), format("Q6_K"));
        assertTrue(2 * one.sharedBytes() < hopper.sharedBytes(), one::toString);
        assertTrue(2 * one.aloneBytes(hopper) > hopper.sharedBytes(), one::toString);
        assertTrue(one.sharedBytes() + one.aloneBytes(hopper) <= hopper.sharedBytes(), one::toString);
        assertEquals(one.sharedBytes(), one.aloneBytes(hopper.asOldest()));
    }

    @ParameterizedTest
    @CsvSource({"Q8_0, 4096, 1024", "Q6_K, 2048, 8192"})
    void theKnobDecidesIfItIsSet(String format, int rows, int cols) {
        assertEquals(8, threads(new MvSchedule(8, 0, 0, false), format, rows, cols));
    }
}
