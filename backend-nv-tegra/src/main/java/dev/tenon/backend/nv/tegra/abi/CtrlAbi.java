package dev.tenon.backend.nv.tegra.abi;

import dev.tenon.backend.nv.tegra.abi.Struct.Field;
import java.util.List;

/// Requests and structs of `/dev/nvgpu/igpu0/ctrl`: what the GPU is, and where everything else
/// comes from.
public final class CtrlAbi {
    /// `NVGPU_GPU_IOCTL_GET_CHARACTERISTICS`
    public static final Ioctl GET_CHARACTERISTICS = new Ioctl("NVGPU_GPU_IOCTL_GET_CHARACTERISTICS", 3, 16, 'G', 5);
    /// `NVGPU_GPU_IOCTL_ALLOC_AS`
    public static final Ioctl ALLOC_AS = new Ioctl("NVGPU_GPU_IOCTL_ALLOC_AS", 3, 64, 'G', 8);
    /// `NVGPU_GPU_IOCTL_OPEN_TSG`
    public static final Ioctl OPEN_TSG = new Ioctl("NVGPU_GPU_IOCTL_OPEN_TSG", 3, 24, 'G', 9);
    /// `NVGPU_GPU_IOCTL_GET_TPC_MASKS`
    public static final Ioctl GET_TPC_MASKS = new Ioctl("NVGPU_GPU_IOCTL_GET_TPC_MASKS", 3, 16, 'G', 10);
    /// `NVGPU_GPU_IOCTL_OPEN_CHANNEL`
    public static final Ioctl OPEN_CHANNEL = new Ioctl("NVGPU_GPU_IOCTL_OPEN_CHANNEL", 3, 4, 'G', 11);
    /// `NVGPU_GPU_IOCTL_FLUSH_L2`
    public static final Ioctl FLUSH_L2 = new Ioctl("NVGPU_GPU_IOCTL_FLUSH_L2", 3, 5, 'G', 12);
    /// `NVGPU_GPU_IOCTL_NUM_VSMS`
    public static final Ioctl NUM_VSMS = new Ioctl("NVGPU_GPU_IOCTL_NUM_VSMS", 3, 8, 'G', 18);
    /// `NVGPU_GPU_IOCTL_GET_GPU_TIME`
    public static final Ioctl GET_GPU_TIME = new Ioctl("NVGPU_GPU_IOCTL_GET_GPU_TIME", 3, 16, 'G', 25);
    /// `NVGPU_GPU_IOCTL_GET_ENGINE_INFO`
    public static final Ioctl GET_ENGINE_INFO = new Ioctl("NVGPU_GPU_IOCTL_GET_ENGINE_INFO", 3, 16, 'G', 26);
    /// `NVGPU_GPU_IOCTL_GET_MEMORY_STATE`
    public static final Ioctl GET_MEMORY_STATE = new Ioctl("NVGPU_GPU_IOCTL_GET_MEMORY_STATE", 3, 40, 'G', 33);
    /// `NVGPU_GPU_IOCTL_REGISTER_BUFFER`
    public static final Ioctl REGISTER_BUFFER = new Ioctl("NVGPU_GPU_IOCTL_REGISTER_BUFFER", 3, 24, 'G', 41);
    /// `NVGPU_GPU_IOCTL_ZCULL_GET_CTX_SIZE`
    public static final Ioctl ZCULL_GET_CTX_SIZE = new Ioctl("NVGPU_GPU_IOCTL_ZCULL_GET_CTX_SIZE", 2, 4, 'G', 1);

    /// The last request number that the driver knows.
    public static final int LAST_NR = 44;
    /// The largest struct of a request, in bytes.
    public static final int MAX_ARGUMENT_BYTES = 264;

    private CtrlAbi() {}

