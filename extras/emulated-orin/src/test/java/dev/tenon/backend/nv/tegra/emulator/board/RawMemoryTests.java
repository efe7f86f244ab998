package dev.tenon.backend.nv.tegra.emulator.board;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.backend.nv.tegra.emulator.launch.KernelLibrary;
import dev.tenon.backend.nv.tegra.sys.Linux;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// raw 8 to 12: memory of every size and cache flag as the processor sees it. Oracle: belief; the emulated
/// board has no caches, so that this shows that each flag is accepted and that mappings share pages, not
/// that they are coherent.
class RawMemoryTests {
    private static final int RW = Linux.PROT_READ | Linux.PROT_WRITE;
    /// Uncached, write-combined, inner cacheable, cacheable.
    private static final int[] CACHE_BITS = {0, 1, 2, 3};

    private final EmulatedBoard board = new EmulatedBoard(EmulatorOptions.orin(), new KernelLibrary());
    private final RawCalls calls = new RawCalls(board);

    @AfterEach
    void close() {
        board.close();
    }

    private MemorySegment map(int fd, long bytes) {
        long address = board.mmap(bytes, RW, Linux.MAP_SHARED, fd, 0);
        assertTrue(address > 0, "mmap: " + address);
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    @Test
    void raw8WriteAndReadOfEachSizeWithEachCacheFlag() {
        for (int bits : CACHE_BITS) {
            for (long bytes = 4096; bytes <= 16 << 20; bytes *= 16) {
                long handle = calls.create(bytes);
                assertEquals(0, calls.alloc(handle, RawCalls.HEAP, RawCalls.FLAGS & ~3 | bits, 4096));
                MemorySegment memory = map((int) calls.getFd(handle), bytes);
                assertEquals(0, memory.get(ValueLayout.JAVA_LONG, bytes - 8), "zeroed");
                memory.set(ValueLayout.JAVA_LONG, 0, bytes);
                memory.set(ValueLayout.JAVA_LONG, bytes - 8, ~bytes);
                assertEquals(bytes, memory.get(ValueLayout.JAVA_LONG, 0));
                assertEquals(~bytes, memory.get(ValueLayout.JAVA_LONG, bytes - 8));
                assertEquals(0, board.munmap(memory.address(), bytes));
            }
        }
    }

    @Test
    void raw9TwoMappingsSeeEachOther() {
        int fd = calls.buffer(65536);
        MemorySegment first = map(fd, 65536);
        MemorySegment second = map(fd, 65536);
        first.set(ValueLayout.JAVA_INT, 4096, 11);
        assertEquals(11, second.get(ValueLayout.JAVA_INT, 4096));
        second.set(ValueLayout.JAVA_INT, 4096, 12);
        assertEquals(12, first.get(ValueLayout.JAVA_INT, 4096));
    }

    @Test
    void raw12RingAndUserdCanBeMappedWhileAChannelUsesThem() {
        int space = calls.addressSpace();
        int group = calls.group();
        long channel = calls.channel(-1);
        calls.bindAddressSpace(space, channel);
        calls.bindGroup(group, channel, calls.subcontext(group, 1, space));
        calls.watchdog(channel, 1);
        int ring = calls.buffer(8192);
        int userd = calls.buffer(4096);
        assertEquals(511, calls.setUp(channel, 1024, 0x0A, ring, userd));
        for (int fd : new int[] {ring, userd}) {
            MemorySegment memory = map(fd, 4096);
            memory.set(ValueLayout.JAVA_INT, 4092, 5);
            assertEquals(5, memory.get(ValueLayout.JAVA_INT, 4092));
        }
    }
}
