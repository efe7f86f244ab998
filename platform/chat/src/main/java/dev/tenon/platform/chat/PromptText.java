package dev.tenon.platform.chat;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.text.Tokenizer;

/// Encodes prompts, and refuses those that do not fit the context.
public final class PromptText {
    static final String PROMPT = "prompt";
    static final String MESSAGES = "messages";

    private static final int LONG_TEXT = 1 << 16;

    private PromptText() {}

    /// Encodes a text in which control tokens are meant as such.
    ///
    /// @param model has vocabulary and context
    /// @param text the text
    /// @param addSpecial whether the vocabulary's special tokens are added
    /// @return its tokens, fewer than the context holds
    /// @throws TooLong (`LIMIT-001`) if they are too many
    public static int[] encode(LoadedModel model, String text, boolean addSpecial) {
        return encode(model, text, addSpecial, new int[0], PROMPT);
    }

    /// Encodes a text in which control tokens are meant as such, but for those that span a border.
    ///
    /// @param model has vocabulary and context
    /// @param text the text
    /// @param addSpecial whether the vocabulary's special tokens are added
    /// @param borders ascending indices of chars
    /// @return its tokens, fewer than the context holds
    /// @throws TooLong (`LIMIT-001`) if they are too many
    static int[] encode(LoadedModel model, String text, boolean addSpecial, int[] borders) {
        return encode(model, text, addSpecial, borders, MESSAGES);
    }

    /// Encodes a text as the others do.
    ///
    /// @param field what the request calls the text
    static int[] encode(LoadedModel model, String text, boolean addSpecial, int[] borders, String field) {
        requireRoom(leastTokens(model.tokenizer(), text), model.contextLength(), field);
        int[] tokens = model.tokenizer().encode(text, addSpecial, borders);
        requireRoom(tokens.length, model.contextLength(), field);
        return tokens;
    }

    /// Refuses a prompt after which there is no room for a token.
    ///
    /// @param tokens how many tokens it has
    /// @param context how many the context holds
    /// @throws TooLong (`LIMIT-001`) if they are too many
    public static void requireRoom(int tokens, int context) {
        requireRoom(tokens, context, PROMPT);
    }

    static void requireRoom(int tokens, int context, String field) {
        if (tokens >= context) {
            throw new TooLong(tokens, context, field);
        }
    }

    /// A prompt has too many tokens.
    public static final class TooLong extends OutOfResourcesException {
        private static final long serialVersionUID = 1L;

        private final String field;

        private TooLong(int tokens, int context, String field) {
            super(
                    ErrorCode.CONTEXT_LENGTH,
                    "The prompt has at least " + tokens + " tokens; the context holds " + context
                            + ", with the answer. Shorten it, or load the model with a larger context.",
                    tokens,
                    0,
                    context);
            this.field = field;
        }

        /// {@return what requests call the prompt: `messages`, or `prompt` for a text that is no chat}
        public String field() {
            return field;
        }
    }

    /// How many tokens a long text has at least, as if each were the vocabulary's longest: so that one that is far too
    /// long is not tokenized.
    private static int leastTokens(Tokenizer tokenizer, String text) {
        if (text.length() < LONG_TEXT) {
            return 0;
        }
        int longest = 1;
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            longest = Math.max(longest, tokenizer.bytes(id).length);
        }
        return text.length() / longest;
    }
}
