package dev.tenon.backend.nv.tegra.abi;

import dev.tenon.backend.nv.tegra.abi.Struct.Field;
import java.util.List;

/// Requests and structs of a channel.
public final class ChannelAbi {
    /// `NVGPU_IOCTL_CHANNEL_SET_NVMAP_FD`
    public static final Ioctl SET_NVMAP_FD = new Ioctl("NVGPU_IOCTL_CHANNEL_SET_NVMAP_FD", 1, 4, 'H', 5);
    /// `NVGPU_IOCTL_CHANNEL_GET_TIMEDOUT`
    public static final Ioctl GET_TIMEDOUT = new Ioctl("NVGPU_IOCTL_CHANNEL_GET_TIMEDOUT", 2, 4, 'H', 12);
    /// `NVGPU_IOCTL_CHANNEL_SET_TIMEOUT_EX`
    public static final Ioctl SET_TIMEOUT_EX = new Ioctl("NVGPU_IOCTL_CHANNEL_SET_TIMEOUT_EX", 3, 8, 'H', 18);
    /// `NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO`
    public static final Ioctl SUBMIT_GPFIFO = new Ioctl("NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO", 3, 24, 'H', 107);
    /// `NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX`
    public static final Ioctl ALLOC_OBJ_CTX = new Ioctl("NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX", 3, 16, 'H', 108);
    /// `NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER`
    public static final Ioctl SET_ERROR_NOTIFIER = new Ioctl("NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER", 3, 24, 'H', 111);
    /// `NVGPU_IOCTL_CHANNEL_ENABLE`
    public static final Ioctl ENABLE = new Ioctl("NVGPU_IOCTL_CHANNEL_ENABLE", 0, 0, 'H', 113);
    /// `NVGPU_IOCTL_CHANNEL_DISABLE`
    public static final Ioctl DISABLE = new Ioctl("NVGPU_IOCTL_CHANNEL_DISABLE", 0, 0, 'H', 114);
    /// `NVGPU_IOCTL_CHANNEL_PREEMPT`
    public static final Ioctl PREEMPT = new Ioctl("NVGPU_IOCTL_CHANNEL_PREEMPT", 0, 0, 'H', 115);
    /// `NVGPU_IOCTL_CHANNEL_FORCE_RESET`
    public static final Ioctl FORCE_RESET = new Ioctl("NVGPU_IOCTL_CHANNEL_FORCE_RESET", 0, 0, 'H', 116);
    /// `NVGPU_IOCTL_CHANNEL_WDT`
    public static final Ioctl WDT = new Ioctl("NVGPU_IOCTL_CHANNEL_WDT", 1, 8, 'H', 119);
    /// `NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE`
    public static final Ioctl SET_PREEMPTION_MODE =
            new Ioctl("NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE", 1, 8, 'H', 122);
    /// `NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT`
    public static final Ioctl GET_USER_SYNCPOINT = new Ioctl("NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT", 2, 16, 'H', 126);
    /// `NVGPU_IOCTL_CHANNEL_SETUP_BIND`
    public static final Ioctl SETUP_BIND = new Ioctl("NVGPU_IOCTL_CHANNEL_SETUP_BIND", 3, 104, 'H', 128);

    /// The last request number that the driver knows.
    public static final int LAST_NR = 128;
    /// The largest struct of a request, in bytes.
    public static final int MAX_ARGUMENT_BYTES = 104;

    private ChannelAbi() {}

    /// {@return all requests}
    public static List<Ioctl> ioctls() {
        return List.of(
                SET_NVMAP_FD,
                GET_TIMEDOUT,
                SET_TIMEOUT_EX,
                SUBMIT_GPFIFO,
                ALLOC_OBJ_CTX,
                SET_ERROR_NOTIFIER,
                ENABLE,
                DISABLE,
                PREEMPT,
                FORCE_RESET,
                WDT,
                SET_PREEMPTION_MODE,
                GET_USER_SYNCPOINT,
                SETUP_BIND);
    }

    /// {@return all structs}
    public static List<Struct> structs() {
        return List.of(
                SetupBind.STRUCT,
                AllocObjCtx.STRUCT,
                Wdt.STRUCT,
                GetUserSyncpoint.STRUCT,
                SetErrorNotifier.STRUCT,
                Notification.STRUCT,
                PreemptionMode.STRUCT,
                SetNvmapFd.STRUCT,
                SubmitGpfifo.STRUCT,
                SetTimeoutEx.STRUCT,
                GetParam.STRUCT,
                Open.STRUCT,
                Gpfifo.STRUCT);
    }

