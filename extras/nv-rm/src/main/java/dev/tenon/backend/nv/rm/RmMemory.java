package dev.tenon.backend.nv.rm;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.abi.Record;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.MemoryKind;
import dev.tenon.backend.nv.tegra.sys.Linux;
import dev.tenon.backend.nv.tegra.sys.NvErrors;
import dev.tenon.backend.nv.tegra.sys.Undo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/// A buffer in the GPU's memory, seen by the processor through a window of the bus, or in the
/// system's memory, seen by the GPU over the bus.
///
/// The processor's stores to the GPU's memory are combined on their way, and its loads are slow: it
/// fills such memory and leaves it. The full fence before the doorbell, a locked instruction on
/// x86-64, drains what is still on its way.
final class RmMemory implements GpuMemory {
    /// Map-not-required, handle-provided, alignment-force, ignore-bank, persistent: as CUDA asks.
    private static final int LOCAL_FLAGS = 0x1C101;
    private static final int SYSTEM_FLAGS = 0xC001;
    /// Pages anywhere.
    private static final int LOCAL_ATTRIBUTES = 3 << 27;
    /// Pages anywhere, in the system's memory, cached by the processor and coherent.
    private static final int SYSTEM_ATTRIBUTES = 3 << 27 | 1 << 25 | 1 << 29;
    private static final int NOTIFIER = 0xD;
    private static final int READ_WRITE_ATOMIC = 1;
    private static final long SYSTEM_UNIT = 64L << 10;

    private final long sizeBytes;
    private final Undo undo = new Undo();
    private final AtomicBoolean closed = new AtomicBoolean();
    private int object;
    private long va;
    private MemorySegment host;

    /// Where buffers come from.
    ///
    /// @param objects the client
    /// @param driver calls
    /// @param device object
    /// @param subdevice object
    /// @param node the GPU's node
    /// @param uvm file descriptor
    /// @param uuid the GPU's 16 bytes
    /// @param addresses which are free
    /// @param allocated bytes in use
    record Source(
            RmObjects objects,
            RmDriver driver,
            int device,
            int subdevice,
            String node,
            int uvm,
            byte[] uuid,
            Addresses addresses,
            AtomicLong allocated) {}

    private RmMemory(long sizeBytes) {
        this.sizeBytes = sizeBytes;
    }

