package dev.tenon.platform.bench.suite.programs;

import java.nio.file.Path;
import java.util.List;

/// What the user chose for the programs.
///
/// @param backends ids of the backends to measure; empty: all that are available and not of
///     negative rank
/// @param threads CPU threads; 0 for the machine's
/// @param quick whether models have two layers and everything is short: to see that all works
/// @param realModels folder where real model files are looked for
/// @param madeModels folder where models are made
/// @param url address of an OpenAI end point to measure beside ours; empty for none
/// @param llamaBench the program llama-bench; empty for none
/// @param text file whose perplexity is measured; empty for none
/// @param variantA options of `tenon bench` for the first variant of `direct`; empty: the program
///     chooses
/// @param variantB the same for the second variant
public record ProgramOptions(
        List<String> backends,
        int threads,
        boolean quick,
        Path realModels,
        Path madeModels,
        String url,
        String llamaBench,
        String text,
        String variantA,
        String variantB) {
    public ProgramOptions {
        backends = List.copyOf(backends);
    }

    /// {@return the threads that compute}
    public int team() {
        return threads > 0 ? threads : Runtime.getRuntime().availableProcessors();
    }
}
