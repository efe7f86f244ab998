package dev.tenon.api.device;

import java.util.Map;
import java.util.Objects;

/// Limits and choices of a plan.
///
/// @param maxTokens most tokens in one step
/// @param maxSequences most sequences in one step
/// @param kvTokens positions that the KV cache holds, over all sequences; rounded up to whole pages
/// @param keyType element type of cached keys
/// @param valueType element type of cached values
/// @param fuse whether the compiler may fuse ops; false helps to find a wrong kernel
/// @param settings further settings by name; unknown names are ignored; unmodifiable
public record PlanOptions(
        int maxTokens,
        int maxSequences,
        int kvTokens,
        KvType keyType,
        KvType valueType,
        boolean fuse,
        Map<String, String> settings) {
    /// Element types of the KV cache.
    public enum KvType {
        /// IEEE float32.
        F32,
        /// IEEE float16.
        F16,
        /// Blocks of 32 int8 with a float16 scale.
        Q8_0
    }

    /// Checks the limits and copies the map.
    public PlanOptions {
        if (maxTokens < 1 || maxSequences < 1 || kvTokens < 1) {
            throw new IllegalArgumentException(
                    "plan limits " + maxTokens + ", " + maxSequences + ", " + kvTokens + "; expected at least 1 each");
        }
        Objects.requireNonNull(keyType, "keyType");
        Objects.requireNonNull(valueType, "valueType");
        settings = Map.copyOf(settings);
    }
}
