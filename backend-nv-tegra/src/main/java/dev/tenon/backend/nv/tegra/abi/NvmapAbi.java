package dev.tenon.backend.nv.tegra.abi;

import dev.tenon.backend.nv.tegra.abi.Struct.Field;
import java.util.List;

/// Requests and structs of `/dev/nvmap`: memory.
public final class NvmapAbi {
    /// `NVMAP_IOC_CREATE`
    public static final Ioctl CREATE = new Ioctl("NVMAP_IOC_CREATE", 3, 8, 'N', 0);
    /// `NVMAP_IOC_CREATE_64`
    public static final Ioctl CREATE_64 = new Ioctl("NVMAP_IOC_CREATE_64", 3, 8, 'N', 1);
    /// `NVMAP_IOC_ALLOC`
    public static final Ioctl ALLOC = new Ioctl("NVMAP_IOC_ALLOC", 1, 20, 'N', 3);
    /// `NVMAP_IOC_FREE`
    public static final Ioctl FREE = new Ioctl("NVMAP_IOC_FREE", 0, 0, 'N', 4);
    /// `NVMAP_IOC_WRITE`
    public static final Ioctl WRITE = new Ioctl("NVMAP_IOC_WRITE", 1, 56, 'N', 6);
    /// `NVMAP_IOC_READ`
    public static final Ioctl READ = new Ioctl("NVMAP_IOC_READ", 1, 56, 'N', 7);
    /// `NVMAP_IOC_PARAM`
    public static final Ioctl PARAM = new Ioctl("NVMAP_IOC_PARAM", 3, 16, 'N', 8);
    /// `NVMAP_IOC_CACHE`
    public static final Ioctl CACHE = new Ioctl("NVMAP_IOC_CACHE", 1, 24, 'N', 12);
    /// `NVMAP_IOC_CACHE_64`
    public static final Ioctl CACHE_64 = new Ioctl("NVMAP_IOC_CACHE_64", 1, 32, 'N', 12);
    /// `NVMAP_IOC_GET_FD`
    public static final Ioctl GET_FD = new Ioctl("NVMAP_IOC_GET_FD", 3, 8, 'N', 15);
    /// `NVMAP_IOC_FROM_FD`
    public static final Ioctl FROM_FD = new Ioctl("NVMAP_IOC_FROM_FD", 3, 8, 'N', 16);
    /// `NVMAP_IOC_CACHE_LIST`
    public static final Ioctl CACHE_LIST = new Ioctl("NVMAP_IOC_CACHE_LIST", 1, 32, 'N', 17);
    /// `NVMAP_IOC_FROM_VA`
    public static final Ioctl FROM_VA = new Ioctl("NVMAP_IOC_FROM_VA", 3, 24, 'N', 22);
    /// `NVMAP_IOC_SET_TAG_LABEL`
    public static final Ioctl SET_TAG_LABEL = new Ioctl("NVMAP_IOC_SET_TAG_LABEL", 1, 16, 'N', 24);
    /// `NVMAP_IOC_GET_AVAILABLE_HEAPS`
    public static final Ioctl GET_AVAILABLE_HEAPS = new Ioctl("NVMAP_IOC_GET_AVAILABLE_HEAPS", 2, 8, 'N', 25);
    /// `NVMAP_IOC_GET_HEAP_SIZE`
    public static final Ioctl GET_HEAP_SIZE = new Ioctl("NVMAP_IOC_GET_HEAP_SIZE", 2, 16, 'N', 26);
    /// `NVMAP_IOC_PARAMETERS`
    public static final Ioctl PARAMETERS = new Ioctl("NVMAP_IOC_PARAMETERS", 2, 72, 'N', 27);
    /// `NVMAP_IOC_QUERY_HEAP_PARAMS`
    public static final Ioctl QUERY_HEAP_PARAMS = new Ioctl("NVMAP_IOC_QUERY_HEAP_PARAMS", 2, 48, 'N', 105);

    private NvmapAbi() {}

    /// {@return all requests}
    public static List<Ioctl> ioctls() {
        return List.of(
                CREATE,
                CREATE_64,
                ALLOC,
                FREE,
                WRITE,
                READ,
                PARAM,
                CACHE,
                CACHE_64,
                GET_FD,
                FROM_FD,
                CACHE_LIST,
                FROM_VA,
                SET_TAG_LABEL,
                GET_AVAILABLE_HEAPS,
                GET_HEAP_SIZE,
                PARAMETERS,
                QUERY_HEAP_PARAMS);
    }

