package dev.tenon.platform.bench.suite.programs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.bench.measure.HostMemory;
import dev.tenon.platform.bench.report.Measurement;
import dev.tenon.platform.bench.report.Measurement.Place;
import dev.tenon.platform.bench.report.ReportTable;
import dev.tenon.platform.bench.report.Unit;
import dev.tenon.platform.bench.serve.LoadClient;
import dev.tenon.platform.bench.serve.Prompts;
import dev.tenon.platform.bench.serve.RequestTimes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// `cross`: our server beside any end point of OpenAI's kind, and our engine beside any
/// llama-bench.
final class CrossProgram implements Program {
    private static final int WORDS = 64;
    private static final int TOKENS = 64;
    private static final int WARM_UPS = 2;
    private static final int REQUESTS = 6;
    private static final double START_SECONDS = 60;
    private static final double BENCH_SECONDS = 90;
    private static final String OURS = "tenon serve";
    private static final String ANSWER = "answer of " + TOKENS + " tokens";
    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    public String name() {
        return "cross";
    }

    @Override
    public String about() {
        return "our server and a peer's by HTTP (--url), our engine and llama-bench (--llama-bench)";
    }

    @Override
    public int seconds() {
        return 120;
    }

    @Override
    public void run(ProgramRun run) throws InterruptedException {
        List<List<String>> rows = new ArrayList<>();
        run.attempt(OURS, () -> ours(run, rows));
        if (run.options().url().isEmpty()) {
            run.skip("peer's server", "none was given; --url ADDRESS names one");
        } else {
            String url = run.options().url();
            run.attempt(url, () -> requests(run, URI.create(url), url, rows));
        }
        if (!rows.isEmpty()) {
            run.add(new ReportTable(
                    "answers of " + TOKENS + " tokens to prompts of " + WORDS + " words, one at a time; " + OURS
                            + " has the story model",
                    List.of("server", "TTFT ms", "tok/s", "P50 ms", "P90 ms", "P99 ms", "P90 − P10 ms"),
                    rows));
        }
        if (run.options().llamaBench().isEmpty()) {
            run.skip("llama-bench", "none was given; --llama-bench PATH names one");
        } else if (run.hasTime("llama-bench", BENCH_SECONDS)) {
            run.attempt("llama-bench", () -> llamaBench(run));
        }
    }

