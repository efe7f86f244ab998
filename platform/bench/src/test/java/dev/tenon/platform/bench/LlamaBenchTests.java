package dev.tenon.platform.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.bench.measure.BenchTest;
import dev.tenon.platform.bench.output.BenchConfig;
import dev.tenon.platform.bench.output.LlamaBench;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the stand-in for llama-bench is a shell script")
class LlamaBenchTests {
    /// Notes its arguments and prints what llama-bench would: 200 tokens a second with flash attention, 100
    /// without, and 1 more with each call.
    private static final String SCRIPT = """
            #!/bin/sh
            echo "$*" >> CALLS
            calls=$(wc -l < CALLS)
            speed=100
            prompt=0
            gen=0
            depth=0
            while [ $# -gt 0 ]; do
              case "$1" in
              -fa) [ "$2" = 0 ] || speed=200 ;;
              -p) prompt=$2 ;;
              -n) gen=$2 ;;
              -d) depth=$2 ;;
              -pg) prompt=${2%,*} gen=${2#*,} ;;
              esac
              shift
            done
            echo "ggml: a line on standard error" >&2
            cat <<END
            [
              {
                "build_commit": "abc1234", "build_number": 4711, "cpu_info": "x", "tensor_split": "0.00",
                "n_prompt": $prompt, "n_gen": $gen, "n_depth": $depth, "flash_attn": false,
                "test_time": "2026-01-01T00:00:00Z", "avg_ns": 5, "stddev_ns": 0,
                "avg_ts": $((speed + calls)).5, "stddev_ts": 0, "samples_ns": [ 5 ], "samples_ts": [ 1 ]
              }
            ]
            END
            """;

    @TempDir
    Path folder;

    private String script(String text) throws IOException {
        Path file = folder.resolve("llama-bench");
        Files.writeString(file, text.replace("CALLS", folder.resolve("calls").toString()));
        assertTrue(file.toFile().setExecutable(true));
        return file.toString();
    }

    private static BenchConfig config(KvType keys) {
        return new BenchConfig(Path.of("m.gguf"), "", "", 2, 2048, 512, keys, KvType.F16, Map.of(), Map.of());
    }

    @Test
    void commandLineSaysTheSameAsOurRun() {
        LlamaBench program = new LlamaBench("lb", 1);
        assertEquals(
                "lb -m m.gguf -p 512 -n 0 -t 2 -r 1 -b 2048 -ub 512 -ngl 0 -fa 1 -o json",
                String.join(" ", program.command(config(KvType.F16), new BenchTest(512, 0, 0), true, true)));
        assertEquals(
                "lb -m m.gguf -p 0 -n 0 -pg 8,4 -d 16 -t 2 -r 1 -b 2048 -ub 512 -ctk q8_0 -fa 0 -o json",
                String.join(" ", program.command(config(KvType.Q8_0), new BenchTest(8, 4, 16), false, false)));
    }

    @Test
    void bothRunInTurnsAndTheBetterSettingCounts() throws IOException {
        String path = script(SCRIPT);
        FakeConsole console = new FakeConsole();
        int status = console.run(
                new FakeModel(),
                "-p",
                "0",
                "-n",
                "3",
                "-r",
                "3",
                "-o",
                "json",
                "-t",
                "2",
                "-np",
                "1,2",
                "--bandwidth-mib",
                "0",
                "--no-warmup",
                "--llama-bench",
                path);
        assertEquals(0, status, console.errors.toString());
        console.out().flush();
        JsonNode json = new ObjectMapper().readTree(console.text.toString());
        JsonNode one = json.get(0);
        assertEquals("abc1234 (4711)", one.get("llama_bench_build").asText());
        assertTrue(one.get("llama_bench_flash_attn").asBoolean());
        assertEquals(204.5, one.get("llama_bench_avg_ts").asDouble(), 1e-9);
        assertEquals(2, one.get("llama_bench_stddev_ts").asDouble(), 1e-9);
        double mean = 0;
        for (int i = 0; i < 3; i++) {
            assertEquals(202.5 + 2 * i, one.get("llama_bench_samples_ts").get(i).asDouble(), 1e-9);
            mean += one.get("samples_ts").get(i).asDouble() / (202.5 + 2 * i) / 3;
        }
        assertEquals(mean, one.get("llama_bench_ratio").asDouble(), 1e-9 * mean);
        List<String> calls = Files.readAllLines(folder.resolve("calls"));
        assertEquals(6, calls.size());
        assertTrue(calls.get(0).endsWith("-fa 0 -o json") && calls.get(1).endsWith("-fa 1 -o json"), calls.toString());
        // llama-bench has no test of several sequences.
        assertTrue(json.get(1).get("llama_bench_ratio").isNull());
    }

