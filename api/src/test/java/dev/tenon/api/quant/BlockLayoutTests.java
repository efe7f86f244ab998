package dev.tenon.api.quant;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.CodeBook;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockLayoutTests {
    /// Eight values: four bytes of two levels each, their fifth bits in byte 6, whose bits 0 and 7 are two scales too.
    private static final BlockLayout LAYOUT = BlockLayout.of(
            8,
            7,
            Numbers.unsigned(
                    BitField.of(4).at(2).bytes(4, 1).bits(2, 4),
                    BitField.of(1).at(6).bits(8, 1)),
            16,
            Scale.f16(0, Numbers.unsigned(BitField.of(1).at(6).bits(2, 7))).with(2, 1));

    private static final QuantFormat FORMAT = new QuantFormat() {
        @Override
        public String id() {
            return "EIGHT";
        }

        @Override
        public int ggmlType() {
            return 60_000;
        }

        @Override
        public Optional<BlockLayout> layout() {
            return Optional.of(LAYOUT);
        }

        @Override
        public Optional<Quantizer> quantizer() {
            return Optional.empty();
        }
    };

    @Test
    void piecesLieWhereTheAxesSay() {
        BitField field = BitField.of(4).at(16).bytes(32, 1).bits(2, 4).bytes(4, 32);
        assertEquals(256, field.count());
        assertEquals(8 * 16, field.bit(0));
        assertEquals(8 * 47, field.bit(31));
        assertEquals(8 * 16 + 4, field.bit(32));
        assertEquals(8 * 48, field.bit(64));
        assertEquals(8 * 143 + 4, field.bit(255));
    }

    @Test
    void numbersArePutTogetherFromTheirPieces() {
        byte[] block = new byte[9];
        for (int i = 0; i < 8; i++) {
            LAYOUT.levels().put(block, 1, i, 3 * i + 5);
        }
        for (int i = 0; i < 4; i++) {
            assertEquals(3 * i + 5 & 15 | (3 * i + 17 & 15) << 4, block[3 + i] & 0xff);
        }
        assertEquals(0xf0, block[7] & 0xff);
        assertEquals(0, block[0] | block[1] | block[2] | block[8]);
        for (int i = 0; i < 8; i++) {
            assertEquals(3 * i + 5, LAYOUT.levels().get(block, 1, i));
        }
        Numbers signed = Numbers.signed(BitField.of(3).at(1, 2).bits(2, 3));
        signed.put(block, 0, 1, -3);
        assertEquals(-3, signed.get(block, 0, 1));
        assertEquals(0, signed.get(block, 0, 0));
    }

    @Test
    void aFormatWithALayoutNeedsNothingElse() {
        assertEquals(8, FORMAT.blockSize());
        assertEquals(14, FORMAT.bytesFor(16));
        byte[] blocks = new byte[9];
        blocks[3] = 0x3c; // F16 1
        for (int i = 0; i < 8; i++) {
            LAYOUT.levels().put(blocks, 2, i, 3 * i + 5);
        }
        float[] values = new float[9];
        FORMAT.dequantize(MemorySegment.ofArray(blocks), 2, values, 1, 8);
        // Scales: 1 * (2 * 0 + 1) and 1 * (2 * 1 + 1).
        assertArrayEquals(new float[] {0, -11, -8, -5, -2, 3, 12, 21, 30}, values);
    }

    @Test
    void rangesAreChecked() {
        MemorySegment blocks = MemorySegment.ofArray(new byte[9]);
        float[] values = new float[9];
        assertThrows(IllegalArgumentException.class, () -> FORMAT.dequantize(blocks, 2, values, 1, 4));
        assertThrows(IllegalArgumentException.class, () -> FORMAT.dequantize(blocks, 2, values, 1, -8));
        assertThrows(IndexOutOfBoundsException.class, () -> FORMAT.dequantize(blocks, 3, values, 1, 8));
        assertThrows(IndexOutOfBoundsException.class, () -> FORMAT.dequantize(blocks, -1, values, 1, 8));
        assertThrows(IndexOutOfBoundsException.class, () -> FORMAT.dequantize(blocks, 2, values, 2, 8));
    }

    @Test
    void equalLayoutsAreEqual() {
        Numbers levels = Numbers.unsigned(BitField.of(4).bytes(1, 1).bits(2, 4));
        BlockLayout one = BlockLayout.of(2, 3, levels, CodeBook.of(new int[16]), Scale.f16(1));
        BlockLayout same = BlockLayout.of(2, 3, levels, CodeBook.of(new int[16]), Scale.f16(1));
        assertEquals(one, same);
        assertEquals(one.hashCode(), same.hashCode());
        int[] other = new int[16];
        other[3] = 1;
        assertNotEquals(one, BlockLayout.of(2, 3, levels, CodeBook.of(other), Scale.f16(1)));
        assertNotEquals(one, one.withMinimums(Scale.f16(1)));
    }

    @Test
    void whatIsNoLayoutIsRefusedWithWhatIsWrong() {
        Numbers levels = Numbers.unsigned(BitField.of(4).at(2).bytes(16, 1).bits(2, 4));
        refused("32 levels for 64 values", () -> BlockLayout.of(64, 18, levels, 8, Scale.f16(0)));
        refused("bit 143 of a block of 17 bytes", () -> BlockLayout.of(32, 17, levels, 8, Scale.f16(0)));
        refused("a code book of 2 levels", () -> BlockLayout.of(32, 18, levels, CodeBook.of(1, 2), Scale.f16(0)));
        Scale three = Scale.of(Numbers.unsigned(BitField.of(8).bytes(3, 1)));
        refused("3 scales for 32", () -> BlockLayout.of(32, 18, levels, 8, three));
        refused("levels of type F16 with scales", () -> BlockLayout.of(1, 2, Numbers.f16(0), 0, Scale.f16(0)));
        refused("pieces of 33 bits", () -> BitField.of(33));
        refused("numbers of 8 bits and of type F16", () -> Numbers.of(Numbers.Type.F16, BitField.of(8)));
        refused("different counts", () -> Numbers.unsigned(BitField.of(4).bytes(2, 1), BitField.of(4)));
        refused(
                "digits of base 3",
                () -> Numbers.of(Numbers.Type.TRITS, BitField.of(8).bytes(2, 1)));
        refused("which no byte holds", () -> CodeBook.of(128));
        refused("a common factor", () -> new Scale(Optional.of(levels), levels, 1, 0));
        refused("without a field", () -> new Numbers(Numbers.Type.SIGNED, List.of()));
    }

    private static void refused(String why, Executable made) {
        String message = assertThrows(IllegalArgumentException.class, made).getMessage();
        assertTrue(message.contains(why), message);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9})
    void numbersInARowAreThoseOfTheirBits(int width) {
        byte[] block = new byte[2 + 40];
        new Random(width).nextBytes(block);
        block[0] = 0;
        block[1] = 0x3C; // 1 in half precision
        for (int step : new int[] {width, width + 1}) {
            for (int first : new int[] {0, 3}) {
                for (Numbers.Type type : new Numbers.Type[] {Numbers.Type.UNSIGNED, Numbers.Type.SIGNED}) {
                    Numbers levels =
                            Numbers.of(type, BitField.of(width).at(2, first).bits(24, step));
                    float[] values = new float[24];
                    BlockLayout.of(24, block.length, levels, 1, Scale.f16(0))
                            .decode(MemorySegment.ofArray(block), 0, values, 0, 24);
                    for (int i = 0; i < 24; i++) {
                        assertEquals(levels.get(block, 0, i) - 1, values[i], type + " " + i + " of step " + step);
                    }
                }
            }
        }
    }
}