    /// `nvgpu_channel_setup_bind_args`
    public static final class SetupBind {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_channel_setup_bind_args", 104);
        /// `num_gpfifo_entries`
        public static final Field NUM_GPFIFO_ENTRIES = STRUCT.field("num_gpfifo_entries", 0, 4);
        /// `num_inflight_jobs`
        public static final Field NUM_INFLIGHT_JOBS = STRUCT.field("num_inflight_jobs", 4, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 8, 4);
        /// `userd_dmabuf_fd`
        public static final Field USERD_DMABUF_FD = STRUCT.field("userd_dmabuf_fd", 12, 4);
        /// `gpfifo_dmabuf_fd`
        public static final Field GPFIFO_DMABUF_FD = STRUCT.field("gpfifo_dmabuf_fd", 16, 4);
        /// `work_submit_token`
        public static final Field WORK_SUBMIT_TOKEN = STRUCT.field("work_submit_token", 20, 4);
        /// `userd_dmabuf_offset`
        public static final Field USERD_DMABUF_OFFSET = STRUCT.field("userd_dmabuf_offset", 24, 8);
        /// `gpfifo_dmabuf_offset`
        public static final Field GPFIFO_DMABUF_OFFSET = STRUCT.field("gpfifo_dmabuf_offset", 32, 8);
        /// `gpfifo_gpu_va`
        public static final Field GPFIFO_GPU_VA = STRUCT.field("gpfifo_gpu_va", 40, 8);
        /// `userd_gpu_va`
        public static final Field USERD_GPU_VA = STRUCT.field("userd_gpu_va", 48, 8);
        /// `usermode_mmio_gpu_va`
        public static final Field USERMODE_MMIO_GPU_VA = STRUCT.field("usermode_mmio_gpu_va", 56, 8);
        /// `reserved`
        public static final Field RESERVED = STRUCT.field("reserved", 64, 36);

        private SetupBind() {}
    }

    /// `nvgpu_alloc_obj_ctx_args`
    public static final class AllocObjCtx {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_alloc_obj_ctx_args", 16);
        /// `class_num`
        public static final Field CLASS_NUM = STRUCT.field("class_num", 0, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 4, 4);
        /// `obj_id`
        public static final Field OBJ_ID = STRUCT.field("obj_id", 8, 8);

        private AllocObjCtx() {}
    }

    /// `nvgpu_channel_wdt_args`
    public static final class Wdt {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_channel_wdt_args", 8);
        /// `wdt_status`
        public static final Field WDT_STATUS = STRUCT.field("wdt_status", 0, 4);
        /// `timeout_ms`
        public static final Field TIMEOUT_MS = STRUCT.field("timeout_ms", 4, 4);

        private Wdt() {}
    }

    /// `nvgpu_get_user_syncpoint_args`
    public static final class GetUserSyncpoint {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_get_user_syncpoint_args", 16);
        /// `gpu_va`
        public static final Field GPU_VA = STRUCT.field("gpu_va", 0, 8);
        /// `syncpoint_id`
        public static final Field SYNCPOINT_ID = STRUCT.field("syncpoint_id", 8, 4);
        /// `syncpoint_max`
        public static final Field SYNCPOINT_MAX = STRUCT.field("syncpoint_max", 12, 4);

        private GetUserSyncpoint() {}
    }

    /// `nvgpu_set_error_notifier`
    public static final class SetErrorNotifier {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_set_error_notifier", 24);
        /// `offset`
        public static final Field OFFSET = STRUCT.field("offset", 0, 8);
        /// `size`
        public static final Field SIZE = STRUCT.field("size", 8, 8);
        /// `mem`
        public static final Field MEM = STRUCT.field("mem", 16, 4);
        /// `padding`
        public static final Field PADDING = STRUCT.field("padding", 20, 4);

        private SetErrorNotifier() {}
    }

    /// `nvgpu_notification`
    public static final class Notification {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_notification", 16);
        /// `time_stamp`
        public static final Field TIME_STAMP = STRUCT.field("time_stamp", 0, 8);
        /// `info32`
        public static final Field INFO32 = STRUCT.field("info32", 8, 4);
        /// `info16`
        public static final Field INFO16 = STRUCT.field("info16", 12, 2);
        /// `status`
        public static final Field STATUS = STRUCT.field("status", 14, 2);

        private Notification() {}
    }

    /// `nvgpu_preemption_mode_args`
    public static final class PreemptionMode {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_preemption_mode_args", 8);
        /// `graphics_preempt_mode`
        public static final Field GRAPHICS_PREEMPT_MODE = STRUCT.field("graphics_preempt_mode", 0, 4);
        /// `compute_preempt_mode`
        public static final Field COMPUTE_PREEMPT_MODE = STRUCT.field("compute_preempt_mode", 4, 4);

        private PreemptionMode() {}
    }

    /// `nvgpu_set_nvmap_fd_args`
    public static final class SetNvmapFd {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_set_nvmap_fd_args", 4);

        private SetNvmapFd() {}
    }

    /// `nvgpu_submit_gpfifo_args`
    public static final class SubmitGpfifo {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_submit_gpfifo_args", 24);

        private SubmitGpfifo() {}
    }

    /// `nvgpu_set_timeout_ex_args`
    public static final class SetTimeoutEx {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_set_timeout_ex_args", 8);

        private SetTimeoutEx() {}
    }

    /// `nvgpu_get_param_args`
    public static final class GetParam {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_get_param_args", 4);

        private GetParam() {}
    }

    /// `nvgpu_channel_open_args`
    public static final class Open {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_channel_open_args", 4);

        private Open() {}
    }

    /// `nvgpu_gpfifo`
    public static final class Gpfifo {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_gpfifo", 8);

        private Gpfifo() {}
    }
}
