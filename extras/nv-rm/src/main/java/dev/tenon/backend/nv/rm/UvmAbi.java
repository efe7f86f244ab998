package dev.tenon.backend.nv.rm;

import dev.tenon.backend.nv.tegra.abi.Struct;
import dev.tenon.backend.nv.tegra.abi.Struct.Field;
import java.util.List;

/// Commands and structs of `/dev/nvidia-uvm`, driver branch 580, which puts memory into address
/// spaces. A command is the request number itself.
public final class UvmAbi {
    /// Opens a file descriptor's own address space.
    public static final Command INITIALIZE = new Command("UVM_INITIALIZE", 0x30000001L, Initialize.STRUCT);
    /// Ties another file descriptor to the first.
    public static final Command MM_INITIALIZE = new Command("UVM_MM_INITIALIZE", 75, MmInitialize.STRUCT);
    /// Takes a GPU in.
    public static final Command REGISTER_GPU = new Command("UVM_REGISTER_GPU", 37, RegisterGpu.STRUCT);
    /// Takes charge of a GPU's address space.
    public static final Command REGISTER_GPU_VASPACE =
            new Command("UVM_REGISTER_GPU_VASPACE", 25, RegisterVaspace.STRUCT);
    /// Maps what the engine keeps of a channel.
    public static final Command REGISTER_CHANNEL = new Command("UVM_REGISTER_CHANNEL", 27, RegisterChannel.STRUCT);
    /// Reserves addresses.
    public static final Command CREATE_EXTERNAL_RANGE =
            new Command("UVM_CREATE_EXTERNAL_RANGE", 73, CreateRange.STRUCT);
    /// Maps memory at reserved addresses.
    public static final Command MAP_EXTERNAL_ALLOCATION =
            new Command("UVM_MAP_EXTERNAL_ALLOCATION", 33, MapExternal.STRUCT);
    /// Unmaps and frees reserved addresses.
    public static final Command FREE = new Command("UVM_FREE", 34, Free.STRUCT);

    private UvmAbi() {}

    /// A request of this driver.
    ///
    /// @param name its name in the headers
    /// @param number the request
    /// @param struct its argument
    public record Command(String name, long number, Struct struct) {
        /// {@return the field with the status}
        Field status() {
            return struct.fields().getLast();
        }

        @Override
        public String toString() {
            return name + " (" + number + ")";
        }
    }

    /// {@return all commands}
    public static List<Command> commands() {
        return List.of(
                INITIALIZE,
                MM_INITIALIZE,
                REGISTER_GPU,
                REGISTER_GPU_VASPACE,
                REGISTER_CHANNEL,
                CREATE_EXTERNAL_RANGE,
                MAP_EXTERNAL_ALLOCATION,
                FREE);
    }

    /// `UVM_INITIALIZE_PARAMS`
    public static final class Initialize {
        /// The layout.
        public static final Struct STRUCT = new Struct("UVM_INITIALIZE_PARAMS", 16);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 0, 8);
        /// `rmStatus`
        public static final Field RM_STATUS = STRUCT.field("rmStatus", 8, 4);

