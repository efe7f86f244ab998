package dev.tenon.backend.nv.tegra.abi;

import dev.tenon.backend.nv.tegra.abi.Struct.Field;
import java.util.List;

/// Requests and structs of an address space.
public final class AddressSpaceAbi {
    /// `NVGPU_AS_IOCTL_BIND_CHANNEL`
    public static final Ioctl BIND_CHANNEL = new Ioctl("NVGPU_AS_IOCTL_BIND_CHANNEL", 3, 4, 'A', 1);
    /// `NVGPU_AS_IOCTL_FREE_SPACE`
    public static final Ioctl FREE_SPACE = new Ioctl("NVGPU_AS_IOCTL_FREE_SPACE", 3, 32, 'A', 3);
    /// `NVGPU_AS_IOCTL_UNMAP_BUFFER`
    public static final Ioctl UNMAP_BUFFER = new Ioctl("NVGPU_AS_IOCTL_UNMAP_BUFFER", 3, 8, 'A', 5);
    /// `NVGPU_AS_IOCTL_ALLOC_SPACE`
    public static final Ioctl ALLOC_SPACE = new Ioctl("NVGPU_AS_IOCTL_ALLOC_SPACE", 3, 32, 'A', 6);
    /// `NVGPU_AS_IOCTL_MAP_BUFFER_EX`
    public static final Ioctl MAP_BUFFER_EX = new Ioctl("NVGPU_AS_IOCTL_MAP_BUFFER_EX", 3, 40, 'A', 7);
    /// `NVGPU_AS_IOCTL_GET_VA_REGIONS`
    public static final Ioctl GET_VA_REGIONS = new Ioctl("NVGPU_AS_IOCTL_GET_VA_REGIONS", 3, 16, 'A', 8);
    /// `NVGPU_AS_IOCTL_MAP_BUFFER_BATCH`
    public static final Ioctl MAP_BUFFER_BATCH = new Ioctl("NVGPU_AS_IOCTL_MAP_BUFFER_BATCH", 3, 32, 'A', 11);
    /// `NVGPU_AS_IOCTL_GET_SYNC_RO_MAP`
    public static final Ioctl GET_SYNC_RO_MAP = new Ioctl("NVGPU_AS_IOCTL_GET_SYNC_RO_MAP", 2, 16, 'A', 12);

    /// The last request number that the driver knows.
    public static final int LAST_NR = 14;
    /// The largest struct of a request, in bytes.
    public static final int MAX_ARGUMENT_BYTES = 40;

    private AddressSpaceAbi() {}

    /// {@return all requests}
    public static List<Ioctl> ioctls() {
        return List.of(
                BIND_CHANNEL,
                FREE_SPACE,
                UNMAP_BUFFER,
                ALLOC_SPACE,
                MAP_BUFFER_EX,
                GET_VA_REGIONS,
                MAP_BUFFER_BATCH,
                GET_SYNC_RO_MAP);
    }

    /// {@return all structs}
    public static List<Struct> structs() {
        return List.of(
                BindChannel.STRUCT,
                AllocSpace.STRUCT,
                FreeSpace.STRUCT,
                MapBufferEx.STRUCT,
                UnmapBuffer.STRUCT,
                VaRegion.STRUCT,
                GetVaRegions.STRUCT,
                MapBufferBatch.STRUCT,
                GetSyncRoMap.STRUCT);
    }

    /// `nvgpu_as_bind_channel_args`
    public static final class BindChannel {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_as_bind_channel_args", 4);
        /// `channel_fd`
        public static final Field CHANNEL_FD = STRUCT.field("channel_fd", 0, 4);

        private BindChannel() {}
    }

    /// `nvgpu_as_alloc_space_args`
    public static final class AllocSpace {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_as_alloc_space_args", 32);
        /// `pages`
        public static final Field PAGES = STRUCT.field("pages", 0, 8);
        /// `page_size`
        public static final Field PAGE_SIZE = STRUCT.field("page_size", 8, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 12, 4);
        /// `o_a`
        public static final Field O_A = STRUCT.field("o_a", 16, 8);
        /// `padding`
        public static final Field PADDING = STRUCT.field("padding", 24, 8);

        private AllocSpace() {}
    }