    private static void ours(ProgramRun run, List<List<String>> rows) throws InterruptedException {
        String model = run.files().trained().toString();
        Process server = null;
        try {
            int port = freePort();
            Path errors = Files.createTempFile("tenon-serve-", ".log");
            errors.toFile().deleteOnExit();
            server = run.tenon()
                    .builder(List.of("-q", "serve", "-m", model, "--port", "" + port))
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(errors.toFile())
                    .start();
            server.getOutputStream().close();
            URI url = URI.create("http://127.0.0.1:" + port + "/v1");
            awaitServer(server, url, errors);
            requests(run, url, OURS, rows);
            long resident = HostMemory.residentBytes(server.pid());
            if (resident > 0) {
                run.add("story model", OURS, "resident", Unit.MEBIBYTES, resident / (double) (1 << 20));
            }
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, "'tenon serve' cannot be started: " + e.getMessage(), e);
        } finally {
            if (server != null) {
                TenonProcess.end(server);
            }
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /// Waits until the server lists its models.
    private static void awaitServer(Process server, URI url, Path errors) throws InterruptedException, IOException {
        long end = System.nanoTime() + (long) (START_SECONDS * 1e9);
        String why = "";
        while (System.nanoTime() < end && server.isAlive()) {
            try {
                new LoadClient(url, Optional.empty(), Duration.ofSeconds(2)).firstModel();
                return;
            } catch (IOException e) {
                why = String.valueOf(e.getMessage());
                server.waitFor(100, java.util.concurrent.TimeUnit.MILLISECONDS);
            }
        }
        String said = Files.readString(errors).strip();
        throw new TenonException(
                ErrorCode.USAGE,
                "'tenon serve' does not answer at " + url + " ("
                        + (server.isAlive() ? why : "it ended with status " + server.exitValue()) + "). "
                        + (said.isEmpty() ? "Run it alone." : "It said: " + said));
    }

    private static void requests(ProgramRun run, URI url, String label, List<List<String>> rows)
            throws InterruptedException {
        int count = run.options().quick() ? 2 : REQUESTS;
        double[] first = new double[count];
        double[] speed = new double[count];
        List<Double> gaps = new ArrayList<>();
        Prompts prompts = new Prompts(WORDS, 0);
        LoadClient client = new LoadClient(url, Optional.empty(), Duration.ofMinutes(2));
        try {
            String model = client.firstModel();
            for (int i = -WARM_UPS; i < count; i++) {
                RequestTimes times = client.send(model, prompts.prompt(i + WARM_UPS), TOKENS);
                run.tick();
                if (times.failure() != null) {
                    throw new TenonException(ErrorCode.DOWNLOAD, url + " did not answer: " + times.failure());
                }
                if (i >= 0) {
                    first[i] = times.toFirst() / 1e6;
                    speed[i] = 1e9 * (times.tokens() - 1) / Math.max(1, times.whole() - times.toFirst());
                    Arrays.stream(times.gaps()).forEach(gap -> gaps.add(gap / 1e6));
                }
            }
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD, url + " does not answer as an OpenAI server: " + e.getMessage(), e);
        }
        double[] all = gaps.stream().mapToDouble(gap -> gap).toArray();
        run.add(ANSWER, label, "time to first token", Unit.MILLIS, first);
        run.add(ANSWER, label, "decode by HTTP", Unit.TOKENS_PER_SECOND, speed);
        if (all.length > 0) {
            Measurement token = new Measurement(ANSWER, label, "token", Unit.MILLIS, all, Place.NONE, Double.NaN);
            run.add(token);
            rows.add(List.of(
                    label,
                    number(Arrays.stream(first).average().orElse(0)),
                    number(Arrays.stream(speed).average().orElse(0)),
                    number(token.percentile(50)),
                    number(token.percentile(90)),
                    number(token.percentile(99)),
                    number(token.percentile(90) - token.percentile(10))));
        }
    }

    private static void llamaBench(ProgramRun run) throws InterruptedException {
        ModelSpec spec = run.model("llama-3.2-1b", "Q6_K");
        List<String> command =
                new ArrayList<>(List.of("bench", "-m", run.files().file(spec).toString()));
        command.addAll(List.of("-p", run.options().quick() ? "32" : "128", "-n", "16", "-r", "4", "-o", "jsonl"));
        command.addAll(List.of("-t", Integer.toString(run.options().team()), "--warmup-seconds", "8"));
        command.addAll(List.of("--llama-bench", run.options().llamaBench()));
        try {
            for (String line :
                    run.tenon().output(command, 4 * BENCH_SECONDS).lines().toList()) {
                JsonNode result = JSON.readTree(line);
                int prompt = result.path("n_prompt").asInt();
                String testCase = spec.label()
                        + (prompt > 0
                                ? " pp" + prompt
                                : " tg" + result.path("n_gen").asInt());
                String metric = prompt > 0 ? "prefill" : "decode";
                double ceiling = result.path("read_bandwidth").asDouble(Double.NaN)
                        / result.path("bytes_per_token").asDouble(Double.NaN);
                for (String[] who : new String[][] {{"tenon", "samples_ts"}, {"llama.cpp", "llama_bench_samples_ts"}}) {
                    double[] samples = new double[result.path(who[1]).size()];
                    Arrays.setAll(samples, i -> result.path(who[1]).path(i).asDouble());
                    run.add(new Measurement(
                            testCase, who[0], metric, Unit.TOKENS_PER_SECOND, samples, Place.NONE, ceiling));
                }
            }
        } catch (IOException e) {
            throw new TenonException(ErrorCode.USAGE, "'tenon bench' printed no JSON: " + e.getMessage(), e);
        }
        run.files().drop(spec);
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }
}