    /// {@return all requests}
    public static List<Ioctl> ioctls() {
        return List.of(
                GET_CHARACTERISTICS,
                ALLOC_AS,
                OPEN_TSG,
                GET_TPC_MASKS,
                OPEN_CHANNEL,
                FLUSH_L2,
                NUM_VSMS,
                GET_GPU_TIME,
                GET_ENGINE_INFO,
                GET_MEMORY_STATE,
                REGISTER_BUFFER,
                ZCULL_GET_CTX_SIZE);
    }

    /// {@return all structs}
    public static List<Struct> structs() {
        return List.of(
                Characteristics.STRUCT,
                GetCharacteristics.STRUCT,
                AllocAs.STRUCT,
                OpenTsg.STRUCT,
                OpenChannel.STRUCT,
                RegisterBuffer.STRUCT,
                L2Fb.STRUCT,
                GetGpuTime.STRUCT,
                GetTpcMasks.STRUCT,
                NumVsms.STRUCT,
                GetEngineInfo.STRUCT,
                GetEngineInfoItem.STRUCT,
                GetMemoryState.STRUCT);
    }

    /// `nvgpu_gpu_characteristics`
    public static final class Characteristics {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_gpu_characteristics", 328);
        /// `arch`
        public static final Field ARCH = STRUCT.field("arch", 0, 4);
        /// `impl`
        public static final Field IMPL = STRUCT.field("impl", 4, 4);
        /// `rev`
        public static final Field REV = STRUCT.field("rev", 8, 4);
        /// `num_gpc`
        public static final Field NUM_GPC = STRUCT.field("num_gpc", 12, 4);
        /// `numa_domain_id`
        public static final Field NUMA_DOMAIN_ID = STRUCT.field("numa_domain_id", 16, 4);
        /// `L2_cache_size`
        public static final Field L2_CACHE_SIZE = STRUCT.field("L2_cache_size", 24, 8);
        /// `on_board_video_memory_size`
        public static final Field ON_BOARD_VIDEO_MEMORY_SIZE = STRUCT.field("on_board_video_memory_size", 32, 8);
        /// `num_tpc_per_gpc`
        public static final Field NUM_TPC_PER_GPC = STRUCT.field("num_tpc_per_gpc", 40, 4);
        /// `bus_type`
        public static final Field BUS_TYPE = STRUCT.field("bus_type", 44, 4);
        /// `big_page_size`
        public static final Field BIG_PAGE_SIZE = STRUCT.field("big_page_size", 48, 4);
        /// `compression_page_size`
        public static final Field COMPRESSION_PAGE_SIZE = STRUCT.field("compression_page_size", 52, 4);
        /// `pde_coverage_bit_count`
        public static final Field PDE_COVERAGE_BIT_COUNT = STRUCT.field("pde_coverage_bit_count", 56, 4);
        /// `available_big_page_sizes`
        public static final Field AVAILABLE_BIG_PAGE_SIZES = STRUCT.field("available_big_page_sizes", 60, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 64, 8);
        /// `twod_class`
        public static final Field TWOD_CLASS = STRUCT.field("twod_class", 72, 4);
        /// `threed_class`
        public static final Field THREED_CLASS = STRUCT.field("threed_class", 76, 4);
        /// `compute_class`
        public static final Field COMPUTE_CLASS = STRUCT.field("compute_class", 80, 4);
        /// `gpfifo_class`
        public static final Field GPFIFO_CLASS = STRUCT.field("gpfifo_class", 84, 4);
        /// `inline_to_memory_class`
        public static final Field INLINE_TO_MEMORY_CLASS = STRUCT.field("inline_to_memory_class", 88, 4);
        /// `dma_copy_class`
        public static final Field DMA_COPY_CLASS = STRUCT.field("dma_copy_class", 92, 4);
        /// `gpc_mask`
        public static final Field GPC_MASK = STRUCT.field("gpc_mask", 96, 4);
        /// `sm_arch_sm_version`
        public static final Field SM_ARCH_SM_VERSION = STRUCT.field("sm_arch_sm_version", 100, 4);
        /// `sm_arch_spa_version`
        public static final Field SM_ARCH_SPA_VERSION = STRUCT.field("sm_arch_spa_version", 104, 4);
        /// `sm_arch_warp_count`
        public static final Field SM_ARCH_WARP_COUNT = STRUCT.field("sm_arch_warp_count", 108, 4);
        /// `gpu_ioctl_nr_last`
        public static final Field GPU_IOCTL_NR_LAST = STRUCT.field("gpu_ioctl_nr_last", 112, 2);
        /// `tsg_ioctl_nr_last`
        public static final Field TSG_IOCTL_NR_LAST = STRUCT.field("tsg_ioctl_nr_last", 114, 2);
        /// `dbg_gpu_ioctl_nr_last`
        public static final Field DBG_GPU_IOCTL_NR_LAST = STRUCT.field("dbg_gpu_ioctl_nr_last", 116, 2);
        /// `ioctl_channel_nr_last`
        public static final Field IOCTL_CHANNEL_NR_LAST = STRUCT.field("ioctl_channel_nr_last", 118, 2);
        /// `as_ioctl_nr_last`
        public static final Field AS_IOCTL_NR_LAST = STRUCT.field("as_ioctl_nr_last", 120, 2);
        /// `gpu_va_bit_count`
        public static final Field GPU_VA_BIT_COUNT = STRUCT.field("gpu_va_bit_count", 122, 1);
        /// `max_fbps_count`
        public static final Field MAX_FBPS_COUNT = STRUCT.field("max_fbps_count", 124, 4);
        /// `max_gpc_count`
        public static final Field MAX_GPC_COUNT = STRUCT.field("max_gpc_count", 148, 4);
        /// `chipname`
        public static final Field CHIPNAME = STRUCT.field("chipname", 160, 8);
        /// `gr_compbit_store_base_hw`
        public static final Field GR_COMPBIT_STORE_BASE_HW = STRUCT.field("gr_compbit_store_base_hw", 168, 8);
        /// `num_ltc`
        public static final Field NUM_LTC = STRUCT.field("num_ltc", 180, 4);
        /// `map_buffer_batch_limit`
        public static final Field MAP_BUFFER_BATCH_LIMIT = STRUCT.field("map_buffer_batch_limit", 196, 4);
        /// `max_freq`
        public static final Field MAX_FREQ = STRUCT.field("max_freq", 200, 8);
        /// `graphics_preemption_mode_flags`
        public static final Field GRAPHICS_PREEMPTION_MODE_FLAGS =
                STRUCT.field("graphics_preemption_mode_flags", 208, 4);
        /// `compute_preemption_mode_flags`
        public static final Field COMPUTE_PREEMPTION_MODE_FLAGS = STRUCT.field("compute_preemption_mode_flags", 212, 4);
        /// `default_graphics_preempt_mode`
        public static final Field DEFAULT_GRAPHICS_PREEMPT_MODE = STRUCT.field("default_graphics_preempt_mode", 216, 4);
        /// `default_compute_preempt_mode`
        public static final Field DEFAULT_COMPUTE_PREEMPT_MODE = STRUCT.field("default_compute_preempt_mode", 220, 4);
        /// `local_video_memory_size`
        public static final Field LOCAL_VIDEO_MEMORY_SIZE = STRUCT.field("local_video_memory_size", 224, 8);
        /// `reg_ops_limit`
        public static final Field REG_OPS_LIMIT = STRUCT.field("reg_ops_limit", 248, 4);
        /// `event_ioctl_nr_last`
        public static final Field EVENT_IOCTL_NR_LAST = STRUCT.field("event_ioctl_nr_last", 256, 2);
        /// `max_css_buffer_size`
        public static final Field MAX_CSS_BUFFER_SIZE = STRUCT.field("max_css_buffer_size", 260, 4);
        /// `ctxsw_ioctl_nr_last`
        public static final Field CTXSW_IOCTL_NR_LAST = STRUCT.field("ctxsw_ioctl_nr_last", 264, 2);
        /// `prof_ioctl_nr_last`
        public static final Field PROF_IOCTL_NR_LAST = STRUCT.field("prof_ioctl_nr_last", 266, 2);
        /// `nvs_ioctl_nr_last`
        public static final Field NVS_IOCTL_NR_LAST = STRUCT.field("nvs_ioctl_nr_last", 268, 2);
        /// `max_ctxsw_ring_buffer_size`
        public static final Field MAX_CTXSW_RING_BUFFER_SIZE = STRUCT.field("max_ctxsw_ring_buffer_size", 272, 4);
        /// `per_device_identifier`
        public static final Field PER_DEVICE_IDENTIFIER = STRUCT.field("per_device_identifier", 280, 8);
        /// `num_ppc_per_gpc`
        public static final Field NUM_PPC_PER_GPC = STRUCT.field("num_ppc_per_gpc", 288, 4);
        /// `max_veid_count_per_tsg`
        public static final Field MAX_VEID_COUNT_PER_TSG = STRUCT.field("max_veid_count_per_tsg", 292, 4);
        /// `gpu_instance_id`
        public static final Field GPU_INSTANCE_ID = STRUCT.field("gpu_instance_id", 300, 4);
        /// `gr_instance_id`
        public static final Field GR_INSTANCE_ID = STRUCT.field("gr_instance_id", 304, 4);
        /// `max_gpfifo_entries`
        public static final Field MAX_GPFIFO_ENTRIES = STRUCT.field("max_gpfifo_entries", 308, 4);
        /// `max_dbg_tsg_timeslice`
        public static final Field MAX_DBG_TSG_TIMESLICE = STRUCT.field("max_dbg_tsg_timeslice", 312, 4);
        /// `device_instance_id`
        public static final Field DEVICE_INSTANCE_ID = STRUCT.field("device_instance_id", 320, 8);

