package dev.tenon.platform.bench.output;

import dev.tenon.api.device.PlanOptions.KvType;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;

/// One way to load a model.
///
/// @param model the file
/// @param backend backend id, or empty for the configured one
/// @param device device id, or empty for the first
/// @param threads CPU threads; 0 for the machine's
/// @param nBatch prompt tokens handed over at once
/// @param nUbatch most tokens in one step of the device
/// @param typeK type of cached keys
/// @param typeV type of cached values
/// @param adapters low-rank adapters that are used, with their scales, in the order of the command line
/// @param swept settings that differ between configurations, in the order of the command line
public record BenchConfig(
        Path model,
        String backend,
        String device,
        int threads,
        int nBatch,
        int nUbatch,
        KvType typeK,
        KvType typeV,
        Map<Path, Float> adapters,
        Map<String, String> swept) {
    static final int DEFAULT_BATCH = 2048;
    static final int DEFAULT_UBATCH = 512;

    /// {@return the swept settings as they are written on the command line}
    String settings() {
        return swept.entrySet().stream()
                .map(e -> e.getKey() + "=" + e.getValue())
                .collect(Collectors.joining(" "));
    }

    /// {@return the adapters as they are written on the command line}
    String lora() {
        return adapters.entrySet().stream()
                .map(e -> e.getKey() + "=" + e.getValue())
                .collect(Collectors.joining(" "));
    }

    /// {@return whether llama.cpp runs this with flash attention only: it reads quantized values nowhere else}
    public boolean needsFlashAttention() {
        return typeV == KvType.Q8_0;
    }
}
