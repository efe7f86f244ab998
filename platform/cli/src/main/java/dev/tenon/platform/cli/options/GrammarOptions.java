package dev.tenon.platform.cli.options;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.platform.grammar.Grammar;
import dev.tenon.platform.grammar.mask.TokenVocabulary;
import java.nio.file.Path;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/// Options that say by a grammar what may be generated.
public final class GrammarOptions {
    @ArgGroup(exclusive = true)
    private Source source = new Source();

    private Grammar grammar;

    /// The notations of a grammar.
    static final class Source {
        @Option(
                names = {"-j", "--json-schema"},
                paramLabel = "SCHEMA",
                description = "Generate JSON that satisfies this JSON Schema, a file or the schema itself.")
        String schema;

        @Option(
                names = {"--grammar", "--grammar-file"},
                paramLabel = "FILE",
                description = "Generate text of this grammar, in GBNF.")
        Path grammar;
    }

    /// {@return whether there is a grammar}
    public boolean given() {
        return source.schema != null || source.grammar != null;
    }

    /// Reads and compiles the grammar, if there is one.
    ///
    /// @throws dev.tenon.api.error.TenonException (`IO-001`) if its file cannot be read, (`GRAMMAR-001`
    ///     to `GRAMMAR-003`) if it cannot be enforced
    public void compile() {
        if (source.grammar != null) {
            grammar = Grammar.ofGbnf(TextInput.file(source.grammar));
        }
        if (source.schema != null) {
            boolean inline = source.schema.stripLeading().startsWith("{");
            grammar = Grammar.ofJsonSchema(inline ? source.schema : TextInput.file(Path.of(source.schema)));
        }
    }

    /// {@return the constraint of a reply by the compiled grammar; null if there is none}
    ///
    /// @param model whose tokens it is about
    public TokenConstraint constraint(LoadedModel model) {
        return grammar == null ? null : grammar.constraint(new TokenVocabulary(model.tokenizer()));
    }
}
