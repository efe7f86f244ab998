package dev.tenon.platform.core.engine;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.text.TemplateText;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.control.UserText;
import dev.tenon.platform.core.gguf.TokenIds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// Makes one text of a query and a document: by the file's own text for that, or both one after the other, as
/// encoders read them: `[CLS] query [SEP] document [SEP]`.
final class RerankPrompt {
    private final Tokenizer tokenizer;
    private final Optional<String> template;
    private final int[] between;

    RerankPrompt(GgufMetadata metadata, Tokenizer tokenizer) {
        this.tokenizer = tokenizer;
        this.template = metadata.string("tokenizer.chat_template.rerank");
        this.between = separator(metadata, tokenizer);
    }

    /// A second separator, as XLM-RoBERTa has it; WordPiece ends every text with the one that is needed.
    private static int[] separator(GgufMetadata metadata, Tokenizer tokenizer) {
        boolean wordPiece = metadata.string("tokenizer.ggml.model").orElse("").equals("bert");
        if (wordPiece || !metadata.bool("tokenizer.ggml.add_sep_token").orElse(false)) {
            return new int[0];
        }
        int id = TokenIds.find(metadata, "tokenizer.ggml.seperator_token_id") // spelt so in GGUF
                .orElse(tokenizer.eos().orElse(-1));
        return id < 0 || id >= tokenizer.vocabularySize() ? new int[0] : new int[] {id};
    }

    /// {@return the tokens of a query and a document, whose control tokens are text}
    int[] tokens(String query, String document) {
        if (template.isPresent()) {
            UserText.Plain filled = new UserText(tokenizer).plain(filled(template.get(), query, document));
            return tokenizer.encode(filled.text(), true, filled.borders());
        }
        int[] first = tokenizer.encode(query, true, false);
        int[] second = tokenizer.encode(document, true, false);
        int skipped = tokenizer.addsBos() ? 1 : 0;
        return Stream.of(first, between, Arrays.copyOfRange(second, skipped, second.length))
                .flatMapToInt(Arrays::stream)
                .toArray();
    }

    /// In one pass, so that the query's own text is not filled.
    private static TemplateText filled(String template, String query, String document) {
        List<Object> parts = new ArrayList<>();
        int at = 0;
        while (true) {
            int q = template.indexOf("{query}", at);
            int d = template.indexOf("{document}", at);
            int next = q < 0 ? d : d < 0 ? q : Math.min(q, d);
            if (next < 0) {
                parts.add(template.substring(at));
                return UserText.join(parts.toArray());
            }
            parts.add(template.substring(at, next));
            parts.add(TemplateText.ofClient(next == q ? query : document));
            at = next + (next == q ? "{query}" : "{document}").length();
        }
    }
}
