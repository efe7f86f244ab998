package dev.tenon.platform.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.platform.bench.measure.FakeProfiler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BenchCommandTests {
    private static final String LLAMA_BENCH_FIELDS = "build_commit,build_number,cpu_info,gpu_info,backends,"
            + "model_filename,model_type,model_size,model_n_params,n_batch,n_ubatch,n_threads,cpu_mask,cpu_strict,"
            + "poll,type_k,type_v,n_gpu_layers,n_cpu_moe,split_mode,main_gpu,no_kv_offload,flash_attn,devices,"
            + "tensor_split,tensor_buft_overrides,use_mmap,use_direct_io,embeddings,no_op_offload,no_host,n_prompt,"
            + "n_gen,n_depth,test_time,avg_ns,stddev_ns,avg_ts,stddev_ts";

    private static final String OWN_FIELDS = ",load_ns,weight_bytes_per_token,kv_bytes_per_position,"
            + "activation_bytes_per_token,n_parallel,greedy,edit,settings,lora,generated,bytes_per_token,bytes_per_second,read_bandwidth,"
            + "bandwidth_share,median_token_ns,median_bandwidth_share,llama_bench_build,llama_bench_flash_attn,llama_bench_avg_ts,llama_bench_stddev_ts,llama_bench_ratio,"
            + "llama_bench_ratio_stddev,profile_overhead,profile_overhead_stddev";

    private final FakeModel model = new FakeModel();
    private FakeConsole console;

    @BeforeEach
    void setUp() {
        console = new FakeConsole();
    }

    private String bench(String... args) {
        List<String> all = new ArrayList<>(List.of(args));
        if (!all.contains("--bandwidth-mib")) {
            all.addAll(List.of("--bandwidth-mib", "0"));
        }
        if (!all.contains("--warmup-seconds")) {
            all.addAll(List.of("--warmup-seconds", "0"));
        }
        assertEquals(0, console.run(model, all.toArray(String[]::new)), console.errors.toString());
        console.out().flush();
        return console.text.toString();
    }

    @Test
    void promptTestWarmsUpOnceAndEmptiesTheCacheBeforeEachRun() {
        bench("-p", "20", "-n", "0", "-r", "2");
        assertEquals(
                List.of(
                        "eval 20 bos unread",
                        "truncate 0",
                        "truncate 0",
                        "eval 20 bos unread",
                        "truncate 0",
                        "eval 20 bos unread"),
                model.calls);
    }

    @Test
    void generationTestWarmsUpWithOneTokenAndRunsTokenByToken() {
        bench("-p", "0", "-n", "3", "-r", "1");
        assertEquals("eval 1 bos unread", model.calls.get(0));
        assertEquals(List.of("truncate 0", "truncate 0", "eval 1 bos unread"), model.calls.subList(1, 4));
        assertEquals(6, model.calls.size());
    }

    @Test
    void anEditIsAGenerationAfterItsText() {
        String out = bench("-p", "0", "-n", "3", "-d", "40", "-r", "1", "--edit", "--no-warmup");
        assertTrue(out.contains("tg3 edit @ d40"), out);
        assertTrue(model.calls.contains("generate 3 bos edits"), model.calls.toString());
        assertEquals(2, console.run(model, "-p", "0", "-n", "3", "--edit"));
    }

    @Test
    void greedyGenerationsAreThoseOfASession() {
        String out = bench("-p", "0", "-n", "3", "-r", "1", "--greedy", "--no-warmup");
        assertEquals(List.of("truncate 0", "truncate 0", "generate 3 bos"), model.calls);
        assertTrue(out.contains("tg3 greedy"), out);
    }

    @Test
    void theTokensOfAGreedyGenerationAreTold() throws IOException {
        String[] both = {"-p", "0", "-n", "3", "-r", "2", "--no-warmup", "-o", "jsonl", "--greedy"};
        JsonNode greedy = new ObjectMapper().readTree(bench(both));
        assertEquals("10 11 12", greedy.get("generated").asText());
        setUp();
        JsonNode random = new ObjectMapper().readTree(bench(Arrays.copyOf(both, both.length - 1)));
        assertTrue(random.get("generated").isNull(), random::toString);
    }

    @Test
    void adaptersAreLoadedWithTheirScalesAndNamed() throws IOException {
        String[] two = {"--lora", "a.gguf", "--lora", "b.gguf=-0.5"};
        String out = bench("-p", "4", "-n", "0", "-r", "1", two[0], two[1], two[2], two[3]);
        List<LoadRequest.Adapter> loaded = model.loads.getLast().adapters();
        assertEquals(
                List.of(Path.of("a.gguf"), Path.of("b.gguf")),
                loaded.stream().map(a -> a.path()).toList());
        assertEquals(List.of(1f, -0.5f), loaded.stream().map(a -> a.scale()).toList());
        assertTrue(out.contains("lora: a.gguf=1.0 b.gguf=-0.5"), out);
        setUp();
        JsonNode json =
                new ObjectMapper().readTree(bench("-p", "4", "-n", "0", "-r", "1", "-o", "jsonl", two[0], two[1]));
        assertEquals("a.gguf=1.0", json.get("lora").asText());
        assertEquals(2, console.run(model, "--lora", "a.gguf", "--llama-bench", "llama-bench"));
    }

    @Test
    void aSweepMeasuresEachCombinationOfSettings() {
        String out = bench(
                "-p",
                "0",
                "-n",
                "1",
                "-r",
                "1",
                "--no-warmup",
                "--set",
                "x=y",
                "--sweep",
                "a.b=8,16",
                "--sweep",
                "c=1,2");
        assertEquals(
                List.of(
                        Map.of("x", "y", "a.b", "8", "c", "1"),
                        Map.of("x", "y", "a.b", "8", "c", "2"),
                        Map.of("x", "y", "a.b", "16", "c", "1"),
                        Map.of("x", "y", "a.b", "16", "c", "2")),
                model.loads.stream().map(LoadRequest::settings).toList());
        assertTrue(out.contains("| a.b=16 c=1 |"), out);
        assertEquals(
                1, out.lines().filter(l -> l.contains("tg1: fastest with a.b=")).count(), out);
    }

    @Test
    void withoutASweepNothingIsNamedFastest() {
        assertFalse(bench("-p", "0", "-n", "1", "-r", "1", "--no-warmup").contains("fastest"));
    }

    @Test
    void warmUpMayBeLeftOut() {
        bench("-p", "0", "-n", "1", "-r", "1", "--no-warmup");
        assertEquals(List.of("truncate 0", "truncate 0", "eval 1 bos unread"), model.calls);
    }

    @Test
    void bosComesOnlyIfTheModelAddsIt() {
        model.addsBos = false;
        bench("-p", "0", "-n", "1", "-r", "1", "--no-warmup");
        // Without BOS the first token is a random one, which the fixed start of the random numbers decides.
        assertTrue(model.calls.getLast().startsWith("eval 1 "), model.calls.toString());
        model.calls.clear();
        bench("-p", "50", "-n", "0", "-r", "20", "--no-warmup");
        assertTrue(model.calls.stream().filter(c -> c.contains("bos")).count() < 5, model.calls.toString());
    }

    @Test
    void promptIsHandedOverInBatches() {
        bench("-p", "20", "-n", "0", "-r", "1", "-b", "8", "--no-warmup");
        assertEquals(
                List.of("truncate 0", "truncate 0", "eval 8 bos unread", "eval 8 unread", "eval 4 unread"),
                model.calls);
    }

    @Test
    void depthIsFilledOnceAndKept() {
        bench("-p", "5", "-n", "0", "-d", "30", "-r", "2", "--no-warmup");
        assertEquals(
                List.of(
                        "truncate 0",
                        "eval 30 bos unread",
                        "truncate 30",
                        "eval 5 bos unread",
                        "truncate 30",
                        "eval 5 bos unread"),
                model.calls);
    }

    @Test
    void contextHoldsTheLargestTest() {
        bench("-p", "20,10", "-n", "7", "-pg", "16,9", "-d", "0,4", "-r", "1");
        assertEquals(1, model.loads.size());
        assertEquals(29, model.loads.getFirst().contextLength());
    }

    @Test
    void listsMakeEveryCombination() {
        bench("-p", "1", "-n", "0", "-r", "1", "-m", "a.gguf,b.gguf", "-t", "1,2", "-ctk", "f16,q8_0");
        assertEquals(8, model.loads.size());
        assertEquals("a.gguf", model.loads.get(0).path().toString());
        assertEquals(1, model.loads.get(0).threads());
        assertEquals(Optional.of(KvType.Q8_0), model.loads.get(2).keyType());
        assertEquals("b.gguf", model.loads.get(7).path().toString());
        assertEquals(512, model.loads.get(0).maxBatchTokens());
    }

    @Test
    void markdownHasLlamaBenchsColumns() {
        String[] lines = bench("-p", "4", "-n", "2", "-r", "3", "-t", "2").split("\n");
        assertEquals(
                "| model                          |       size |     params | backend    | threads |            test |"
                        + "                  t/s |",
                lines[0]);
        assertEquals(
                "| ------------------------------ | ---------: | ---------: | ---------- | ------: | --------------: |"
                        + " -------------------: |",
                lines[1]);
        assertTrue(
                lines[2].matches("\\| llama 1.2B Q6_K +\\| 966.94 MiB \\| +1.24 B \\| cpu-fake +\\| +2 \\| +pp4 \\|"
                        + " +\\d+\\.\\d\\d ± \\d+\\.\\d\\d \\|"),
                lines[2]);
        assertTrue(lines[3].contains("|             tg2 |"), lines[3]);
        assertEquals("", lines[4]);
        assertEquals("load: llama 1.2B Q6_K on Fake 9000 in 7.0 ms", lines[5]);
        assertTrue(
                lines[6].startsWith(
                        "tg2: 1.02 MiB a token (weights 1.00 MiB, KV cache 0.000 MiB, activations 0.016 MiB)"),
                lines[6]);
        assertTrue(lines[7].startsWith("bytes a token are counted, not measured"), lines[7]);
        assertEquals("build: tenon 1.2.3", lines[8]);
    }

    @Test
    void markdownShowsSettingsThatAreNotTheDefault() {
        String head = bench("-p", "1", "-n", "0", "-r", "1", "-b", "64", "-ctk", "q8_0")
                .lines()
                .findFirst()
                .orElse("");
        assertTrue(head.contains("| n_batch |") && head.contains("| type_k |") && !head.contains("type_v"), head);
    }

    @Test
    void csvHasLlamaBenchsFieldsInItsOrder() {
        String[] lines = bench("-p", "4", "-n", "2", "-r", "2", "-o", "csv").split("\n");
        assertEquals(3, lines.length);
        assertEquals(LLAMA_BENCH_FIELDS + OWN_FIELDS, lines[0]);
        assertTrue(lines[1].contains("\"default.gguf\",\"llama 1.2B Q6_K\",\"1013905920\",\"1236000000\""), lines[1]);
        assertEquals(lines[0].split(",").length, lines[1].split("\",\"").length);
    }

    @Test
    void sqlMakesATableAndARowForEachResult() {
        String text = bench("-p", "4", "-n", "2", "-r", "1", "-o", "sql");
        assertTrue(text.startsWith("CREATE TABLE IF NOT EXISTS llama_bench (\n  build_commit TEXT,\n"), text);
        assertTrue(text.contains("  avg_ns INTEGER,\n") && text.contains("  avg_ts REAL,\n"), text);
        assertTrue(text.contains("  cpu_strict INTEGER,\n") && text.contains("  bytes_per_token REAL,\n"), text);
        assertTrue(text.contains("  llama_bench_build TEXT,\n"), text);
        String[] rows = text.substring(text.indexOf("INSERT")).split("\n");
        assertEquals(2, rows.length);
        assertTrue(rows[0].startsWith("INSERT INTO llama_bench (build_commit, build_number, "), rows[0]);
        assertTrue(rows[0].contains(" VALUES ('") && rows[0].contains(", NULL") && rows[0].endsWith(");"), rows[0]);
    }

    @Test
    void jsonHoldsTheSamples() throws IOException {
        JsonNode json = new ObjectMapper().readTree(bench("-p", "4", "-n", "2", "-r", "3", "-o", "json"));
        assertEquals(2, json.size());
        JsonNode first = json.get(0);
        assertEquals(4, first.get("n_prompt").asInt());
        assertEquals(3, first.get("samples_ns").size());
        double mean = 0;
        for (JsonNode sample : first.get("samples_ts")) {
            mean += sample.asDouble() / 3;
        }
        assertEquals(mean, first.get("avg_ts").asDouble(), 1e-6 * mean);
        for (String field : LLAMA_BENCH_FIELDS.split(",")) {
            assertTrue(first.has(field), field);
        }
        assertEquals(7_000_000, first.get("load_ns").asLong());
        assertEquals(1 << 20, first.get("weight_bytes_per_token").asLong());
        // 2 layers, 2 key heads of 16 and 2 value heads of 16 float16.
        assertEquals(256, first.get("kv_bytes_per_position").asDouble());
        // 2 layers of 6 times 64, 64 queries, 64 keys and values, 64 attended, 3 times 128; 2 times 64;
        // 100 logits;
        // all as float32, written and read.
        assertEquals(
                8 * (2 * 960 + 228), first.get("activation_bytes_per_token").asLong());
        assertTrue(first.get("bytes_per_token").isNull());
        assertTrue(first.get("read_bandwidth").isNull());
        JsonNode second = json.get(1);
        assertEquals(
                (1 << 20) + 256 * 1.5 + 17184, second.get("bytes_per_token").asDouble(), 1e-6);
    }

    @Test
    void jsonLinesAreOneObjectEach() throws IOException {
        String[] lines = bench("-p", "4", "-n", "2", "-r", "1", "-o", "jsonl").split("\n");
        assertEquals(2, lines.length);
        assertEquals(2, new ObjectMapper().readTree(lines[1]).get("n_gen").asInt());
    }

    @Test
    void sequencesGenerateTogetherAndTheirSpeedIsTheTotal() throws IOException {
        JsonNode json = new ObjectMapper()
                .readTree(bench("-p", "4", "-n", "3", "-d", "5", "-np", "1,4", "-r", "2", "-o", "json"));
        assertEquals(4, model.loads.getFirst().maxSequences());
        // Whole pages of the cache for each sequence.
        assertEquals(256, model.loads.getFirst().contextLength());
        assertEquals(3, json.size());
        JsonNode four = json.get(2);
        assertEquals(4, four.get("n_parallel").asInt());
        assertEquals(
                12e9 / four.get("samples_ns").get(0).asLong(),
                four.get("samples_ts").get(0).asDouble(),
                1e-6);
        // A step reads the weights once for all four.
        assertEquals((1 << 18) + 256 * 7.0 + 17184, four.get("bytes_per_token").asDouble(), 1e-6);
        // The last test: a token each to warm up, the depth, then three tokens a repetition.
        for (String prefix : List.of("#1 ", "#2 ", "#3 ")) {
            List<String> own =
                    model.calls.stream().filter(c -> c.startsWith(prefix)).toList();
            assertEquals(
                    List.of("eval 1 bos unread", "truncate 0", "eval 5 bos unread", "truncate 5", "eval 1 bos unread"),
                    own.subList(0, 5).stream().map(c -> c.substring(3)).toList());
            assertEquals(11, own.size(), own.toString());
        }
    }

    @Test
    void warmUpEndsWhenTheCompilerIsIdleOrTheTimeIsUp() {
        model.notesCalls = false;
        bench("-p", "0", "-n", "2", "-r", "1", "--warmup-seconds", "60");
        // The first token, at least one untimed repetition, and the timed one.
        long tokens = model.evaluated.get();
        assertTrue(tokens >= 5 && tokens % 2 == 1, () -> tokens + " tokens");
    }

    @Test
    void rowsOfSeveralSequencesSayHowMany() {
        String text = bench("-p", "0", "-n", "3", "-d", "5", "-np", "2", "-r", "1");
        assertTrue(text.contains("|    tg3 x 2 @ d5 |"), text);
    }

    @Test
    void failureOfASequenceEndsTheBench() {
        model.failing = "#1 eval 1";
        assertTrue(console.run(model, "-p", "0", "-n", "2", "-np", "3", "--bandwidth-mib", "0") != 0);
        assertTrue(console.errors.toString().contains("made to fail"), console.errors.toString());
    }

    @Test
    void bandwidthIsMeasuredInTheSameRun() throws IOException {
        JsonNode json = new ObjectMapper()
                .readTree(bench("-p", "4", "-n", "3", "-r", "1", "-t", "2", "-o", "json", "--bandwidth-mib", "8"));
        JsonNode tg = json.get(1);
        double bandwidth = tg.get("read_bandwidth").asDouble();
        assertTrue(bandwidth > 1e6, tg.toString());
        assertEquals(
                tg.get("bytes_per_second").asDouble() / bandwidth,
                tg.get("bandwidth_share").asDouble(),
                1e-9);
        String text = bench("-p", "0", "-n", "3", "-r", "1", "-t", "2", "--bandwidth-mib", "8");
        assertTrue(
                text.matches(
                        "(?s).*% of [\\d.]+ GB/s that 2 threads read; at most [\\d.]+ t/s; median token [\\d.]+ ms: [\\d.]+ %.*"),
                text);
    }

    @Test
    void profileTellsRolesSharesAndItsOverhead() throws IOException {
        FakeProfiler profiler = new FakeProfiler();
        model.profiler = profiler;
        String text = bench("-p", "0", "-n", "2", "-r", "2", "-t", "2", "--profile");
        assertTrue(text.contains("profile of tg2 (llama 1.2B Q6_K, cpu-fake, 2 threads):"), text);
        assertTrue(text.matches("(?s).*\\| linear_add +\\| ffn_down +\\| q6_k.fake +\\| +4 \\| +0.50 \\|.*"), text);
        assertTrue(text.matches("(?s).*overhead [+-][\\d.]+ ± [\\d.]+ %.*"), text);
        // Each repetition runs once without and once with the profiler, after one with it that is not counted.
        assertEquals(1 + 1 + 5 * 3, model.calls.size(), model.calls.toString());
        assertEquals(3, profiler.starts);
        console = new FakeConsole();
        JsonNode json = new ObjectMapper().readTree(bench("-p", "0", "-n", "2", "-r", "2", "--profile", "-o", "json"));
        assertEquals(2, json.get(0).get("samples_ns").size());
        assertEquals(4, json.get(0).get("profile").get(0).get("count").asInt());
        assertTrue(json.get(0).get("profile_overhead").isNumber());
    }

    @Test
    void backendWithoutProfilerIsSaidSo() {
        String text = bench("-p", "0", "-n", "2", "-r", "1", "--profile");
        assertTrue(!text.contains("profile of"), text);
        assertTrue(console.errors.toString().contains("cpu-fake does not time its kernels"), console.errors.toString());
    }

    @Test
    void badListsAreUsageErrors() {
        for (String[] bad : new String[][] {
            {"-np", "0"},
            {"--bandwidth-mib", "-1"},
            {"-p", "x"},
            {"-b", "0"},
            {"-r", "0"},
            {"-pg", "5"},
            {"-o", "xml"},
            {"-p", "0", "-n", "0"}
        }) {
            assertEquals(2, new FakeConsole().run(model, bad), String.join(" ", bad));
        }
        assertEquals(0, model.loads.size());
    }
}
