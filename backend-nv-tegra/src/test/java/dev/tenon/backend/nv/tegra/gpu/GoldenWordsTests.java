package dev.tenon.backend.nv.tegra.gpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.backend.nv.tegra.Golden;
import dev.tenon.backend.nv.tegra.command.Commands;
import dev.tenon.backend.nv.tegra.command.Methods;
import dev.tenon.backend.nv.tegra.command.PushBuffer;
import dev.tenon.backend.nv.tegra.command.QmdFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// golden. Oracle: header (class headers), and for the semaphore of the first test on a board:
/// hardware log.
class GoldenWordsTests {
    private static final long SEMAPHORE = 0x5566778890L;

    private static String words(Consumer<PushBuffer> commands) {
        PushBuffer buffer = new PushBuffer();
        commands.accept(buffer);
        return Arrays.stream(buffer.toArray())
                .mapToObj(w -> String.format("%08x", w))
                .collect(Collectors.joining(" "));
    }

    private static Map<String, Consumer<PushBuffer>> ours() {
        Map<String, Consumer<PushBuffer>> map = new LinkedHashMap<>();
        map.put("set_object compute c7c0", b -> Commands.setObject(b, Methods.COMPUTE, 0xC7C0));
        map.put("set_object compute cbc0", b -> Commands.setObject(b, Methods.COMPUTE, 0xCBC0));
        map.put("set_object copy c7b5", b -> Commands.setObject(b, Methods.COPY, 0xC7B5));
        map.put("set_object copy c8b5", b -> Commands.setObject(b, Methods.COPY, 0xC8B5));
        map.put("local window 0xFD00000000", b -> Commands.localWindow(b, 0xFD00000000L));
        map.put("shared window 0xFE00000000", b -> Commands.sharedWindow(b, 0xFE00000000L));
        map.put("slm base 0xF000000000", b -> b.append(part(0, 3, 0xF000000000L, 0x1B0000)));
        map.put("slm per tpc 0x1b0000,0xff", b -> b.append(part(3, 7, 0xF000000000L, 0x1B0000)));
        map.put("wait sem 0x5566778890>=7", b -> Commands.acquire(b, SEMAPHORE, 7));
        map.put("signal sem 0x5566778890=8 (+irq)", b -> {
            Commands.release(b, SEMAPHORE, 8);
            Commands.interrupt(b);
        });
        map.put("memory_barrier", Commands::memoryBarrier);
        map.put("inval shader caches 021c", Commands::invalidateShaderCaches);
        map.put("launch qmd 0x9abcdef200", b -> Commands.launch(b, 0x9ABCDEF200L, QmdFormat.V3));
        map.put("copy 0x9a00000000->0x9b00000000 4096", b -> Commands.copy(b, 0x9A00000000L, 0x9B00000000L, 4096));
        map.put("copy signal 0x5566778890=9", b -> Commands.copySignal(b, SEMAPHORE, 9));
        return map;
    }

    /// A part of the words that place local memory.
    private static PushBuffer part(int from, int to, long va, long bytesPerTpc) {
        PushBuffer all = new PushBuffer();
        Commands.localMemory(all, va, bytesPerTpc, 0xFF);
        PushBuffer part = new PushBuffer();
        // A header tells how many words follow it.
        part.incrementing(
                Methods.COMPUTE, (all.word(from) & 0xFFF) << 2, Arrays.copyOfRange(all.toArray(), from + 1, to));
        assertEquals(all.word(from), part.word(0));
        return part;
    }

    @TestFactory
    Stream<DynamicTest> commandsAreTheGoldenWords() {
        Map<String, Consumer<PushBuffer>> ours = ours();
        List<DynamicTest> tests = new ArrayList<>();
        for (String line : Golden.lines("pushbuffer-words.txt")) {
            ours.keySet().stream().filter(line::startsWith).findFirst().ifPresent(name -> {
                String golden = line.substring(name.length()).strip();
                tests.add(DynamicTest.dynamicTest(name, () -> assertEquals(golden, words(ours.get(name)))));
            });
        }
        tests.add(DynamicTest.dynamicTest("all", () -> assertEquals(ours.size(), tests.size() - 1)));
        return tests.stream();
    }

    @Test
    void ringEntriesAreTheGoldenOnes() {
        List<String> golden = Golden.lines("pushbuffer-words.txt").stream()
                .filter(l -> l.startsWith("gpentry"))
                .toList();
        assertEquals(2, golden.size());
        assertTrue(golden.get(0).contains("00001affffa01000"), golden.get(0));
        assertEquals(0x00001affffa01000L, Gpfifo.entry(0xFFFFA01000L, 6));
        assertTrue(golden.get(1).contains("00007e0123456780"), golden.get(1));
        assertEquals(0x00007e0123456780L, Gpfifo.entry(0x123456780L, 31));
    }

    /// Oracle: hardware log; the words of the first semaphore release that a board executed.
    @Test
    void theFirstSemaphoreReleaseOfABoard() {
        assertEquals(
                "20050017 ffa00000 000000ff adbeef42 000000de 03100001",
                words(b -> Commands.release(b, 0xFFFFA00000L, 0xDEADBEEF42L)));
    }

    @Test
    void longCopiesAreSplitAtTwoGibibytes() {
        PushBuffer buffer = new PushBuffer();
        Commands.copy(buffer, 0x1000, 0x9000000000L, (1L << 31) + 5);
        assertEquals(18, buffer.size());
        assertEquals(1 << 31, buffer.word(6));
        assertEquals(0x80001000, buffer.word(11));
        assertEquals(5, buffer.word(15));
    }

    @Test
    void impossibleCommandsAreRefused() {
        PushBuffer buffer = new PushBuffer();
        assertThrows(IllegalArgumentException.class, () -> Commands.launch(buffer, 0x10080, QmdFormat.V3));
        assertThrows(IllegalArgumentException.class, () -> Commands.launch(buffer, 1L << 40, QmdFormat.V3));
        assertThrows(IllegalArgumentException.class, () -> buffer.incrementing(8, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> buffer.incrementing(0, 2, 1));
        assertThrows(IllegalArgumentException.class, () -> buffer.incrementing(0, 0));
        assertThrows(IllegalArgumentException.class, () -> Gpfifo.entry(2, 1));
        assertThrows(IllegalArgumentException.class, () -> Gpfifo.entry(4, PushBuffer.MAX_WORDS + 1));
        assertEquals(0, buffer.size());
    }
}
