package dev.tenon.backend.nv.tegra;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.abi.AddressSpaceAbi;
import dev.tenon.backend.nv.tegra.abi.AddressSpaceAbi.MapBufferEx;
import dev.tenon.backend.nv.tegra.abi.AddressSpaceAbi.UnmapBuffer;
import dev.tenon.backend.nv.tegra.abi.NvmapAbi;
import dev.tenon.backend.nv.tegra.abi.NvmapAbi.AllocHandle;
import dev.tenon.backend.nv.tegra.abi.NvmapAbi.CreateHandle;
import dev.tenon.backend.nv.tegra.abi.Record;
import dev.tenon.backend.nv.tegra.command.AddressLayout;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.MemoryKind;
import dev.tenon.backend.nv.tegra.sys.Linux;
import dev.tenon.backend.nv.tegra.sys.NvErrors;
import dev.tenon.backend.nv.tegra.sys.Undo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/// A buffer: an nvmap handle, its dma-buf, and its mappings into this process and into the GPU's
/// address space.
///
/// There is no memory of the GPU's own on a Tegra; both see the same pages. Rings, USERD pages
/// and error notifiers are not mapped for the GPU here; the driver does that itself where it needs to.
final class TegraMemory implements GpuMemory {
    /// Buffers from this size on are aligned to [#LARGE_ALIGNMENT].
    static final long LARGE_BYTES = 8L << 20;
    /// Alignment of large buffers.
    static final long LARGE_ALIGNMENT = 2L << 20;
    /// Sizes from here on do not fit the 32 bits of the older request.
    static final long WIDE_BYTES = 1L << 32;

    private static final long PAGE = 4096;
    private static final int HEAP_IOVMM = 1 << 30;
    /// Coherent with the GPU in both directions. Nothing is write-combined: such stores may still
    /// linger when the doorbell rings, and a fence of Java is not known to be enough to drain them.
    private static final int INNER_CACHEABLE = 2;
    /// Who asks; without one the driver prints a warning.
    private static final int TAG = 0x0900 << 16;

    private final long sizeBytes;
    private final Undo undo = new Undo();
    private final AtomicBoolean closed = new AtomicBoolean();
    private int dmaBuf;
    private long va;
    private MemorySegment host;

    /// Where buffers come from.
    ///
    /// @param driver calls
    /// @param nvmap file descriptor
    /// @param addressSpace file descriptor
    /// @param layout what addresses are allowed
    /// @param alignLarge whether large buffers are aligned
    /// @param allocated bytes in use
    record Source(
            TegraDriver driver,
            int nvmap,
            int addressSpace,
            AddressLayout layout,
            boolean alignLarge,
            AtomicLong allocated) {}

    private TegraMemory(long sizeBytes) {
        this.sizeBytes = sizeBytes;
    }

    /// {@return a new buffer; the caller closes it}
    ///
    /// @param source where from
    /// @param bytes size, at least 1
    /// @param kind what it is for
    /// @param purpose what messages call it
    static TegraMemory allocate(Source source, long bytes, MemoryKind kind, String purpose) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a buffer of " + bytes + " bytes for " + purpose);
        }
        TegraMemory memory = new TegraMemory(bytes);
        boolean done = false;
        try {
            memory.take(source, kind, purpose);
            done = true;
            return memory;
        } catch (BackendException e) {
            if (e.nativeCode() == Linux.ENOMEM) {
                throw NvErrors.noMemory(e, purpose, bytes, source.allocated.get());
            }
            throw e;
        } finally {
            if (!done) {
                memory.undo.close();
            }
        }
    }

    private void take(Source source, MemoryKind kind, String purpose) {
        TegraDriver driver = source.driver;
        boolean large = source.alignLarge && sizeBytes >= LARGE_BYTES;
        long unit = large ? LARGE_ALIGNMENT : PAGE;
        long size = (sizeBytes + unit - 1) / unit * unit;
        int handle = create(driver, source.nvmap, size, purpose);
        undo.add(() -> driver.release(source.nvmap, NvmapAbi.FREE, Integer.toUnsignedLong(handle), purpose));
        try (Record record = new Record(AllocHandle.STRUCT)) {
            record.set(AllocHandle.HANDLE, handle)
                    .set(AllocHandle.HEAP_MASK, HEAP_IOVMM)
                    .set(AllocHandle.FLAGS, TAG | INNER_CACHEABLE)
                    .set(AllocHandle.ALIGN, unit);
            driver.ioctl(source.nvmap, NvmapAbi.ALLOC, record, size + " bytes for " + purpose);
        }
        try (Record record = new Record(CreateHandle.STRUCT)) {
            record.set(CreateHandle.HANDLE, handle);
            driver.ioctl(source.nvmap, NvmapAbi.GET_FD, record, purpose);
            dmaBuf = driver.returnedFd(record, CreateHandle.FD);
        }
        undo.add(() -> driver.close(dmaBuf, "dma-buf of " + purpose));
        if (!kind.isDriverMemory()) {
            va = mapForGpu(source, size, purpose);
        }
        long address = driver.mmap(size, dmaBuf, purpose);
        Arena arena = Arena.ofShared();
        host = MemorySegment.ofAddress(address)
                .reinterpret(size, arena, s -> driver.munmap(address, size, purpose))
                .asSlice(0, sizeBytes);
        undo.add(arena::close);
        source.allocated.addAndGet(size);
        undo.add(() -> source.allocated.addAndGet(-size));
    }

    private static int create(TegraDriver driver, int nvmap, long size, String purpose) {
        boolean wide = size >= WIDE_BYTES;
        try (Record record = new Record(CreateHandle.STRUCT)) {
            record.set(wide ? CreateHandle.SIZE64 : CreateHandle.SIZE, size);
            driver.ioctl(nvmap, wide ? NvmapAbi.CREATE_64 : NvmapAbi.CREATE, record, size + " bytes for " + purpose);
            return record.getInt(wide ? CreateHandle.HANDLE64 : CreateHandle.HANDLE);
        }
    }

    private long mapForGpu(Source source, long size, String purpose) {
        try (Record record = new Record(MapBufferEx.STRUCT)) {
            record.set(MapBufferEx.COMPR_KIND, -1)
                    .set(MapBufferEx.INCOMPR_KIND, 0)
                    .set(MapBufferEx.DMABUF_FD, dmaBuf)
                    .set(MapBufferEx.PAGE_SIZE, PAGE);
            source.driver.ioctl(
                    source.addressSpace, AddressSpaceAbi.MAP_BUFFER_EX, record, size + " bytes for " + purpose);
            long address = record.get(MapBufferEx.OFFSET);
            undo.add(() -> unmap(source, address, purpose));
            if (!source.layout.allows(address, size)) {
                throw new BackendException(
                        NvErrors.BOARD,
                        "The driver placed " + purpose + " (" + size + " bytes) at 0x" + Long.toHexString(address)
                                + ", outside of the range asked for or inside of a memory window. Try "
                                + TegraOptions.LAYOUT + "=reserved-windows.");
            }
            return address;
        }
    }

    private static void unmap(Source source, long address, String purpose) {
        try (Record record = new Record(UnmapBuffer.STRUCT)) {
            record.set(UnmapBuffer.OFFSET, address);
            source.driver.ioctl(source.addressSpace, AddressSpaceAbi.UNMAP_BUFFER, record, purpose);
        }
    }

    @Override
    public long va() {
        return va;
    }

    @Override
    public long sizeBytes() {
        return sizeBytes;
    }

    @Override
    public MemorySegment host() {
        return host;
    }

    int dmaBuf() {
        return dmaBuf;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            undo.close();
        }
    }
}
