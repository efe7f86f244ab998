package dev.tenon.backend.nv.rm;

import dev.tenon.backend.nv.tegra.abi.Ioctl;
import dev.tenon.backend.nv.tegra.abi.Struct;
import dev.tenon.backend.nv.tegra.abi.Struct.Field;
import java.util.List;

/// Requests, classes, controls and structs of NVIDIA's resource manager (`/dev/nvidiactl`), driver
/// branch 580. A struct has the fields that are used.
public final class RmAbi {
    /// Creates an object.
    public static final Ioctl ALLOC = new Ioctl("NV_ESC_RM_ALLOC", 3, 48, 'F', 0x2B);
    /// Asks or tells an object something.
    public static final Ioctl CONTROL = new Ioctl("NV_ESC_RM_CONTROL", 3, 32, 'F', 0x2A);
    /// Frees an object and all that belongs to it.
    public static final Ioctl FREE = new Ioctl("NV_ESC_RM_FREE", 3, 16, 'F', 0x29);
    /// Prepares a file descriptor for mmap.
    public static final Ioctl MAP_MEMORY = new Ioctl("NV_ESC_RM_MAP_MEMORY", 3, 56, 'F', 0x4E);
    /// Tells a GPU's file descriptor which client it belongs to.
    public static final Ioctl REGISTER_FD = new Ioctl("NV_ESC_REGISTER_FD", 3, 4, 'F', 0xC9);
    /// Lists GPUs; the struct is an array of [CardInfo].
    public static final Ioctl CARD_INFO = new Ioctl("NV_ESC_CARD_INFO", 3, 32 * 72, 'F', 0xC8);

    /// Class: a client, which owns everything.
    public static final int ROOT_CLIENT = 0x41;
    /// Class: a GPU.
    public static final int DEVICE = 0x80;
    /// Class: a part of a GPU.
    public static final int SUBDEVICE = 0x2080;
    /// Class: memory of the GPU.
    public static final int MEMORY_LOCAL = 0x40;
    /// Class: memory of the system.
    public static final int MEMORY_SYSTEM = 0x3E;
    /// Class: an address space.
    public static final int VASPACE = 0x90F1;
    /// Class: part of a group with an address space of its own.
    public static final int CONTEXT_SHARE = 0x9067;
    /// Class: a time-slice group of channels.
    public static final int CHANNEL_GROUP = 0xA06C;
    /// Class: Hopper's channel.
    public static final int CHANNEL = 0xC86F;
    /// Class: Hopper's copy engine.
    public static final int COPY = 0xC8B5;
    /// Class: Hopper's compute engine.
    public static final int COMPUTE = 0xCBC0;
    /// Class: Hopper's doorbells.
    public static final int USERMODE = 0xC661;

    /// Control: version of the driver.
    public static final int GET_BUILD_VERSION = 0x13E;
    /// Control: numbers of a GPU.
    public static final int GET_ID_INFO = 0x205;
    /// Control: classes of a GPU.
    public static final int GET_CLASSLIST = 0x800292;
    /// Control: identity of a GPU.
    public static final int GET_GID_INFO = 0x2080014A;
    /// Control: name of a GPU.
    public static final int GET_NAME_STRING = 0x20800110;
    /// Control: the multiprocessors of a GPU.
    public static final int GET_GLOBAL_SM_ORDER = 0x2080121B;
    /// Control: bytes that the engine keeps of a channel.
    public static final int GR_GET_CTX_BUFFER_SIZE = 0x20801218;
    /// Control: what to store to the doorbell.
    public static final int GET_WORK_SUBMIT_TOKEN = 0xC36F0108;
    /// Control: lets a group run.
    public static final int SCHEDULE = 0xA06C0101;

    private RmAbi() {}

    /// {@return all requests}
    public static List<Ioctl> ioctls() {
        return List.of(ALLOC, CONTROL, FREE, MAP_MEMORY, REGISTER_FD, CARD_INFO);
    }

