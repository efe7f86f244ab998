package dev.tenon.benchmarks;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.grammar.Grammar;
import dev.tenon.platform.grammar.mask.TokenVocabulary;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/// Compiling a schema, and the masks of a text, with the vocabulary of the project's own model or of
/// `tenon.benchmarks.model`.
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class GrammarBenchmark {
    private static final Map<String, String[]> CASES = Map.of(
            "person",
                    new String[] {
                        """
                {"type": "object", "properties": {"name": {"type": "string", "minLength": 1, "maxLength": 40},
                 "age": {"type": "integer", "minimum": 0, "maximum": 130}, "born": {"type": "string", "format": "date"},
                 "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 3}},
                 "required": ["name", "age"], "additionalProperties": false}
                """,
                        "{\"name\": \"Johann Wolfgang von Goethe\", \"age\": 82, \"born\": \"1749-08-28\", \"tags\": [\"a\", \"b\"]}"
                    },
            "any",
                    new String[] {
                        "true",
                        "{\"a\": [1, 2.5e3, \"A longer text with several words in it, and an escape \\n too\"], \"b\": {\"c\": null}}"
                    });

    /// Which schema.
    @Param({"person", "any"})
    public String schema;

    private TokenVocabulary vocabulary;
    private int[] tokens;
    private long[] words;
    private Grammar grammar;
    private TokenConstraint constraint;
    private int at;

    /// Creates the benchmark.
    public GrammarBenchmark() {}

    /// Reads the vocabulary, and checks that the text satisfies the schema.
    @Setup(Level.Trial)
    public void setUp() {
        Tokenizer tokenizer;
        TensorTypes types = TensorTypes.of(Services.all(QuantFormat.class));
        try (GgufFile file = GgufReader.open(Services.model(), types)) {
            String kind = file.metadata().requiredString("tokenizer.ggml.model");
            tokenizer = Services.all(TokenizerProvider.class).stream()
                    .filter(p -> p.model().equals(kind))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("no tokenizer of kind " + kind))
                    .create(file.metadata());
        }
        vocabulary = new TokenVocabulary(tokenizer);
        tokens = tokenizer.encode(CASES.get(schema)[1], false, false);
        words = new long[vocabulary.words()];
        compile();
        Check.that("the text satisfies the schema", grammar.matches(CASES.get(schema)[1]));
    }

    /// Compiles the schema.
    ///
    /// @return the grammar
    @Benchmark
    public Grammar compile() {
        grammar = Grammar.ofJsonSchema(CASES.get(schema)[0]);
        constraint = grammar.constraint(vocabulary);
        at = 0;
        return grammar;
    }

    /// Makes a mask of the text and accepts a token.
    ///
    /// @return the mask
    @Benchmark
    public long[] mask() {
        if (at == tokens.length) {
            constraint = grammar.constraint(vocabulary);
            at = 0;
        }
        constraint.mask(words);
        constraint.accept(tokens[at++]);
        return words;
    }

    /// Makes all masks of the text with a grammar that nobody has used before.
    ///
    /// @return the last mask
    @Benchmark
    public long[] freshMasks() {
        compile();
        for (int token : tokens) {
            constraint.mask(words);
            constraint.accept(token);
        }
        return words;
    }
}
