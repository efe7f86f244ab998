package dev.tenon.backend.nv.tegra;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.abi.AddressSpaceAbi;
import dev.tenon.backend.nv.tegra.abi.AddressSpaceAbi.AllocSpace;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi.AllocAs;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi.Characteristics;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi.GetCharacteristics;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi.NumVsms;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi.OpenTsg;
import dev.tenon.backend.nv.tegra.abi.GroupAbi;
import dev.tenon.backend.nv.tegra.abi.GroupAbi.CreateSubcontext;
import dev.tenon.backend.nv.tegra.abi.GroupAbi.ReadAllSmErrorState;
import dev.tenon.backend.nv.tegra.abi.GroupAbi.SmErrorStateRecord;
import dev.tenon.backend.nv.tegra.abi.Record;
import dev.tenon.backend.nv.tegra.command.AddressLayout;
import dev.tenon.backend.nv.tegra.command.QmdFormat;
import dev.tenon.backend.nv.tegra.gpu.GpuChannel;
import dev.tenon.backend.nv.tegra.gpu.GpuInterface;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.GpuTraits;
import dev.tenon.backend.nv.tegra.gpu.MemoryKind;
import dev.tenon.backend.nv.tegra.sys.Linux;
import dev.tenon.backend.nv.tegra.sys.NvErrors;
import dev.tenon.backend.nv.tegra.sys.Syscalls;
import dev.tenon.backend.nv.tegra.sys.Undo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/// The GPU of a Tegra through nvmap and nvgpu: two device nodes, everything else is a file
/// descriptor that comes from them. Safe for any thread.
public final class TegraGpu implements GpuInterface {
    /// Memory.
    static final String NVMAP = "/dev/nvmap";
    /// The GPU.
    static final String CTRL = "/dev/nvgpu/igpu0/ctrl";

    private static final int COMPUTE_CLASS = 0xC7C0;
    private static final int COPY_CLASS = 0xC7B5;
    private static final int SM = 87;
    private static final int UNIFIED_VA = 2;
    private static final int FIXED = 1;
    private static final int ASYNC_SUBCONTEXT = 1;
    private static final long PAGE = 4096;
    private static final long DOORBELL_BYTES = 0x10000;
    private static final int FLAG_IO_COHERENT = 20;
    private static final int FLAG_SUBCONTEXTS = 22;
    private static final int FLAG_USERMODE_SUBMIT = 30;
    private static final int MAX_MULTIPROCESSORS = 64;

    private final TegraOptions options;
    private final TegraDriver driver;
    private final Undo undo = new Undo();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final AtomicLong allocated = new AtomicLong();
    private final List<TegraChannel> channels = new CopyOnWriteArrayList<>();
    private GpuTraits traits;
    private TegraMemory.Source memory;
    private TegraChannel.Source channelSource;
    private int group;

    private TegraGpu(Syscalls calls, TegraOptions options) {
        this.options = options;
        this.driver = new TegraDriver(calls);
    }

    /// Opens the GPU; the caller closes it.
    ///
    /// @param calls the system
    /// @param options choices
    /// @return the GPU, with an address space and a group for channels
    /// @throws BackendException (`NV-001`) if a driver refuses, (`NV-004`) if it is another GPU or
    ///     driver; everything taken so far has been released
    public static TegraGpu open(Syscalls calls, TegraOptions options) {
        TegraGpu gpu = new TegraGpu(calls, options);
        boolean done = false;
        try {
            gpu.bringUp();
            done = true;
            return gpu;
        } finally {
            if (!done) {
                gpu.undo.close();
            }
        }
    }

    /// Looks at the GPU without taking anything.
    ///
    /// @param calls the system
    /// @return what it is
    /// @throws BackendException as [#open]
    public static GpuTraits describe(Syscalls calls) {
        TegraGpu gpu = new TegraGpu(calls, TegraOptions.defaults());
        try {
            int nvmap = gpu.driver.open(NVMAP, Linux.O_RDWR | Linux.O_SYNC);
            gpu.undo.add(() -> gpu.driver.close(nvmap, NVMAP));
            int ctrl = gpu.driver.open(CTRL, Linux.O_RDWR);
            gpu.undo.add(() -> gpu.driver.close(ctrl, CTRL));
            return gpu.readTraits(ctrl);
        } finally {
            gpu.undo.close();
        }
    }