        private Characteristics() {}
    }

    /// `nvgpu_gpu_get_characteristics`
    public static final class GetCharacteristics {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_gpu_get_characteristics", 16);
        /// `gpu_characteristics_buf_size`
        public static final Field GPU_CHARACTERISTICS_BUF_SIZE = STRUCT.field("gpu_characteristics_buf_size", 0, 8);
        /// `gpu_characteristics_buf_addr`
        public static final Field GPU_CHARACTERISTICS_BUF_ADDR = STRUCT.field("gpu_characteristics_buf_addr", 8, 8);

        private GetCharacteristics() {}
    }

    /// `nvgpu_alloc_as_args`
    public static final class AllocAs {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_alloc_as_args", 64);
        /// `big_page_size`
        public static final Field BIG_PAGE_SIZE = STRUCT.field("big_page_size", 0, 4);
        /// `as_fd`
        public static final Field AS_FD = STRUCT.field("as_fd", 4, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 8, 4);
        /// `reserved`
        public static final Field RESERVED = STRUCT.field("reserved", 12, 4);
        /// `va_range_start`
        public static final Field VA_RANGE_START = STRUCT.field("va_range_start", 16, 8);
        /// `va_range_end`
        public static final Field VA_RANGE_END = STRUCT.field("va_range_end", 24, 8);
        /// `va_range_split`
        public static final Field VA_RANGE_SPLIT = STRUCT.field("va_range_split", 32, 8);
        /// `padding`
        public static final Field PADDING = STRUCT.field("padding", 40, 24);

