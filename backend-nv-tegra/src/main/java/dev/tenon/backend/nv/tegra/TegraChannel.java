package dev.tenon.backend.nv.tegra;

import dev.tenon.backend.nv.tegra.abi.AddressSpaceAbi;
import dev.tenon.backend.nv.tegra.abi.ChannelAbi;
import dev.tenon.backend.nv.tegra.abi.ChannelAbi.AllocObjCtx;
import dev.tenon.backend.nv.tegra.abi.ChannelAbi.GetParam;
import dev.tenon.backend.nv.tegra.abi.ChannelAbi.Notification;
import dev.tenon.backend.nv.tegra.abi.ChannelAbi.SetErrorNotifier;
import dev.tenon.backend.nv.tegra.abi.ChannelAbi.SetupBind;
import dev.tenon.backend.nv.tegra.abi.ChannelAbi.Wdt;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi.OpenChannel;
import dev.tenon.backend.nv.tegra.abi.GroupAbi;
import dev.tenon.backend.nv.tegra.abi.GroupAbi.BindChannelEx;
import dev.tenon.backend.nv.tegra.abi.Record;
import dev.tenon.backend.nv.tegra.abi.Struct;
import dev.tenon.backend.nv.tegra.gpu.GpuChannel;
import dev.tenon.backend.nv.tegra.gpu.MemoryKind;
import dev.tenon.backend.nv.tegra.sys.Undo;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;

/// A channel whose ring this process writes itself. The order of the calls is the only one that the
/// driver accepts: address space before group, watchdog off before set-up, set-up before the object
/// of a class.
final class TegraChannel implements GpuChannel {
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final long DOORBELL = 0x90;
    private static final int GRAPHICS_RUNLIST = -1;
    private static final int WATCHDOG_OFF = 1;
    private static final int USERD_BYTES = 4096;
    private static final int NOTIFIER_BYTES = 4096;
    /// Deterministic, and rings written by user space; the first is required by the second.
    private static final int SETUP_FLAGS = 0x0A;

    private final TegraDriver driver;
    private final MemorySegment doorbell;
    private final int entries;
    private final String name;
    private final Undo undo = new Undo();
    private final AtomicBoolean closed = new AtomicBoolean();
    private int fd;
    private int token;
    private TegraMemory ring;
    private TegraMemory userd;
    /// Null where the driver does not want one.
    private TegraMemory notifier;

    /// What a channel is opened with.
    ///
    /// @param memory where its ring comes from, and its address space
    /// @param ctrl file descriptor
    /// @param group file descriptor of the time-slice group
    /// @param subcontext number of the subcontext
    /// @param doorbell the page of the doorbell
    /// @param entries entries of the ring
    record Source(
            TegraMemory.Source memory, int ctrl, int group, int subcontext, MemorySegment doorbell, int entries) {}

    private TegraChannel(Source source, String name) {
        this.driver = source.memory.driver();
        this.doorbell = source.doorbell;
        this.entries = source.entries;
        this.name = name;
    }

    /// {@return a channel}
    ///
    /// @param source what with
    /// @param engineClass class of the engine that it is for
    /// @param name what messages call it
    static TegraChannel open(Source source, int engineClass, String name) {
        TegraChannel channel = new TegraChannel(source, name);
        boolean done = false;
        try {
            channel.take(source, engineClass);
            done = true;
            return channel;
        } finally {
            if (!done) {
                channel.undo.close();
            }
        }
    }

