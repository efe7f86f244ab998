package dev.tenon.backend.nv.tegra.emulator;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.backend.nv.tegra.command.Geometry;
import dev.tenon.backend.nv.tegra.emulator.board.Orin;
import dev.tenon.backend.nv.tegra.emulator.stream.Disassembler;
import dev.tenon.backend.nv.tegra.emulator.stream.StreamFile;
import dev.tenon.backend.nv.tegra.gpu.CommandList;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Recording what channels fetch, and showing it. Oracle: the golden words, which are shown as what
/// they mean.
class StreamTests {
    private static byte[] record() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (Orin orin = new Orin();
                CommandList list = new CommandList(orin.device)) {
            GpuMemory out = orin.buffer(4096);
            list.add(
                    orin.kernel("square_plus_one"),
                    Geometry.of(2, 64),
                    0,
                    orin.arguments("square_plus_one").set(0, out.va()).set(1, 100),
                    false);
            list.build();
            orin.board.record(StreamFile.writer(bytes));
            list.run();
            orin.device.copy(out.va(), out.va() + 2048, 16);
            orin.device.synchronize();
            orin.board.record(null);
        }
        return bytes.toByteArray();
    }

    private static List<String> dump(byte[] stream) throws IOException {
        List<String> lines = new ArrayList<>();
        StreamFile.dump(new ByteArrayInputStream(stream), lines::add);
        return lines;
    }

    @Test
    void twoRunsOfTheSameGiveTheSameStream() throws IOException {
        assertArrayEquals(record(), record());
    }

    @Test
    void aStreamIsReadBackAsItWasWritten() throws IOException {
        byte[] first = record();
        ByteArrayOutputStream second = new ByteArrayOutputStream();
        StreamFile.read(new ByteArrayInputStream(first), StreamFile.writer(second));
        assertArrayEquals(first, second.toByteArray());
    }

    @Test
    void theDumpSaysWhatWasDone() throws IOException {
        List<String> lines = dump(record());
        List<String> names = new ArrayList<>();
        for (String line : lines) {
            if (line.matches("  \\d [0-9a-f]{4} .*")) {
                names.add(line.substring(9, 40).strip());
            }
        }
        assertEquals(
                List.of(
                        "SEM_ADDR_LO",
                        "SEM_ADDR_HI",
                        "SEM_PAYLOAD_LO",
                        "SEM_PAYLOAD_HI",
                        "SEM_EXECUTE",
                        "INVALIDATE_SHADER_CACHES_NO_WFI",
                        "SEND_PCAS_A",
                        "SEND_SIGNALING_PCAS2_B"),
                names.subList(0, 8));
        assertTrue(names.contains("LAUNCH_DMA"), names.toString());
        assertTrue(lines.stream().anyMatch(l -> l.equals("channel 511, launch of square_plus_one")), lines.toString());
        assertTrue(lines.stream().anyMatch(l -> l.contains("grid 2 x 1 x 1, block 64 x 1 x 1")), lines.toString());
        assertTrue(lines.stream().noneMatch(l -> l.contains("?")), lines.toString());
    }

    @Test
    void damagedFilesAndWordsAreSaidToBeSo() throws IOException {
        assertThrows(IOException.class, () -> dump(new byte[100]));
        byte[] bytes = record();
        byte[] cut = java.util.Arrays.copyOf(bytes, bytes.length - 3);
        assertThrows(IOException.class, () -> dump(cut));
        bytes[8] = 9;
        assertThrows(IOException.class, () -> dump(bytes));
        assertEquals(List.of("nop"), Disassembler.words(new int[] {0}));
        assertEquals(List.of("(not a header: c0000000)"), Disassembler.words(new int[] {0xC0000000}));
        assertEquals(List.of("(the words end here)"), Disassembler.words(new int[] {0x20050017}));
    }
}
