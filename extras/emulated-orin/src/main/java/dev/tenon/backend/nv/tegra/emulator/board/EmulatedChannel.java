package dev.tenon.backend.nv.tegra.emulator.board;

import static dev.tenon.backend.nv.tegra.sys.Linux.EBADF;
import static dev.tenon.backend.nv.tegra.sys.Linux.EEXIST;
import static dev.tenon.backend.nv.tegra.sys.Linux.EINVAL;
import static dev.tenon.backend.nv.tegra.sys.Linux.ENOTTY;

import dev.tenon.backend.nv.tegra.abi.ChannelAbi;
import dev.tenon.backend.nv.tegra.abi.ChannelAbi.AllocObjCtx;
import dev.tenon.backend.nv.tegra.abi.ChannelAbi.Notification;
import dev.tenon.backend.nv.tegra.abi.ChannelAbi.SetErrorNotifier;
import dev.tenon.backend.nv.tegra.abi.ChannelAbi.SetupBind;
import dev.tenon.backend.nv.tegra.abi.ChannelAbi.Wdt;
import dev.tenon.backend.nv.tegra.abi.Ioctl;
import dev.tenon.backend.nv.tegra.abi.Record;
import dev.tenon.backend.nv.tegra.emulator.launch.GpuFault;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.Set;

/// A channel as the driver sees it: the order of set-up, and the ring's and USERD's memory.
public final class EmulatedChannel extends EmulatedFile {
    private static final int DETERMINISTIC = 2;
    private static final int USERMODE = 8;
    private static final int KNOWN_SETUP_FLAGS = 0x1F;
    private static final int DISABLE = 1;
    private static final int ENABLE = 2;
    private static final Set<Integer> CLASSES = Set.of(0xC7C0, 0xC797, 0xC7B5, 0xA140);
    private static final long SYNCPOINT_BYTES = 0x10000;
    private static final long CONTEXT_BYTES = 1 << 20;
    private static final long CIRCULAR_BYTES = 2 << 20;
    private static final long ADDRESS_LIMIT = 1L << 40;

    final EmulatedBoard board;
    final int token;
    public AddressSpace addressSpace;
    Group group;
    DmaBuf ring;
    DmaBuf userd;
    int entries;
    boolean usermode;
    boolean tornDown;
    /// Classes that a channel may bind.
    public final Set<Integer> objects = new HashSet<>();

    private boolean watchdog = true;
    private DmaBuf notifier;
    private MemorySegment notification;

    public EmulatedChannel(EmulatedBoard board, int token) {
        super('H', ChannelAbi.LAST_NR, ChannelAbi.MAX_ARGUMENT_BYTES, true, ChannelAbi.ioctls());
        this.board = board;
        this.token = token;
    }

    @Override
    String describe() {
        return "channel " + token;
    }

    @Override
    int answer(Ioctl request, MemorySegment struct, long argument) {
        if (request == ChannelAbi.WDT) {
            long status = Record.get(Wdt.WDT_STATUS, struct);
            boolean both = (status & DISABLE) != 0 && (status & ENABLE) != 0;
            if (status == 0 || both) {
                return -EINVAL;
            }
            watchdog = (status & DISABLE) == 0;
            return 0;
        }
        if (request == ChannelAbi.SETUP_BIND) {
            return setUp(struct);
        }
        if (request == ChannelAbi.ALLOC_OBJ_CTX) {
            return allocateObject(struct);
        }
        if (request == ChannelAbi.SET_ERROR_NOTIFIER) {
            return setNotifier(struct);
        }
        if (request == ChannelAbi.SUBMIT_GPFIFO) {
            return -EINVAL;
        }
        if (request == ChannelAbi.GET_TIMEDOUT) {
            struct.set(ValueLayout.JAVA_INT_UNALIGNED, 0, tornDown ? 1 : 0);
            return 0;
        }
        if (request == ChannelAbi.SET_NVMAP_FD) {
            return 0;
        }
        return -ENOTTY;
    }

