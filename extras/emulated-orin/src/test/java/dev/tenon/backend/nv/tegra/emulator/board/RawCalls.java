package dev.tenon.backend.nv.tegra.emulator.board;

import dev.tenon.backend.nv.tegra.abi.AddressSpaceAbi;
import dev.tenon.backend.nv.tegra.abi.ChannelAbi;
import dev.tenon.backend.nv.tegra.abi.ChannelAbi.SetupBind;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi.AllocAs;
import dev.tenon.backend.nv.tegra.abi.GroupAbi;
import dev.tenon.backend.nv.tegra.abi.Ioctl;
import dev.tenon.backend.nv.tegra.abi.NvmapAbi;
import dev.tenon.backend.nv.tegra.abi.NvmapAbi.AllocHandle;
import dev.tenon.backend.nv.tegra.abi.NvmapAbi.CreateHandle;
import dev.tenon.backend.nv.tegra.abi.Record;
import dev.tenon.backend.nv.tegra.abi.Struct;
import dev.tenon.backend.nv.tegra.sys.Linux;
import java.util.Map;

/// Calls of the drivers one by one, as a test wants them, right or wrong.
public final class RawCalls {
    static final int HEAP = 1 << 30;
    static final int FLAGS = 0x0900 << 16 | 2;

    final EmulatedBoard board;
    final int nvmap;
    final int ctrl;

    RawCalls(EmulatedBoard board) {
        this.board = board;
        nvmap = board.open("/dev/nvmap", Linux.O_RDWR);
        ctrl = board.open("/dev/nvgpu/igpu0/ctrl", Linux.O_RDWR);
    }

    /// {@return the field wanted after success, or -errno}
    long call(int fd, Ioctl request, Struct struct, Map<Struct.Field, Long> fields, Struct.Field wanted) {
        try (Record record = new Record(struct)) {
            fields.forEach(record::set);
            int result = board.ioctl(fd, request.request(), record.address());
            if (!record.isIntact()) {
                throw new AssertionError(request + " wrote outside of its struct");
            }
            return result < 0 ? result : wanted == null ? 0 : record.get(wanted);
        }
    }

    long create(long size) {
        return call(nvmap, NvmapAbi.CREATE, CreateHandle.STRUCT, Map.of(CreateHandle.SIZE, size), CreateHandle.HANDLE);
    }

    long alloc(long handle, int heap, int flags, int align) {
        return call(
                nvmap,
                NvmapAbi.ALLOC,
                AllocHandle.STRUCT,
                Map.of(
                        AllocHandle.HANDLE,
                        handle,
                        AllocHandle.HEAP_MASK,
                        (long) heap,
                        AllocHandle.FLAGS,
                        (long) flags,
                        AllocHandle.ALIGN,
                        (long) align),
                null);
    }

    long getFd(long handle) {
        return call(nvmap, NvmapAbi.GET_FD, CreateHandle.STRUCT, Map.of(CreateHandle.HANDLE, handle), CreateHandle.FD);
    }

    /// {@return a dma-buf of allocated memory}
    int buffer(long size) {
        long handle = create(size);
        if (alloc(handle, HEAP, FLAGS, 4096) != 0) {
            throw new AssertionError("no memory");
        }
        return (int) getFd(handle);
    }

    int addressSpace(long start, long end) {
        return (int) call(
                ctrl,
                CtrlAbi.ALLOC_AS,
                AllocAs.STRUCT,
                Map.of(AllocAs.FLAGS, 2L, AllocAs.VA_RANGE_START, start, AllocAs.VA_RANGE_END, end),
                AllocAs.AS_FD);
    }

    int addressSpace() {
        return addressSpace(0x200000, 0xFC00000000L);
    }

    int group() {
        return (int) call(ctrl, CtrlAbi.OPEN_TSG, CtrlAbi.OpenTsg.STRUCT, Map.of(), CtrlAbi.OpenTsg.TSG_FD);
    }

    long subcontext(int group, int type, int addressSpace) {
        return call(
                group,
                GroupAbi.CREATE_SUBCONTEXT,
                GroupAbi.CreateSubcontext.STRUCT,
                Map.of(GroupAbi.CreateSubcontext.TYPE, (long) type, GroupAbi.CreateSubcontext.AS_FD, (long)
                        addressSpace),
                GroupAbi.CreateSubcontext.VEID);
    }

    long channel(int runlist) {
        return call(
                ctrl,
                CtrlAbi.OPEN_CHANNEL,
                CtrlAbi.OpenChannel.STRUCT,
                Map.of(CtrlAbi.OpenChannel.CHANNEL_FD, (long) runlist),
                CtrlAbi.OpenChannel.CHANNEL_FD);
    }

    long bindAddressSpace(int addressSpace, long channel) {
        return call(
                addressSpace,
                AddressSpaceAbi.BIND_CHANNEL,
                AddressSpaceAbi.BindChannel.STRUCT,
                Map.of(AddressSpaceAbi.BindChannel.CHANNEL_FD, channel),
                null);
    }

    long bindGroup(int group, long channel, long subcontext) {
        return call(
                group,
                GroupAbi.BIND_CHANNEL_EX,
                GroupAbi.BindChannelEx.STRUCT,
                Map.of(GroupAbi.BindChannelEx.CHANNEL_FD, channel, GroupAbi.BindChannelEx.SUBCONTEXT_ID, subcontext),
                null);
    }

    long watchdog(long channel, int status) {
        return call(
                (int) channel,
                ChannelAbi.WDT,
                ChannelAbi.Wdt.STRUCT,
                Map.of(ChannelAbi.Wdt.WDT_STATUS, (long) status),
                null);
    }

    long setUp(long channel, long entries, int flags, int ringFd, int userdFd) {
        return call(
                (int) channel,
                ChannelAbi.SETUP_BIND,
                SetupBind.STRUCT,
                Map.of(
                        SetupBind.NUM_GPFIFO_ENTRIES,
                        entries,
                        SetupBind.FLAGS,
                        (long) flags,
                        SetupBind.GPFIFO_DMABUF_FD,
                        (long) ringFd,
                        SetupBind.USERD_DMABUF_FD,
                        (long) userdFd),
                SetupBind.WORK_SUBMIT_TOKEN);
    }

    long object(long channel, int number) {
        return call(
                (int) channel,
                ChannelAbi.ALLOC_OBJ_CTX,
                ChannelAbi.AllocObjCtx.STRUCT,
                Map.of(ChannelAbi.AllocObjCtx.CLASS_NUM, (long) number),
                null);
    }
}