    private void bringUp() {
        int nvmap = driver.open(NVMAP, Linux.O_RDWR | Linux.O_SYNC);
        undo.add(() -> driver.close(nvmap, NVMAP));
        int ctrl = driver.open(CTRL, Linux.O_RDWR);
        undo.add(() -> driver.close(ctrl, CTRL));
        traits = readTraits(ctrl);
        MemorySegment doorbell = mapDoorbell(ctrl);
        int addressSpace = openAddressSpace(ctrl);
        if (options.layout().reserveWindows()) {
            reserve(addressSpace, options.layout().localWindow());
            reserve(addressSpace, options.layout().sharedWindow());
        }
        try (Record record = new Record(OpenTsg.STRUCT)) {
            driver.ioctl(ctrl, CtrlAbi.OPEN_TSG, record, "a group for channels");
            group = driver.returnedFd(record, OpenTsg.TSG_FD);
        }
        undo.add(() -> driver.close(group, "group of channels"));
        int subcontext;
        try (Record record = new Record(CreateSubcontext.STRUCT)) {
            record.set(CreateSubcontext.TYPE, ASYNC_SUBCONTEXT).set(CreateSubcontext.AS_FD, addressSpace);
            driver.ioctl(group, GroupAbi.CREATE_SUBCONTEXT, record, "compute");
            subcontext = record.getInt(CreateSubcontext.VEID);
        }
        memory = new TegraMemory.Source(driver, nvmap, addressSpace, options.layout(), options.alignLarge(), allocated);
        channelSource = new TegraChannel.Source(memory, ctrl, group, subcontext, doorbell, options.ringEntries());
    }

    private GpuTraits readTraits(int ctrl) {
        try (Arena arena = Arena.ofConfined();
                Record record = new Record(GetCharacteristics.STRUCT);
                Record sms = new Record(NumVsms.STRUCT)) {
            // Twice the size, so that a driver that knows more does not write elsewhere.
            MemorySegment facts = arena.allocate(2L * Characteristics.STRUCT.sizeBytes(), 8);
            record.set(GetCharacteristics.GPU_CHARACTERISTICS_BUF_SIZE, Characteristics.STRUCT.sizeBytes())
                    .set(GetCharacteristics.GPU_CHARACTERISTICS_BUF_ADDR, facts.address());
            driver.ioctl(ctrl, CtrlAbi.GET_CHARACTERISTICS, record, "what the GPU is");
            driver.ioctl(ctrl, CtrlAbi.NUM_VSMS, sms, "number of multiprocessors");
            check(record.get(GetCharacteristics.GPU_CHARACTERISTICS_BUF_SIZE), facts, sms.getInt(NumVsms.NUM_VSMS));
            return new GpuTraits(
                    facts.getString(Characteristics.CHIPNAME.offset()),
                    COMPUTE_CLASS,
                    COPY_CLASS,
                    SM,
                    sms.getInt(NumVsms.NUM_VSMS),
                    (int) Record.get(Characteristics.SM_ARCH_WARP_COUNT, facts),
                    QmdFormat.V3,
                    true);
        }
    }

    /// Refuses what this backend was not written for, with all reasons at once.
    private static void check(long size, MemorySegment facts, int multiprocessors) {
        List<String> reasons = new ArrayList<>();
        if (size < Characteristics.STRUCT.sizeBytes()) {
            reasons.add("the driver knows only " + size + " of " + Characteristics.STRUCT.sizeBytes()
                    + " bytes of characteristics");
        }
        long compute = Record.get(Characteristics.COMPUTE_CLASS, facts);
        long copy = Record.get(Characteristics.DMA_COPY_CLASS, facts);
        if (compute != COMPUTE_CLASS || copy != COPY_CLASS) {
            reasons.add(String.format(
                    "compute class 0x%x and copy class 0x%x; expected 0x%x and 0x%x",
                    compute, copy, COMPUTE_CLASS, COPY_CLASS));
        }
        long flags = Record.get(Characteristics.FLAGS, facts);
        need(reasons, flags, FLAG_IO_COHERENT, "memory that is coherent with the processor");
        need(reasons, flags, FLAG_SUBCONTEXTS, "subcontexts");
        need(reasons, flags, FLAG_USERMODE_SUBMIT, "rings that user space writes");
        long bits = Record.get(Characteristics.GPU_VA_BIT_COUNT, facts);
        if (bits < AddressLayout.ADDRESS_BITS) {
            reasons.add(bits + " address bits; expected " + AddressLayout.ADDRESS_BITS);
        }
        if (multiprocessors < 1 || multiprocessors > MAX_MULTIPROCESSORS) {
            reasons.add(multiprocessors + " multiprocessors");
        }
        if (!reasons.isEmpty()) {
            throw new BackendException(
                    NvErrors.BOARD,
                    "This GPU is not an Orin's with Jetson Linux 36: " + String.join("; ", reasons) + ".");
        }
    }