    private int setUp(MemorySegment struct) {
        long count = Record.get(SetupBind.NUM_GPFIFO_ENTRIES, struct);
        long flags = Record.get(SetupBind.FLAGS, struct);
        if (count < 2 || Long.bitCount(count) != 1 || count > (1L << 32) / 8) {
            return -EINVAL;
        }
        if (addressSpace == null || group == null || (flags & ~KNOWN_SETUP_FLAGS) != 0) {
            return -EINVAL;
        }
        if (ring != null) {
            return -EEXIST;
        }
        boolean deterministic = (flags & DETERMINISTIC) != 0;
        if (deterministic && watchdog || (flags & USERMODE) != 0 && !deterministic) {
            return -EINVAL;
        }
        int ringFd = (int) Record.get(SetupBind.GPFIFO_DMABUF_FD, struct);
        int userdFd = (int) Record.get(SetupBind.USERD_DMABUF_FD, struct);
        if (ringFd == 0 || userdFd == 0) {
            return -EINVAL;
        }
        if (Record.get(SetupBind.GPFIFO_DMABUF_OFFSET, struct) != 0
                || Record.get(SetupBind.USERD_DMABUF_OFFSET, struct) != 0) {
            return -EINVAL;
        }
        if (board.file(ringFd) == null || board.file(userdFd) == null) {
            return -EBADF;
        }
        if (!(board.file(ringFd) instanceof DmaBufFile ringFile)
                || !(board.file(userdFd) instanceof DmaBufFile userdFile)
                || ringFile.buffer.size < Math.max(4096, count * 8)) {
            return -EINVAL;
        }
        ring = ringFile.buffer;
        userd = userdFile.buffer;
        ring.retain();
        userd.retain();
        entries = (int) count;
        usermode = (flags & USERMODE) != 0;
        driverMemory(ring.size, "the ring of channel " + token, true);
        driverMemory(SYNCPOINT_BYTES, "the syncpoints of channel " + token, true);
        Record.set(SetupBind.WORK_SUBMIT_TOKEN, struct, token);
        return 0;
    }

    private int allocateObject(MemorySegment struct) {
        int number = (int) Record.get(AllocObjCtx.CLASS_NUM, struct);
        if (addressSpace == null || group == null || !CLASSES.contains(number)) {
            return -EINVAL;
        }
        if (!group.hasContext) {
            group.hasContext = true;
            driverMemory(CONTEXT_BYTES, "the graphics context", true);
            driverMemory(CIRCULAR_BYTES, "the circular buffers", false);
        }
        objects.add(number);
        Record.set(AllocObjCtx.OBJ_ID, struct, 0);
        return 0;
    }

    private int setNotifier(MemorySegment struct) {
        int file = (int) Record.get(SetErrorNotifier.MEM, struct);
        if (file == 0) {
            return -EINVAL;
        }
        if (!(board.file(file) instanceof DmaBufFile dmaBuf)) {
            return board.file(file) == null ? -EBADF : -EINVAL;
        }
        long offset = Record.get(SetErrorNotifier.OFFSET, struct);
        long bytes = Notification.STRUCT.sizeBytes();
        if (offset < 0 || offset > dmaBuf.buffer.size - bytes) {
            return -EINVAL;
        }
        forgetNotifier();
        notifier = dmaBuf.buffer;
        notifier.retain();
        notification = notifier.pages().asSlice(offset, bytes);
        notification.fill((byte) 0);
        return 0;
    }

    private void forgetNotifier() {
        if (notifier != null) {
            notifier.release();
            notifier = null;
        }
    }

    /// The driver recovers from an error: nothing goes on here, and the notifier says why.
    void tearDown(GpuFault fault, long time) {
        tornDown = true;
        if (notifier != null) {
            Record.set(Notification.TIME_STAMP, notification, time);
            Record.set(Notification.INFO32, notification, fault.code());
            Record.set(Notification.STATUS, notification, 0xFFFF);
        }
    }

    /// The driver maps its own things above the range that was asked for; the hardware has 40 bits
    /// for their addresses.
    private void driverMemory(long bytes, String what, boolean fatal) {
        long at = addressSpace.takeForDriver(bytes);
        if (at >= ADDRESS_LIMIT) {
            String text = what + " is at 0x" + Long.toHexString(at) + ", beyond 40 bits";
            if (fatal) {
                board.freeze(text);
            } else {
                board.warn("commit_rtv_cb: " + text);
            }
        }
    }

    @Override
    void released() {
        board.gpu().forget(this);
        board.giveChannel(token);
        forgetNotifier();
        if (ring != null) {
            ring.release();
            userd.release();
        }
    }
}
