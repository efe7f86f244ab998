package org.example.tracing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Probe;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.BackendContract;
import dev.tenon.itest.testkit.models.PlanDriver;
import dev.tenon.itest.testkit.models.PlanDriver.Chunk;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.RandomModels.Shape;
import dev.tenon.itest.testkit.reference.ReferenceBackend;
import dev.tenon.itest.testkit.models.TestFormats;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A traced backend keeps the contract of backends, and its steps are in the file.
class TracingBackendTests extends BackendContract {
    @TempDir
    static Path folder;

    private static Backend tracing(Path file) {
        return new TracingBackend(() -> Optional.of(new ReferenceBackend()), file);
    }

    @Override
    protected Backend backend() {
        return tracing(folder.resolve("contract.csv"));
    }

    @Override
    protected Collection<QuantFormat> formats() {
        return List.of(TestFormats.F32);
    }

    @Override
    protected boolean mustBeAvailable() {
        return true;
    }

    @Test
    void eachStepIsALineOfTheFile() throws IOException {
        Path file = folder.resolve("steps.csv");
        Shape shape = Shape.smallFor(TestFormats.F32);
        try (Model model = RandomModels.llamaLike(1, TestFormats.F32, shape);
                Device device = tracing(file).open(DeviceOptions.defaults());
                PlanDriver driver = new PlanDriver(device, model, PlanDriver.Settings.of(8, 2, 16))) {
            PlanDriver.Sequence one = driver.open();
            PlanDriver.Sequence two = driver.open();
            driver.step(new Chunk(one, new int[] {1, 2, 3}, false));
            driver.step(new Chunk(one, new int[] {4}, true), new Chunk(two, new int[] {5, 6}, true));
            driver.step(new Chunk(one, new int[] {7}, true), new Chunk(two, new int[] {8}, true));
        }
        List<String> lines = Files.readAllLines(file);
        assertEquals("kind,tokens,sequences,logit_rows,micros", lines.getFirst());
        List<String> steps = List.of("prefill,3,1,0,", "mixed,3,2,3,", "decode,2,2,2,");
        assertEquals(1 + steps.size(), lines.size(), lines.toString());
        for (int i = 0; i < steps.size(); i++) {
            String line = lines.get(1 + i);
            assertTrue(line.startsWith(steps.get(i)), line);
            assertTrue(Long.parseLong(line.substring(steps.get(i).length())) >= 0, line);
        }
    }

    @Test
    void theNextDeviceAddsToTheFileWithoutAnotherHeader() throws IOException {
        Path file = folder.resolve("twice.csv");
        for (int round = 0; round < 2; round++) {
            try (Model model = RandomModels.llamaLike(1, TestFormats.F32, Shape.smallFor(TestFormats.F32));
                    Device device = tracing(file).open(DeviceOptions.defaults());
                    PlanDriver driver = new PlanDriver(device, model, PlanDriver.Settings.of(4, 1, 8))) {
                driver.step(new Chunk(driver.open(), new int[] {1}, true));
            }
        }
        List<String> kinds = Files.readAllLines(file).stream()
                .map(line -> line.substring(0, line.indexOf(',')))
                .toList();
        assertEquals(List.of("kind", "decode", "decode"), kinds);
    }

    @Test
    void aFileThatCannotBeWrittenFailsTheStepAndIsNamed() {
        Path file = folder.resolve("no such folder/trace.csv");
        try (Model model = RandomModels.llamaLike(1, TestFormats.F32, Shape.smallFor(TestFormats.F32));
                Device device = tracing(file).open(DeviceOptions.defaults());
                PlanDriver driver = new PlanDriver(device, model, PlanDriver.Settings.of(4, 1, 8))) {
            Chunk chunk = new Chunk(driver.open(), new int[] {1}, true);
            BackendException e = assertThrows(BackendException.class, () -> driver.step(chunk));
            assertEquals(ErrorCode.BACKEND_FAILED, e.code());
            assertTrue(e.getMessage().contains("no such folder"), e.getMessage());
        }
    }

    @Test
    void withoutAnotherBackendItIsNotAvailableAndSaysWhy() {
        Backend alone = new TracingBackend(Optional::empty, folder.resolve("none.csv"));
        Probe probe = alone.probe();
        assertFalse(probe.available());
        assertTrue(probe.reason().contains("install one"), probe.reason());
        assertEquals(List.of(), alone.devices());
        BackendException e = assertThrows(BackendException.class, () -> alone.open(DeviceOptions.defaults()));
        assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
    }
}
