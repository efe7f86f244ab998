package dev.tenon.backend.nv.rm;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.abi.Record;
import dev.tenon.backend.nv.tegra.abi.Struct;
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
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/// A Hopper GPU of a server through NVIDIA's kernel driver, branch 580: objects of the resource
/// manager (`/dev/nvidiactl`), addresses by UVM (`/dev/nvidia-uvm`). No settings of the card are
/// read or changed. Safe for any thread.
public final class RmGpu implements GpuInterface {
    /// The resource manager.
    static final String CONTROL = "/dev/nvidiactl";
    /// Addresses.
    static final String UVM = "/dev/nvidia-uvm";

    private static final String BRANCH = "580.";
    private static final int SM = 90;
    private static final int WARPS = 64;
    private static final int MULTIPLE_VASPACES = 2;
    /// Page faults are reported, and UVM owns the page tables.
    private static final int VASPACE_FLAGS = 0x48;
    private static final long VASPACE_BASE = 0x1000;
    private static final int BINARY = 2;
    private static final int UUID_BYTES = 16;
    private static final int WRITE_ONLY = 2;
    private static final long DOORBELL_BYTES = 0x10000;
    private static final int ENTRIES = 1024;
    private static final int CARDS = 32;
    /// Everything that this process places: command words, rings and launch descriptors have to lie
    /// below 2^40.
    private static final AddressLayout LAYOUT =
            new AddressLayout(0x2000000000L, 0xFC00000000L, 0xFD00000000L, 0xFE00000000L, false);

    private final RmDriver driver;
    private final Undo undo = new Undo();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final List<RmChannel> channels = new CopyOnWriteArrayList<>();
    private GpuTraits traits;
    private String version;
    private RmMemory.Source memory;
    private RmChannel.Source channelSource;

    private RmGpu(Syscalls calls) {
        this.driver = new RmDriver(calls);
    }

