package dev.tenon.backend.nv.tegra.command;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.backend.nv.tegra.Golden;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// golden. Oracle: header; the bytes were made by another program from the field positions of the
/// class headers.
class QmdTests {
    private static final Geometry GRID = new Geometry(1000, 7, 3, 128, 2, 1);

    private static Qmd qmd(QmdFormat format, int codeBytes, int bank0Bytes) {
        Qmd qmd = new Qmd(format, MemorySegment.ofArray(new long[format.bytes() / 8]));
        qmd.program(0x1234567880L, codeBytes, new KernelResources(10, 0x400, 1, 0x240));
        qmd.geometry(GRID);
        qmd.constantBank(0, 0x9ABCDEF000L, bank0Bytes, true);
        qmd.constantBank(3, 0x9A00000100L, 0x40, false);
        qmd.release(0x5566778890L, 0x1122334455667788L);
        return qmd;
    }

    private static byte[] bytes(Qmd qmd) {
        return qmd.memory().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
    }

    @Test
    void version3IsTheGoldenOne() {
        assertArrayEquals(Golden.bytes("/golden/nv/qmd3.bin"), bytes(qmd(QmdFormat.V3, 0x300, 0x180)));
    }

    @Test
    void version4IsTheGoldenOne() {
        assertArrayEquals(Golden.bytes("/golden/nv/qmd4.bin"), bytes(qmd(QmdFormat.V4, 0x200, 0x240)));
    }

