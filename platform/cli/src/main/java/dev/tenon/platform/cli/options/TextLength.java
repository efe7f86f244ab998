package dev.tenon.platform.cli.options;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.text.Tokenizer;

/// Whether texts can fit the context of a model.
public final class TextLength {
    private static final int LONG_TEXT = 1 << 20;

    private TextLength() {}

    /// Refuses a text that cannot fit the context, before tokenizing it takes forty times its size
    /// of memory.
    ///
    /// @param model has vocabulary and context
    /// @param text what is to be tokenized
    /// @throws OutOfResourcesException (`LIMIT-001`) if it has more tokens than the context even if
    ///     each is the vocabulary's longest
    public static void check(LoadedModel model, String text) {
        int tokens = leastTokens(model, text);
        if (tokens > model.contextLength()) {
            throw new OutOfResourcesException(
                    ErrorCode.CONTEXT_LENGTH,
                    "The text of " + text.length() + " characters has at least " + tokens
                            + " tokens; the context holds " + model.contextLength()
                            + ". Shorten it, or load the model with a larger context (-c).",
                    tokens,
                    0,
                    model.contextLength());
        }
    }

    /// {@return how many tokens a long text has at least: as many as if each were the vocabulary's
    ///     longest; 0 for a text that is short enough to be tokenized}
    ///
    /// @param model has the vocabulary
    /// @param text the text
    private static int leastTokens(LoadedModel model, String text) {
        if (text.length() < LONG_TEXT) {
            return 0;
        }
        Tokenizer tokenizer = model.tokenizer();
        int longest = 1;
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            longest = Math.max(longest, tokenizer.bytes(id).length);
        }
        return text.length() / longest;
    }
}
