package dev.tenon.platform.bench;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.bench.serve.LoadClient;
import dev.tenon.platform.bench.serve.LoadOutput;
import dev.tenon.platform.bench.serve.LoadResult;
import dev.tenon.platform.bench.serve.Prompts;
import dev.tenon.platform.bench.serve.RequestTimes;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.cli.Range;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/// `tenon bench serve`: speed of a server through HTTP.
@Command(
        name = "serve",
        sortOptions = false,
        description = {
            "Measures a server that speaks OpenAI's protocol, this one or another: so many clients send one streamed"
                    + " chat request after the other.",
            "TTFT: time to the first text. TPOT: time per token after it. ITL: time between two events with text."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon bench serve",
            "  tenon bench serve --url http://127.0.0.1:8080/v1 -c 1,8,32 -p 128 -n 64",
            "  tenon bench serve -c 8 -p 2000 --common-words 1990 --requests 8",
        })
final class BenchServeCommand implements Callable<Integer> {
    @ParentCommand
    private BenchCommand bench;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--url",
            paramLabel = "URL",
            defaultValue = "http://127.0.0.1:8080/v1",
            description = "Address of the API (default: ${DEFAULT-VALUE}).")
    private URI url;

    @Option(names = "--api-key-file", paramLabel = "FILE", description = "File whose first line is the key to send.")
    private Path keyFile;

    @Option(
            names = {"-m", "--model"},
            paramLabel = "NAME",
            description = "Model to ask for (default: the first one that the server lists).")
    private String model;

    @Option(
            names = {"-c", "--clients"},
            paramLabel = "N",
            defaultValue = "1",
            description = "Clients at once; a list or range, as of bench (default: ${DEFAULT-VALUE}).")
    private List<String> clients;

    @Option(
            names = "--requests",
            paramLabel = "N",
            defaultValue = "0",
            description = "Requests of each measurement; 0: four for each client (default: ${DEFAULT-VALUE}).")
    @Range(max = Integer.MAX_VALUE)
    private int requests;

    @Option(
            names = {"-p", "--prompt-words"},
            paramLabel = "N",
            defaultValue = "128",
            description = "Words of a prompt; a word is about a token (default: ${DEFAULT-VALUE}).")
    @Range(min = 1, max = 1_000_000)
    private int words;

    @Option(
            names = "--common-words",
            paramLabel = "N",
            defaultValue = "0",
            description = "Words at the beginning that all prompts have in common (default: ${DEFAULT-VALUE}).")
    @Range(max = 1_000_000)
    private int common;

    @Option(
            names = {"-n", "--n-gen"},
            paramLabel = "N",
            defaultValue = "64",
            description = "Tokens to generate (default: ${DEFAULT-VALUE}).")
    @Range(min = 1, max = Integer.MAX_VALUE)
    private int tokens;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "600",
            description = "Longest time until an answer begins or goes on (default: ${DEFAULT-VALUE}).")
    @Range(min = 1, max = 1_000_000)
    private int seconds;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            defaultValue = "md",
            description = "Output format: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private LoadOutput.Format format;

    @Override
    public Integer call() throws InterruptedException {
        if (common > words) {
            throw usage("--common-words " + common + " is more than the " + words + " words of a prompt");
        }
        if (url.getHost() == null || !List.of("http", "https").contains(url.getScheme())) {
            throw usage("Invalid value for option '--url': '" + url + "'; expected such as http://127.0.0.1:8080/v1");
        }
        List<Integer> levels = levels();
        boolean failed = false;
        LoadClient client = new LoadClient(url, key(), Duration.ofSeconds(seconds));
        try {
            String name = model == null ? client.firstModel() : model;
            client.send(name, new Prompts(words, 0).prompt(Integer.MAX_VALUE), tokens); // compiles and connects
            LoadOutput output = new LoadOutput(format, bench.console.out());
            output.begin(name, words, tokens);
            for (int level : levels) {
                LoadResult result = measure(client, name, level, requests == 0 ? 4 * level : requests);
                output.result(result);
                failed |= !result.failures().isEmpty();
                result.failures()
                        .forEach((why, times) -> bench.console.note(String.format(
                                Locale.ROOT,
                                "%d of %d requests failed: %s",
                                times,
                                result.requests().size(),
                                why)));
            }
        } catch (ConnectException e) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD, url + " refused the connection. Is a server running there?", e);
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD, url + " does not answer as an OpenAI server: " + e.getMessage(), e);
        }
        return failed ? 1 : 0;
    }

    private LoadResult measure(LoadClient client, String name, int level, int count) throws InterruptedException {
        Prompts prompts = new Prompts(words, common);
        AtomicInteger next = new AtomicInteger();
        long[] done = new long[1]; // guarded by the bar
        List<Future<List<RequestTimes>>> threads = new ArrayList<>();
        List<RequestTimes> all = new ArrayList<>();
        long begin = System.nanoTime();
        try (Progress bar = bench.console.progress(level + " clients", count, "requests");
                ExecutorService executor = Executors.newFixedThreadPool(level)) {
            for (int i = 0; i < level; i++) {
                threads.add(executor.submit(() -> {
                    List<RequestTimes> own = new ArrayList<>();
                    for (int k = next.getAndIncrement(); k < count; k = next.getAndIncrement()) {
                        own.add(client.send(name, prompts.prompt(k), tokens));
                        synchronized (bar) {
                            bar.to(++done[0]);
                        }
                    }
                    return own;
                }));
            }
            for (Future<List<RequestTimes>> thread : threads) {
                all.addAll(thread.get());
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException("a client ended early", e.getCause());
        }
        return new LoadResult(level, (System.nanoTime() - begin) / 1e9, all);
    }

    private List<Integer> levels() {
        try {
            List<Integer> levels = IntRange.parse(clients);
            if (levels.stream().allMatch(n -> n >= 1)) {
                return levels;
            }
        } catch (IllegalArgumentException e) {
            throw usage("Invalid value for option '--clients': " + e.getMessage());
        }
        throw usage("Invalid value for option '--clients': 0; expected at least 1");
    }

    private Optional<String> key() {
        if (keyFile == null) {
            return Optional.empty();
        }
        try (var lines = Files.lines(keyFile)) {
            return lines.findFirst().map(String::strip);
        } catch (IOException | UncheckedIOException e) {
            throw usage("Invalid value for option '--api-key-file': " + keyFile + " cannot be read: " + e.getMessage());
        }
    }

    private ParameterException usage(String text) {
        return new ParameterException(spec.commandLine(), text);
    }
}
