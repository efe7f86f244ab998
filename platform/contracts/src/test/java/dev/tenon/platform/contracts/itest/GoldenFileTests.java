package dev.tenon.platform.contracts.itest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.itest.testkit.GoldenLogits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GoldenFileTests {
    @TempDir
    Path folder;

    private List<GoldenLogits> read(String json) throws IOException {
        return GoldenFile.read(Files.writeString(folder.resolve("golden.json"), json));
    }

    @Test
    void logitsStandInTheFileItself() throws IOException {
        List<GoldenLogits> cases = read("""
                {"tolerance": 1e-4, "sequences": [
                  {"name": "short", "ids": [3, 1], "logits": [0.5, -1.25]}, {"ids": [4], "logits": [2]}]}""");
        assertEquals(2, cases.size());
        assertEquals("short", cases.getFirst().name());
        assertEquals(1e-4, cases.getFirst().tolerance());
        assertArrayEquals(new int[] {3, 1}, cases.getFirst().ids());
        assertArrayEquals(new float[] {0.5f, -1.25f}, cases.getFirst().logits());
        assertArrayEquals(new float[] {2}, cases.getLast().logits());
    }

    @Test
    void rowsStandInATableBesideIt() throws IOException {
        ByteBuffer table = ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : new float[] {1, 2, 3, 4, 5, 6}) {
            table.putFloat(value);
        }
        Files.write(folder.resolve("table.f32"), table.array());
        List<GoldenLogits> cases = read("""
                {"files": {"f64": "table.f32"}, "sequences": [{"ids": [1], "row": 1}, {"ids": [2], "row": 0}]}""");
        assertArrayEquals(new float[] {4, 5, 6}, cases.getFirst().logits());
        assertArrayEquals(new float[] {1, 2, 3}, cases.getLast().logits());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "no json",
                "{}",
                "{\"sequences\": []}",
                "{\"sequences\": [{\"ids\": [1]}]}",
                "{\"sequences\": [{\"logits\": [1]}]}",
                "{\"sequences\": [{\"ids\": [1], \"row\": 0}], \"files\": {\"f64\": \"missing\"}}"
            })
    void anotherFormIsRefused(String json) {
        TenonException e = assertThrows(TenonException.class, () -> read(json));
        assertEquals(ErrorCode.ITEST_GOLDEN, e.code());
    }
}