        private AllocAs() {}
    }

    /// `nvgpu_gpu_open_tsg_args`
    public static final class OpenTsg {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_gpu_open_tsg_args", 24);
        /// `tsg_fd`
        public static final Field TSG_FD = STRUCT.field("tsg_fd", 0, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 4, 4);
        /// `source_device_instance_id`
        public static final Field SOURCE_DEVICE_INSTANCE_ID = STRUCT.field("source_device_instance_id", 8, 8);
        /// `share_token`
        public static final Field SHARE_TOKEN = STRUCT.field("share_token", 16, 8);

        private OpenTsg() {}
    }

    /// `nvgpu_gpu_open_channel_args`
    public static final class OpenChannel {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_gpu_open_channel_args", 4);
        /// `channel_fd`
        public static final Field CHANNEL_FD = STRUCT.field("channel_fd", 0, 4);

        private OpenChannel() {}
    }

    /// `nvgpu_gpu_register_buffer_args`
    public static final class RegisterBuffer {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_gpu_register_buffer_args", 24);
        /// `dmabuf_fd`
        public static final Field DMABUF_FD = STRUCT.field("dmabuf_fd", 0, 4);
        /// `comptags_alloc_control`
        public static final Field COMPTAGS_ALLOC_CONTROL = STRUCT.field("comptags_alloc_control", 4, 1);
        /// `metadata_addr`
        public static final Field METADATA_ADDR = STRUCT.field("metadata_addr", 8, 8);
        /// `metadata_size`
        public static final Field METADATA_SIZE = STRUCT.field("metadata_size", 16, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 20, 4);

