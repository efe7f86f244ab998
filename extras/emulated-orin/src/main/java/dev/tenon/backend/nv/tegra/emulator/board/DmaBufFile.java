package dev.tenon.backend.nv.tegra.emulator.board;

import static dev.tenon.backend.nv.tegra.sys.Linux.EINVAL;
import static dev.tenon.backend.nv.tegra.sys.Linux.ENOTTY;

import dev.tenon.backend.nv.tegra.abi.Ioctl;
import dev.tenon.backend.nv.tegra.sys.Linux;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// A file descriptor of a buffer.
public final class DmaBufFile extends EmulatedFile {
    private final EmulatedBoard board;
    final DmaBuf buffer;

    DmaBufFile(EmulatedBoard board, DmaBuf buffer) {
        super('b', 0, 0, false, List.of());
        this.board = board;
        this.buffer = buffer;
        buffer.retain();
    }

    @Override
    String describe() {
        return "dma-buf of handle 0x" + Integer.toHexString(buffer.handle);
    }

    @Override
    int answer(Ioctl request, MemorySegment struct, long argument) {
        return -ENOTTY;
    }

    @Override
    long mmap(long length, int flags, long offset) {
        if (offset < 0 || offset % 4096 != 0 || offset > buffer.size || length > buffer.size - offset) {
            return -EINVAL;
        }
        if ((flags & Linux.MAP_SHARED) == 0) {
            board.warn("mmap of a dma-buf without MAP_SHARED");
            return -EINVAL;
        }
        long address = buffer.pages().address() + offset;
        buffer.retain();
        board.mapped(address, length, buffer::release);
        return address;
    }

    @Override
    void released() {
        buffer.release();
    }
}
