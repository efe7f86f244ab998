package dev.tenon.itest.testkit;

import dev.tenon.api.graph.RopeParams.Pairing;
import java.util.Optional;
import java.util.Set;

/// Which pairs of elements are rotated in the files of well-known architectures.
///
/// Both pairings read the same tensors and give fluent nonsense for one another, so no other test than one by
/// numbers tells them apart.
final class KnownRotations {
    private static final Set<String> INTERLEAVED = Set.of(
            "llama",
            "llama4",
            "baichuan",
            "internlm2",
            "minicpm",
            "xverse",
            "command-r",
            "cohere2",
            "olmo",
            "deepseek",
            "deepseek2",
            "chatglm",
            "granite",
            "granitemoe",
            "granitehybrid",
            "mistral3",
            "smollm3");

    private static final Set<String> HALF_SPLIT = Set.of(
            "falcon",
            "nomic-bert",
            "modern-bert",
            "stablelm",
            "qwen",
            "qwen2",
            "qwen2moe",
            "qwen3",
            "qwen3moe",
            "qwen3vl",
            "olmo2",
            "olmoe",
            "phi2",
            "phi3",
            "gemma",
            "gemma2",
            "gemma3",
            "gemma4",
            "starcoder2",
            "gptneox",
            "orion",
            "nemotron",
            "exaone",
            "gpt-oss",
            "glm4moe",
            "minimax-m2",
            "lfm2",
            "lfm2moe",
            "qwen35",
            "qwen35moe",
            "qwen3next");

    private KnownRotations() {}

    /// {@return the pairs of an architecture, if they are known}
    ///
    /// @param architecture value of `general.architecture`
    static Optional<Pairing> of(String architecture) {
        return INTERLEAVED.contains(architecture)
                ? Optional.of(Pairing.INTERLEAVED)
                : HALF_SPLIT.contains(architecture) ? Optional.of(Pairing.HALF_SPLIT) : Optional.empty();
    }
}
