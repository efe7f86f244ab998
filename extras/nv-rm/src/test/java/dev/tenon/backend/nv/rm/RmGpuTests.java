package dev.tenon.backend.nv.rm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import dev.tenon.backend.nv.tegra.abi.Record;
import dev.tenon.backend.nv.tegra.abi.Struct;
import dev.tenon.backend.nv.tegra.command.QmdFormat;
import dev.tenon.backend.nv.tegra.gpu.GpuChannel;
import dev.tenon.backend.nv.tegra.gpu.GpuDevice;
import dev.tenon.backend.nv.tegra.gpu.GpuInterface;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.GpuTraits;
import dev.tenon.backend.nv.tegra.gpu.MemoryKind;
import dev.tenon.backend.nv.tegra.sys.Linux;
import dev.tenon.backend.nv.tegra.sys.NvErrors;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Bring-up, memory, channels and errors of the RM layer. Oracle L: the calls that CUDA made on an
/// H200 (driver 580.159.04) and the answers that it got. There is no GPU here.
class RmGpuTests {
    private static final List<String> BRING_UP = List.of(
            "open /dev/nvidiactl",
            "alloc 0x41",
            "control 0x13e",
            "open /dev/nvidia-uvm",
            "uvm 805306369",
            "open /dev/nvidia-uvm",
            "uvm 75",
            "cards",
            "open /dev/nvidia0",
            "register file",
            "control 0x205",
            "alloc 0x80",
            "alloc 0x2080",
            "control 0x800292",
            "control 0x20800110",
            "control 0x2080121b",
            "alloc 0xc661",
            "open /dev/nvidia0",
            "map through /dev/nvidia0",
            "alloc 0x90f1",
            "control 0x2080014a",
            "uvm 37",
            "uvm 25");

    private final ScriptedRm rm = new ScriptedRm();

    private void assertNothingIsLeft(String when) {
        assertTrue(rm.objects.isEmpty(), when + ": objects " + rm.objects);
        assertTrue(rm.ranges.isEmpty(), when + ": addresses " + rm.ranges);
        assertTrue(rm.mappings.isEmpty(), when + ": mappings " + rm.mappings.size());
        assertTrue(rm.files.isEmpty(), when + ": files " + rm.files);
    }

    private long parameter(int objectClass, Struct.Field field) {
        return Record.get(field, MemorySegment.ofArray(rm.parameters.get(objectClass)));
    }

    @Test
    void theOrderOfTheBringUpIsTheOneThatTheDriverKnows() {
        try (RmGpu gpu = RmGpu.open(rm)) {
            assertEquals(BRING_UP, rm.log);
            assertEquals(new GpuTraits("NVIDIA H200", 0xCBC0, 0xC8B5, 90, 132, 64, QmdFormat.V4, false), gpu.traits());
            assertEquals("580.159.04", gpu.version());
            assertEquals(2, parameter(RmAbi.DEVICE, RmAbi.Device.VA_MODE));
            assertEquals(0x48, parameter(RmAbi.VASPACE, RmAbi.Vaspace.FLAGS));
        }
        assertNothingIsLeft("after closing");
    }

    @Test
    void memoryIsWhereItsKindSays() {
        try (RmGpu gpu = RmGpu.open(rm)) {
            rm.log.clear();
            try (GpuMemory data = gpu.allocate(3 << 20, MemoryKind.DATA, "weights");
                    GpuMemory signals = gpu.allocate(100, MemoryKind.SIGNAL, "signals")) {
                assertEquals(
                        List.of(
                                "alloc 0x40",
                                "open /dev/nvidia0",
                                "map through /dev/nvidia0",
                                "uvm 73",
                                "uvm 33",
                                "alloc 0x3e",
                                "open /dev/nvidiactl",
                                "map through /dev/nvidiactl",
                                "uvm 73",
                                "uvm 33"),
                        rm.log);
                assertEquals(0x1C101, parameter(0x40, RmAbi.Memory.FLAGS));
                assertEquals(0x18000000, parameter(0x40, RmAbi.Memory.ATTR));
                assertEquals(4 << 20, parameter(0x40, RmAbi.Memory.SIZE));
                assertEquals(2 << 20, parameter(0x40, RmAbi.Memory.ALIGNMENT));
                assertEquals(0xC001, parameter(0x3E, RmAbi.Memory.FLAGS));
                assertEquals(0x3A000000, parameter(0x3E, RmAbi.Memory.ATTR));
                assertEquals(3 << 20, data.host().byteSize());
                assertEquals(100, signals.host().byteSize());
                assertEquals(0x2000000000L, data.va());
                assertEquals(0x2000400000L, signals.va());
                assertTrue(gpu.layout().allows(data.va(), data.sizeBytes()));
            }
            assertTrue(rm.ranges.isEmpty());
            assertEquals(0, gpu.allocatedBytes());
        }
        assertNothingIsLeft("after closing");
    }