    /// `nvgpu_as_free_space_args`
    public static final class FreeSpace {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_as_free_space_args", 32);
        /// `offset`
        public static final Field OFFSET = STRUCT.field("offset", 0, 8);
        /// `pages`
        public static final Field PAGES = STRUCT.field("pages", 8, 8);
        /// `page_size`
        public static final Field PAGE_SIZE = STRUCT.field("page_size", 16, 4);
        /// `padding`
        public static final Field PADDING = STRUCT.field("padding", 20, 12);

        private FreeSpace() {}
    }

    /// `nvgpu_as_map_buffer_ex_args`
    public static final class MapBufferEx {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_as_map_buffer_ex_args", 40);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 0, 4);
        /// `compr_kind`
        public static final Field COMPR_KIND = STRUCT.field("compr_kind", 4, 2);
        /// `incompr_kind`
        public static final Field INCOMPR_KIND = STRUCT.field("incompr_kind", 6, 2);
        /// `dmabuf_fd`
        public static final Field DMABUF_FD = STRUCT.field("dmabuf_fd", 8, 4);
        /// `page_size`
        public static final Field PAGE_SIZE = STRUCT.field("page_size", 12, 4);
        /// `buffer_offset`
        public static final Field BUFFER_OFFSET = STRUCT.field("buffer_offset", 16, 8);
        /// `mapping_size`
        public static final Field MAPPING_SIZE = STRUCT.field("mapping_size", 24, 8);
        /// `offset`
        public static final Field OFFSET = STRUCT.field("offset", 32, 8);

        private MapBufferEx() {}
    }

    /// `nvgpu_as_unmap_buffer_args`
    public static final class UnmapBuffer {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_as_unmap_buffer_args", 8);
        /// `offset`
        public static final Field OFFSET = STRUCT.field("offset", 0, 8);

        private UnmapBuffer() {}
    }

    /// `nvgpu_as_va_region`
    public static final class VaRegion {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_as_va_region", 24);
        /// `offset`
        public static final Field OFFSET = STRUCT.field("offset", 0, 8);
        /// `page_size`
        public static final Field PAGE_SIZE = STRUCT.field("page_size", 8, 4);
        /// `reserved`
        public static final Field RESERVED = STRUCT.field("reserved", 12, 4);
        /// `pages`
        public static final Field PAGES = STRUCT.field("pages", 16, 8);

        private VaRegion() {}
    }

    /// `nvgpu_as_get_va_regions_args`
    public static final class GetVaRegions {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_as_get_va_regions_args", 16);
        /// `buf_addr`
        public static final Field BUF_ADDR = STRUCT.field("buf_addr", 0, 8);
        /// `buf_size`
        public static final Field BUF_SIZE = STRUCT.field("buf_size", 8, 4);
        /// `reserved`
        public static final Field RESERVED = STRUCT.field("reserved", 12, 4);

        private GetVaRegions() {}
    }

    /// `nvgpu_as_map_buffer_batch_args`
    public static final class MapBufferBatch {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_as_map_buffer_batch_args", 32);
        /// `unmaps`
        public static final Field UNMAPS = STRUCT.field("unmaps", 0, 8);
        /// `maps`
        public static final Field MAPS = STRUCT.field("maps", 8, 8);
        /// `num_unmaps`
        public static final Field NUM_UNMAPS = STRUCT.field("num_unmaps", 16, 4);
        /// `num_maps`
        public static final Field NUM_MAPS = STRUCT.field("num_maps", 20, 4);
        /// `reserved`
        public static final Field RESERVED = STRUCT.field("reserved", 24, 8);

        private MapBufferBatch() {}
    }

    /// `nvgpu_as_get_sync_ro_map_args`
    public static final class GetSyncRoMap {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvgpu_as_get_sync_ro_map_args", 16);
        /// `base_gpuva`
        public static final Field BASE_GPUVA = STRUCT.field("base_gpuva", 0, 8);
        /// `sync_size`
        public static final Field SYNC_SIZE = STRUCT.field("sync_size", 8, 4);
        /// `num_syncpoints`
        public static final Field NUM_SYNCPOINTS = STRUCT.field("num_syncpoints", 12, 4);

        private GetSyncRoMap() {}
    }
}
