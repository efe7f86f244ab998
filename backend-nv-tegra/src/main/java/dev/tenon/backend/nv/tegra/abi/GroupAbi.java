package dev.tenon.backend.nv.tegra.abi;

import dev.tenon.backend.nv.tegra.abi.Struct.Field;
import java.util.List;

/// Requests and structs of a time-slice group.
public final class GroupAbi {
    /// `NVGPU_TSG_IOCTL_BIND_CHANNEL`
    public static final Ioctl BIND_CHANNEL = new Ioctl("NVGPU_TSG_IOCTL_BIND_CHANNEL", 1, 4, 'T', 1);
    /// `NVGPU_TSG_IOCTL_UNBIND_CHANNEL`
    public static final Ioctl UNBIND_CHANNEL = new Ioctl("NVGPU_TSG_IOCTL_UNBIND_CHANNEL", 1, 4, 'T', 2);
    /// `NVGPU_IOCTL_TSG_EVENT_ID_CTRL`
    public static final Ioctl EVENT_ID_CTRL = new Ioctl("NVGPU_IOCTL_TSG_EVENT_ID_CTRL", 3, 16, 'T', 7);
    /// `NVGPU_IOCTL_TSG_SET_RUNLIST_INTERLEAVE`
    public static final Ioctl SET_RUNLIST_INTERLEAVE =
            new Ioctl("NVGPU_IOCTL_TSG_SET_RUNLIST_INTERLEAVE", 1, 8, 'T', 8);
    /// `NVGPU_IOCTL_TSG_SET_TIMESLICE`
    public static final Ioctl SET_TIMESLICE = new Ioctl("NVGPU_IOCTL_TSG_SET_TIMESLICE", 1, 8, 'T', 9);
    /// `NVGPU_IOCTL_TSG_GET_TIMESLICE`
    public static final Ioctl GET_TIMESLICE = new Ioctl("NVGPU_IOCTL_TSG_GET_TIMESLICE", 2, 8, 'T', 10);
    /// `NVGPU_TSG_IOCTL_BIND_CHANNEL_EX`
    public static final Ioctl BIND_CHANNEL_EX = new Ioctl("NVGPU_TSG_IOCTL_BIND_CHANNEL_EX", 3, 24, 'T', 11);
    /// `NVGPU_TSG_IOCTL_SET_L2_MAX_WAYS_EVICT_LAST`
    public static final Ioctl SET_L2_MAX_WAYS_EVICT_LAST =
            new Ioctl("NVGPU_TSG_IOCTL_SET_L2_MAX_WAYS_EVICT_LAST", 1, 8, 'T', 13);
    /// `NVGPU_TSG_IOCTL_READ_ALL_SM_ERROR_STATES`
    public static final Ioctl READ_ALL_SM_ERROR_STATES =
            new Ioctl("NVGPU_TSG_IOCTL_READ_ALL_SM_ERROR_STATES", 3, 24, 'T', 17);
    /// `NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT`
    public static final Ioctl CREATE_SUBCONTEXT = new Ioctl("NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT", 3, 16, 'T', 18);
    /// `NVGPU_TSG_IOCTL_DELETE_SUBCONTEXT`
    public static final Ioctl DELETE_SUBCONTEXT = new Ioctl("NVGPU_TSG_IOCTL_DELETE_SUBCONTEXT", 1, 8, 'T', 19);

    /// The last request number that the driver knows.
    public static final int LAST_NR = 21;
    /// The largest struct of a request, in bytes.
    public static final int MAX_ARGUMENT_BYTES = 32;

    private GroupAbi() {}

    /// {@return all requests}
    public static List<Ioctl> ioctls() {
        return List.of(
                BIND_CHANNEL,
                UNBIND_CHANNEL,
                EVENT_ID_CTRL,
                SET_RUNLIST_INTERLEAVE,
                SET_TIMESLICE,
                GET_TIMESLICE,
                BIND_CHANNEL_EX,
                SET_L2_MAX_WAYS_EVICT_LAST,
                READ_ALL_SM_ERROR_STATES,
                CREATE_SUBCONTEXT,
                DELETE_SUBCONTEXT);
    }

