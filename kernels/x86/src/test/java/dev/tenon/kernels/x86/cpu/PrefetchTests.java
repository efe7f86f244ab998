package dev.tenon.kernels.x86.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

public class PrefetchTests {
    @ParameterizedTest
    @CsvSource({
        "auto, 32768, NEAR",
        "auto, 49152, LEVELS",
        "auto, 0, LEVELS",
        "near, 49152, NEAR",
        "' LEVELS', 32768, LEVELS",
        "far, 32768, NEAR"
    })
    void settingAndCacheChoose(String setting, int firstLevelBytes, String chosen) {
        Prefetch expected = chosen.equals("NEAR") ? Prefetch.NEAR : Prefetch.LEVELS;
        assertEquals(expected, Prefetch.of(setting, firstLevelBytes));
    }

    @Test
    void eachLineIsFetchedOncePerLevel() {
        assertEquals(4, fetches(Prefetch.NEAR, 210));
        assertEquals(8, fetches(Prefetch.LEVELS, 210));
    }

    @Test
    void streamsAreFetchedUnevenlyFarAhead() {
        for (int stream = 0; stream < 4; stream++) {
            assertEquals(1024 + 512 * stream, Prefetch.NEAR.stream(stream).firstBytes());
            assertEquals(Prefetch.LEVELS, Prefetch.LEVELS.stream(stream));
        }
    }

    private static int fetches(Prefetch prefetch, int bytes) {
        Assembler a = new Assembler(false);
        prefetch.emit(a, Gpr.RDI, bytes);
        return fetches(a);
    }

    /// Counts instructions that fetch, by their bytes 0F 18.
    public static int fetches(Assembler a) {
        byte[] code = a.assemble();
        int found = 0;
        for (int i = 0; i + 1 < code.length; i++) {
            if (code[i] == 0x0F && code[i + 1] == 0x18) {
                found++;
            }
        }
        return found;
    }
}
