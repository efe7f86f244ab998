package dev.tenon.backend.nv.tegra.code;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.Golden;
import dev.tenon.backend.nv.tegra.sys.NvErrors;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// cubin. Oracle: files that nvcc 13.0 compiled of `kernels.cu`; what they should say is in that
/// source.
class CubinTests {
    private static final int REL = 9;

    private static byte[] bytes(int sm) {
        return Golden.bytes("/kernels/kernels_sm" + sm + ".cubin");
    }

    private static Cubin cubin(int sm) {
        return new Cubin(bytes(sm), "kernels_sm" + sm);
    }

    private static void refused(byte[] bytes, String text) {
        BackendException e = assertThrows(BackendException.class, () -> new Cubin(bytes, "broken"));
        assertEquals(NvErrors.CUBIN, e.code());
        assertTrue(e.getMessage().contains(text), e.getMessage());
    }

    private static List<String> sizes(CubinKernel kernel) {
        return kernel.parameters().stream()
                .map(p -> p.offset() + "+" + p.sizeBytes())
                .toList();
    }

    @Test
    void kernelsAndTheirParametersAreFound() {
        for (int sm : new int[] {87, 90}) {
            Cubin cubin = cubin(sm);
            assertEquals(sm, cubin.sm());
            assertEquals(
                    Set.of(
                            "square_plus_one",
                            "saxpy",
                            "add_one",
                            "scale_by_constant",
                            "count",
                            "mixed",
                            "block_sum",
                            "local_array",
                            "two_barriers"),
                    cubin.kernels().keySet());
            assertEquals(List.of("0+8", "8+8", "16+4", "20+4"), sizes(cubin.kernel("saxpy")));
            assertEquals(List.of("0+40", "40+1", "42+2", "48+8", "56+8"), sizes(cubin.kernel("mixed")));
            assertEquals(sm == 87 ? 0x160 : 0x210, cubin.kernel("saxpy").parameterBase());
            assertEquals(24, cubin.kernel("saxpy").parameterBytes());
        }
    }

    @Test
    void eachKernelHasItsOwnRegistersStackAndBarriers() {
        Cubin cubin = cubin(87);
        assertEquals(38, cubin.kernel("local_array").registers());
        assertEquals(8, cubin.kernel("square_plus_one").registers());
        assertEquals(800, cubin.kernel("local_array").stackBytes());
        assertEquals(0, cubin.kernel("saxpy").stackBytes());
        assertEquals(6, cubin.kernel("two_barriers").barriers());
        assertEquals(0, cubin.kernel("saxpy").barriers());
    }

    @Test
    void sharedMemoryCountsWhatTheArchitectureReservesOnce() {
        assertEquals(0x400 + 512, cubin(87).kernel("block_sum").sharedBytes());
        assertEquals(0x400 + 512, cubin(90).kernel("block_sum").sharedBytes());
        assertEquals(0x400, cubin(87).kernel("saxpy").sharedBytes());
        assertEquals(0x400, cubin(90).kernel("saxpy").sharedBytes());
    }

    @Test
    void constantBanksAndVariablesAreInTheImage() {
        long va = 0x12_3456_7800L;
        for (int sm : new int[] {87, 90}) {
            Cubin cubin = cubin(sm);
            ByteBuffer image = ByteBuffer.wrap(cubin.image(va)).order(ByteOrder.LITTLE_ENDIAN);
            assertEquals(cubin.imageBytes(), image.capacity());
            assertEquals(Map.of(3, 16, 4, 32), cubin.kernel("count").constantBytes());
            int factors = cubin.constantOffset("scale_by_constant", 3);
            assertEquals(0, factors % 256);
            assertEquals(2.5f, image.getFloat(factors + 4));
            int table = cubin.constantOffset("count", 4);
            // counter, counter_address, zeroed, fourth: addresses of device variables.
            int counter = (int) (image.getLong(table) - va);
            assertEquals(7, image.getInt(counter));
            int counterAddress = (int) (image.getLong(table + 8) - va);
            assertEquals(va + counter, image.getLong(counterAddress), "a generic address in a variable");
            long zeroed = image.getLong(table + 16);
            assertTrue(zeroed + 256 <= va + cubin.imageBytes() - Cubin.PREFETCH_BYTES);
            int fourth = (int) (image.getLong(table + 24) - va);
            assertEquals(zeroed + 12, image.getLong(fourth), "with an addend");
            int code = cubin.codeOffset("saxpy");
            assertEquals(0, code % 128);
            assertTrue(code + cubin.kernel("saxpy").codeBytes() + Cubin.PREFETCH_BYTES <= image.capacity());
        }
    }

