package dev.tenon.backend.nv.rm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.backend.nv.tegra.code.Arguments;
import dev.tenon.backend.nv.tegra.code.Cubin;
import dev.tenon.backend.nv.tegra.command.Geometry;
import dev.tenon.backend.nv.tegra.command.Qmd;
import dev.tenon.backend.nv.tegra.command.QmdFormat;
import dev.tenon.backend.nv.tegra.gpu.CommandList;
import dev.tenon.backend.nv.tegra.gpu.GpuDevice;
import dev.tenon.backend.nv.tegra.gpu.LoadedKernel;
import dev.tenon.backend.nv.tegra.gpu.LoadedModule;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What the core submits for a Hopper GPU. Oracle L where CUDA did the same on an H200: set-up, the
/// chain, launch action; the rest is belief. Nothing is executed.
class HopperListTests {
    private static final Geometry ONE = Geometry.of(1, 128);

    private final ScriptedRm rm = new ScriptedRm();
    private final RmGpu gpu;
    private final GpuDevice device;
    private final LoadedModule module;

    HopperListTests() {
        rm.releases = true;
        gpu = RmGpu.open(rm);
        device = new GpuDevice(gpu, 10_000);
        module = device.load(new Cubin(Golden.bytes("/kernels/kernels_sm90.cubin"), "kernels_sm90"));
    }

    @AfterEach
    void everythingIsGivenBack() {
        module.close();
        device.close();
        gpu.close();
        assertTrue(rm.ranges.isEmpty(), "addresses " + rm.ranges);
        assertTrue(rm.objects.isEmpty(), "objects " + rm.objects);
        assertTrue(rm.mappings.isEmpty(), "mappings");
    }

    private LoadedKernel kernel() {
        return module.kernel("saxpy");
    }

    private Arguments arguments() {
        return new Arguments(kernel().kernel())
                .set(0, 0x2000000000L)
                .set(1, 0x2000000000L)
                .set(2, 0.5f)
                .set(3, 100);
    }

    private CommandList list(int launches, boolean early) {
        CommandList list = new CommandList(device, early);
        for (int i = 0; i < launches; i++) {
            list.add(kernel(), ONE, 0, arguments(), true);
        }
        rm.launched.clear();
        list.build();
        return list;
    }

    private Qmd qmd(long va) {
        return new Qmd(QmdFormat.V4, rm.memory(va));
    }

    private static long bits(Qmd qmd, int high, int low) {
        return qmd.get(new QmdFormat.Bits(high, low));
    }

    @Test
    void theSetUpIsCudas() {
        assertTrue(rm.fetched.containsAll(List.of(0x900, 0x10040, 0x21003F, 0x210000, 132 * 0x8000)), "set-up");
        assertTrue(rm.fetched.contains(66), "number of TPCs");
    }

    @Test
    void launchesThatDependAreChainedAndLoadedOnce() {
        try (CommandList list = list(3, true)) {
            assertEquals(2, rm.launched.size(), "all but the first are loaded");
            long last = rm.launched.get(0);
            long middle = rm.launched.get(1);
            assertTrue(last > middle, "the last one first");
            rm.launched.clear();
            device.await(list.run());
            device.await(list.run());
            assertEquals(2, rm.launched.size(), "each run launches the first only");
            long first = rm.launched.getFirst();
            assertEquals(List.of(first, first), rm.launched);
            assertEquals(middle >> 8, bits(qmd(first), 479, 448));
            assertEquals(last >> 8, bits(qmd(middle), 479, 448));
            assertEquals(0, bits(qmd(last), 372, 368), "nothing comes after the last");
            assertEquals(0, bits(qmd(first), 30, 30), "the first is not scheduled by another one");
            assertEquals(1, bits(qmd(last), 30, 30));
            assertEquals(bits(qmd(first), 1503, 1472), bits(qmd(middle), 1535, 1504), "a latch between the two");
            assertEquals(bits(qmd(middle), 1503, 1472), bits(qmd(last), 1535, 1504), "a latch between the two");
            assertFalse(bits(qmd(first), 1503, 1472) == bits(qmd(middle), 1503, 1472), "latches differ");
        }
    }

    @Test
    void withoutEarlyStartsThereAreNoLatches() {
        try (CommandList list = list(2, false)) {
            device.await(list.run());
            Qmd first = qmd(rm.launched.getLast());
            assertEquals(0x13, bits(first, 372, 368));
            assertEquals(0, bits(first, 28, 28));
            assertEquals(0, bits(first, 1151, 1151));
        }
    }

    @Test
    void aChangedSizeIsLoadedAgain() {
        try (CommandList list = list(2, true)) {
            long second = rm.launched.getFirst();
            rm.launched.clear();
            list.patch(0, Geometry.of(3, 64));
            assertEquals(List.of(), rm.launched, "the first is sent with each run");
            list.patch(1, Geometry.of(5, 64));
            assertEquals(List.of(second), rm.launched);
            assertEquals(5, qmd(second).get(QmdFormat.V4.gridX()));
        }
    }

    @Test
    void aSubmissionWaitsOnlyForOneThatIsNotThrough() {
        rm.fetched.clear();
        device.await(device.launch(kernel(), ONE, 0, arguments()));
        assertFalse(rm.fetched.contains(0x01000003), "the one before was through");
        rm.releases = false;
        long value = device.launch(kernel(), ONE, 0, arguments());
        device.launch(kernel(), ONE, 0, arguments());
        rm.fetched.clear();
        rm.releases = true;
        rm.afterDoorbell();
        assertTrue(rm.fetched.contains(0x01000003), "the one before was not through");
        device.await(value);
    }

    @Test
    void bankZeroKnowsClusters() {
        device.await(device.launch(kernel(), new Geometry(3, 2, 1, 32, 2, 1), 0, arguments()));
        long qmd = rm.launched.getLast();
        long bank = bits(qmd(qmd), 1586, 1536) << 6;
        int[][] words = {
            {0x00, 32},
            {0x04, 2},
            {0x0C, 3},
            {0x10, 2},
            {0x144, 1},
            {0x148, 1},
            {0x14C, 1},
            {0x15C, 3},
            {0x160, 2},
            {0x164, 1},
            {0x188, 1}
        };
        for (int[] word : words) {
            assertEquals(
                    word[1], rm.memory(bank).get(ValueLayout.JAVA_INT, word[0]), "0x" + Integer.toHexString(word[0]));
        }
    }
}
