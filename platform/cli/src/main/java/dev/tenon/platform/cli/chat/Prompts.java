package dev.tenon.platform.cli.chat;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.text.ChatMessage;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.Tokenizer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/// Makes prompts of texts and conversations.
final class Prompts {
    private Prompts() {}

    /// {@return the text of a conversation, ready for the assistant's next turn}
    ///
    /// @param model has template and vocabulary
    /// @param messages the turns
    /// @throws ModelFormatException (`MODEL-009`) if the model has no template, or the template refuses
    static String render(LoadedModel model, List<ChatMessage> messages) {
        ChatTemplate template = model.chatTemplate()
                .orElseThrow(() -> new ModelFormatException(
                        ErrorCode.MODEL_TEMPLATE,
                        model.file().path()
                                + " has no chat template. Use 'tenon run' without --chat for plain completion."));
        Tokenizer tokenizer = model.tokenizer();
        Map<String, Object> extra = new LinkedHashMap<>();
        extra.put("bos_token", piece(tokenizer, tokenizer.bos()));
        extra.put("eos_token", piece(tokenizer, tokenizer.eos()));
        return template.render(messages, true, extra);
    }

    /// Encodes the text of a conversation, adding BOS only where the template has not written it.
    ///
    /// @param tokenizer the vocabulary
    /// @param rendered text from [#render]
    /// @return token ids
    static int[] encodeRendered(Tokenizer tokenizer, String rendered) {
        String bos = piece(tokenizer, tokenizer.bos());
        boolean written = !bos.isEmpty() && rendered.startsWith(bos);
        return tokenizer.encode(rendered, tokenizer.addsBos() && !written, true);
    }

    private static String piece(Tokenizer tokenizer, OptionalInt token) {
        return token.isPresent() ? tokenizer.piece(token.getAsInt()) : "";
    }
}