    /// {@return all structs}
    public static List<Struct> structs() {
        return List.of(
                CreateHandle.STRUCT,
                AllocHandle.STRUCT,
                RwHandle.STRUCT,
                HandleParam.STRUCT,
                CacheOp.STRUCT,
                CacheOp64.STRUCT,
                CacheOpList.STRUCT,
                AvailableHeaps.STRUCT,
                HeapSize.STRUCT,
                QueryHeapParams.STRUCT,
                CreateHandleFromVa.STRUCT,
                SetTagLabel.STRUCT,
                HandleParameters.STRUCT);
    }

    /// `nvmap_create_handle`
    public static final class CreateHandle {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvmap_create_handle", 8);
        /// `size`
        public static final Field SIZE = STRUCT.field("size", 0, 4);
        /// `fd`
        public static final Field FD = STRUCT.field("fd", 0, 4);
        /// `handle`
        public static final Field HANDLE = STRUCT.field("handle", 4, 4);
        /// `size64`
        public static final Field SIZE64 = STRUCT.field("size64", 0, 8);
        /// `handle64`
        public static final Field HANDLE64 = STRUCT.field("handle64", 0, 4);

        private CreateHandle() {}
    }

    /// `nvmap_alloc_handle`
    public static final class AllocHandle {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvmap_alloc_handle", 20);
        /// `handle`
        public static final Field HANDLE = STRUCT.field("handle", 0, 4);
        /// `heap_mask`
        public static final Field HEAP_MASK = STRUCT.field("heap_mask", 4, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 8, 4);
        /// `align`
        public static final Field ALIGN = STRUCT.field("align", 12, 4);
        /// `numa_nid`
        public static final Field NUMA_NID = STRUCT.field("numa_nid", 16, 4);

        private AllocHandle() {}
    }

    /// `nvmap_rw_handle`
    public static final class RwHandle {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvmap_rw_handle", 56);
        /// `addr`
        public static final Field ADDR = STRUCT.field("addr", 0, 8);
        /// `handle`
        public static final Field HANDLE = STRUCT.field("handle", 8, 4);
        /// `offset`
        public static final Field OFFSET = STRUCT.field("offset", 16, 8);
        /// `elem_size`
        public static final Field ELEM_SIZE = STRUCT.field("elem_size", 24, 8);
        /// `hmem_stride`
        public static final Field HMEM_STRIDE = STRUCT.field("hmem_stride", 32, 8);
        /// `user_stride`
        public static final Field USER_STRIDE = STRUCT.field("user_stride", 40, 8);
        /// `count`
        public static final Field COUNT = STRUCT.field("count", 48, 8);

        private RwHandle() {}
    }

    /// `nvmap_handle_param`
    public static final class HandleParam {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvmap_handle_param", 16);
        /// `handle`
        public static final Field HANDLE = STRUCT.field("handle", 0, 4);
        /// `param`
        public static final Field PARAM = STRUCT.field("param", 4, 4);
        /// `result`
        public static final Field RESULT = STRUCT.field("result", 8, 8);

        private HandleParam() {}
    }

    /// `nvmap_cache_op`
    public static final class CacheOp {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvmap_cache_op", 24);
        /// `addr`
        public static final Field ADDR = STRUCT.field("addr", 0, 8);
        /// `handle`
        public static final Field HANDLE = STRUCT.field("handle", 8, 4);
        /// `len`
        public static final Field LEN = STRUCT.field("len", 12, 4);
        /// `op`
        public static final Field OP = STRUCT.field("op", 16, 4);

        private CacheOp() {}
    }

    /// `nvmap_cache_op_64`
    public static final class CacheOp64 {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvmap_cache_op_64", 32);
        /// `addr`
        public static final Field ADDR = STRUCT.field("addr", 0, 8);
        /// `handle`
        public static final Field HANDLE = STRUCT.field("handle", 8, 4);
        /// `len`
        public static final Field LEN = STRUCT.field("len", 16, 8);
        /// `op`
        public static final Field OP = STRUCT.field("op", 24, 4);

        private CacheOp64() {}
    }

