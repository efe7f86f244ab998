package dev.tenon.backend.nv.tegra.emulator.board;

import static dev.tenon.backend.nv.tegra.sys.Linux.EBUSY;
import static dev.tenon.backend.nv.tegra.sys.Linux.EFAULT;
import static dev.tenon.backend.nv.tegra.sys.Linux.EINVAL;
import static dev.tenon.backend.nv.tegra.sys.Linux.ENOMEM;
import static dev.tenon.backend.nv.tegra.sys.Linux.ENOTTY;

import dev.tenon.backend.nv.tegra.abi.CtrlAbi;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi.AllocAs;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi.Characteristics;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi.GetCharacteristics;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi.GetGpuTime;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi.NumVsms;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi.OpenChannel;
import dev.tenon.backend.nv.tegra.abi.CtrlAbi.OpenTsg;
import dev.tenon.backend.nv.tegra.abi.Ioctl;
import dev.tenon.backend.nv.tegra.abi.Record;
import dev.tenon.backend.nv.tegra.abi.Struct;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/// `/dev/nvgpu/igpu0/ctrl`: what the GPU is, and where address spaces, groups and channels come
/// from.
public final class Ctrl extends EmulatedFile {
    private static final long RANGE_UNIT = 1L << 21;
    private static final int UNIFIED_VA = 2;
    private static final long DOORBELL_BYTES = 0x10000;
    private static final int GRAPHICS = -1;

    private final EmulatedBoard board;
    private boolean mapped;

    Ctrl(EmulatedBoard board) {
        super('G', CtrlAbi.LAST_NR, CtrlAbi.MAX_ARGUMENT_BYTES, true, CtrlAbi.ioctls());
        this.board = board;
    }

    @Override
    String describe() {
        return "/dev/nvgpu/igpu0/ctrl";
    }

    @Override
    int answer(Ioctl request, MemorySegment struct, long argument) {
        if (request == CtrlAbi.GET_CHARACTERISTICS) {
            return characteristics(struct);
        }
        if (request == CtrlAbi.NUM_VSMS) {
            Record.set(NumVsms.NUM_VSMS, struct, board.options().multiprocessors());
            return 0;
        }
        if (request == CtrlAbi.ALLOC_AS) {
            return allocateAddressSpace(struct);
        }
        if (request == CtrlAbi.OPEN_TSG) {
            if (Record.get(OpenTsg.SHARE_TOKEN, struct) != 0 || Record.get(OpenTsg.FLAGS, struct) != 0) {
                return -EINVAL;
            }
            return opened(board.newFd(new Group(board)), OpenTsg.TSG_FD, struct);
        }
        if (request == CtrlAbi.OPEN_CHANNEL) {
            if ((int) Record.get(OpenChannel.CHANNEL_FD, struct) != GRAPHICS) {
                return -EINVAL;
            }
            int token = board.takeChannel();
            if (token < 0) {
                return -ENOMEM;
            }
            EmulatedChannel channel = new EmulatedChannel(board, token);
            int fd = board.newFd(channel);
            if (fd < 0) {
                board.giveChannel(token);
            }
            return opened(fd, OpenChannel.CHANNEL_FD, struct);
        }
        if (request == CtrlAbi.GET_GPU_TIME) {
            Record.set(GetGpuTime.GPU_TIMESTAMP, struct, board.gpu().clock());
            return 0;
        }
        if (request == CtrlAbi.ZCULL_GET_CTX_SIZE) {
            struct.set(ValueLayout.JAVA_INT_UNALIGNED, 0, 0x10000);
            return 0;
        }
        return -ENOTTY;
    }

    private static int opened(int fd, Struct.Field field, MemorySegment struct) {
        if (fd >= 0) {
            Record.set(field, struct, fd);
        }
        return Math.min(fd, 0);
    }

    private int characteristics(MemorySegment struct) {
        long size = Record.get(GetCharacteristics.GPU_CHARACTERISTICS_BUF_SIZE, struct);
        long address = Record.get(GetCharacteristics.GPU_CHARACTERISTICS_BUF_ADDR, struct);
        if (size > 0 && address == 0) {
            return -EFAULT;
        }
        int all = Characteristics.STRUCT.sizeBytes();
        MemorySegment facts = MemorySegment.ofArray(new byte[all]);
        EmulatorOptions options = board.options();
        Record.set(Characteristics.ARCH, facts, 0x170);
        Record.set(Characteristics.IMPL, facts, 0xB);
        Record.set(Characteristics.SM_ARCH_SM_VERSION, facts, 0x0807);
        Record.set(Characteristics.SM_ARCH_SPA_VERSION, facts, 0x0806);
        Record.set(Characteristics.SM_ARCH_WARP_COUNT, facts, 48);
        Record.set(Characteristics.COMPUTE_CLASS, facts, options.computeClass());
        Record.set(Characteristics.GPFIFO_CLASS, facts, 0xC76F);
        Record.set(Characteristics.DMA_COPY_CLASS, facts, 0xC7B5);
        Record.set(Characteristics.FLAGS, facts, options.flags());
        Record.set(Characteristics.GPU_VA_BIT_COUNT, facts, 40);
        Record.set(Characteristics.PDE_COVERAGE_BIT_COUNT, facts, 47);
        Record.set(Characteristics.L2_CACHE_SIZE, facts, 4 << 20);
        Record.set(Characteristics.MAX_FREQ, facts, 1_300_500_000L);
        byte[] name = "ga10b".getBytes(StandardCharsets.US_ASCII);
        MemorySegment.copy(name, 0, facts, ValueLayout.JAVA_BYTE, Characteristics.CHIPNAME.offset(), name.length);
        long copied = Math.min(Math.max(0, size), all);
        if (copied > 0) {
            MemorySegment.ofAddress(address).reinterpret(copied).copyFrom(facts.asSlice(0, copied));
        }
        Record.set(GetCharacteristics.GPU_CHARACTERISTICS_BUF_SIZE, struct, all);
        return 0;
    }

    private int allocateAddressSpace(MemorySegment struct) {
        long start = Record.get(AllocAs.VA_RANGE_START, struct);
        long end = Record.get(AllocAs.VA_RANGE_END, struct);
        boolean wrong = start <= 0
                || end <= start
                || (start | end) % RANGE_UNIT != 0
                || Record.get(AllocAs.VA_RANGE_SPLIT, struct) != 0
                || Record.get(AllocAs.BIG_PAGE_SIZE, struct) != 0
                || Record.get(AllocAs.FLAGS, struct) != UNIFIED_VA;
        if (wrong) {
            return -EINVAL;
        }
        if (end > 1L << 49) {
            return -ENOMEM;
        }
        return opened(board.newFd(new AddressSpace(board, start, end)), AllocAs.AS_FD, struct);
    }

    @Override
    long mmap(long length, int flags, long offset) {
        if (offset != 0 || length > DOORBELL_BYTES) {
            return -EINVAL;
        }
        if (mapped) {
            return -EBUSY;
        }
        mapped = true;
        long address = board.doorbell().address();
        board.mapped(address, length, () -> mapped = false);
        return address;
    }

    @Override
    void released() {
        // What came from it lives on.
    }
}
