package dev.tenon.backend.nv.tegra.emulator.board;

import static dev.tenon.backend.nv.tegra.sys.Linux.EBADF;
import static dev.tenon.backend.nv.tegra.sys.Linux.EINVAL;
import static dev.tenon.backend.nv.tegra.sys.Linux.ENOMEM;
import static dev.tenon.backend.nv.tegra.sys.Linux.ENOTTY;

import dev.tenon.backend.nv.tegra.abi.AddressSpaceAbi;
import dev.tenon.backend.nv.tegra.abi.AddressSpaceAbi.AllocSpace;
import dev.tenon.backend.nv.tegra.abi.AddressSpaceAbi.BindChannel;
import dev.tenon.backend.nv.tegra.abi.AddressSpaceAbi.FreeSpace;
import dev.tenon.backend.nv.tegra.abi.AddressSpaceAbi.MapBufferEx;
import dev.tenon.backend.nv.tegra.abi.AddressSpaceAbi.UnmapBuffer;
import dev.tenon.backend.nv.tegra.abi.Ioctl;
import dev.tenon.backend.nv.tegra.abi.Record;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// An address space of the GPU: what is mapped where.
public final class AddressSpace extends EmulatedFile {
    private static final long PAGE = 4096;
    private static final int FIXED = 1;
    private static final int KNOWN_MAP_FLAGS = 1 | 1 << 2 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 9 | 3 << 10 | 1 << 12;
    private static final long DRIVER_BYTES = 1L << 32;

    final long start;
    final long end;
    private final EmulatedBoard board;
    private final Buddy addresses;
    private final Buddy driverAddresses;
    private final TreeMap<Long, Mapping> mappings = new TreeMap<>();
    private final TreeMap<Long, Long> reserved = new TreeMap<>();
    private boolean closed;

    /// A buffer in the address space.
    public static final class Mapping {
        public final long va;
        public final DmaBuf buffer;
        final int flags;
        final boolean fixed;
        int count = 1;

        public Mapping(long va, DmaBuf buffer, int flags, boolean fixed) {
            this.va = va;
            this.buffer = buffer;
            this.flags = flags;
            this.fixed = fixed;
        }

        long end() {
            return va + buffer.size;
        }
    }

    public AddressSpace(EmulatedBoard board, long start, long end) {
        super('A', AddressSpaceAbi.LAST_NR, AddressSpaceAbi.MAX_ARGUMENT_BYTES, true, AddressSpaceAbi.ioctls());
        this.board = board;
        this.start = start;
        this.end = end;
        addresses = new Buddy(start, end);
        driverAddresses = new Buddy(end, end + DRIVER_BYTES);
    }

    @Override
    String describe() {
        return "address space";
    }

    @Override
    int answer(Ioctl request, MemorySegment struct, long argument) {
        if (request == AddressSpaceAbi.BIND_CHANNEL) {
            return bind((int) Record.get(BindChannel.CHANNEL_FD, struct));
        }
        if (request == AddressSpaceAbi.MAP_BUFFER_EX) {
            return map(struct);
        }
        if (request == AddressSpaceAbi.UNMAP_BUFFER) {
            unmap(Record.get(UnmapBuffer.OFFSET, struct));
            return 0;
        }
        if (request == AddressSpaceAbi.ALLOC_SPACE) {
            return reserve(struct);
        }
        if (request == AddressSpaceAbi.FREE_SPACE) {
            long at = Record.get(FreeSpace.OFFSET, struct);
            Long size = reserved.remove(at);
            if (size != null) {
                addresses.freeFixed(at, size);
            }
            return 0;
        }
        return -ENOTTY;
    }

    private int bind(int fd) {
        if (!(board.file(fd) instanceof EmulatedChannel channel)) {
            return -EINVAL;
        }
        if (channel.addressSpace != null) {
            return -EINVAL;
        }
        channel.addressSpace = this;
        return 0;
    }

