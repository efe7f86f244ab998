package dev.tenon.backend.nv.tegra.emulator.board;

import dev.tenon.backend.nv.tegra.sys.Linux;
import dev.tenon.backend.nv.tegra.sys.LinuxSyscalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Zeroed memory in which, on Linux, a page costs nothing until it is used.
public final class Pages {
    private static final int MAP_ANONYMOUS = 0x20;
    private static final int MAP_NORESERVE = 0x4000;
    private static final LinuxSyscalls LINUX =
            System.getProperty("os.name").startsWith("Linux") ? new LinuxSyscalls() : null;

    private Pages() {}

    /// {@return memory that is gone when its arena closes}
    static MemorySegment allocate(long bytes, Arena arena) {
        if (LINUX == null) {
            return arena.allocate(bytes, 4096);
        }
        int flags = Linux.MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        long address = LINUX.mmap(bytes, Linux.PROT_READ | Linux.PROT_WRITE, flags, -1, 0);
        if (address < 0) {
            throw new OutOfMemoryError(bytes + " bytes for the emulated board: " + Linux.name((int) -address));
        }
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena, s -> LINUX.munmap(address, bytes));
    }
}
