package dev.tenon.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.grammar.Grammar;
import dev.tenon.platform.grammar.expr.GrammarException;
import dev.tenon.platform.grammar.mask.TokenVocabulary;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Masks of a corpus of schemas: for each schema, and for all of them, what compiling costs, what a mask costs on
/// average and at worst, how many nodes of the vocabulary's tree it visits and how many transitions it makes, and how
/// many tokens are forced. Texts are of tokens drawn at random from the masks, those that a model
/// would hardly write among them. Times are of the thread's processor, so that others on the machine change them
/// little.
///
/// Arguments: files of one JSON object whose members are schemas, or folders of files that are a schema each; the
/// vocabulary is that of the project's own model or of `tenon.benchmarks.model`.
public final class GrammarCorpus {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int MOST_TOKENS = 250;
    private static final int SEEDS = 8;
    private static final int WARM_SCHEMAS = 20;
    private static final int WARM_ROUNDS = 3;
    /// How often a schema is compiled; the last time counts.
    private static final int COMPILES = 10;
    /// From here on, texts are brought to an end.
    private static final int LONG_TEXT = 40;

    private final Tokenizer tokenizer;
    private final TokenVocabulary vocabulary;
    /// The tokens that close a string, an array or an object.
    private final int[] closers;

    private final List<Long> compiles = new ArrayList<>();
    private final List<Long> masks = new ArrayList<>();
    private long nodes;
    private long transitions;
    private long tokens;
    private long forced;
    private int refused;

    private GrammarCorpus(Tokenizer tokenizer) {
        this.tokenizer = tokenizer;
        this.vocabulary = new TokenVocabulary(tokenizer);
        this.closers = IntStream.range(0, tokenizer.vocabularySize())
                .filter(id -> tokenizer.bytes(id).length == 1
                        && "\"]}".indexOf(tokenizer.bytes(id)[0]) >= 0)
                .toArray();
    }

    /// Figures of their own, of the same vocabulary.
    private GrammarCorpus(GrammarCorpus other) {
        this.tokenizer = other.tokenizer;
        this.vocabulary = other.vocabulary;
        this.closers = other.closers;
    }

    /// Measures.
    ///
    /// @param args files and folders
    /// @throws IOException if one cannot be read
    public static void main(String[] args) throws IOException {
        Map<String, JsonNode> schemas = new LinkedHashMap<>();
        for (String arg : args) {
            read(Path.of(arg), schemas);
        }
        Tokenizer tokenizer = tokenizer();
        GrammarCorpus corpus = new GrammarCorpus(tokenizer);
        Map<String, JsonNode> some = new LinkedHashMap<>();
        schemas.entrySet().stream().limit(WARM_SCHEMAS).forEach(each -> some.put(each.getKey(), each.getValue()));
        for (int i = 0; i < WARM_ROUNDS; i++) {
            new GrammarCorpus(corpus).measure(some, false);
        }
        System.out.printf(
                "%d tokens; compiling in ms, masks in us; nodes visited and transitions made a mask%n",
                tokenizer.vocabularySize());
        System.out.printf(
                "%-24s %8s %8s %8s %8s %8s %8s %8s %7s%n",
                "", "compile", "masks", "mean", "p99", "max", "nodes", "made", "forced");
        new GrammarCorpus(corpus).measure(schemas, true);
    }

    private static void read(Path path, Map<String, JsonNode> schemas) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        if (Files.isDirectory(path)) {
            try (Stream<Path> files = Files.list(path)) {
                for (Path file : files.sorted().toList()) {
                    schemas.put(file.getFileName().toString(), mapper.readTree(file.toFile()));
                }
            }
        } else {
            mapper.readTree(path.toFile()).properties().forEach(each -> schemas.put(each.getKey(), each.getValue()));
        }
    }

    private static Tokenizer tokenizer() {
        TensorTypes types = TensorTypes.of(Services.all(QuantFormat.class));
        try (GgufFile file = GgufReader.open(Services.model(), types)) {
            String kind = file.metadata().requiredString("tokenizer.ggml.model");
            return Services.all(TokenizerProvider.class).stream()
                    .filter(p -> p.model().equals(kind))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("no tokenizer of kind " + kind))
                    .create(file.metadata());
        }
    }

    private void measure(Map<String, JsonNode> schemas, boolean print) {
        schemas.forEach((name, schema) -> {
            GrammarCorpus one = new GrammarCorpus(this);
            try {
                one.walks(schema.toString());
            } catch (GrammarException e) {
                refused++;
                if (print) {
                    System.out.printf("%-24.24s refused: %s%n", name, e.getMessage());
                }
                return;
            }
            if (print && schemas.size() <= 100) {
                one.print(name);
            }
            compiles.addAll(one.compiles);
            masks.addAll(one.masks);
            nodes += one.nodes;
            transitions += one.transitions;
            tokens += one.tokens;
            forced += one.forced;
        });
        if (print) {
            print("all");
            System.out.printf("%d of %d schemas were refused%n", refused, schemas.size());
        }
    }

    private void walks(String schema) {
        Grammar grammar = null;
        long time = 0;
        for (int i = 0; i < COMPILES; i++) {
            long begin = THREADS.getCurrentThreadCpuTime();
            grammar = Grammar.ofJsonSchema(schema);
            time = THREADS.getCurrentThreadCpuTime() - begin;
        }
        compiles.add(time);
        long[] mask = new long[vocabulary.words()];
        for (int seed = 0; seed < SEEDS; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            TokenConstraint constraint = grammar.constraint(vocabulary);
            for (int i = 0; i < MOST_TOKENS && !constraint.isEnded(); i++) {
                for (int token : constraint.forced()) {
                    constraint.accept(token);
                    forced++;
                    tokens++;
                }
                if (!constraint.isEnded()) {
                    long start = THREADS.getCurrentThreadCpuTime();
                    constraint.mask(mask);
                    masks.add(THREADS.getCurrentThreadCpuTime() - start);
                    constraint.accept(draw(mask, random, i > LONG_TEXT));
                    tokens++;
                }
            }
        }
        nodes = grammar.work().nodes();
        transitions = grammar.work().transitions();
    }

    private int draw(long[] mask, SplittableRandom random, boolean closing) {
        for (int i = 0; closing && i < closers.length; i++) {
            if ((mask[closers[i] >> 6] >>> closers[i] & 1) != 0) {
                return closers[i];
            }
        }
        int count = 0;
        for (long word : mask) {
            count += Long.bitCount(word);
        }
        int left = random.nextInt(count);
        int at = 0;
        while (left >= Long.bitCount(mask[at])) {
            left -= Long.bitCount(mask[at++]);
        }
        long bits = mask[at];
        for (; left > 0; left--) {
            bits &= bits - 1;
        }
        return 64 * at + Long.numberOfTrailingZeros(bits);
    }

    private void print(String name) {
        long[] sorted = masks.stream().mapToLong(Long::longValue).sorted().toArray();
        System.out.printf(
                Locale.ROOT,
                "%-24.24s %8.2f %8d %8.1f %8.1f %8.1f %8d %8d %6.1f%%%n",
                name,
                compiles.stream().mapToLong(Long::longValue).average().orElse(0) / 1e6,
                sorted.length,
                Arrays.stream(sorted).average().orElse(0) / 1e3,
                sorted.length == 0 ? 0 : sorted[(int) (0.99 * (sorted.length - 1))] / 1e3,
                sorted.length == 0 ? 0 : sorted[sorted.length - 1] / 1e3,
                nodes / Math.max(1, sorted.length),
                transitions / Math.max(1, sorted.length),
                100.0 * forced / Math.max(1, tokens));
    }
}
