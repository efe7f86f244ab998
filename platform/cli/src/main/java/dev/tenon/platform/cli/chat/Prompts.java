package dev.tenon.platform.cli.chat;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.ChatMessage;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.options.ModelDefaults;
import dev.tenon.platform.core.control.UserText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/// Makes prompts of texts and conversations.
final class Prompts {
    private static final int LONG_TEXT = 1 << 20;

    private Prompts() {}

    /// {@return the text of a conversation, ready for the assistant's next turn; control tokens in its messages are
    ///     text}
    ///
    /// @param model has template and vocabulary
    /// @param messages the turns
    /// @throws ModelFormatException (`MODEL-009`) if the model has no template, or the template
    ///     refuses
    static UserText.Plain render(LoadedModel model, List<ChatMessage> messages) {
        ChatTemplate template = model.chatTemplate()
                .orElseThrow(() -> new ModelFormatException(
                        ErrorCode.MODEL_TEMPLATE,
                        model.file().path()
                                + " has no chat template. Use 'tenon run' without --chat for plain completion."));
        Tokenizer tokenizer = model.tokenizer();
        Map<String, Object> extra = new LinkedHashMap<>();
        extra.put("bos_token", piece(tokenizer, tokenizer.bos()));
        extra.put("eos_token", piece(tokenizer, tokenizer.eos()));
        String source =
                model.file().metadata().string("tokenizer.chat_template").orElse("");
        UserText texts = new UserText(
                tokenizer, source, messages.stream().map(ChatMessage::content).toList());
        List<ChatMessage> marked = messages.stream()
                .map(message -> new ChatMessage(message.role(), texts.mark(message.content())))
                .toList();
        return texts.plain(template.render(marked, true, extra));
    }

    /// Refuses to chat with a model that continues texts.
    ///
    /// @param model has the template
    /// @param name what the user calls it, or null for the configured one
    /// @param answers whether it is to answer
    /// @throws TenonException (`CLI-001`) if it has no template, or is not to answer
    static void requireChat(LoadedModel model, String name, boolean answers) {
        if (!answers || model.chatTemplate().isEmpty()) {
            throw new TenonException(
                    ErrorCode.USAGE,
                    model.config().name() + " continues texts and does not chat. Give it a beginning: tenon run "
                            + (name == null ? "" : name + " ") + "\"Once upon a time\"");
        }
    }

    /// Says that no answers are to be expected, if the model is known to continue texts.
    ///
    /// @param console where to say it
    /// @param model chats all the same
    /// @param defaults say what it is for
    static void noteWhatAnswers(Console console, LoadedModel model, ModelDefaults defaults) {
        if (!defaults.answers()) {
            console.note("(" + model.config().name()
                    + " continues texts, such as stories; it was not made to answer, so what it says is no answer)");
        }
    }

    /// Encodes the text of a conversation, adding BOS only where the template has not written it.
    ///
    /// @param tokenizer the vocabulary
    /// @param rendered text from [#render]
    /// @return token ids
    static int[] encodeRendered(Tokenizer tokenizer, UserText.Plain rendered) {
        String bos = piece(tokenizer, tokenizer.bos());
        boolean written = !bos.isEmpty() && rendered.text().startsWith(bos);
        return tokenizer.encode(rendered.text(), tokenizer.addsBos() && !written, rendered.borders());
    }

    /// Refuses a text that cannot fit the context, before tokenizing it takes forty times its size
    /// of memory.
    ///
    /// @param model has vocabulary and context
    /// @param text what is to be tokenized
    /// @throws OutOfResourcesException (`LIMIT-001`) if it has more tokens than the context even if
    ///     each is the vocabulary's longest
    static void checkLength(LoadedModel model, String text) {
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
    static int leastTokens(LoadedModel model, String text) {
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

    private static String piece(Tokenizer tokenizer, OptionalInt token) {
        return token.isPresent() ? tokenizer.piece(token.getAsInt()) : "";
    }
}
