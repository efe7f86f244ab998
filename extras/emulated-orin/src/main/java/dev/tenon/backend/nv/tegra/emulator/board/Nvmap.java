package dev.tenon.backend.nv.tegra.emulator.board;

import static dev.tenon.backend.nv.tegra.sys.Linux.EEXIST;
import static dev.tenon.backend.nv.tegra.sys.Linux.EFAULT;
import static dev.tenon.backend.nv.tegra.sys.Linux.EINVAL;
import static dev.tenon.backend.nv.tegra.sys.Linux.ENOMEM;
import static dev.tenon.backend.nv.tegra.sys.Linux.ENOTTY;

import dev.tenon.backend.nv.tegra.abi.Ioctl;
import dev.tenon.backend.nv.tegra.abi.NvmapAbi;
import dev.tenon.backend.nv.tegra.abi.NvmapAbi.AllocHandle;
import dev.tenon.backend.nv.tegra.abi.NvmapAbi.AvailableHeaps;
import dev.tenon.backend.nv.tegra.abi.NvmapAbi.CreateHandle;
import dev.tenon.backend.nv.tegra.abi.NvmapAbi.RwHandle;
import dev.tenon.backend.nv.tegra.abi.Record;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// `/dev/nvmap`: handles, and the memory behind them.
public final class Nvmap extends EmulatedFile {
    private static final int FIRST_HANDLE = 0x80000017;
    private static final int HEAP_IOVMM = 1 << 30;
    private static final int HEAPS = HEAP_IOVMM | 1;
    private static final int EXCLUSIVE_HEAPS = HEAP_IOVMM | 1 << 28;
    private static final long PAGE = 4096;

    private final EmulatedBoard board;
    private final Map<Integer, DmaBuf> handles = new HashMap<>();
    private int nextHandle = FIRST_HANDLE;

    Nvmap(EmulatedBoard board) {
        super('N', 0x69, 72, false, NvmapAbi.ioctls());
        this.board = board;
    }

    @Override
    String describe() {
        return "/dev/nvmap";
    }

    @Override
    int answer(Ioctl request, MemorySegment struct, long argument) {
        if (request == NvmapAbi.CREATE || request == NvmapAbi.CREATE_64) {
            return create(struct, request == NvmapAbi.CREATE_64);
        }
        if (request == NvmapAbi.ALLOC) {
            return alloc(struct);
        }
        if (request == NvmapAbi.FREE) {
            return free((int) argument);
        }
        if (request == NvmapAbi.GET_FD) {
            return getFd(struct);
        }
        if (request == NvmapAbi.GET_AVAILABLE_HEAPS) {
            Record.set(AvailableHeaps.HEAPS, struct, HEAPS);
            return 0;
        }
        if (request == NvmapAbi.READ || request == NvmapAbi.WRITE) {
            return copy(struct, request == NvmapAbi.WRITE);
        }
        return -ENOTTY;
    }

    private int create(MemorySegment struct, boolean wide) {
        long size = Record.get(wide ? CreateHandle.SIZE64 : CreateHandle.SIZE, struct);
        if (size <= 0) {
            return -EINVAL;
        }
        int handle = nextHandle++;
        handles.put(handle, new DmaBuf(this, handle, (size + PAGE - 1) / PAGE * PAGE));
        Record.set(wide ? CreateHandle.HANDLE64 : CreateHandle.HANDLE, struct, handle);
        return 0;
    }

    private int alloc(MemorySegment struct) {
        DmaBuf buffer = handles.get((int) Record.get(AllocHandle.HANDLE, struct));
        long align = Record.get(AllocHandle.ALIGN, struct);
        int heaps = (int) Record.get(AllocHandle.HEAP_MASK, struct);
        int flags = (int) Record.get(AllocHandle.FLAGS, struct);
        if (buffer == null || Long.bitCount(align) > 1 || heaps == 0) {
            return -EINVAL;
        }
        if (Integer.bitCount(heaps & EXCLUSIVE_HEAPS) > 1) {
            return -EINVAL;
        }
        if (buffer.allocated) {
            return -EEXIST;
        }
        if (flags >>> 16 == 0) {
            board.warn("nvmap: allocation without a tag");
        }
        if ((heaps & HEAPS) == 0 || !board.takeMemory(buffer.size)) {
            return -ENOMEM;
        }
        buffer.allocated = true;
        buffer.cacheBits = flags & 3;
        return 0;
    }

    private int free(int handle) {
        if (handle == 0) {
            return 0;
        }
        DmaBuf buffer = handles.remove(handle);
        if (buffer == null) {
            return -EINVAL;
        }
        buffer.release();
        return 0;
    }

    private int getFd(MemorySegment struct) {
        DmaBuf buffer = handles.get((int) Record.get(CreateHandle.HANDLE, struct));
        if (buffer == null || !buffer.allocated) {
            return -EINVAL;
        }
        int fd = board.newFd(new DmaBufFile(board, buffer));
        if (fd >= 0) {
            Record.set(CreateHandle.FD, struct, fd);
        }
        return Math.min(fd, 0);
    }

    private int copy(MemorySegment struct, boolean write) {
        DmaBuf buffer = handles.get((int) Record.get(RwHandle.HANDLE, struct));
        long offset = Record.get(RwHandle.OFFSET, struct);
        long bytes = Record.get(RwHandle.ELEM_SIZE, struct);
        if (buffer == null || Record.get(RwHandle.COUNT, struct) != 1) {
            return -EINVAL;
        }
        if (!buffer.allocated) {
            return -EFAULT;
        }
        if (offset < 0 || bytes <= 0 || offset > buffer.size - bytes) {
            return -EINVAL;
        }
        MemorySegment user =
                MemorySegment.ofAddress(Record.get(RwHandle.ADDR, struct)).reinterpret(bytes);
        MemorySegment pages = buffer.pages().asSlice(offset, bytes);
        if (write) {
            pages.copyFrom(user);
        } else {
            user.copyFrom(pages);
        }
        return 0;
    }

    /// The last reference to a buffer is gone.
    void gone(DmaBuf buffer) {
        if (buffer.allocated) {
            board.giveMemory(buffer.size);
        }
    }

    /// {@return handles that have not been freed}
    List<String> openHandles() {
        List<String> list = new ArrayList<>();
        handles.forEach((handle, buffer) ->
                list.add("nvmap handle 0x" + Integer.toHexString(handle) + " of " + buffer.size + " bytes"));
        return list;
    }

    @Override
    void released() {
        List.copyOf(handles.keySet()).forEach(this::free);
    }
}