    /// {@return all structs}
    public static List<Struct> structs() {
        return List.of(
                BindChannelEx.STRUCT,
                CreateSubcontext.STRUCT,
                DeleteSubcontext.STRUCT,
                Timeslice.STRUCT,
                RunlistInterleave.STRUCT,
                EventIdCtrl.STRUCT,
                ReadAllSmErrorState.STRUCT,
                SmErrorStateRecord.STRUCT,
                L2MaxWaysEvictLast.STRUCT);
    }

    /// `nvgpu_tsg_bind_channel_ex_args`
    public static final class BindChannelEx {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_tsg_bind_channel_ex_args", 24);
        /// `channel_fd`
        public static final Field CHANNEL_FD = STRUCT.field("channel_fd", 0, 4);
        /// `subcontext_id`
        public static final Field SUBCONTEXT_ID = STRUCT.field("subcontext_id", 4, 4);
        /// `reserved`
        public static final Field RESERVED = STRUCT.field("reserved", 8, 16);

        private BindChannelEx() {}
    }

    /// `nvgpu_tsg_create_subcontext_args`
    public static final class CreateSubcontext {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_tsg_create_subcontext_args", 16);
        /// `type`
        public static final Field TYPE = STRUCT.field("type", 0, 4);
        /// `as_fd`
        public static final Field AS_FD = STRUCT.field("as_fd", 4, 4);
        /// `veid`
        public static final Field VEID = STRUCT.field("veid", 8, 4);
        /// `reserved`
        public static final Field RESERVED = STRUCT.field("reserved", 12, 4);

        private CreateSubcontext() {}
    }

    /// `nvgpu_tsg_delete_subcontext_args`
    public static final class DeleteSubcontext {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_tsg_delete_subcontext_args", 8);
        /// `veid`
        public static final Field VEID = STRUCT.field("veid", 0, 4);

        private DeleteSubcontext() {}
    }

    /// `nvgpu_timeslice_args`
    public static final class Timeslice {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_timeslice_args", 8);
        /// `timeslice_us`
        public static final Field TIMESLICE_US = STRUCT.field("timeslice_us", 0, 4);

        private Timeslice() {}
    }

    /// `nvgpu_runlist_interleave_args`
    public static final class RunlistInterleave {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_runlist_interleave_args", 8);

        private RunlistInterleave() {}
    }

    /// `nvgpu_event_id_ctrl_args`
    public static final class EventIdCtrl {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_event_id_ctrl_args", 16);
        /// `cmd`
        public static final Field CMD = STRUCT.field("cmd", 0, 4);
        /// `event_id`
        public static final Field EVENT_ID = STRUCT.field("event_id", 4, 4);
        /// `event_fd`
        public static final Field EVENT_FD = STRUCT.field("event_fd", 8, 4);

        private EventIdCtrl() {}
    }

    /// `nvgpu_tsg_read_all_sm_error_state_args`
    public static final class ReadAllSmErrorState {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_tsg_read_all_sm_error_state_args", 24);
        /// `num_sm`
        public static final Field NUM_SM = STRUCT.field("num_sm", 0, 4);
        /// `buffer_mem`
        public static final Field BUFFER_MEM = STRUCT.field("buffer_mem", 8, 8);
        /// `buffer_size`
        public static final Field BUFFER_SIZE = STRUCT.field("buffer_size", 16, 8);

        private ReadAllSmErrorState() {}
    }

    /// `nvgpu_tsg_sm_error_state_record`
    public static final class SmErrorStateRecord {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_tsg_sm_error_state_record", 24);
        /// `global_esr`
        public static final Field GLOBAL_ESR = STRUCT.field("global_esr", 0, 4);
        /// `warp_esr`
        public static final Field WARP_ESR = STRUCT.field("warp_esr", 4, 4);
        /// `warp_esr_pc`
        public static final Field WARP_ESR_PC = STRUCT.field("warp_esr_pc", 8, 8);
        /// `global_esr_report_mask`
        public static final Field GLOBAL_ESR_REPORT_MASK = STRUCT.field("global_esr_report_mask", 16, 4);
        /// `warp_esr_report_mask`
        public static final Field WARP_ESR_REPORT_MASK = STRUCT.field("warp_esr_report_mask", 20, 4);

        private SmErrorStateRecord() {}
    }

    /// `nvgpu_tsg_l2_max_ways_evict_last_args`
    public static final class L2MaxWaysEvictLast {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_tsg_l2_max_ways_evict_last_args", 8);

        private L2MaxWaysEvictLast() {}
    }
}