    @Test
    void tableHasColumnsForBothAndTheirRatio() throws IOException {
        FakeConsole console = new FakeConsole();
        String path = script(SCRIPT);
        assertEquals(
                0,
                console.run(
                        new FakeModel(),
                        "-p",
                        "8",
                        "-n",
                        "0",
                        "-r",
                        "2",
                        "-d",
                        "4",
                        "--no-warmup",
                        "--llama-bench",
                        path));
        console.out().flush();
        String[] lines = console.text.toString().split("\n");
        assertTrue(lines[0].endsWith("|        llama.cpp t/s | fa |        ratio |"), lines[0]);
        assertTrue(lines[2].matches(".*\\| +203.50 ± 1.41 \\|  1 \\| +[\\d.]+ ± [\\d.]+ \\|"), lines[2]);
        assertTrue(console.text.toString().contains("llama.cpp: build abc1234 (4711), run in turns"));
    }

    private void refused(String text, String expected) throws IOException {
        refused(text, 600, expected);
    }

    private void refused(String text, int limitSeconds, String expected) throws IOException {
        LlamaBench program = new LlamaBench(text == null ? "/nowhere/llama-bench" : script(text), limitSeconds);
        TenonException e = assertThrows(
                TenonException.class, () -> program.run(config(KvType.F16), new BenchTest(0, 3, 0), true, false));
        assertTrue(e.getMessage().contains(expected), e.getMessage());
    }

    @Test
    void programsThatDoNotWorkAreNamedWithWhatTheySaid() throws IOException {
        refused(null, "/nowhere/llama-bench");
        refused("#!/bin/sh\necho no such model >&2\nexit 3\n", "ended with status 3: no such model");
        refused("#!/bin/sh\nkill -9 $$\n", "was killed by signal 9: (nothing)");
        refused("#!/bin/sh\necho Usage: something\n", "printed no JSON");
        refused("#!/bin/sh\necho '[ { \"n_prompt\": 0, \"n_gen\": 4, \"avg_ts\": 1 } ]'\n", "printed no result of tg3");
        refused("#!/bin/sh\necho '[ { \"n_prompt\": 0, '\n", "printed no JSON");
        refused("#!/bin/sh\n:\n", "printed no result of tg3: (nothing)");
        refused("#!/bin/sh\nexec sleep 600\n", 2, "took longer than 2 s");
    }

    @Test
    void aProgramThatIsNotThereIsToldBeforeAnythingIsMeasured() throws IOException {
        Path plain = Files.createFile(folder.resolve("plain"));
        assertTrue(plain.toFile().setExecutable(false));
        for (String[] bad : new String[][] {
            {folder.resolve("none").toString(), "no such file"},
            {folder.toString(), "it is a folder"},
            {plain.toString(), "may not be executed"}
        }) {
            FakeModel model = new FakeModel();
            FakeConsole console = new FakeConsole();
            assertEquals(1, console.run(model, "-p", "4", "-n", "0", "--no-warmup", "--llama-bench", bad[0]));
            assertTrue(console.errors.toString().contains(bad[1]), console.errors.toString());
            assertEquals(0, model.loads.size());
        }
    }

    @Test
    void quantizedValuesAreComparedWithFlashAttentionOnly() throws IOException {
        FakeConsole console = new FakeConsole();
        String path = script(SCRIPT);
        assertEquals(
                0,
                console.run(
                        new FakeModel(),
                        "-p",
                        "8",
                        "-n",
                        "0",
                        "-r",
                        "2",
                        "-ctv",
                        "q8_0",
                        "-o",
                        "json",
                        "--no-warmup",
                        "--llama-bench",
                        path));
        List<String> calls = Files.readAllLines(folder.resolve("calls"));
        assertEquals(2, calls.size());
        assertTrue(calls.stream().allMatch(c -> c.contains("-ctv q8_0") && c.contains("-fa 1")), calls.toString());
        console.out().flush();
        JsonNode one = new ObjectMapper().readTree(console.text.toString()).get(0);
        assertTrue(one.get("llama_bench_flash_attn").asBoolean());
        assertEquals(202, one.get("llama_bench_avg_ts").asDouble(), 1e-9);
    }
}
