package dev.tenon.backend.nv.tegra.emulator.board;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import dev.tenon.backend.nv.tegra.TegraGpu;
import dev.tenon.backend.nv.tegra.TegraOptions;
import dev.tenon.backend.nv.tegra.command.AddressLayout;
import dev.tenon.backend.nv.tegra.gpu.GpuDevice;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.MemoryKind;
import dev.tenon.backend.nv.tegra.sys.Linux;
import dev.tenon.backend.nv.tegra.sys.NvErrors;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Bring-up from the first call to the first submissions, and what is left when something fails.
class BringUpTests {
    private static final String NOTIFIER = "NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER";
    private static final TegraOptions OPTIONS = TegraOptions.defaults();
    private static final TegraOptions RESERVED = new TegraOptions(AddressLayout.RESERVED_WINDOWS, 1024, true);

    private static EmulatedBoard board(EmulatorOptions options) {
        return new EmulatedBoard(options, TestKernels.library());
    }

    private static EmulatedBoard board() {
        return board(EmulatorOptions.orin());
    }

    /// Everything that a device does before its first kernel.
    private static void bringUp(EmulatedBoard board, TegraOptions options) {
        try (TegraGpu gpu = TegraGpu.open(board, options);
                GpuDevice device = new GpuDevice(gpu, 2000);
                GpuMemory data = gpu.allocate(100_000, MemoryKind.DATA, "data")) {
            device.load(TestKernels.cubin()).close();
            data.host().set(ValueLayout.JAVA_INT, 0, 1);
        }
    }

    /// raw 1 to 7. Oracle: hardware log for the order of calls; a board has accepted this one. The
    /// error notifier at the end of a channel was not part of it: belief.
    @Test
    void theOrderOfCallsIsTheOneThatABoardAccepted() {
        EmulatedBoard board = board();
        bringUp(board, RESERVED);
        List<String> calls = new ArrayList<>(board.faults().calls());
        calls.removeIf(c -> c.startsWith("NVMAP") || c.equals("mmap") || c.contains("NUM_VSMS"));
        assertEquals(
                List.of(
                        "open /dev/nvmap",
                        "open /dev/nvgpu/igpu0/ctrl",
                        "NVGPU_GPU_IOCTL_GET_CHARACTERISTICS",
                        "NVGPU_GPU_IOCTL_ALLOC_AS",
                        "NVGPU_AS_IOCTL_ALLOC_SPACE",
                        "NVGPU_AS_IOCTL_ALLOC_SPACE",
                        "NVGPU_GPU_IOCTL_OPEN_TSG",
                        "NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT"),
                calls.subList(0, 8));
        int first = calls.indexOf("NVGPU_GPU_IOCTL_OPEN_CHANNEL");
        assertEquals(
                List.of(
                        "NVGPU_GPU_IOCTL_OPEN_CHANNEL",
                        "NVGPU_AS_IOCTL_BIND_CHANNEL",
                        "NVGPU_TSG_IOCTL_BIND_CHANNEL_EX",
                        "NVGPU_IOCTL_CHANNEL_WDT",
                        "NVGPU_IOCTL_CHANNEL_SETUP_BIND",
                        "NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX",
                        NOTIFIER,
                        "NVGPU_GPU_IOCTL_OPEN_CHANNEL"),
                calls.subList(first, first + 8));
        board.close();
    }

    /// N4, F1. Oracle: belief.
    @Test
    void nothingIsLeftOpenAndTheKernelPrintsNothing() {
        EmulatedBoard board = board();
        bringUp(board, OPTIONS);
        assertEquals(List.of(), board.open());
        assertEquals(List.of(), board.dmesg());
        board.close();
    }

    /// Oracle: hardware log; the warning came with this layout.
    @Test
    void theOldLayoutWorksWithAWarning() {
        EmulatedBoard board = board();
        bringUp(board, RESERVED);
        assertEquals(List.of(), board.open());
        assertEquals(1, board.dmesg().size(), board.dmesg().toString());
        assertTrue(
                board.dmesg().getFirst().startsWith("commit_rtv_cb"),
                board.dmesg().toString());
        board.close();
    }

    /// B4 edge: no growth. Oracle: belief.
    @Test
    void aThousandTimesOpenAndCloseLeavesNothing() {
        EmulatedBoard board = board(EmulatorOptions.orin().withMaxFiles(64));
        for (int i = 0; i < 1000; i++) {
            bringUp(board, OPTIONS);
        }
        assertEquals(List.of(), board.open());
        assertEquals(List.of(), board.dmesg());
        board.close();
    }

    /// fault_k: each call fails once, with each errno. Oracle: belief.
    @Test
    void whicheverCallFailsEverythingIsGivenBack() {
        EmulatedBoard counting = board();
        bringUp(counting, RESERVED);
        List<String> counted = List.copyOf(counting.faults().calls());
        int count = counted.size();
        counting.close();
        assertTrue(count > 50, count + " calls");
        int[] errnos = {
            Linux.EPERM,
            Linux.EIO,
            Linux.ENXIO,
            Linux.ENOMEM,
            Linux.EACCES,
            Linux.EFAULT,
            Linux.EBUSY,
            Linux.ENODEV,
            Linux.EINVAL,
            Linux.EMFILE,
            Linux.ENOTTY,
            Linux.ENOSPC,
            Linux.ETIMEDOUT
        };
        EmulatedBoard board = board();
        for (int call = 0; call < count; call++) {
            for (int errno : errnos) {
                String where = "call " + call + " with " + Linux.name(errno);
                board.faults().failCall(call, errno);
                if (counted.get(call).equals(NOTIFIER)) {
                    // It only says more about errors.
                    bringUp(board, RESERVED);
                } else {
                    TenonException e = assertThrows(TenonException.class, () -> bringUp(board, RESERVED), where);
                    assertTrue(e.getMessage().contains(Linux.name(errno)), where + ": " + e.getMessage());
                }
                assertEquals(
                        List.of(),
                        board.open(),
                        where + ": " + board.faults().calls().getLast());
            }
        }
        board.faults().failCall(-1, 0);
        bringUp(board, RESERVED);
        board.close();
    }