    /// {@return all structs}
    public static List<Struct> structs() {
        return List.of(
                Alloc.STRUCT,
                Control.STRUCT,
                Free.STRUCT,
                MapMemory.STRUCT,
                RegisterFd.STRUCT,
                CardInfo.STRUCT,
                BuildVersion.STRUCT,
                IdInfo.STRUCT,
                Device.STRUCT,
                Subdevice.STRUCT,
                ClassList.STRUCT,
                GidInfo.STRUCT,
                NameString.STRUCT,
                SmOrder.STRUCT,
                Vaspace.STRUCT,
                ChannelGroup.STRUCT,
                ContextShare.STRUCT,
                Channel.STRUCT,
                Memory.STRUCT,
                CopyObject.STRUCT,
                Token.STRUCT,
                ContextSize.STRUCT,
                Schedule.STRUCT);
    }

    /// `NVOS64_PARAMETERS`
    public static final class Alloc {
        /// The layout.
        public static final Struct STRUCT = new Struct("NVOS64_PARAMETERS", 48);
        /// `hRoot`
        public static final Field H_ROOT = STRUCT.field("hRoot", 0, 4);
        /// `hObjectParent`
        public static final Field H_OBJECT_PARENT = STRUCT.field("hObjectParent", 4, 4);
        /// `hObjectNew`
        public static final Field H_OBJECT_NEW = STRUCT.field("hObjectNew", 8, 4);
        /// `hClass`
        public static final Field H_CLASS = STRUCT.field("hClass", 12, 4);
        /// `pAllocParms`
        public static final Field P_ALLOC_PARMS = STRUCT.field("pAllocParms", 16, 8);
        /// `pRightsRequested`
        public static final Field P_RIGHTS_REQUESTED = STRUCT.field("pRightsRequested", 24, 8);
        /// `paramsSize`
        public static final Field PARAMS_SIZE = STRUCT.field("paramsSize", 32, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 36, 4);
        /// `status`
        public static final Field STATUS = STRUCT.field("status", 40, 4);

        private Alloc() {}
    }

    /// `NVOS54_PARAMETERS`
    public static final class Control {
        /// The layout.
        public static final Struct STRUCT = new Struct("NVOS54_PARAMETERS", 32);
        /// `hClient`
        public static final Field H_CLIENT = STRUCT.field("hClient", 0, 4);
        /// `hObject`
        public static final Field H_OBJECT = STRUCT.field("hObject", 4, 4);
        /// `cmd`
        public static final Field CMD = STRUCT.field("cmd", 8, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 12, 4);
        /// `params`
        public static final Field PARAMS = STRUCT.field("params", 16, 8);
        /// `paramsSize`
        public static final Field PARAMS_SIZE = STRUCT.field("paramsSize", 24, 4);
        /// `status`
        public static final Field STATUS = STRUCT.field("status", 28, 4);

        private Control() {}
    }

    /// `NVOS00_PARAMETERS`
    public static final class Free {
        /// The layout.
        public static final Struct STRUCT = new Struct("NVOS00_PARAMETERS", 16);
        /// `hRoot`
        public static final Field H_ROOT = STRUCT.field("hRoot", 0, 4);
        /// `hObjectParent`
        public static final Field H_OBJECT_PARENT = STRUCT.field("hObjectParent", 4, 4);
        /// `hObjectOld`
        public static final Field H_OBJECT_OLD = STRUCT.field("hObjectOld", 8, 4);
        /// `status`
        public static final Field STATUS = STRUCT.field("status", 12, 4);

        private Free() {}
    }