    private static void need(List<String> reasons, long flags, int bit, String what) {
        if ((flags >>> bit & 1) == 0) {
            reasons.add("no " + what + " (flag " + bit + ")");
        }
    }

    private MemorySegment mapDoorbell(int ctrl) {
        long address = driver.mmap(DOORBELL_BYTES, ctrl, "doorbell");
        Arena arena = Arena.ofShared();
        MemorySegment doorbell = MemorySegment.ofAddress(address)
                .reinterpret(DOORBELL_BYTES, arena, s -> driver.munmap(address, DOORBELL_BYTES, "doorbell"));
        undo.add(arena::close);
        return doorbell;
    }

    private int openAddressSpace(int ctrl) {
        try (Record record = new Record(AllocAs.STRUCT)) {
            record.set(AllocAs.FLAGS, UNIFIED_VA)
                    .set(AllocAs.VA_RANGE_START, options.layout().start())
                    .set(AllocAs.VA_RANGE_END, options.layout().end());
            driver.ioctl(ctrl, CtrlAbi.ALLOC_AS, record, "an address space");
            int fd = driver.returnedFd(record, AllocAs.AS_FD);
            undo.add(() -> driver.close(fd, "address space"));
            return fd;
        }
    }

    private void reserve(int addressSpace, long window) {
        try (Record record = new Record(AllocSpace.STRUCT)) {
            record.set(AllocSpace.PAGES, AddressLayout.WINDOW_BYTES / PAGE)
                    .set(AllocSpace.PAGE_SIZE, PAGE)
                    .set(AllocSpace.FLAGS, FIXED)
                    .set(AllocSpace.O_A, window);
            driver.ioctl(
                    addressSpace,
                    AddressSpaceAbi.ALLOC_SPACE,
                    record,
                    "the memory window at 0x" + Long.toHexString(window));
        }
    }

    @Override
    public GpuTraits traits() {
        return traits;
    }

    @Override
    public AddressLayout layout() {
        return options.layout();
    }

    /// {@return bytes allocated and not yet closed}
    public long allocatedBytes() {
        return allocated.get();
    }

    @Override
    public GpuMemory allocate(long bytes, MemoryKind kind, String purpose) {
        if (kind.isDriverMemory()) {
            throw new IllegalArgumentException(kind + " belongs to a channel");
        }
        return TegraMemory.allocate(memory, bytes, kind, purpose);
    }

    @Override
    public GpuChannel openChannel(Engine engine) {
        TegraChannel channel = TegraChannel.open(
                channelSource,
                engine == Engine.COMPUTE ? traits.computeClass() : traits.copyClass(),
                engine == Engine.COMPUTE ? "compute channel" : "copy channel");
        channels.add(channel);
        return channel;
    }

    @Override
    public String diagnosis() {
        List<String> lines = new ArrayList<>();
        for (TegraChannel channel : channels) {
            if (!channel.isClosed() && channel.isTornDown()) {
                lines.add("The driver has torn the " + channel.name() + " down" + channel.reason() + ".");
            }
        }
        lines.addAll(errorStates());
        return String.join(" ", lines);
    }

    private List<String> errorStates() {
        List<String> lines = new ArrayList<>();
        long each = SmErrorStateRecord.STRUCT.sizeBytes();
        try (Arena arena = Arena.ofConfined();
                Record record = new Record(ReadAllSmErrorState.STRUCT)) {
            MemorySegment states = arena.allocate(each * traits.multiprocessors(), 8);
            record.set(ReadAllSmErrorState.NUM_SM, traits.multiprocessors())
                    .set(ReadAllSmErrorState.BUFFER_MEM, states.address())
                    .set(ReadAllSmErrorState.BUFFER_SIZE, states.byteSize());
            int result = driver.tryIoctl(group, GroupAbi.READ_ALL_SM_ERROR_STATES, record);
            if (result < 0) {
                return List.of("Its error states cannot be read: " + Linux.name(-result) + ".");
            }
            for (int i = 0; i < traits.multiprocessors(); i++) {
                MemorySegment state = states.asSlice(each * i, each);
                long global = Record.get(SmErrorStateRecord.GLOBAL_ESR, state);
                long warp = Record.get(SmErrorStateRecord.WARP_ESR, state);
                if (global != 0 || warp != 0) {
                    lines.add(String.format(
                            "Multiprocessor %d: global error 0x%x, warp error 0x%x at 0x%x.",
                            i, global, warp, Record.get(SmErrorStateRecord.WARP_ESR_PC, state)));
                }
            }
        }
        return lines;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            undo.close();
        }
    }
}
