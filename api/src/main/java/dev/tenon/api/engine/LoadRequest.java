package dev.tenon.api.engine;

import dev.tenon.api.device.PlanOptions.KvType;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/// Which model to load, and how to place it. Empty and zero values take the configured default.
///
/// @param path GGUF file; the first part of split files
/// @param backend backend id, `auto`, or empty for the configured one
/// @param device device id within the backend, or empty for the first
/// @param threads CPU threads; 0 for the configured or the machine's number
/// @param contextLength positions a sequence may have; 0 for the model's own, capped by the configuration
/// @param maxSequences sequences that may be active at once; 0 for 1
/// @param batchTokens most tokens in one step (prefill chunk); 0 for 512
/// @param keyType element type of cached keys, or null for F16
/// @param valueType element type of cached values, or null for F16
/// @param fuse whether ops may be fused
/// @param checkData whether to scan all weights for NaN and infinity first, which reads the whole file
/// @param settings further settings for the backend; unmodifiable
public record LoadRequest(
        Path path,
        String backend,
        String device,
        int threads,
        int contextLength,
        int maxSequences,
        int batchTokens,
        KvType keyType,
        KvType valueType,
        boolean fuse,
        boolean checkData,
        Map<String, String> settings) {
    /// Checks the values and copies the map.
    public LoadRequest {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(device, "device");
        if (threads < 0 || contextLength < 0 || maxSequences < 0 || batchTokens < 0) {
            throw new IllegalArgumentException("threads " + threads + ", contextLength " + contextLength
                    + ", maxSequences " + maxSequences + ", batchTokens " + batchTokens + "; expected 0 or more");
        }
        settings = Map.copyOf(settings);
    }

    /// {@return a request with all defaults}
    ///
    /// @param path GGUF file
    public static LoadRequest of(Path path) {
        return new LoadRequest(path, "", "", 0, 0, 0, 0, null, null, true, false, Map.of());
    }

    /// {@return a copy with another backend}
    ///
    /// @param id backend id
    public LoadRequest withBackend(String id) {
        return new LoadRequest(
                path,
                id,
                device,
                threads,
                contextLength,
                maxSequences,
                batchTokens,
                keyType,
                valueType,
                fuse,
                checkData,
                settings);
    }

    /// {@return a copy with another device}
    ///
    /// @param id device id
    public LoadRequest withDevice(String id) {
        return new LoadRequest(
                path,
                backend,
                id,
                threads,
                contextLength,
                maxSequences,
                batchTokens,
                keyType,
                valueType,
                fuse,
                checkData,
                settings);
    }

    /// {@return a copy with another number of threads}
    ///
    /// @param n CPU threads
    public LoadRequest withThreads(int n) {
        return new LoadRequest(
                path,
                backend,
                device,
                n,
                contextLength,
                maxSequences,
                batchTokens,
                keyType,
                valueType,
                fuse,
                checkData,
                settings);
    }

    /// {@return a copy with another context length}
    ///
    /// @param tokens positions a sequence may have
    public LoadRequest withContextLength(int tokens) {
        return new LoadRequest(
                path,
                backend,
                device,
                threads,
                tokens,
                maxSequences,
                batchTokens,
                keyType,
                valueType,
                fuse,
                checkData,
                settings);
    }

    /// {@return a copy with another number of sequences}
    ///
    /// @param n sequences that may be active at once
    public LoadRequest withMaxSequences(int n) {
        return new LoadRequest(
                path,
                backend,
                device,
                threads,
                contextLength,
                n,
                batchTokens,
                keyType,
                valueType,
                fuse,
                checkData,
                settings);
    }

    /// {@return a copy with another step size}
    ///
    /// @param tokens most tokens in one step
    public LoadRequest withBatchTokens(int tokens) {
        return new LoadRequest(
                path,
                backend,
                device,
                threads,
                contextLength,
                maxSequences,
                tokens,
                keyType,
                valueType,
                fuse,
                checkData,
                settings);
    }

    /// {@return a copy with other KV cache types}
    ///
    /// @param keys element type of cached keys
    /// @param values element type of cached values
    public LoadRequest withKvTypes(KvType keys, KvType values) {
        return new LoadRequest(
                path,
                backend,
                device,
                threads,
                contextLength,
                maxSequences,
                batchTokens,
                keys,
                values,
                fuse,
                checkData,
                settings);
    }

    /// {@return a copy with fusion on or off}
    ///
    /// @param on whether ops may be fused
    public LoadRequest withFusion(boolean on) {
        return new LoadRequest(
                path,
                backend,
                device,
                threads,
                contextLength,
                maxSequences,
                batchTokens,
                keyType,
                valueType,
                on,
                checkData,
                settings);
    }

    /// {@return a copy with the scan for NaN and infinity on or off}
    ///
    /// @param on whether to scan
    public LoadRequest withDataCheck(boolean on) {
        return new LoadRequest(
                path,
                backend,
                device,
                threads,
                contextLength,
                maxSequences,
                batchTokens,
                keyType,
                valueType,
                fuse,
                on,
                settings);
    }

    /// {@return a copy with other backend settings}
    ///
    /// @param more settings by name
    public LoadRequest withSettings(Map<String, String> more) {
        return new LoadRequest(
                path,
                backend,
                device,
                threads,
                contextLength,
                maxSequences,
                batchTokens,
                keyType,
                valueType,
                fuse,
                checkData,
                more);
    }
}