    /// {@return a new zeroed buffer; the caller closes it}
    ///
    /// @param source where from
    /// @param bytes size, at least 1
    /// @param kind what it is for
    /// @param purpose what messages call it
    static RmMemory allocate(Source source, long bytes, MemoryKind kind, String purpose) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a buffer of " + bytes + " bytes for " + purpose);
        }
        RmMemory memory = new RmMemory(bytes);
        boolean done = false;
        try {
            memory.take(source, local(kind), purpose);
            done = true;
            return memory;
        } catch (BackendException e) {
            if (e.nativeCode() == RmStatus.NO_MEMORY || e.nativeCode() == RmStatus.INSUFFICIENT_RESOURCES) {
                throw NvErrors.noMemory(e, purpose, bytes, source.allocated.get());
            }
            throw e;
        } finally {
            if (!done) {
                memory.undo.close();
            }
        }
    }

    /// {@return memory for the errors of a channel, which the GPU need not see}
    static RmMemory notifier(Source source, String purpose) {
        RmMemory memory = new RmMemory(4096);
        boolean done = false;
        try {
            memory.create(source, false, 4096, NOTIFIER, purpose);
            done = true;
            return memory;
        } finally {
            if (!done) {
                memory.undo.close();
            }
        }
    }

    /// What the processor only fills is in the GPU's memory; what it looks at while the GPU works is
    /// in the system's.
    private static boolean local(MemoryKind kind) {
        return switch (kind) {
            case DATA, CODE, LAUNCHES, COMMANDS, RING, USERD -> true;
            case SIGNAL, READ_BACK, NOTIFIER -> false;
        };
    }

    private void take(Source source, boolean local, String purpose) {
        long unit = local ? Addresses.UNIT : SYSTEM_UNIT;
        long size = (sizeBytes + unit - 1) / unit * unit;
        create(source, local, size, 0, purpose);
        long address = source.addresses.take(size);
        undo.add(() -> source.addresses.give(address, size));
        try (Record record = new Record(UvmAbi.CreateRange.STRUCT)) {
            record.set(UvmAbi.CreateRange.BASE, address).set(UvmAbi.CreateRange.LENGTH, size);
            source.driver.uvm(source.uvm, UvmAbi.CREATE_EXTERNAL_RANGE, record, purpose);
        }
        undo.add(() -> freeRange(source, address, size, purpose));
        try (Record record = new Record(UvmAbi.MapExternal.STRUCT)) {
            record.set(UvmAbi.MapExternal.BASE, address)
                    .set(UvmAbi.MapExternal.LENGTH, size)
                    .set(UvmAbi.MapExternal.GPU_ATTRIBUTES_COUNT, 1)
                    .set(UvmAbi.MapExternal.RM_CTRL_FD, source.objects.control())
                    .set(UvmAbi.MapExternal.H_CLIENT, source.objects.client())
                    .set(UvmAbi.MapExternal.H_MEMORY, object);
            RmGpu.uuid(record, UvmAbi.MapExternal.PER_GPU_ATTRIBUTES, source.uuid);
            record.bytes()
                    .set(
                            java.lang.foreign.ValueLayout.JAVA_INT,
                            UvmAbi.MapExternal.PER_GPU_ATTRIBUTES.offset() + source.uuid.length,
                            READ_WRITE_ATOMIC);
            source.driver.uvm(source.uvm, UvmAbi.MAP_EXTERNAL_ALLOCATION, record, purpose);
        }
        va = address;
        source.allocated.addAndGet(size);
        undo.add(() -> source.allocated.addAndGet(-size));
    }

    private void create(Source source, boolean local, long size, int type, String purpose) {
        RmObjects objects = source.objects;
        try (Record record = new Record(RmAbi.Memory.STRUCT)) {
            record.set(RmAbi.Memory.OWNER, type == NOTIFIER ? source.device : objects.client())
                    .set(RmAbi.Memory.TYPE, type)
                    .set(RmAbi.Memory.FLAGS, local ? LOCAL_FLAGS : SYSTEM_FLAGS)
                    .set(RmAbi.Memory.ATTR, local ? LOCAL_ATTRIBUTES : SYSTEM_ATTRIBUTES)
                    .set(RmAbi.Memory.SIZE, size)
                    .set(RmAbi.Memory.ALIGNMENT, local ? Addresses.UNIT : 0);
            object = objects.create(
                    source.device,
                    local ? RmAbi.MEMORY_LOCAL : RmAbi.MEMORY_SYSTEM,
                    record,
                    size + " bytes, " + purpose);
        }
        undo.add(() -> objects.free(source.device, object, purpose));
        long address = objects.map(
                local ? source.subdevice : source.device,
                object,
                size,
                local ? source.node : RmGpu.CONTROL,
                Linux.PROT_READ | Linux.PROT_WRITE,
                0,
                purpose);
        Arena arena = Arena.ofShared();
        host = MemorySegment.ofAddress(address)
                .reinterpret(size, arena, s -> source.driver.munmap(address, size, purpose))
                .asSlice(0, sizeBytes);
        undo.add(arena::close);
        host.fill((byte) 0);
    }

    private static void freeRange(Source source, long address, long size, String purpose) {
        try (Record record = new Record(UvmAbi.Free.STRUCT)) {
            record.set(UvmAbi.Free.BASE, address).set(UvmAbi.Free.LENGTH, size);
            source.driver.release(() -> source.driver.uvm(source.uvm, UvmAbi.FREE, record, purpose));
        }
    }

    /// {@return its number}
    int object() {
        return object;
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

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            undo.close();
        }
    }
}
