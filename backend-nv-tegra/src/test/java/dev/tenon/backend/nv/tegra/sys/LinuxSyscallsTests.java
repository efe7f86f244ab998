package dev.tenon.backend.nv.tegra.sys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Oracle: the Linux that the tests run on.
class LinuxSyscallsTests {
    /// TCGETS: EINVAL or ENOTTY on anything that is no terminal.
    private static final long TCGETS = 0x5401;

    private Syscalls linux;

    @BeforeEach
    void onLinuxOnly() {
        assumeTrue(System.getProperty("os.name").startsWith("Linux"), "skipped: not Linux");
        linux = new LinuxSyscalls();
    }

    @Test
    void errnoIsKept() {
        assertEquals(-Linux.ENOENT, linux.open("/nonexistent/nvmap", Linux.O_RDWR));
        assertEquals(-Linux.EBADF, linux.close(1_000_000));
        assertEquals(-Linux.EBADF, linux.ioctl(1_000_000, 0xC0104705L, 0));
        assertEquals(-Linux.EBADF, linux.mmap(4096, Linux.PROT_READ, Linux.MAP_SHARED, 1_000_000, 0));
        assertEquals(-Linux.EINVAL, linux.munmap(1, 4096));
    }

    @Test
    void aFileIsMappedWrittenAndReadBack(@TempDir Path folder) throws IOException {
        Path file = Files.write(folder.resolve("page"), new byte[4096]);
        int fd = linux.open(file.toString(), Linux.O_RDWR | Linux.O_CLOEXEC);
        assertTrue(fd >= 0, () -> Linux.name(-fd));
        assertEquals(-Linux.ENOTTY, linux.ioctl(fd, TCGETS, 0));
        assertEquals(Linux.POLLIN, linux.poll(fd, Linux.POLLIN, 0));
        long address = linux.mmap(4096, Linux.PROT_READ | Linux.PROT_WRITE, Linux.MAP_SHARED, fd, 0);
        assertTrue(address > 0, () -> Linux.name((int) -address));
        MemorySegment.ofAddress(address).reinterpret(4096).set(ValueLayout.JAVA_INT, 8, 0x01020304);
        assertEquals(0, linux.munmap(address, 4096));
        assertEquals(0, linux.close(fd));
        assertEquals(4, Files.readAllBytes(file)[8]);
    }
}