    /// `nv_ioctl_nvos33_parameters_with_fd`
    public static final class MapMemory {
        /// The layout.
        public static final Struct STRUCT = new Struct("nv_ioctl_nvos33_parameters_with_fd", 56);
        /// `hClient`
        public static final Field H_CLIENT = STRUCT.field("hClient", 0, 4);
        /// `hDevice`
        public static final Field H_DEVICE = STRUCT.field("hDevice", 4, 4);
        /// `hMemory`
        public static final Field H_MEMORY = STRUCT.field("hMemory", 8, 4);
        /// `offset`
        public static final Field OFFSET = STRUCT.field("offset", 16, 8);
        /// `length`
        public static final Field LENGTH = STRUCT.field("length", 24, 8);
        /// `pLinearAddress`
        public static final Field P_LINEAR_ADDRESS = STRUCT.field("pLinearAddress", 32, 8);
        /// `status`
        public static final Field STATUS = STRUCT.field("status", 40, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 44, 4);
        /// `fd`
        public static final Field FD = STRUCT.field("fd", 48, 4);

        private MapMemory() {}
    }

    /// `nv_ioctl_register_fd_t`
    public static final class RegisterFd {
        /// The layout.
        public static final Struct STRUCT = new Struct("nv_ioctl_register_fd_t", 4);
        /// `ctl_fd`
        public static final Field CTL_FD = STRUCT.field("ctl_fd", 0, 4);

        private RegisterFd() {}
    }

    /// `nv_ioctl_card_info_t`
    public static final class CardInfo {
        /// The layout.
        public static final Struct STRUCT = new Struct("nv_ioctl_card_info_t", 72);
        /// `valid`
        public static final Field VALID = STRUCT.field("valid", 0, 1);
        /// `gpu_id`
        public static final Field GPU_ID = STRUCT.field("gpu_id", 16, 4);
        /// `minor_number`
        public static final Field MINOR_NUMBER = STRUCT.field("minor_number", 56, 4);

        private CardInfo() {}
    }

    /// `NV0000_CTRL_SYSTEM_GET_BUILD_VERSION_V2_PARAMS`
    public static final class BuildVersion {
        /// The layout.
        public static final Struct STRUCT = new Struct("NV0000_CTRL_SYSTEM_GET_BUILD_VERSION_V2_PARAMS", 1032);

        private BuildVersion() {}
    }

    /// `NV0000_CTRL_GPU_GET_ID_INFO_V2_PARAMS`
    public static final class IdInfo {
        /// The layout.
        public static final Struct STRUCT = new Struct("NV0000_CTRL_GPU_GET_ID_INFO_V2_PARAMS", 32);
        /// `gpuId`
        public static final Field GPU_ID = STRUCT.field("gpuId", 0, 4);
        /// `deviceInstance`
        public static final Field DEVICE_INSTANCE = STRUCT.field("deviceInstance", 8, 4);
        /// `subDeviceInstance`
        public static final Field SUB_DEVICE_INSTANCE = STRUCT.field("subDeviceInstance", 12, 4);

        private IdInfo() {}
    }

    /// `NV0080_ALLOC_PARAMETERS`
    public static final class Device {
        /// The layout.
        public static final Struct STRUCT = new Struct("NV0080_ALLOC_PARAMETERS", 56);
        /// `deviceId`
        public static final Field DEVICE_ID = STRUCT.field("deviceId", 0, 4);
        /// `hClientShare`
        public static final Field H_CLIENT_SHARE = STRUCT.field("hClientShare", 4, 4);
        /// `vaMode`
        public static final Field VA_MODE = STRUCT.field("vaMode", 48, 4);

        private Device() {}
    }

    /// `NV2080_ALLOC_PARAMETERS`
    public static final class Subdevice {
        /// The layout.
        public static final Struct STRUCT = new Struct("NV2080_ALLOC_PARAMETERS", 4);
        /// `subDeviceId`
        public static final Field SUB_DEVICE_ID = STRUCT.field("subDeviceId", 0, 4);

        private Subdevice() {}
    }

    /// `NV0080_CTRL_GPU_GET_CLASSLIST_V2_PARAMS`
    public static final class ClassList {
        /// The layout.
        public static final Struct STRUCT = new Struct("NV0080_CTRL_GPU_GET_CLASSLIST_V2_PARAMS", 804);
        /// `numClasses`
        public static final Field NUM_CLASSES = STRUCT.field("numClasses", 0, 4);