    /// Each field of the golden list can be read back at its place.
    @Test
    void everyFieldOfTheGoldenListIsReadBack() {
        Pattern line = Pattern.compile("   \\w+(?:\\[\\d])?\\s+\\[(\\d+):(\\d+)] = 0x(\\w+)");
        Qmd qmd = qmd(QmdFormat.V3, 0x300, 0x180);
        Set<Integer> covered = new HashSet<>();
        for (String text : Golden.lines("qmd-fields.txt")) {
            if (text.startsWith("== V04")) {
                qmd = qmd(QmdFormat.V4, 0x200, 0x240);
            }
            Matcher matcher = line.matcher(text);
            if (matcher.matches()) {
                QmdFormat.Bits bits =
                        new QmdFormat.Bits(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
                assertEquals(Long.parseUnsignedLong(matcher.group(3), 16), qmd.get(bits), text);
                covered.add(bits.low());
            }
        }
        assertTrue(covered.size() > 60, "the golden list was not read: " + covered.size());
    }

    /// Oracle: hardware log. The words that CUDA wrote on an H200 for a kernel of 0xA00 bytes with 16
    /// registers at 0x7F3A277A0000, a grid of 3 x 2 blocks of 32 x 2 threads; of word 18 without
    /// the invalidation of constants, which here is that of the bank.
    @Test
    void version4IsWhatCudaWrites() {
        Qmd qmd = new Qmd(QmdFormat.V4, MemorySegment.ofArray(new long[QmdFormat.V4.bytes() / 8]));
        qmd.program(0x7F3A277A0000L, 0xA00, new KernelResources(16, 0x400, 1, 0x640));
        qmd.geometry(new Geometry(3, 2, 1, 32, 2, 1));
        qmd.constantBank(0, 0x7F3A26280000L, 0x300, true);
        int[][] words = {
            {16, 0x90000000},
            {17, 0x03000640},
            {18, 0x3C040040},
            {19, 0x00009E89},
            {32, 3},
            {33, 2},
            {34, 1},
            {36, 0x00020020},
            {37, 0x08100001},
            {38, 0x277A0000},
            {39, 0x7F3A},
            {42, 0x3A277A00},
            {43, 0x0014007F},
            {48, 0xE898A000},
            {49, 0x018001FC}
        };
        for (int[] word : words) {
            assertEquals(
                    Integer.toHexString(word[1]),
                    Integer.toHexString(
                            qmd.memory().get(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, 4L * word[0])),
                    "word " + word[0]);
        }
    }

    /// Oracle: hardware log. Words of the first, second and last descriptor of a CUDA graph of four
    /// kernels that start early; of word 43 the bits for the wait.
    @Test
    void chainedDescriptorsAreWhatCudaWrites() {
        Qmd[] qmds = new Qmd[3];
        for (int i = 0; i < 3; i++) {
            qmds[i] = qmd(QmdFormat.V4, 0x200, 0x240);
        }
        qmds[0].schedule(qmds[1], 0x204C00C00L);
        qmds[0].startEarly(qmds[1], 0x48);
        qmds[1].schedule(qmds[2], 0x204C00E00L);
        qmds[1].startEarly(qmds[2], 0x49);
        int[][] expected = {
            {0, 0x113F0000, 0x713F0000, 0x613F0000},
            {11, 0x40130000, 0x44130000, 0x04000000},
            {14, 0x0204C00C, 0x0204C00E, 0},
            {35, 0x80030000, 0x80030000, 0x00010000},
            {46, 0x48, 0x49, 0},
            {47, 0, 0x48, 0x49}
        };
        for (int[] word : expected) {
            for (int i = 0; i < 3; i++) {
                assertEquals(
                        Integer.toHexString(word[i + 1]),
                        Integer.toHexString(
                                qmds[i].memory().get(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, 4L * word[0])),
                        "word " + word[0] + " of descriptor " + i);
            }
        }
        QmdFormat.Bits wait = new QmdFormat.Bits(1407, 1406);
        assertEquals(0, qmds[0].get(wait));
        assertEquals(3, qmds[1].get(wait));
        assertEquals(3, qmds[2].get(wait));
    }

    @Test
    void sharedMemoryOfHopperGoesOnTo228KiB() {
        Qmd qmd = qmd(QmdFormat.V4, 0x200, 0x240);
        int[][] cases = {{0x400, 9}, {102528, 34}, {200832, 58}, {228 * 1024, 58}};
        for (int[] each : cases) {
            qmd.sharedBytes(each[0]);
            assertEquals(each[1], qmd.get(QmdFormat.V4.minSharedConfig()), each[0] + " bytes");
        }
    }

    @Test
    void sharedMemorySelectsTheSmallestSplitThatFits() {
        Qmd qmd = qmd(QmdFormat.V3, 0x300, 0x180);
        int[][] cases = {{0x400, 9}, {32768, 9}, {32896, 17}, {65536, 17}, {65664, 26}, {102400, 26}};
        for (int[] each : cases) {
            qmd.sharedBytes(each[0]);
            assertEquals(each[1], qmd.get(QmdFormat.V3.minSharedConfig()), each[0] + " bytes");
            assertEquals(each[1], qmd.get(QmdFormat.V3.targetSharedConfig()), each[0] + " bytes");
        }
        assertThrows(IllegalArgumentException.class, () -> qmd.sharedBytes(102528));
    }

    @Test
    void valuesThatDoNotFitAreRefused() {
        Qmd qmd = qmd(QmdFormat.V3, 0x300, 0x180);
        assertThrows(IllegalArgumentException.class, () -> qmd.constantBank(0, 0x1080, 64, false));
        assertThrows(IllegalArgumentException.class, () -> qmd.constantBank(0, 0x1000, 24, false));
        assertThrows(
                IllegalArgumentException.class, () -> qmd.program(0x1040, 128, new KernelResources(10, 0x400, 1, 0)));
        assertThrows(
                IllegalArgumentException.class, () -> qmd.program(0x1080, 128, new KernelResources(512, 0x400, 1, 0)));
        assertThrows(IllegalArgumentException.class, () -> new Geometry(1, 65536, 1, 32, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new Geometry(1, 1, 1, 512, 2, 2));
        assertThrows(IllegalArgumentException.class, () -> new Geometry(1, 1, 1, 1, 1, 65));
        assertThrows(IllegalArgumentException.class, () -> new Geometry(0, 1, 1, 1, 1, 1));
    }
}