    @Test
    void anotherArchitectureIsRefused() {
        Cubin cubin = cubin(90);
        BackendException e = assertThrows(BackendException.class, () -> cubin.requireSm(87));
        assertTrue(e.getMessage().contains("sm_90"), e.getMessage());
        assertTrue(e.getMessage().contains("-arch=sm_87"), e.getMessage());
        cubin(87).requireSm(87);
    }

    /// CUDA 12 and older keep the architecture in the low byte. Oracle: belief.
    @Test
    void theOldPlaceOfTheArchitectureIsRead() {
        byte[] bytes = bytes(87);
        bytes[8] = 7;
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(48, 0x00570557);
        assertEquals(87, new Cubin(bytes, "old").sm());
    }

    @Test
    void anotherMachineIsRefused() {
        byte[] bytes = bytes(87);
        bytes[18] = 62;
        refused(bytes, "machine 62");
        refused(new byte[100], "no ELF file");
    }

    @Test
    void aCutFileIsRefusedWhereverItIsCut() {
        byte[] bytes = bytes(87);
        for (int length :
                IntStream.iterate(0, n -> n < bytes.length, n -> n + 97).toArray()) {
            BackendException e = assertThrows(
                    BackendException.class, () -> new Cubin(java.util.Arrays.copyOf(bytes, length), "cut"));
            assertEquals(NvErrors.CUBIN, e.code());
        }
    }

    @Test
    void anUnknownRelocationIsRefusedByType() {
        byte[] bytes = bytes(87);
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int at = relocations(file, "constant4");
        file.putInt(at + 8, 0x77);
        refused(bytes, "unknown type 119");
    }

    @Test
    void aRelocationOfAnUnplacedSymbolIsRefused() {
        byte[] bytes = bytes(87);
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        file.putInt(relocations(file, "constant4") + 12, 0);
        refused(bytes, "not defined");
    }

    /// {@return where the first relocation section without addends is, which is that of bank 4}
    private static int relocations(ByteBuffer file, String what) {
        int table = (int) file.getLong(40);
        for (int i = 0; i < file.getShort(60); i++) {
            int at = table + 64 * i;
            if (file.getInt(at + 4) == REL) {
                return (int) file.getLong(at + 24);
            }
        }
        throw new AssertionError("no relocations of " + what);
    }

    @Test
    void aFileWithoutKernelsIsRefused() {
        byte[] bytes = bytes(87);
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int table = (int) file.getLong(40);
        for (int i = 0; i < file.getShort(60); i++) {
            if ((file.getInt(table + 64 * i + 8) & 4) != 0) {
                file.putLong(table + 64 * i + 8, 0);
            }
        }
        refused(bytes, "no kernel");
    }

    @Test
    void anUnknownKernelIsRefusedWithTheKnownOnes() {
        Cubin cubin = cubin(87);
        BackendException e = assertThrows(BackendException.class, () -> cubin.kernel("nothing"));
        assertTrue(e.getMessage().contains("saxpy"), e.getMessage());
    }

    /// Whatever a damaged file holds, it is read, or refused with a code: nothing else is thrown.
    @Test
    void damagedFilesNeverFailInAnotherWay() {
        Random random = new Random(42);
        byte[] good = bytes(87);
        int refusals = 0;
        for (int round = 0; round < 3000; round++) {
            byte[] bytes = good.clone();
            for (int i = 0; i < 4; i++) {
                // The tables at both ends are where damage hurts.
                int at = random.nextBoolean()
                        ? random.nextInt(bytes.length)
                        : bytes.length - 1 - random.nextInt(47 * 64);
                bytes[at] = (byte) random.nextInt();
            }
            try {
                Cubin cubin = new Cubin(bytes, "damaged");
                if (cubin.imageBytes() < 1 << 24) {
                    cubin.image(0x10000);
                }
            } catch (BackendException e) {
                assertEquals(NvErrors.CUBIN, e.code());
                refusals++;
            }
        }
        assertTrue(refusals > 100, refusals + " refusals");
    }
}
