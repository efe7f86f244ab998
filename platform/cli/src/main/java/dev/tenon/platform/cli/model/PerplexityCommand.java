package dev.tenon.platform.cli.model;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.cli.Range;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.options.ModelOptions;
import dev.tenon.platform.cli.options.TextInput;
import dev.tenon.platform.cli.text.Json;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.IntConsumer;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/// `tenon perplexity`: how well a model predicts a text.
@Command(
        name = "perplexity",
        sortOptions = false,
        description = {
            "Measures how well a model predicts a text, as llama-perplexity does: windows of -c tokens"
                    + " (default: 512) that do not overlap; the second half of each is scored."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon perplexity -f heldout.txt",
            "  tenon perplexity -m model.gguf -f wiki.test.raw -c 2048 --chunks 10 --json",
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=perplexity",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class PerplexityCommand implements TenonCommand {
    private static final int DEFAULT_WINDOW = 512;

    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Option(
            names = {"-f", "--file"},
            required = true,
            paramLabel = "FILE",
            description = "The text, UTF-8.")
    private Path file;

    @Option(
            names = "--chunks",
            paramLabel = "N",
            defaultValue = "-1",
            description = "Maximum windows to score; -1: all (default: ${DEFAULT-VALUE}).")
    @Range(min = -1)
    private int chunks;

    @Option(names = "--json", description = "Print the result as one line of JSON.")
    private boolean json;

    @Mixin
    private ModelOptions model;

    @Override
    public Integer call() {
        String text = TextInput.promptFile(file);
        LoadRequest request = model.request(console);
        int window = request.contextLength() == 0 ? DEFAULT_WINDOW : request.contextLength();
        if (window < 4) {
            throw new TenonException(
                    ErrorCode.USAGE, "A window of " + window + " tokens is too short; give -c 4 or more.");
        }
        try (LoadedModel loaded =
                console.load(engine, request.toBuilder().contextLength(window).build())) {
            int[] tokens = loaded.tokenizer().encode(text, true, false);
            if (tokens.length < 2 * window) {
                throw new TenonException(
                        ErrorCode.USAGE,
                        file + " has " + tokens.length + " tokens; expected at least " + 2 * window
                                + ", two windows of " + window + ". Give a longer text, or a smaller -c.");
            }
            int n = tokens.length / window;
            n = chunks < 0 ? n : Math.min(n, chunks);
            long start = System.nanoTime();
            PerplexityScore score = new PerplexityScore();
            try (Progress bar = console.progress("perplexity", n, "windows")) {
                StringBuilder running = new StringBuilder();
                score(loaded, tokens, window, n, score, chunk -> {
                    bar.to(chunk + 1);
                    if (!json && !console.quiet() && !console.errIsTerminal()) {
                        console.out().print(running(chunk, score));
                        console.out().flush();
                    } else if (!json) {
                        running.append(running(chunk, score));
                    }
                });
                if (!json && !console.quiet()) {
                    console.out().println(running);
                }
            }
            double seconds = (System.nanoTime() - start) / 1e9;
            result(score, n, window, seconds, loaded);
        }
        return 0;
    }

    /// Scores windows of a text.
    ///
    /// @param loaded the model; its context holds a window
    /// @param tokens the text
    /// @param window tokens in a window
    /// @param n number of windows
    /// @param score receives the predictions
    /// @param after hears the index of each finished window
    static void score(LoadedModel loaded, int[] tokens, int window, int n, PerplexityScore score, IntConsumer after) {
        Tokenizer tokenizer = loaded.tokenizer();
        int first = window / 2;
        try (Session session = loaded.newSession()) {
            for (int chunk = 0; chunk < n; chunk++) {
                int[] part = Arrays.copyOfRange(tokens, chunk * window, (chunk + 1) * window);
                if (tokenizer.addsBos() && tokenizer.bos().isPresent()) {
                    part[0] = tokenizer.bos().getAsInt();
                }
                session.truncate(0);
                // Logits after `first` to `window - 2`; the last token is predicted but never
                // evaluated.
                session.evaluate(Arrays.copyOf(part, first), Rows.NONE, (index, row) -> {});
                session.evaluate(
                        Arrays.copyOfRange(part, first, window - 1),
                        Rows.ALL,
                        (index, row) -> score.add(row, part[first + index + 1]));
                after.accept(chunk);
            }
        }
    }

    private static String running(int chunk, PerplexityScore score) {
        return String.format(Locale.ROOT, "[%d]%.4f,", chunk + 1, score.perplexity());
    }

    private void result(PerplexityScore score, int n, int window, double seconds, LoadedModel loaded) {
        if (json) {
            console.out().println(Json.line(json -> {
                json.writeStartObject();
                json.writeStringField("model", loaded.file().path().toString());
                json.writeStringField("text", file.toString());
                json.writeStringField("backend", loaded.backend());
                json.writeNumberField("window", window);
                json.writeNumberField("chunks", n);
                json.writeNumberField("scored_tokens", score.count());
                json.writeNumberField("ppl", score.perplexity());
                json.writeNumberField("ppl_error", score.error());
                json.writeNumberField("seconds", seconds);
                json.writeEndObject();
            }));
        } else {
            console.out()
                    .println(String.format(
                            Locale.ROOT, "Final estimate: PPL = %.4f +/- %.5f", score.perplexity(), score.error()));
        }
        console.note(String.format(
                Locale.ROOT,
                "%d windows of %d tokens in %.1f s, %.1f tok/s",
                n,
                window,
                seconds,
                (double) n * window / seconds));
    }
}