        private ClassList() {}
    }

    /// `NV2080_CTRL_GPU_GET_GID_INFO_PARAMS`
    public static final class GidInfo {
        /// The layout.
        public static final Struct STRUCT = new Struct("NV2080_CTRL_GPU_GET_GID_INFO_PARAMS", 268);
        /// `index`
        public static final Field INDEX = STRUCT.field("index", 0, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 4, 4);
        /// `length`
        public static final Field LENGTH = STRUCT.field("length", 8, 4);
        /// `data`
        public static final Field DATA = STRUCT.field("data", 12, 256);

        private GidInfo() {}
    }

    /// `NV2080_CTRL_GPU_GET_NAME_STRING_PARAMS`
    public static final class NameString {
        /// The layout.
        public static final Struct STRUCT = new Struct("NV2080_CTRL_GPU_GET_NAME_STRING_PARAMS", 132);
        /// `gpuNameStringFlags`
        public static final Field GPU_NAME_STRING_FLAGS = STRUCT.field("gpuNameStringFlags", 0, 4);
        /// `gpuNameString`
        public static final Field GPU_NAME_STRING = STRUCT.field("gpuNameString", 4, 128);

        private NameString() {}
    }

    /// `NV2080_CTRL_GR_GET_GLOBAL_SM_ORDER_PARAMS`
    public static final class SmOrder {
        /// The layout.
        public static final Struct STRUCT = new Struct("NV2080_CTRL_GR_GET_GLOBAL_SM_ORDER_PARAMS", 9240);
        /// `numSm`
        public static final Field NUM_SM = STRUCT.field("numSm", 9216, 2);
        /// `numTpc`
        public static final Field NUM_TPC = STRUCT.field("numTpc", 9218, 2);

        private SmOrder() {}
    }

    /// `NV_VASPACE_ALLOCATION_PARAMETERS`
    public static final class Vaspace {
        /// The layout.
        public static final Struct STRUCT = new Struct("NV_VASPACE_ALLOCATION_PARAMETERS", 56);
        /// `index`
        public static final Field INDEX = STRUCT.field("index", 0, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 4, 4);
        /// `vaSize`
        public static final Field VA_SIZE = STRUCT.field("vaSize", 8, 8);
        /// `vaBase`
        public static final Field VA_BASE = STRUCT.field("vaBase", 40, 8);

        private Vaspace() {}
    }

    /// `NV_CHANNEL_GROUP_ALLOCATION_PARAMETERS`
    public static final class ChannelGroup {
        /// The layout.
        public static final Struct STRUCT = new Struct("NV_CHANNEL_GROUP_ALLOCATION_PARAMETERS", 20);
        /// `hVASpace`
        public static final Field H_VASPACE = STRUCT.field("hVASpace", 8, 4);
        /// `engineType`
        public static final Field ENGINE_TYPE = STRUCT.field("engineType", 12, 4);

        private ChannelGroup() {}
    }

    /// `NV_CTXSHARE_ALLOCATION_PARAMETERS`
    public static final class ContextShare {
        /// The layout.
        public static final Struct STRUCT = new Struct("NV_CTXSHARE_ALLOCATION_PARAMETERS", 12);
        /// `hVASpace`
        public static final Field H_VASPACE = STRUCT.field("hVASpace", 0, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 4, 4);
        /// `subctxId`
        public static final Field SUBCTX_ID = STRUCT.field("subctxId", 8, 4);

        private ContextShare() {}
    }