    @Test
    void aChannelHasItsRingItsDoorbellAndItsErrors() {
        try (RmGpu gpu = RmGpu.open(rm);
                GpuChannel channel = gpu.openChannel(GpuInterface.Engine.COMPUTE)) {
            assertEquals(0xA, channel.token());
            assertEquals(1024, channel.entries());
            assertEquals(8192, channel.ring().byteSize());
            assertEquals(channel.ring().address() + 8192, channel.userd().address());
            assertEquals(1024, parameter(RmAbi.CHANNEL, RmAbi.Channel.GP_FIFO_ENTRIES));
            assertEquals(0x2000000000L, parameter(RmAbi.CHANNEL, RmAbi.Channel.GP_FIFO_OFFSET));
            MemorySegment parameters = MemorySegment.ofArray(rm.parameters.get(RmAbi.CHANNEL));
            assertEquals(8192, parameters.get(ValueLayout.JAVA_LONG_UNALIGNED, 64), "offset of USERD");
            assertEquals(
                    parameters.get(ValueLayout.JAVA_INT_UNALIGNED, 4),
                    parameters.get(ValueLayout.JAVA_INT_UNALIGNED, 32),
                    "ring and USERD are one buffer");
            assertEquals("control 0xa06c0101", rm.log.getLast());
            assertFalse(channel.isTornDown());
            assertEquals("", gpu.diagnosis());
            MemorySegment notifier = rm.lastMapping;
            notifier.set(ValueLayout.JAVA_INT, 8, 31);
            notifier.set(ValueLayout.JAVA_SHORT, 14, (short) 0xFFFF);
            assertTrue(channel.isTornDown());
            assertEquals("The driver has stopped the compute channel: Xid 31.", gpu.diagnosis());
        }
        assertNothingIsLeft("after closing");
    }

    @Test
    void copiesHaveAGroupOfTheirOwnAndNoContext() {
        try (RmGpu gpu = RmGpu.open(rm);
                GpuChannel channel = gpu.openChannel(GpuInterface.Engine.COPY)) {
            assertEquals(0xB, parameter(RmAbi.CHANNEL_GROUP, RmAbi.ChannelGroup.ENGINE_TYPE));
            assertEquals(0, parameter(RmAbi.CHANNEL, RmAbi.Channel.H_CONTEXT_SHARE));
            assertFalse(rm.log.contains("alloc 0x9067"));
            assertFalse(rm.log.contains("control 0x20801218"));
            assertFalse(channel.isTornDown());
        }
        assertNothingIsLeft("after closing");
    }

    /// Nothing answers: the wait ends, says so, and everything is given back.
    @Test
    void aGpuThatDoesNothingIsReported() {
        try (RmGpu gpu = RmGpu.open(rm)) {
            BackendException e = assertThrows(BackendException.class, () -> new GpuDevice(gpu, 1));
            assertEquals(NvErrors.FAULT, e.code());
        }
        assertNothingIsLeft("after closing");
    }

    @Test
    void whicheverCallFailsEverythingIsGivenBack() {
        try (RmGpu gpu = RmGpu.open(rm)) {
            gpu.allocate(1, MemoryKind.DATA, "memory").close();
        }
        int most = rm.ioctls();
        assertTrue(most >= 20, "calls " + most);
        for (int failure :
                new int[] {RmStatus.NO_MEMORY, RmStatus.INSUFFICIENT_RESOURCES, RmStatus.INVALID_ARGUMENT, -Linux.EINVAL
                }) {
            for (int k = 0; k < most; k++) {
                ScriptedRm each = new ScriptedRm();
                each.failing = k;
                each.failure = failure;
                String when = "call " + k + " failing with " + failure;
                TenonException error = null;
                try (RmGpu gpu = RmGpu.open(each);
                        GpuMemory memory = gpu.allocate(1, MemoryKind.DATA, "memory")) {
                    memory.host().set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
                } catch (TenonException e) {
                    error = e;
                }
                // Giving back goes on when a call of it fails; what has no status cannot fail with one.
                if (error instanceof OutOfResourcesException full) {
                    assertEquals(failure, ((BackendException) full.getSuppressed()[0]).nativeCode(), when);
                } else if (error != null) {
                    assertEquals(NvErrors.DRIVER, error.code(), when);
                    assertEquals(Math.abs(failure), ((BackendException) error).nativeCode(), when);
                }
                assertTrue(each.files.isEmpty(), when + ": files " + each.files);
                assertTrue(each.mappings.isEmpty(), when + ": mappings " + each.mappings.size());
            }
        }
    }

    @Test
    void anotherDriverOrGpuIsRefused() {
        rm.version = "590.10";
        refused("590.10");
        rm.version = "580.1";
        rm.classes = new int[] {0x41, 0x80, 0xC56F, 0xC7C0, 0xC7B5, 0xC661};
        refused("0xc86f, 0xcbc0, 0xc8b5");
        rm.classes = new ScriptedRm().classes;
        rm.tpcs = 132;
        refused("132 TPCs");
    }

    private void refused(String why) {
        BackendException e = assertThrows(BackendException.class, () -> RmGpu.open(rm));
        assertEquals(NvErrors.BOARD, e.code());
        assertTrue(e.getMessage().contains(why), e.getMessage());
        assertNothingIsLeft(why);
    }

    @Test
    void addressesAreGivenAgainAndGrowTogether() {
        long unit = Addresses.UNIT;
        Addresses addresses = new Addresses(unit, 5 * unit);
        long a = addresses.take(1);
        long b = addresses.take(unit + 1);
        assertEquals(unit, a);
        assertEquals(2 * unit, b);
        assertEquals(4 * unit, addresses.take(unit));
        assertThrows(OutOfResourcesException.class, () -> addresses.take(1));
        addresses.give(a, 1);
        addresses.give(b, unit + 1);
        assertEquals(unit, addresses.take(3 * unit));
    }
}
