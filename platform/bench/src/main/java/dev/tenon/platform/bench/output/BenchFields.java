package dev.tenon.platform.bench.output;

import dev.tenon.platform.bench.measure.Statistics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/// The fields of a result in csv and json: llama-bench's names in llama-bench's order, then our
/// own.
///
/// Settings that llama-bench has and Tenon has not carry the value that means "not used" there.
public final class BenchFields {
    private BenchFields() {}

    /// {@return names and values (numbers, booleans, strings; null for what was not measured), in
    ///     order}
    ///
    /// @param result the result
    /// @param version version of the program
    static Map<String, Object> of(BenchResult result, String version) {
        BenchConfig config = result.config();
        BenchResult.ModelFacts model = result.model();
        boolean cpu = model.deviceKind().equals("cpu");
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("build_commit", version);
        fields.put("build_number", 0);
        fields.put("cpu_info", cpuInfo());
        fields.put("gpu_info", cpu ? "" : model.device());
        fields.put("backends", model.backend());
        fields.put("model_filename", config.model().toString());
        fields.put("model_type", model.type());
        fields.put("model_size", model.sizeBytes());
        fields.put("model_n_params", model.parameters());
        fields.put("n_batch", config.nBatch());
        fields.put("n_ubatch", config.nUbatch());
        fields.put("n_threads", threads(config));
        fields.put("cpu_mask", "0x0");
        fields.put("cpu_strict", false);
        fields.put("poll", 0);
        fields.put("type_k", config.typeK().name().toLowerCase(Locale.ROOT));
        fields.put("type_v", config.typeV().name().toLowerCase(Locale.ROOT));
        fields.put("n_gpu_layers", cpu ? 0 : model.layers() + 1);
        fields.put("n_cpu_moe", 0);
        fields.put("split_mode", "none");
        fields.put("main_gpu", 0);
        fields.put("no_kv_offload", false);
        fields.put("flash_attn", false);
        fields.put("devices", model.device());
        fields.put("tensor_split", "0.00");
        fields.put("tensor_buft_overrides", "none");
        fields.put("use_mmap", true);
        fields.put("use_direct_io", false);
        fields.put("embeddings", false);
        fields.put("no_op_offload", 0);
        fields.put("no_host", false);
        fields.put("n_prompt", result.test().nPrompt());
        fields.put("n_gen", result.test().nGen());
        fields.put("n_depth", result.test().nDepth());
        fields.put("test_time", result.testTime().toString());
        fields.put("avg_ns", result.meanNanos());
        fields.put("stddev_ns", result.deviationNanos());
        fields.put("avg_ts", result.meanPerSecond());
        fields.put("stddev_ts", result.deviationPerSecond());
        fields.put("load_ns", model.loadNanos());
        fields.put("weight_bytes_per_token", model.weightBytesPerToken());
        fields.put("kv_bytes_per_position", model.kvBytesPerPosition());
        fields.put("activation_bytes_per_token", model.activationBytesPerToken());
        boolean decodes = result.decodes();
        boolean measured = result.bandwidth() > 0;
        fields.put("n_parallel", result.test().nParallel());
        fields.put("greedy", result.test().greedy());
        fields.put("edit", result.test().edits());
        fields.put("settings", config.settings());
        fields.put("lora", config.lora());
        fields.put("generated", result.generated());
        fields.put("bytes_per_token", decodes ? result.bytesPerToken() : null);
        fields.put("bytes_per_second", decodes ? result.bytesPerSecond() : null);
        fields.put("read_bandwidth", measured ? result.bandwidth() : null);
        fields.put("bandwidth_share", decodes && measured ? result.bytesPerSecond() / result.bandwidth() : null);
        boolean timed = decodes && result.tokensTimed();
        fields.put("median_token_ns", timed ? result.medianTokenNanos() : null);
        fields.put(
                "median_bandwidth_share",
                timed && measured ? result.medianBytesPerSecond() / result.bandwidth() : null);
        Comparison other = result.comparison();
        double[] ratios = other == null ? null : other.ratios(result.samplesPerSecond());
        fields.put("llama_bench_build", other == null ? null : other.build());
        fields.put("llama_bench_flash_attn", other == null ? null : other.flashAttention());
        fields.put("llama_bench_avg_ts", other == null ? null : Statistics.mean(other.samplesPerSecond()));
        fields.put("llama_bench_stddev_ts", other == null ? null : Statistics.deviation(other.samplesPerSecond()));
        fields.put("llama_bench_ratio", other == null ? null : Statistics.mean(ratios));
        fields.put("llama_bench_ratio_stddev", other == null ? null : Statistics.deviation(ratios));
        fields.put(
                "profile_overhead",
                result.profile() == null ? null : result.profile().overhead());
        fields.put(
                "profile_overhead_stddev",
                result.profile() == null ? null : result.profile().overheadDeviation());
        return fields;
    }

    /// {@return the threads that a configuration means}
    ///
    /// @param config the configuration
    public static int threads(BenchConfig config) {
        return config.threads() > 0 ? config.threads() : Runtime.getRuntime().availableProcessors();
    }

    /// {@return the processor's name, or the architecture's where the system does not tell}
    public static String cpuInfo() {
        Path info = Path.of("/proc/cpuinfo");
        if (Files.isReadable(info)) {
            try (Stream<String> lines = Files.lines(info)) {
                List<String> names = lines.filter(l -> l.startsWith("model name"))
                        .map(l -> l.substring(l.indexOf(':') + 1).strip())
                        .limit(1)
                        .toList();
                if (!names.isEmpty()) {
                    return names.getFirst();
                }
            } catch (IOException | java.io.UncheckedIOException e) {
                return System.getProperty("os.arch");
            }
        }
        return System.getProperty("os.arch");
    }
}