    /// Opens the first GPU; the caller closes it.
    ///
    /// @param calls the system
    /// @return the GPU, with an address space
    /// @throws BackendException (`NV-001`) if a driver refuses, (`NV-004`) if it is another GPU or
    ///     driver; everything taken so far has been released
    public static RmGpu open(Syscalls calls) {
        RmGpu gpu = new RmGpu(calls);
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

    private int node(String path) {
        int fd = driver.open(path);
        undo.add(() -> driver.close(fd, path));
        return fd;
    }

    private void bringUp() {
        int control = node(CONTROL);
        RmObjects objects = RmObjects.open(driver, control);
        undo.add(() -> objects.free(objects.client(), objects.client(), "client"));
        checkVersion(objects);
        int uvm = node(UVM);
        try (Record record = new Record(UvmAbi.Initialize.STRUCT)) {
            driver.uvm(uvm, UvmAbi.INITIALIZE, record, "address spaces");
        }
        int second = node(UVM);
        try (Record record = new Record(UvmAbi.MmInitialize.STRUCT)) {
            record.set(UvmAbi.MmInitialize.UVM_FD, uvm);
            driver.uvm(second, UvmAbi.MM_INITIALIZE, record, "address spaces");
        }
        Card card = card(control);
        String node = "/dev/nvidia" + card.minor;
        int file = node(node);
        try (Record record = new Record(RmAbi.RegisterFd.STRUCT)) {
            record.set(RmAbi.RegisterFd.CTL_FD, control);
            driver.rm(file, RmAbi.REGISTER_FD, record, null, node);
        }
        int device = device(objects, card);
        int subdevice;
        try (Record record = new Record(RmAbi.Subdevice.STRUCT)) {
            subdevice = objects.create(device, RmAbi.SUBDEVICE, record, "subdevice");
        }
        checkClasses(objects, device);
        traits = traits(objects, subdevice);
        MemorySegment doorbell = doorbell(objects, subdevice, node);
        int vaspace;
        try (Record record = new Record(RmAbi.Vaspace.STRUCT)) {
            record.set(RmAbi.Vaspace.FLAGS, VASPACE_FLAGS).set(RmAbi.Vaspace.VA_BASE, VASPACE_BASE);
            vaspace = objects.create(device, RmAbi.VASPACE, record, "address space");
        }
        byte[] uuid = identity(objects, subdevice);
        try (Record record = new Record(UvmAbi.RegisterGpu.STRUCT)) {
            uuid(record, UvmAbi.RegisterGpu.GPU_UUID, uuid);
            record.set(UvmAbi.RegisterGpu.RM_CTRL_FD, -1);
            driver.uvm(uvm, UvmAbi.REGISTER_GPU, record, "GPU");
        }
        try (Record record = new Record(UvmAbi.RegisterVaspace.STRUCT)) {
            uuid(record, UvmAbi.RegisterVaspace.GPU_UUID, uuid);
            record.set(UvmAbi.RegisterVaspace.RM_CTRL_FD, control)
                    .set(UvmAbi.RegisterVaspace.H_CLIENT, objects.client())
                    .set(UvmAbi.RegisterVaspace.H_VA_SPACE, vaspace);
            driver.uvm(uvm, UvmAbi.REGISTER_GPU_VASPACE, record, "address space");
        }
        memory = new RmMemory.Source(
                objects,
                driver,
                device,
                subdevice,
                node,
                uvm,
                uuid,
                new Addresses(LAYOUT.start(), LAYOUT.end()),
                new AtomicLong());
        channelSource = new RmChannel.Source(memory, vaspace, doorbell, ENTRIES);
    }

    private void checkVersion(RmObjects objects) {
        try (Record record = new Record(RmAbi.BuildVersion.STRUCT)) {
            objects.control(objects.client(), RmAbi.GET_BUILD_VERSION, record, "version");
            version = record.bytes().getString(0);
        }
        if (!version.startsWith(BRANCH)) {
            throw new BackendException(
                    NvErrors.BOARD,
                    "NVIDIA's driver is " + version
                            + "; its interface is known for branch 580 only. Use the CUDA backend.");
        }
    }

    /// A GPU.
    private record Card(int id, int minor) {}

    private Card card(int control) {
        Struct struct = new Struct("cards", CARDS * RmAbi.CardInfo.STRUCT.sizeBytes());
        try (Record record = new Record(struct)) {
            driver.rm(control, RmAbi.CARD_INFO, record, null, "list of GPUs");
            for (int i = 0; i < CARDS; i++) {
                MemorySegment card = record.bytes()
                        .asSlice((long) i * RmAbi.CardInfo.STRUCT.sizeBytes(), RmAbi.CardInfo.STRUCT.sizeBytes());
                if (Record.get(RmAbi.CardInfo.VALID, card) != 0) {
                    return new Card((int) Record.get(RmAbi.CardInfo.GPU_ID, card), (int)
                            Record.get(RmAbi.CardInfo.MINOR_NUMBER, card));
                }
            }
        }
        throw new BackendException(NvErrors.BOARD, "NVIDIA's driver lists no GPU.");
    }

    private static int device(RmObjects objects, Card card) {
        long instance;
        try (Record record = new Record(RmAbi.IdInfo.STRUCT)) {
            record.set(RmAbi.IdInfo.GPU_ID, card.id);
            objects.control(objects.client(), RmAbi.GET_ID_INFO, record, "numbers of the GPU");
            instance = record.get(RmAbi.IdInfo.DEVICE_INSTANCE);
        }
        try (Record record = new Record(RmAbi.Device.STRUCT)) {
            record.set(RmAbi.Device.DEVICE_ID, instance)
                    .set(RmAbi.Device.H_CLIENT_SHARE, objects.client())
                    .set(RmAbi.Device.VA_MODE, MULTIPLE_VASPACES);
            return objects.create(objects.client(), RmAbi.DEVICE, record, "device");
        }
    }

    private static void checkClasses(RmObjects objects, int device) {
        Set<Integer> classes = new HashSet<>();
        try (Record record = new Record(RmAbi.ClassList.STRUCT)) {
            objects.control(device, RmAbi.GET_CLASSLIST, record, "classes");
            int count =
                    Math.min(record.getInt(RmAbi.ClassList.NUM_CLASSES), RmAbi.ClassList.STRUCT.sizeBytes() / 4 - 1);
            for (int i = 1; i <= count; i++) {
                classes.add(record.bytes().getAtIndex(ValueLayout.JAVA_INT, i));
            }
        }
        List<Integer> missing = List.of(RmAbi.CHANNEL, RmAbi.COMPUTE, RmAbi.COPY, RmAbi.USERMODE).stream()
                .filter(c -> !classes.contains(c))
                .toList();
        if (!missing.isEmpty()) {
            throw new BackendException(
                    NvErrors.BOARD,
                    "This GPU is no Hopper: it has no class "
                            + missing.stream()
                                    .map(c -> "0x" + Integer.toHexString(c))
                                    .collect(Collectors.joining(", "))
                            + ". Use the CUDA backend.");
        }
    }

    private static GpuTraits traits(RmObjects objects, int subdevice) {
        String name;
        try (Record record = new Record(RmAbi.NameString.STRUCT)) {
            objects.control(subdevice, RmAbi.GET_NAME_STRING, record, "name");
            name = record.bytes().getString(RmAbi.NameString.GPU_NAME_STRING.offset());
        }
        try (Record record = new Record(RmAbi.SmOrder.STRUCT)) {
            objects.control(subdevice, RmAbi.GET_GLOBAL_SM_ORDER, record, "multiprocessors");
            int count = record.getInt(RmAbi.SmOrder.NUM_SM);
            if (count < 1 || count != GpuTraits.MULTIPROCESSORS_PER_TPC * record.getInt(RmAbi.SmOrder.NUM_TPC)) {
                throw new BackendException(
                        NvErrors.BOARD,
                        count + " multiprocessors in " + record.getInt(RmAbi.SmOrder.NUM_TPC)
                                + " TPCs; expected two in each. Use the CUDA backend.");
            }
            return new GpuTraits(name, RmAbi.COMPUTE, RmAbi.COPY, SM, count, WARPS, QmdFormat.V4, false);
        }
    }

    private MemorySegment doorbell(RmObjects objects, int subdevice, String node) {
        int usermode = objects.create(subdevice, RmAbi.USERMODE, "doorbells");
        long address =
                objects.map(subdevice, usermode, DOORBELL_BYTES, node, Linux.PROT_WRITE, WRITE_ONLY, "doorbells");
        Arena arena = Arena.ofShared();
        MemorySegment doorbell = MemorySegment.ofAddress(address)
                .reinterpret(DOORBELL_BYTES, arena, s -> driver.munmap(address, DOORBELL_BYTES, "doorbells"));
        undo.add(arena::close);
        return doorbell;
    }

    private static byte[] identity(RmObjects objects, int subdevice) {
        try (Record record = new Record(RmAbi.GidInfo.STRUCT)) {
            record.set(RmAbi.GidInfo.FLAGS, BINARY);
            objects.control(subdevice, RmAbi.GET_GID_INFO, record, "identity");
            if (record.getInt(RmAbi.GidInfo.LENGTH) != UUID_BYTES) {
                throw new BackendException(
                        NvErrors.BOARD,
                        "The GPU's identity has " + record.getInt(RmAbi.GidInfo.LENGTH) + " bytes; expected 16.");
            }
            return record.bytes()
                    .asSlice(RmAbi.GidInfo.DATA.offset(), UUID_BYTES)
                    .toArray(ValueLayout.JAVA_BYTE);
        }
    }

    static void uuid(Record record, Struct.Field field, byte[] uuid) {
        MemorySegment.copy(uuid, 0, record.bytes(), ValueLayout.JAVA_BYTE, field.offset(), uuid.length);
    }

    @Override
    public GpuTraits traits() {
        return traits;
    }

    /// {@return version of the driver}
    public String version() {
        return version;
    }

    @Override
    public AddressLayout layout() {
        return LAYOUT;
    }

    /// {@return bytes allocated and not yet closed}
    public long allocatedBytes() {
        return memory.allocated().get();
    }

    @Override
    public GpuMemory allocate(long bytes, MemoryKind kind, String purpose) {
        if (kind.isDriverMemory()) {
            throw new IllegalArgumentException(kind + " belongs to a channel");
        }
        return RmMemory.allocate(memory, bytes, kind, purpose);
    }

    @Override
    public GpuChannel openChannel(Engine engine) {
        RmChannel channel = RmChannel.open(channelSource, engine == Engine.COMPUTE);
        channels.add(channel);
        return channel;
    }

    @Override
    public String diagnosis() {
        return channels.stream()
                .filter(channel -> !channel.isClosed())
                .map(RmChannel::error)
                .filter(Objects::nonNull)
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(" "));
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            undo.close();
        }
    }
}
