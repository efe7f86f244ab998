package dev.tenon.platform.server.generation;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.http.RequestException;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.chat.PromptText;
import dev.tenon.platform.core.gguf.TokenIds;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/// The tokens by which a model fills in text between a beginning and an end.
///
/// @param prefix before the beginning
/// @param suffix before the end
/// @param middle before what is missing
/// @param file before the name of another file; -1 where there is none
public record InfillTokens(int prefix, int suffix, int middle, int file) {
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
                        List.of("<|fim_middle|>", "<fim_middle>", "<MID>", "▁<MID>")),
                look(model, "tokenizer.ggml.fim_sep_token_id", List.of("<|file_sep|>", "<file_sep>"))
                        .orElse(-1));
    }

    private static int find(LoadedModel model, String key, List<String> names) {
        return look(model, key, names)
                .orElseThrow(() -> RequestException.unsupported(
                        "suffix", "The model has no tokens for filling in text; leave out suffix."));
    }

    private static OptionalInt look(LoadedModel model, String key, List<String> names) {
        GgufMetadata metadata = model.file().metadata();
        OptionalInt id = TokenIds.find(metadata, key);
        if (id.isPresent()) {
            return id;
        }
        for (String name : names) {
            int[] tokens = model.tokenizer().encode(name, false, true);
            if (tokens.length == 1 && model.tokenizer().piece(tokens[0]).equals(name)) {
                return OptionalInt.of(tokens[0]);
            }
        }
        return OptionalInt.empty();
    }

    /// {@return the prompt for what is missing}
    ///
    /// @param model has vocabulary and context
    /// @param before the beginning
    /// @param after the end
    public int[] prompt(LoadedModel model, String before, String after) {
        return prompt(model, List.of(), before, after, "");
    }

    /// A text of another file, which tells what surrounds the one that is filled in.
    ///
    /// @param name name of the file
    /// @param text the text
    public record Extra(String name, String text) {}

    /// {@return the prompt for what is missing}
    ///
    /// @param model has vocabulary and context
    /// @param extras texts of other files
    /// @param before the beginning
    /// @param after the end
    /// @param begun what is already there of what is missing
    public int[] prompt(LoadedModel model, List<Extra> extras, String before, String after, String begun) {
        Tokenizer tokenizer = model.tokenizer();
        IntStream.Builder all = IntStream.builder();
        if (tokenizer.addsBos()) {
            tokenizer.bos().ifPresent(all::add);
        }
        for (Extra extra : extras) {
            if (file >= 0) {
                all.add(file);
            }
            add(all, tokenizer, extra.name() + "\n" + extra.text() + "\n");
        }
        if (!extras.isEmpty() && file >= 0) {
            all.add(file);
            add(all, tokenizer, "filename\n");
        }
        all.add(prefix);
        add(all, tokenizer, before);
        all.add(suffix);
        add(all, tokenizer, after);
        all.add(middle);
        add(all, tokenizer, begun);
        int[] tokens = all.build().toArray();
        PromptText.requireRoom(tokens.length, model.contextLength());
        return tokens;
    }

    private static void add(IntStream.Builder all, Tokenizer tokenizer, String text) {
        IntStream.of(tokenizer.encode(text, false, false)).forEach(all::add);
    }
}
