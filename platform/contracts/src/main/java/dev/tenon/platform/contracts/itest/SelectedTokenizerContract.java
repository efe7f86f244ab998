package dev.tenon.platform.contracts.itest;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.itest.testkit.TokenizerContract;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// The tokenizer contract for the provider that the command was told. JUnit makes the object, so what it is
/// about comes through [#select]; one run at a time.
final class SelectedTokenizerContract extends TokenizerContract {
    /// What to test.
    ///
    /// @param provider the provider
    /// @param file metadata of a file with a vocabulary of its kind
    record Selection(TokenizerProvider provider, Optional<GgufMetadata> file) {}

    private static volatile Selection selected;

    private final Selection selection = Objects.requireNonNull(selected, "nothing is selected");

    static void select(Selection next) {
        selected = next;
    }

    @Override
    protected TokenizerProvider provider() {
        return selection.provider();
    }

    @Override
    protected GgufMetadata metadata() {
        return selection.file().orElseGet(this::bytes);
    }

    private GgufMetadata bytes() {
        GgufMetadata bytes = byteVocabulary(provider().model());
        try {
            provider().create(bytes);
        } catch (TenonException e) {
            abort("a vocabulary of bytes is not enough (" + e.getMessage() + "): give a file by --model");
        }
        return bytes;
    }

    /// What a tokenizer changes in a text, such as upper case, is its own: texts are those that it gives back.
    @Override
    protected List<String> texts() {
        Tokenizer tokenizer = provider().create(metadata());
        return super.texts().stream()
                .map(text -> tokenizer.decode(tokenizer.encode(text, false, false)))
                .toList();
    }
}
