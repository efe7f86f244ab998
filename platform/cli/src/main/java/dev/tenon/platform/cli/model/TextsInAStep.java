package dev.tenon.platform.cli.model;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.platform.cli.Range;
import picocli.CommandLine.Option;

/// How many texts share a step.
final class TextsInAStep {
    private static final int MOST = 256;

    @Option(
            names = {"-np", "--parallel"},
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Most texts in a step, each with memory for a whole context (-c); 0: 4 short ones, which share"
                            + " one (default: ${DEFAULT-VALUE}).")
    @Range(max = MOST)
    private int texts;

    /// {@return the request for a model that runs so many texts in a step}
    ///
    /// @param request a request
    LoadRequest.Builder in(LoadRequest.Builder request) {
        return request.maxSequences(texts);
    }
}