        private RegisterBuffer() {}
    }

    /// `nvgpu_gpu_l2_fb_args`
    public static final class L2Fb {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_gpu_l2_fb_args", 5);

        private L2Fb() {}
    }

    /// `nvgpu_gpu_get_gpu_time_args`
    public static final class GetGpuTime {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_gpu_get_gpu_time_args", 16);
        /// `gpu_timestamp`
        public static final Field GPU_TIMESTAMP = STRUCT.field("gpu_timestamp", 0, 8);

        private GetGpuTime() {}
    }

    /// `nvgpu_gpu_get_tpc_masks_args`
    public static final class GetTpcMasks {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_gpu_get_tpc_masks_args", 16);
        /// `mask_buf_size`
        public static final Field MASK_BUF_SIZE = STRUCT.field("mask_buf_size", 0, 4);
        /// `mask_buf_addr`
        public static final Field MASK_BUF_ADDR = STRUCT.field("mask_buf_addr", 8, 8);

        private GetTpcMasks() {}
    }

    /// `nvgpu_gpu_num_vsms`
    public static final class NumVsms {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_gpu_num_vsms", 8);
        /// `num_vsms`
        public static final Field NUM_VSMS = STRUCT.field("num_vsms", 0, 4);

        private NumVsms() {}
    }

    /// `nvgpu_gpu_get_engine_info_args`
    public static final class GetEngineInfo {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_gpu_get_engine_info_args", 16);
        /// `engine_info_buf_size`
        public static final Field ENGINE_INFO_BUF_SIZE = STRUCT.field("engine_info_buf_size", 0, 4);
        /// `engine_info_buf_addr`
        public static final Field ENGINE_INFO_BUF_ADDR = STRUCT.field("engine_info_buf_addr", 8, 8);

        private GetEngineInfo() {}
    }

    /// `nvgpu_gpu_get_engine_info_item`
    public static final class GetEngineInfoItem {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_gpu_get_engine_info_item", 16);
        /// `engine_id`
        public static final Field ENGINE_ID = STRUCT.field("engine_id", 0, 4);
        /// `engine_instance`
        public static final Field ENGINE_INSTANCE = STRUCT.field("engine_instance", 4, 4);
        /// `runlist_id`
        public static final Field RUNLIST_ID = STRUCT.field("runlist_id", 8, 4);

        private GetEngineInfoItem() {}
    }

    /// `nvgpu_gpu_get_memory_state_args`
    public static final class GetMemoryState {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_gpu_get_memory_state_args", 40);

        private GetMemoryState() {}
    }
}
