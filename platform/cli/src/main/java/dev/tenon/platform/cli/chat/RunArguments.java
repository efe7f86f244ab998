package dev.tenon.platform.cli.chat;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.hub.ModelFiles;
import picocli.CommandLine.Parameters;

/// What stands after `tenon run` without an option: a model, a question, or both.
final class RunArguments {
    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "MODEL",
            description = "Model: as -m; anything else is the question.")
    private String first;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "QUESTION",
            description = "Answered through the model's chat template, if it has one; else continued.")
    private String second;

    /// A model and a question; null for what was not given.
    ///
    /// @param model what to load
    /// @param question what to answer
    record Given(String model, String question) {}

    /// {@return what the arguments mean}
    ///
    /// @param console knows where pulled models are
    /// @param model the model that an option names, or null
    /// @param prompted whether an option gives the prompt
    /// @throws TenonException (`CLI-001`) if something is given twice, or the first of two is no model
    Given read(Console console, String model, boolean prompted) {
        ModelFiles files = new ModelFiles(ModelFiles.folder(console.setting("models")));
        boolean modelFirst =
                first != null && model == null && (second != null || files.names(first, console::registries));
        if (modelFirst && !files.names(first, console::registries)) {
            throw new TenonException(
                    ErrorCode.USAGE,
                    "'" + first + "' is neither a file nor a pulled model; expected MODEL before the question. Put the"
                            + " question in quotes, or see 'tenon list'.");
        }
        if (!modelFirst && second != null) {
            throw new TenonException(
                    ErrorCode.USAGE,
                    "'" + second + "' is one argument too many: -m names the model already. Put the question in"
                            + " quotes.");
        }
        String question = modelFirst ? second : first;
        if (question != null && prompted) {
            throw new TenonException(
                    ErrorCode.USAGE, "'" + question + "' and -p or -f are two prompts. Give one of them.");
        }
        return new Given(modelFirst ? first : model, question);
    }
}
