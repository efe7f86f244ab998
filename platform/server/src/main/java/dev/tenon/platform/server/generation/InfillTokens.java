package dev.tenon.platform.server.generation;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.platform.server.chat.PromptText;
import dev.tenon.platform.server.http.RequestException;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/// The tokens by which a model fills in text between a beginning and an end.
///
/// @param prefix before the beginning
/// @param suffix before the end
/// @param middle before what is missing
public record InfillTokens(int prefix, int suffix, int middle) {
    /// {@return the tokens of a model}
    ///
    /// @param model has the vocabulary
    /// @throws RequestException (501) if it has none
    public static InfillTokens of(LoadedModel model) {
        return new InfillTokens(
                find(
                        model,
                        "tokenizer.ggml.fim_pre_token_id",
                        List.of("<|fim_prefix|>", "<fim_prefix>", "<PRE>", "▁<PRE>")),
                find(
                        model,
                        "tokenizer.ggml.fim_suf_token_id",
                        List.of("<|fim_suffix|>", "<fim_suffix>", "<SUF>", "▁<SUF>")),
                find(
                        model,
                        "tokenizer.ggml.fim_mid_token_id",
                        List.of("<|fim_middle|>", "<fim_middle>", "<MID>", "▁<MID>")));
    }

    private static int find(LoadedModel model, String key, List<String> names) {
        GgufMetadata metadata = model.file().metadata();
        OptionalInt id = metadata.integer(key);
        if (id.isPresent()) {
            return id.getAsInt();
        }
        for (String name : names) {
            int[] tokens = model.tokenizer().encode(name, false, true);
            if (tokens.length == 1 && model.tokenizer().piece(tokens[0]).equals(name)) {
                return tokens[0];
            }
        }
        throw RequestException.unsupported("suffix", "The model has no tokens for filling in text; leave out suffix.");
    }

    /// {@return the prompt for what is missing}
    ///
    /// @param model has vocabulary and context
    /// @param before the beginning
    /// @param after the end
    public int[] prompt(LoadedModel model, String before, String after) {
        int[] first = model.tokenizer().encode(before, false, false);
        int[] last = model.tokenizer().encode(after, false, false);
        IntStream.Builder all = IntStream.builder();
        if (model.tokenizer().addsBos()) {
            model.tokenizer().bos().ifPresent(all::add);
        }
        all.add(prefix);
        IntStream.of(first).forEach(all::add);
        all.add(suffix);
        IntStream.of(last).forEach(all::add);
        all.add(middle);
        int[] tokens = all.build().toArray();
        PromptText.requireRoom(tokens.length, model.contextLength());
        return tokens;
    }
}