    private int map(MemorySegment struct) {
        int flags = (int) Record.get(MapBufferEx.FLAGS, struct);
        short compressed = (short) Record.get(MapBufferEx.COMPR_KIND, struct);
        short plain = (short) Record.get(MapBufferEx.INCOMPR_KIND, struct);
        boolean fixed = (flags & FIXED) != 0;
        long offset = Record.get(MapBufferEx.OFFSET, struct);
        long bufferOffset = Record.get(MapBufferEx.BUFFER_OFFSET, struct);
        long size = Record.get(MapBufferEx.MAPPING_SIZE, struct);
        if ((flags & ~KNOWN_MAP_FLAGS) != 0 || (flags >>> 10 & 3) == 3 || compressed == -1 && plain == -1) {
            return -EINVAL;
        }
        if (!fixed && (offset | bufferOffset | size) != 0) {
            return -EINVAL;
        }
        EmulatedFile file = board.file((int) Record.get(MapBufferEx.DMABUF_FD, struct));
        if (file == null) {
            return -EBADF;
        }
        if (!(file instanceof DmaBufFile dmaBuf)) {
            return -EINVAL;
        }
        DmaBuf buffer = dmaBuf.buffer;
        if (fixed) {
            if (bufferOffset != 0 || size != 0 && size != buffer.size || !fits(offset, buffer.size)) {
                return -EINVAL;
            }
        } else {
            Mapping same = find(buffer, flags);
            if (same != null) {
                same.count++;
                Record.set(MapBufferEx.OFFSET, struct, same.va);
                return 0;
            }
            offset = addresses.allocate(buffer.size);
            if (offset < 0) {
                return -ENOMEM;
            }
        }
        buffer.retain();
        mappings.put(offset, new Mapping(offset, buffer, flags, fixed));
        Record.set(MapBufferEx.OFFSET, struct, offset);
        return 0;
    }

    private boolean fits(long at, long size) {
        Map.Entry<Long, Long> area = reserved.floorEntry(at);
        if (at % PAGE != 0 || area == null || at + size > area.getKey() + area.getValue()) {
            return false;
        }
        Map.Entry<Long, Mapping> before = mappings.lowerEntry(at + size);
        return before == null || before.getValue().end() <= at;
    }

    private Mapping find(DmaBuf buffer, int flags) {
        for (Mapping mapping : mappings.values()) {
            if (mapping.buffer == buffer && mapping.flags == flags && !mapping.fixed) {
                return mapping;
            }
        }
        return null;
    }

    private void unmap(long va) {
        Mapping mapping = mappings.get(va);
        if (mapping != null && --mapping.count == 0) {
            remove(mapping);
        }
    }

    private void remove(Mapping mapping) {
        mappings.remove(mapping.va);
        if (!mapping.fixed) {
            addresses.free(mapping.va);
        }
        mapping.buffer.release();
    }

    private int reserve(MemorySegment struct) {
        long pages = Record.get(AllocSpace.PAGES, struct);
        boolean fixed = (Record.get(AllocSpace.FLAGS, struct) & FIXED) != 0;
        long at = Record.get(AllocSpace.O_A, struct);
        if (Record.get(AllocSpace.PAGE_SIZE, struct) != PAGE || pages <= 0 || pages > end / PAGE) {
            return -EINVAL;
        }
        if (!fixed) {
            at = addresses.allocate(pages * PAGE);
            if (at < 0) {
                return -ENOMEM;
            }
            reserved.put(at, 1L << Buddy.order(pages * PAGE));
        } else if (!addresses.allocateFixed(at, pages * PAGE)) {
            return -ENOMEM;
        } else {
            reserved.put(at, pages * PAGE);
        }
        Record.set(AllocSpace.O_A, struct, at);
        return 0;
    }

    /// {@return what is mapped, by address}
    List<Mapping> mappings() {
        return List.copyOf(mappings.values());
    }

    /// Puts a buffer where a recorded stream says that one was.
    public void place(long va, long bytes) {
        mappings.put(va, new Mapping(va, new DmaBuf(new Nvmap(board), 0, bytes), 0, true));
    }

    /// Takes such a buffer away.
    public void displace(long va) {
        Mapping mapping = mappings.remove(va);
        if (mapping != null) {
            mapping.buffer.release();
        }
    }

    /// {@return the mapping that an address is in, or null}
    public Mapping at(long va) {
        Map.Entry<Long, Mapping> entry = mappings.floorEntry(va);
        return entry == null || va >= entry.getValue().end() ? null : entry.getValue();
    }

    /// {@return an address of the driver's own area}
    long takeForDriver(long bytes) {
        return driverAddresses.allocate(bytes);
    }

    /// {@return whether a range touches a mapped buffer}
    boolean touches(long va, long bytes) {
        Map.Entry<Long, Mapping> before = mappings.lowerEntry(va + bytes);
        return before != null && before.getValue().end() > va;
    }

    boolean isClosed() {
        return closed;
    }

    @Override
    public void released() {
        closed = true;
        new ArrayList<>(mappings.values()).forEach(this::remove);
    }

    List<String> openMappings() {
        return mappings.values().stream()
                .map(m -> "mapping at 0x" + Long.toHexString(m.va))
                .toList();
    }
}