    private void take(Source source, int engineClass) {
        // Closed last, though opened first: the driver may still use both while the channel is open.
        ring = TegraMemory.allocate(source.memory, 8L * entries, MemoryKind.RING, "ring of " + name);
        undo.add(ring::close);
        userd = TegraMemory.allocate(source.memory, USERD_BYTES, MemoryKind.USERD, "USERD of " + name);
        undo.add(userd::close);
        TegraMemory notes =
                TegraMemory.allocate(source.memory, NOTIFIER_BYTES, MemoryKind.NOTIFIER, "error notifier of " + name);
        undo.add(notes::close);
        try (Record record = new Record(OpenChannel.STRUCT)) {
            record.set(OpenChannel.CHANNEL_FD, GRAPHICS_RUNLIST);
            driver.ioctl(source.ctrl, CtrlAbi.OPEN_CHANNEL, record, name);
            fd = driver.returnedFd(record, OpenChannel.CHANNEL_FD);
        }
        undo.add(() -> driver.close(fd, name));
        call(
                source.memory.addressSpace(),
                AddressSpaceAbi.BIND_CHANNEL,
                AddressSpaceAbi.BindChannel.STRUCT,
                record -> record.set(AddressSpaceAbi.BindChannel.CHANNEL_FD, fd));
        call(
                source.group,
                GroupAbi.BIND_CHANNEL_EX,
                BindChannelEx.STRUCT,
                record -> record.set(BindChannelEx.CHANNEL_FD, fd).set(BindChannelEx.SUBCONTEXT_ID, source.subcontext));
        call(fd, ChannelAbi.WDT, Wdt.STRUCT, record -> record.set(Wdt.WDT_STATUS, WATCHDOG_OFF));
        try (Record record = new Record(SetupBind.STRUCT)) {
            record.set(SetupBind.NUM_GPFIFO_ENTRIES, entries)
                    .set(SetupBind.FLAGS, SETUP_FLAGS)
                    .set(SetupBind.USERD_DMABUF_FD, userd.dmaBuf())
                    .set(SetupBind.GPFIFO_DMABUF_FD, ring.dmaBuf());
            driver.ioctl(fd, ChannelAbi.SETUP_BIND, record, name);
            token = record.getInt(SetupBind.WORK_SUBMIT_TOKEN);
        }
        call(
                fd,
                ChannelAbi.ALLOC_OBJ_CTX,
                AllocObjCtx.STRUCT,
                record -> record.set(AllocObjCtx.CLASS_NUM, engineClass));
        notifier = isWanted(notes) ? notes : null;
    }

    /// Offers memory for the reason of an error. A driver that refuses it works all the same.
    private boolean isWanted(TegraMemory notes) {
        try (Record record = new Record(SetErrorNotifier.STRUCT)) {
            record.set(SetErrorNotifier.SIZE, Notification.STRUCT.sizeBytes())
                    .set(SetErrorNotifier.MEM, notes.dmaBuf());
            return driver.tryIoctl(fd, ChannelAbi.SET_ERROR_NOTIFIER, record) >= 0;
        }
    }

    private void call(
            int file,
            dev.tenon.backend.nv.tegra.abi.Ioctl request,
            Struct struct,
            java.util.function.Consumer<Record> fill) {
        try (Record record = new Record(struct)) {
            fill.accept(record);
            driver.ioctl(file, request, record, name);
        }
    }

    @Override
    public MemorySegment ring() {
        return ring.host();
    }

    @Override
    public int entries() {
        return entries;
    }

    @Override
    public MemorySegment userd() {
        return userd.host();
    }

    @Override
    public int token() {
        return token;
    }

    @Override
    public void ringDoorbell() {
        INT.setVolatile(doorbell, DOORBELL, token);
        driver.afterDoorbell();
    }

    @Override
    public boolean isTornDown() {
        try (Record record = new Record(GetParam.STRUCT)) {
            driver.ioctl(fd, ChannelAbi.GET_TIMEDOUT, record, name);
            return MemorySegment.ofAddress(record.address()).reinterpret(4).get(ValueLayout.JAVA_INT, 0) != 0;
        }
    }

    /// {@return why the channel was torn down, as the driver's note says; to be put after a sentence}
    String reason() {
        if (notifier == null || Record.get(Notification.STATUS, notifier.host()) == 0) {
            return "";
        }
        int code = (int) Record.get(Notification.INFO32, notifier.host());
        return ", error " + code + ": "
                + switch (code) {
                    case 8 -> "idle for too long";
                    case 12 -> "a software method";
                    case 13 -> "an exception of the graphics engine, which runs kernels, too";
                    case 24 -> "a semaphore that nobody released";
                    case 25 -> "a notification that is not allowed";
                    case 31 -> "an access where nothing is mapped";
                    case 32 -> "command words or ring entries that make no sense";
                    case 37 -> "a method of the firmware";
                    case 43 -> "it was reset";
                    case 80 -> "a checksum of command words";
                    default -> "unknown";
                };
    }

    boolean isClosed() {
        return closed.get();
    }

    String name() {
        return name;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            undo.close();
        }
    }
}
