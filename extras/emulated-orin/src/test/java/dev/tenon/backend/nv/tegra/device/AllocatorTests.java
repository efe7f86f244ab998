package dev.tenon.backend.nv.tegra.device;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Probe;
import dev.tenon.backend.nv.tegra.NvTegraBackend;
import dev.tenon.backend.nv.tegra.TegraGpu;
import dev.tenon.backend.nv.tegra.TegraOptions;
import dev.tenon.backend.nv.tegra.emulator.board.EmulatedBoard;
import dev.tenon.backend.nv.tegra.emulator.board.EmulatorOptions;
import dev.tenon.backend.nv.tegra.emulator.launch.KernelLibrary;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The backend's own types on an emulated board. Oracle: the contracts of the api.
class AllocatorTests {
    @Test
    void theProbeFindsABoardAndLeavesNothingOpen() {
        try (EmulatedBoard board = new EmulatedBoard(EmulatorOptions.orin(), new KernelLibrary())) {
            Probe probe = new NvTegraBackend(() -> board, List.of(), List.of()).probe();
            assertTrue(probe.available());
            assertTrue(probe.reason().startsWith("ga10b, sm_87, 16 multiprocessors"), probe.reason());
            assertEquals(List.of(), board.open());
        }
    }

    @Test
    void buffersAreZeroedSharedAndCounted() {
        try (EmulatedBoard board = new EmulatedBoard(EmulatorOptions.orin(), new KernelLibrary());
                TegraGpu gpu = TegraGpu.open(board, TegraOptions.defaults())) {
            NvAllocator allocator = new NvAllocator(gpu);
            byte[] weights = {1, 2, 3, 4, 5};
            try (NvAllocator.Buffer buffer = allocator.allocate(5000, "kv");
                    NvAllocator.Buffer bound = allocator.bind(MemorySegment.ofArray(weights), "weights")) {
                assertEquals(5000, buffer.sizeBytes());
                assertEquals(0, buffer.host().orElseThrow().get(ValueLayout.JAVA_BYTE, 4999));
                byte[] read = new byte[5];
                bound.read(0, MemorySegment.ofArray(read));
                assertArrayEquals(weights, read);
                buffer.write(4995, MemorySegment.ofArray(weights));
                assertEquals(5, buffer.host().orElseThrow().get(ValueLayout.JAVA_BYTE, 4999));
                assertThrows(IndexOutOfBoundsException.class, () -> buffer.write(4996, MemorySegment.ofArray(weights)));
                assertThrows(IndexOutOfBoundsException.class, () -> bound.read(1, MemorySegment.ofArray(read)));
                assertTrue(gpu.layout().allows(buffer.va(), buffer.sizeBytes()));
                assertEquals(new MemoryUse(5000 + 5, 0, 0), allocator.use());
            }
            assertEquals(new MemoryUse(0, 0, 0), allocator.use());
            assertThrows(IllegalArgumentException.class, () -> allocator.allocate(0, "nothing"));
        }
    }
}
