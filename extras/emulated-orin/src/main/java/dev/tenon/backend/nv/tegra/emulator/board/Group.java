package dev.tenon.backend.nv.tegra.emulator.board;

import static dev.tenon.backend.nv.tegra.sys.Linux.EINVAL;
import static dev.tenon.backend.nv.tegra.sys.Linux.ENOSPC;
import static dev.tenon.backend.nv.tegra.sys.Linux.ENOTTY;

import dev.tenon.backend.nv.tegra.abi.GroupAbi;
import dev.tenon.backend.nv.tegra.abi.GroupAbi.BindChannelEx;
import dev.tenon.backend.nv.tegra.abi.GroupAbi.CreateSubcontext;
import dev.tenon.backend.nv.tegra.abi.GroupAbi.ReadAllSmErrorState;
import dev.tenon.backend.nv.tegra.abi.GroupAbi.SmErrorStateRecord;
import dev.tenon.backend.nv.tegra.abi.Ioctl;
import dev.tenon.backend.nv.tegra.abi.Record;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/// A time-slice group: channels that are scheduled together, and subcontexts.
public final class Group extends EmulatedFile {
    private static final int SYNC = 0;
    private static final int ASYNC = 1;
    private static final int MAX_SUBCONTEXTS = 8;

    private final EmulatedBoard board;
    private final Map<Integer, AddressSpace> subcontexts = new HashMap<>();
    /// Whether the context of the graphics engine has been made.
    boolean hasContext;
    /// Error state of the first multiprocessor.
    long globalError;
    long warpError;

    Group(EmulatedBoard board) {
        super('T', GroupAbi.LAST_NR, GroupAbi.MAX_ARGUMENT_BYTES, true, GroupAbi.ioctls());
        this.board = board;
    }

    @Override
    String describe() {
        return "group of channels";
    }

    @Override
    int answer(Ioctl request, MemorySegment struct, long argument) {
        if (request == GroupAbi.CREATE_SUBCONTEXT) {
            return createSubcontext(struct);
        }
        if (request == GroupAbi.BIND_CHANNEL_EX) {
            return bind(struct);
        }
        if (request == GroupAbi.READ_ALL_SM_ERROR_STATES) {
            return readErrors(struct);
        }
        return -ENOTTY;
    }

    private int createSubcontext(MemorySegment struct) {
        long type = Record.get(CreateSubcontext.TYPE, struct);
        EmulatedFile file = board.file((int) Record.get(CreateSubcontext.AS_FD, struct));
        if (type != SYNC && type != ASYNC || !(file instanceof AddressSpace addressSpace)) {
            return -EINVAL;
        }
        int id = type == SYNC ? 0 : 1;
        while (subcontexts.containsKey(id) && type == ASYNC) {
            id++;
        }
        if (id >= MAX_SUBCONTEXTS || subcontexts.containsKey(id)) {
            return -ENOSPC;
        }
        subcontexts.put(id, addressSpace);
        Record.set(CreateSubcontext.VEID, struct, id);
        return 0;
    }

    private int bind(MemorySegment struct) {
        AddressSpace wanted = subcontexts.get((int) Record.get(BindChannelEx.SUBCONTEXT_ID, struct));
        if (!(board.file((int) Record.get(BindChannelEx.CHANNEL_FD, struct)) instanceof EmulatedChannel channel)
                || wanted == null
                || channel.addressSpace != wanted
                || channel.group != null) {
            return -EINVAL;
        }
        channel.group = this;
        return 0;
    }

    private int readErrors(MemorySegment struct) {
        long count = Record.get(ReadAllSmErrorState.NUM_SM, struct);
        long size = Record.get(ReadAllSmErrorState.BUFFER_SIZE, struct);
        int each = SmErrorStateRecord.STRUCT.sizeBytes();
        if (count < 0 || count > board.options().multiprocessors() || size < count * each) {
            return -EINVAL;
        }
        MemorySegment states = MemorySegment.ofAddress(Record.get(ReadAllSmErrorState.BUFFER_MEM, struct))
                .reinterpret(size)
                .fill((byte) 0);
        if (count > 0) {
            Record.set(SmErrorStateRecord.GLOBAL_ESR, states, globalError);
            Record.set(SmErrorStateRecord.WARP_ESR, states, warpError);
        }
        return 0;
    }

    @Override
    void released() {
        // Channels in it live on until they are closed.
    }
}
