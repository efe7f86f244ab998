package dev.tenon.kernels.nvidia.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.CodeBook;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class DeviceLayoutTests {
    private static final int BLOCKS = 1024;

    private static BlockLayout levels(int size, int bits, int zero) {
        return BlockLayout.of(
                size,
                2 + size * bits / 8,
                Numbers.unsigned(BitField.of(bits).at(2).bits(size, bits)),
                zero,
                Scale.f16(0));
    }

    private static void assertLies(BlockLayout layout, int bits, int unit, double bytesOfABlock) {
        DeviceLayout device = DeviceLayout.of(layout).orElseThrow();
        assertEquals(bits, number(device, "BITS"));
        assertEquals(unit, device.unit());
        assertEquals(bytesOfABlock, device.bytes((long) BLOCKS * layout.size()) / (double) BLOCKS);
    }

    private static int number(DeviceLayout device, String constant) {
        return Pattern.compile(constant + " = (\\d+);")
                .matcher(device.source("F"))
                .results()
                .mapToInt(found -> Integer.parseInt(found.group(1)))
                .findFirst()
                .orElseThrow();
    }

    private static boolean has(DeviceLayout device, String text) {
        return device.source("F").contains(text);
    }

    @Test
    void levelsTakeTheBitsThatTheyHave() {
        assertLies(levels(32, 5, 16), 5, 32, 22);
        assertLies(levels(64, 6, 32), 6, 32, 50);
        assertLies(levels(64, 7, 64), 7, 32, 58);
        assertLies(levels(64, 3, 4), 3, 64, 26);
        assertLies(levels(32, 8, 128), 8, 32, 34);
    }

    @Test
    void fewBitsOfASmallBlockTakeFour() {
        assertLies(levels(32, 2, 2), 4, 32, 18);
        assertLies(levels(64, 1, 1), 2, 64, 18);
    }

    @Test
    void numbersAreTurnedWhereThatSavesABit() {
        DeviceLayout device = DeviceLayout.of(levels(64, 2, 1)).orElseThrow();
        assertEquals(2, number(device, "BITS"));
        assertTrue(has(device, "return -1.0"), device.source("F"));
    }

    @Test
    void unevenNumbersAreATable() {
        BlockLayout uneven = BlockLayout.of(
                32,
                18,
                Numbers.unsigned(BitField.of(4).at(2).bits(32, 4)),
                CodeBook.of(-90, -60, -40, -30, -20, -10, -5, 0, 5, 10, 20, 30, 40, 60, 90, 120),
                Scale.f16(0));
        assertLies(uneven, 4, 32, 18);
        assertTrue(has(DeviceLayout.of(uneven).orElseThrow(), "TABLE = true"));
    }

    /// A grid of 2-bit numbers with signs has six numbers: indices of four bits.
    @Test
    void aGridBecomesATableOfItsNumbers() {
        byte[] grid = new byte[8 * 256];
        for (int i = 0; i < grid.length; i++) {
            grid[i] = (byte) new int[] {8, 25, 43}[(i * 7 + i / 8) % 3];
        }
        BlockLayout layout = BlockLayout.of(
                        256,
                        66,
                        Numbers.unsigned(BitField.of(8).at(2).bytes(32, 1)),
                        CodeBook.grid(8, grid),
                        Scale.f16(0, Numbers.unsigned(BitField.of(4).at(62).bits(8, 4)))
                                .with(0.25f, 0.125f))
                .withSigns(Numbers.unsigned(BitField.of(7).at(34).bytes(32, 1)));
        assertLies(layout, 4, 32, 128 + 8 + 2);
        DeviceLayout device = DeviceLayout.of(layout).orElseThrow();
        assertTrue(has(device, "return 1.250000000e-01f"), "scales are eighths");
        assertEquals(256, number(device, "GROUP"));
    }

    @Test
    void scalesAndMinimumsThatAreWholeTakeAByteEach() {
        BlockLayout layout = BlockLayout.of(
                        256,
                        4 + 12 + 128,
                        Numbers.unsigned(BitField.of(4).at(16).bits(256, 4)),
                        0,
                        Scale.f16(0, Numbers.unsigned(BitField.of(6).at(4).bits(8, 6))))
                .withMinimums(
                        Scale.f16(2, Numbers.unsigned(BitField.of(6).at(10).bits(8, 6))));
        assertLies(layout, 4, 32, 128 + 16 + 4);
    }

    @Test
    void factorsThatAreNoHalvesAreFloats() {
        BlockLayout layout = BlockLayout.of(
                32,
                17,
                Numbers.unsigned(BitField.of(4).at(1).bits(32, 4)),
                8,
                Scale.of(Numbers.of(Numbers.Type.E8M0_HALF, BitField.of(8))));
        assertLies(layout, 4, 32, 16 + 4);
        assertTrue(has(DeviceLayout.of(layout).orElseThrow(), "FLOATS = true"));
    }

    /// Planes begin at multiples of 16 bytes.
    @Test
    void planesArePadded() {
        DeviceLayout device = DeviceLayout.of(levels(32, 5, 16)).orElseThrow();
        assertEquals(3 * 16 + 16 + 16, device.bytes(3 * 32));
    }

    @Test
    void whatNoKernelTakesIsEmpty() {
        assertEquals(Optional.empty(), DeviceLayout.of(levels(16, 4, 8)), "blocks of 16");
        assertEquals(Optional.empty(), DeviceLayout.of(levels(32, 9, 256)), "nine bits");
        assertEquals(Optional.empty(), DeviceLayout.of(BlockLayout.ofNumbers(Numbers.Type.F16)), "no levels");
        assertEquals(
                Optional.empty(),
                DeviceLayout.of(BlockLayout.of(
                        64,
                        36,
                        Numbers.unsigned(BitField.of(4).at(4).bits(64, 4)),
                        8,
                        Scale.of(Numbers.of(
                                Numbers.Type.UE4M3_HALF, BitField.of(8).bytes(4, 1))))),
                "a factor for 16 weights");
        assertEquals(
                Optional.empty(),
                DeviceLayout.of(levels(32, 4, 8).withMinimums(Scale.f16(0))),
                "numbers with signs and minimums");
    }
}