    /// EINTR is no failure. Oracle: belief.
    @Test
    void anInterruptedCallIsMadeAgain() {
        EmulatedBoard board = board();
        board.faults().failCall(2, Linux.EINTR);
        bringUp(board, OPTIONS);
        assertEquals(board.faults().calls().get(2), board.faults().calls().get(3));
        board.close();
    }

    @Test
    void outOfMemoryIsSaidWithNumbers() {
        EmulatedBoard board = board(EmulatorOptions.orin().withMemory(64 << 20));
        try (TegraGpu gpu = TegraGpu.open(board, OPTIONS);
                GpuMemory first = gpu.allocate(40 << 20, MemoryKind.DATA, "weights")) {
            assertTrue(first.va() > 0);
            OutOfResourcesException e =
                    assertThrows(OutOfResourcesException.class, () -> gpu.allocate(30 << 20, MemoryKind.DATA, "kv"));
            assertEquals(30 << 20, e.asked());
            assertEquals(40 << 20, e.used());
            assertTrue(e.getMessage().contains("kv"), e.getMessage());
            gpu.allocate(20 << 20, MemoryKind.DATA, "smaller").close();
        }
        assertEquals(List.of(), board.open());
        board.close();
    }

    /// Oracle: header for the 32 bits of the size.
    @Test
    void buffersFrom4GiBUseTheWideRequest() {
        EmulatedBoard board = board();
        try (TegraGpu gpu = TegraGpu.open(board, OPTIONS)) {
            // Mapping them would take the memory; it is the calls that count.
            board.faults().failCall(3, Linux.EIO);
            assertThrows(BackendException.class, () -> gpu.allocate(1L << 32, MemoryKind.DATA, "large"));
            assertEquals("NVMAP_IOC_CREATE_64", board.faults().calls().getFirst());
            board.faults().failCall(3, Linux.EIO);
            assertThrows(BackendException.class, () -> gpu.allocate((1L << 32) - 1, MemoryKind.DATA, "large"));
            assertEquals("NVMAP_IOC_CREATE_64", board.faults().calls().getFirst(), "rounded up, it is 4 GiB");
            board.faults().failCall(3, Linux.EIO);
            assertThrows(BackendException.class, () -> gpu.allocate((1L << 32) - (2 << 20), MemoryKind.DATA, "large"));
            assertEquals("NVMAP_IOC_CREATE", board.faults().calls().getFirst());
            assertEquals(0, gpu.allocatedBytes());
        }
        board.close();
    }

    @Test
    void everyBufferIsOutsideOfTheWindowsAndLargeOnesAreAligned() {
        EmulatedBoard board = board();
        Random random = new Random(3);
        for (TegraOptions options : List.of(OPTIONS, RESERVED)) {
            try (TegraGpu gpu = TegraGpu.open(board, options)) {
                List<GpuMemory> buffers = new ArrayList<>();
                for (int i = 0; i < 300; i++) {
                    long bytes = 1 + (random.nextLong() >>> 39 + random.nextInt(20));
                    GpuMemory memory = gpu.allocate(bytes, MemoryKind.DATA, "buffer " + i);
                    assertTrue(options.layout().allows(memory.va(), bytes));
                    assertTrue(bytes < 8 << 20 || memory.va() % (2 << 20) == 0);
                    assertEquals(bytes, memory.host().byteSize());
                    buffers.add(memory);
                }
                buffers.forEach(GpuMemory::close);
                buffers.forEach(GpuMemory::close);
            }
            assertEquals(List.of(), board.open());
        }
        board.close();
    }

    @Test
    void anotherGpuIsRefusedWithAllReasons() {
        EmulatedBoard board = board(EmulatorOptions.orin().withGpu(0xC3C0, 1L << 30 | 1L << 20));
        BackendException e = assertThrows(BackendException.class, () -> TegraGpu.open(board, OPTIONS));
        assertEquals(NvErrors.BOARD, e.code());
        for (String part : List.of("0xc3c0", "0xc7c0", "rings that user space writes", "coherent")) {
            assertTrue(e.getMessage().contains(part), e.getMessage());
        }
        assertEquals(List.of(), board.open());
        board.close();
    }

    @Test
    void impossibleOptionsAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> new TegraOptions(AddressLayout.BELOW_WINDOWS, 1000, true));
        assertThrows(IllegalArgumentException.class, () -> new TegraOptions(AddressLayout.BELOW_WINDOWS, 16384, true));
        assertThrows(
                IllegalArgumentException.class,
                () -> new AddressLayout(0x200000, 0xFFFFE00000L, 0xFD00000000L, 0xFE00000000L, false));
        assertThrows(
                IllegalArgumentException.class,
                () -> new AddressLayout(0x200000, 0xFC00000000L, 0xFD00000000L, 0xFD00000000L, false));
        assertThrows(IllegalArgumentException.class, () -> AddressLayout.of("anywhere"));
    }
}