    /// `NV_CHANNEL_ALLOC_PARAMS`
    public static final class Channel {
        /// The layout.
        public static final Struct STRUCT = new Struct("NV_CHANNEL_ALLOC_PARAMS", 368);
        /// `hObjectError`
        public static final Field H_OBJECT_ERROR = STRUCT.field("hObjectError", 0, 4);
        /// `hObjectBuffer`
        public static final Field H_OBJECT_BUFFER = STRUCT.field("hObjectBuffer", 4, 4);
        /// `gpFifoOffset`
        public static final Field GP_FIFO_OFFSET = STRUCT.field("gpFifoOffset", 8, 8);
        /// `gpFifoEntries`
        public static final Field GP_FIFO_ENTRIES = STRUCT.field("gpFifoEntries", 16, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 20, 4);
        /// `hContextShare`
        public static final Field H_CONTEXT_SHARE = STRUCT.field("hContextShare", 24, 4);
        /// `hVASpace`
        public static final Field H_VASPACE = STRUCT.field("hVASpace", 28, 4);
        /// `hUserdMemory`
        public static final Field H_USERD_MEMORY = STRUCT.field("hUserdMemory", 32, 32);
        /// `userdOffset`
        public static final Field USERD_OFFSET = STRUCT.field("userdOffset", 64, 64);
        /// `engineType`
        public static final Field ENGINE_TYPE = STRUCT.field("engineType", 128, 4);

        private Channel() {}
    }

    /// `NV_MEMORY_ALLOCATION_PARAMS`
    public static final class Memory {
        /// The layout.
        public static final Struct STRUCT = new Struct("NV_MEMORY_ALLOCATION_PARAMS", 128);
        /// `owner`
        public static final Field OWNER = STRUCT.field("owner", 0, 4);
        /// `type`
        public static final Field TYPE = STRUCT.field("type", 4, 4);
        /// `flags`
        public static final Field FLAGS = STRUCT.field("flags", 8, 4);
        /// `attr`
        public static final Field ATTR = STRUCT.field("attr", 24, 4);
        /// `attr2`
        public static final Field ATTR2 = STRUCT.field("attr2", 28, 4);
        /// `size`
        public static final Field SIZE = STRUCT.field("size", 64, 8);
        /// `alignment`
        public static final Field ALIGNMENT = STRUCT.field("alignment", 72, 8);

        private Memory() {}
    }

    /// `NVB0B5_ALLOCATION_PARAMETERS`
    public static final class CopyObject {
        /// The layout.
        public static final Struct STRUCT = new Struct("NVB0B5_ALLOCATION_PARAMETERS", 8);
        /// `version`
        public static final Field VERSION = STRUCT.field("version", 0, 4);
        /// `engineType`
        public static final Field ENGINE_TYPE = STRUCT.field("engineType", 4, 4);

        private CopyObject() {}
    }

    /// `NVC36F_CTRL_CMD_GPFIFO_GET_WORK_SUBMIT_TOKEN_PARAMS`
    public static final class Token {
        /// The layout.
        public static final Struct STRUCT = new Struct("NVC36F_CTRL_CMD_GPFIFO_GET_WORK_SUBMIT_TOKEN_PARAMS", 4);
        /// `workSubmitToken`
        public static final Field WORK_SUBMIT_TOKEN = STRUCT.field("workSubmitToken", 0, 4);

        private Token() {}
    }

    /// `NV2080_CTRL_GR_GET_CTX_BUFFER_SIZE_PARAMS`
    public static final class ContextSize {
        /// The layout.
        public static final Struct STRUCT = new Struct("NV2080_CTRL_GR_GET_CTX_BUFFER_SIZE_PARAMS", 16);
        /// `hChannel`
        public static final Field H_CHANNEL = STRUCT.field("hChannel", 0, 4);
        /// `totalBufferSize`
        public static final Field TOTAL_BUFFER_SIZE = STRUCT.field("totalBufferSize", 8, 8);

        private ContextSize() {}
    }

    /// `NVA06C_CTRL_GPFIFO_SCHEDULE_PARAMS`
    public static final class Schedule {
        /// The layout.
        public static final Struct STRUCT = new Struct("NVA06C_CTRL_GPFIFO_SCHEDULE_PARAMS", 3);
        /// `bEnable`
        public static final Field B_ENABLE = STRUCT.field("bEnable", 0, 1);

        private Schedule() {}
    }
}