        private Initialize() {}
    }

    /// `UVM_MM_INITIALIZE_PARAMS`
    public static final class MmInitialize {
        /// The layout.
        public static final Struct STRUCT = new Struct("UVM_MM_INITIALIZE_PARAMS", 8);
        /// `uvmFd`
        public static final Field UVM_FD = STRUCT.field("uvmFd", 0, 4);
        /// `rmStatus`
        public static final Field RM_STATUS = STRUCT.field("rmStatus", 4, 4);

        private MmInitialize() {}
    }

    /// `UVM_REGISTER_GPU_PARAMS`
    public static final class RegisterGpu {
        /// The layout.
        public static final Struct STRUCT = new Struct("UVM_REGISTER_GPU_PARAMS", 40);
        /// `gpu_uuid`
        public static final Field GPU_UUID = STRUCT.field("gpu_uuid", 0, 16);
        /// `numaEnabled`
        public static final Field NUMA_ENABLED = STRUCT.field("numaEnabled", 16, 1);
        /// `numaNodeId`
        public static final Field NUMA_NODE_ID = STRUCT.field("numaNodeId", 20, 4);
        /// `rmCtrlFd`
        public static final Field RM_CTRL_FD = STRUCT.field("rmCtrlFd", 24, 4);
        /// `hClient`
        public static final Field H_CLIENT = STRUCT.field("hClient", 28, 4);
        /// `hSmcPartRef`
        public static final Field H_SMC_PART_REF = STRUCT.field("hSmcPartRef", 32, 4);
        /// `rmStatus`
        public static final Field RM_STATUS = STRUCT.field("rmStatus", 36, 4);

        private RegisterGpu() {}
    }

    /// `UVM_REGISTER_GPU_VASPACE_PARAMS`
    public static final class RegisterVaspace {
        /// The layout.
        public static final Struct STRUCT = new Struct("UVM_REGISTER_GPU_VASPACE_PARAMS", 32);
        /// `gpuUuid`
        public static final Field GPU_UUID = STRUCT.field("gpuUuid", 0, 16);
        /// `rmCtrlFd`
        public static final Field RM_CTRL_FD = STRUCT.field("rmCtrlFd", 16, 4);
        /// `hClient`
        public static final Field H_CLIENT = STRUCT.field("hClient", 20, 4);
        /// `hVaSpace`
        public static final Field H_VA_SPACE = STRUCT.field("hVaSpace", 24, 4);
        /// `rmStatus`
        public static final Field RM_STATUS = STRUCT.field("rmStatus", 28, 4);

        private RegisterVaspace() {}
    }

    /// `UVM_REGISTER_CHANNEL_PARAMS`
    public static final class RegisterChannel {
        /// The layout.
        public static final Struct STRUCT = new Struct("UVM_REGISTER_CHANNEL_PARAMS", 56);
        /// `gpuUuid`
        public static final Field GPU_UUID = STRUCT.field("gpuUuid", 0, 16);
        /// `rmCtrlFd`
        public static final Field RM_CTRL_FD = STRUCT.field("rmCtrlFd", 16, 4);
        /// `hClient`
        public static final Field H_CLIENT = STRUCT.field("hClient", 20, 4);
        /// `hChannel`
        public static final Field H_CHANNEL = STRUCT.field("hChannel", 24, 4);
        /// `base`
        public static final Field BASE = STRUCT.field("base", 32, 8);
        /// `length`
        public static final Field LENGTH = STRUCT.field("length", 40, 8);
        /// `rmStatus`
        public static final Field RM_STATUS = STRUCT.field("rmStatus", 48, 4);

        private RegisterChannel() {}
    }

    /// `UVM_CREATE_EXTERNAL_RANGE_PARAMS`
    public static final class CreateRange {
        /// The layout.
        public static final Struct STRUCT = new Struct("UVM_CREATE_EXTERNAL_RANGE_PARAMS", 24);
        /// `base`
        public static final Field BASE = STRUCT.field("base", 0, 8);
        /// `length`
        public static final Field LENGTH = STRUCT.field("length", 8, 8);
        /// `rmStatus`
        public static final Field RM_STATUS = STRUCT.field("rmStatus", 16, 4);

        private CreateRange() {}
    }

    /// `UVM_MAP_EXTERNAL_ALLOCATION_PARAMS`
    public static final class MapExternal {
        /// The layout.
        public static final Struct STRUCT = new Struct("UVM_MAP_EXTERNAL_ALLOCATION_PARAMS", 9264);
        /// `base`
        public static final Field BASE = STRUCT.field("base", 0, 8);
        /// `length`
        public static final Field LENGTH = STRUCT.field("length", 8, 8);
        /// `offset`
        public static final Field OFFSET = STRUCT.field("offset", 16, 8);
        /// `perGpuAttributes`
        public static final Field PER_GPU_ATTRIBUTES = STRUCT.field("perGpuAttributes", 24, 9216);
        /// `gpuAttributesCount`
        public static final Field GPU_ATTRIBUTES_COUNT = STRUCT.field("gpuAttributesCount", 9240, 8);
        /// `rmCtrlFd`
        public static final Field RM_CTRL_FD = STRUCT.field("rmCtrlFd", 9248, 4);
        /// `hClient`
        public static final Field H_CLIENT = STRUCT.field("hClient", 9252, 4);
        /// `hMemory`
        public static final Field H_MEMORY = STRUCT.field("hMemory", 9256, 4);
        /// `rmStatus`
        public static final Field RM_STATUS = STRUCT.field("rmStatus", 9260, 4);

        private MapExternal() {}
    }

    /// `UVM_FREE_PARAMS`
    public static final class Free {
        /// The layout.
        public static final Struct STRUCT = new Struct("UVM_FREE_PARAMS", 24);
        /// `base`
        public static final Field BASE = STRUCT.field("base", 0, 8);
        /// `length`
        public static final Field LENGTH = STRUCT.field("length", 8, 8);
        /// `rmStatus`
        public static final Field RM_STATUS = STRUCT.field("rmStatus", 16, 4);

        private Free() {}
    }
}
