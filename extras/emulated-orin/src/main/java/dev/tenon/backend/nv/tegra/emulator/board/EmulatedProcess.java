package dev.tenon.backend.nv.tegra.emulator.board;

import dev.tenon.backend.nv.tegra.sys.Linux;
import dev.tenon.backend.nv.tegra.sys.Syscalls;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/// A process among several that use one board: it has file descriptors and mappings of its own,
/// which the kernel takes back when it ends, however it ends. Safe for any thread.
public final class EmulatedProcess implements Syscalls {
    private final EmulatedBoard board;
    private final TreeSet<Integer> files = new TreeSet<>();
    private final List<Mapped> mappings = new ArrayList<>();

    /// A mapping into the process.
    private record Mapped(long address, long bytes) {}

    EmulatedProcess(EmulatedBoard board) {
        this.board = board;
    }

    /// A call has opened a file for this process.
    void opened(int fd) {
        files.add(fd);
    }

    /// Ends the process without a word, as a signal does: the kernel closes its files and takes its
    /// mappings away. Nothing may touch its memory any more.
    public void kill() {
        synchronized (board) {
            mappings.forEach(m -> board.munmap(m.address, m.bytes));
            mappings.clear();
            files.forEach(board::close);
            files.clear();
        }
    }

    @Override
    public int open(String path, int flags) {
        return board.as(this, () -> (long) board.open(path, flags)).intValue();
    }

    @Override
    public int close(int fd) {
        synchronized (board) {
            return files.remove(fd) ? board.close(fd) : -Linux.EBADF;
        }
    }

    @Override
    public int ioctl(int fd, long request, long argument) {
        return board.as(this, () -> (long) (files.contains(fd) ? board.ioctl(fd, request, argument) : -Linux.EBADF))
                .intValue();
    }

    @Override
    public long mmap(long lengthBytes, int protection, int flags, int fd, long offset) {
        synchronized (board) {
            if (!files.contains(fd)) {
                return -Linux.EBADF;
            }
            long address = board.mmap(lengthBytes, protection, flags, fd, offset);
            if (address > 0) {
                mappings.add(new Mapped(address, lengthBytes));
            }
            return address;
        }
    }

    @Override
    public int munmap(long address, long lengthBytes) {
        synchronized (board) {
            mappings.remove(new Mapped(address, lengthBytes));
            return board.munmap(address, lengthBytes);
        }
    }

    @Override
    public int poll(int fd, int events, int timeoutMillis) {
        return board.poll(fd, events, timeoutMillis);
    }

    @Override
    public void afterDoorbell() {
        board.afterDoorbell();
    }
}