    /// `nvmap_cache_op_list`
    public static final class CacheOpList {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvmap_cache_op_list", 32);
        /// `handles`
        public static final Field HANDLES = STRUCT.field("handles", 0, 8);
        /// `offsets`
        public static final Field OFFSETS = STRUCT.field("offsets", 8, 8);
        /// `sizes`
        public static final Field SIZES = STRUCT.field("sizes", 16, 8);
        /// `nr`
        public static final Field NR = STRUCT.field("nr", 24, 4);
        /// `op`
        public static final Field OP = STRUCT.field("op", 28, 4);

        private CacheOpList() {}
    }

    /// `nvmap_available_heaps`
    public static final class AvailableHeaps {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvmap_available_heaps", 8);
        /// `heaps`
        public static final Field HEAPS = STRUCT.field("heaps", 0, 8);

        private AvailableHeaps() {}
    }

    /// `nvmap_heap_size`
    public static final class HeapSize {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvmap_heap_size", 16);
        /// `heap`
        public static final Field HEAP = STRUCT.field("heap", 0, 4);
        /// `size`
        public static final Field SIZE = STRUCT.field("size", 8, 8);

        private HeapSize() {}
    }

    /// `nvmap_query_heap_params`
    public static final class QueryHeapParams {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvmap_query_heap_params", 48);
        /// `heap_mask`
        public static final Field HEAP_MASK = STRUCT.field("heap_mask", 0, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 4, 4);
        /// `contig`
        public static final Field CONTIG = STRUCT.field("contig", 8, 1);
        /// `total`
        public static final Field TOTAL = STRUCT.field("total", 16, 8);
        /// `free`
        public static final Field FREE = STRUCT.field("free", 24, 8);
        /// `largest_free_block`
        public static final Field LARGEST_FREE_BLOCK = STRUCT.field("largest_free_block", 32, 8);
        /// `granule_size`
        public static final Field GRANULE_SIZE = STRUCT.field("granule_size", 40, 4);

        private QueryHeapParams() {}
    }

    /// `nvmap_create_handle_from_va`
    public static final class CreateHandleFromVa {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvmap_create_handle_from_va", 24);
        /// `va`
        public static final Field VA = STRUCT.field("va", 0, 8);
        /// `size`
        public static final Field SIZE = STRUCT.field("size", 8, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 12, 4);
        /// `handle`
        public static final Field HANDLE = STRUCT.field("handle", 16, 4);
        /// `size64`
        public static final Field SIZE64 = STRUCT.field("size64", 16, 8);

        private CreateHandleFromVa() {}
    }

    /// `nvmap_set_tag_label`
    public static final class SetTagLabel {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvmap_set_tag_label", 16);
        /// `tag`
        public static final Field TAG = STRUCT.field("tag", 0, 4);
        /// `len`
        public static final Field LEN = STRUCT.field("len", 4, 4);
        /// `addr`
        public static final Field ADDR = STRUCT.field("addr", 8, 8);

        private SetTagLabel() {}
    }

    /// `nvmap_handle_parameters`
    public static final class HandleParameters {
        /// The layout.
        public static final Struct STRUCT = new Struct("nvmap_handle_parameters", 72);
        /// `contig`
        public static final Field CONTIG = STRUCT.field("contig", 0, 1);
        /// `import_id`
        public static final Field IMPORT_ID = STRUCT.field("import_id", 4, 4);
        /// `handle`
        public static final Field HANDLE = STRUCT.field("handle", 8, 4);
        /// `heap_number`
        public static final Field HEAP_NUMBER = STRUCT.field("heap_number", 12, 4);
        /// `access_flags`
        public static final Field ACCESS_FLAGS = STRUCT.field("access_flags", 16, 4);
        /// `heap`
        public static final Field HEAP = STRUCT.field("heap", 24, 8);
        /// `align`
        public static final Field ALIGN = STRUCT.field("align", 32, 8);
        /// `coherency`
        public static final Field COHERENCY = STRUCT.field("coherency", 40, 8);
        /// `size`
        public static final Field SIZE = STRUCT.field("size", 48, 8);
        /// `offset`
        public static final Field OFFSET = STRUCT.field("offset", 56, 8);
        /// `serial_id`
        public static final Field SERIAL_ID = STRUCT.field("serial_id", 64, 8);

        private HandleParameters() {}
    }
}
