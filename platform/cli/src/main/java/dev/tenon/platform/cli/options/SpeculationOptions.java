package dev.tenon.platform.cli.options;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.platform.cli.Console;
import java.util.HashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/// Options that say what proposes tokens to a model.
public final class SpeculationOptions {
    @Option(
            names = "--speculate",
            paramLabel = "METHOD",
            description = "Check several tokens in a step where that pays, proposed by METHOD: ngram, what followed the"
                    + " same tokens before; draft, the model of --draft-model; head, the model's own head for further tokens;"
                    + " off; or ID[=ARG], what a bundle offers (default: the configured one).")
    private String method;

    @Option(
            names = {"-md", "--draft-model", "--model-draft"},
            paramLabel = "FILE",
            description = "Smaller model with the same vocabulary, which proposes tokens; implies --speculate draft.")
    private String draft;

    /// {@return a request with what was asked for}
    ///
    /// @param request the request to load the model
    /// @param console finds the file of the smaller one
    public LoadRequest in(LoadRequest request, Console console) {
        Map<String, String> settings = new HashMap<>(request.settings());
        if (method != null || draft != null) {
            settings.put("speculate", method == null ? "draft" : method);
        }
        if (draft != null) {
            settings.put("draft.model", console.model(draft).toString());
        }
        return request.toBuilder().settings(settings).build();
    }
}
