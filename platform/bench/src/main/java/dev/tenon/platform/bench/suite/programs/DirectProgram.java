package dev.tenon.platform.bench.suite.programs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.device.Backend;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.bench.measure.Interval;
import dev.tenon.platform.bench.measure.Turns;
import dev.tenon.platform.bench.report.ReportTable;
import dev.tenon.platform.bench.report.Unit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// `direct`: two variants of `tenon bench` in processes of their own, in turns A B B A. Before that each one says
/// which tokens it generates, because a speed is worth something only beside the text that it gives.
final class DirectProgram implements Program {
    private static final double PROCESS_SECONDS = 18;
    private static final double LIMIT_SECONDS = 120;
    private static final int MOST_PAIRS = 4;
    private static final String TEXT_TOKENS = "16";
    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    public String name() {
        return "direct";
    }

    @Override
    public String about() {
        return "two backends, bundle versions or settings in processes of their own, in turns, with the interval of the ratio";
    }

    @Override
    public int seconds() {
        return 140;
    }

    @Override
    public void run(ProgramRun run) throws InterruptedException {
        ModelSpec spec = run.model("llama-3.2-1b", "Q4_K_M");
        List<String> a = words(run.options().variantA());
        List<String> b = words(run.options().variantB());
        if (a.isEmpty() && b.isEmpty()) {
            List<Backend> backends = run.backends();
            boolean two = backends.size() > 1;
            a = two ? List.of("--backend", backends.get(0).id()) : List.of("TENON_KERNELS_X86=off");
            b = two ? List.of("--backend", backends.get(1).id()) : List.of();
            if (!two && !System.getProperty("os.arch").equals("amd64")) {
                throw new SkipException(
                        "there is one backend, and without --variant-a and --variant-b nothing to compare");
            }
        }
        String file = run.files().file(spec).toString();
        List<String> base = new ArrayList<>(List.of("bench", "-m", file, "-o", "jsonl", "--bandwidth-mib", "0"));
        base.addAll(List.of("-t", Integer.toString(run.options().team())));
        List<String> text = new ArrayList<>(base);
        text.addAll(List.of("-p", "0", "-n", TEXT_TOKENS, "-d", "32", "-r", "1", "--no-warmup", "--greedy"));
        run.add(texts(generated(run, command(a, text)), generated(run, command(b, text))));
        base.addAll(List.of("-p", "64", "-n", "16", "-r", "3"));
        base.addAll(List.of("--warmup-seconds", run.options().quick() ? "1" : "4"));
        int pairs = (int) Math.clamp(run.secondsLeft() / (2 * PROCESS_SECONDS), 2, MOST_PAIRS);
        compare(run, spec, new Variant("A: ", a, base), new Variant("B: ", b, base), pairs);
        run.files().drop(spec);
    }

    /// {@return the tokens that a variant generates, the best each time, after random ones that are the same for all}
    private static String generated(ProgramRun run, List<String> command) throws InterruptedException {
        String tokens = results(run, command).getLast().path("generated").asText("");
        run.tick();
        return tokens;
    }

    /// {@return whether two variants generate the same tokens}
    ///
    /// @param a tokens with spaces between
    /// @param b the same of the other variant
    static ReportTable texts(String a, String b) {
        List<String> first = words(a);
        List<String> second = words(b);
        int same = 0;
        while (same < Math.min(first.size(), second.size()) && first.get(same).equals(second.get(same))) {
            same++;
        }
        boolean equal = same > 0 && same == first.size() && same == second.size();
        String verdict = equal
                ? "A and B generate the same " + same + " tokens"
                : "A and B generate different tokens after " + same + " equal ones";
        return new ReportTable(
                verdict + "; the best each time, after the same random ones",
                List.of("variant", "tokens"),
                List.of(List.of("A", a), List.of("B", b)));
    }

    /// One of the two.
    ///
    /// @param name what reports call it
    /// @param command what runs it
    private record Variant(String name, List<String> command) {
        Variant(String letter, List<String> words, List<String> base) {
            this(letter + shown(words), DirectProgram.command(words, base));
        }
    }

    private static void compare(ProgramRun run, ModelSpec spec, Variant a, Variant b, int pairs)
            throws InterruptedException {
        List<Map<String, Double>> first = new ArrayList<>();
        List<Map<String, Double>> second = new ArrayList<>();
        Turns.measure(
                pairs, () -> speeds(run, a.command, first), () -> speeds(run, b.command, second), done -> run.tick());
        List<List<String>> rows = new ArrayList<>();
        for (String test : first.getFirst().keySet()) {
            double[] ofA =
                    first.stream().mapToDouble(speeds -> speeds.get(test)).toArray();
            double[] ofB =
                    second.stream().mapToDouble(speeds -> speeds.get(test)).toArray();
            String metric = test.startsWith("pp") ? "prefill" : "decode";
            run.add(spec.label() + " " + test, a.name, metric, Unit.TOKENS_PER_SECOND, ofA);
            run.add(spec.label() + " " + test, b.name, metric, Unit.TOKENS_PER_SECOND, ofB);
            Interval ratio = Interval.ofRatios(ofA, ofB);
            rows.add(List.of(
                    test,
                    percent(ratio.estimate()),
                    percent(ratio.low()),
                    percent(ratio.high()),
                    ratio.excludes(1) ? ratio.estimate() > 1 ? "B is faster" : "A is faster" : "no difference seen"));
        }
        run.add(new ReportTable(
                "B against A, " + pairs + " pairs of processes; " + a.name + "; " + b.name,
                List.of("test", "difference %", "95 % from", "to", "verdict"),
                rows));
    }

    /// {@return the speed of the first test; all are added to the list}
    private static double speeds(ProgramRun run, List<String> command, List<Map<String, Double>> all)
            throws InterruptedException {
        Map<String, Double> speeds = new LinkedHashMap<>();
        for (JsonNode result : results(run, command)) {
            int prompt = result.path("n_prompt").asInt();
            String test =
                    prompt > 0 ? "pp" + prompt : "tg" + result.path("n_gen").asInt();
            speeds.put(test, result.path("avg_ts").asDouble());
        }
        run.tick();
        all.add(speeds);
        return speeds.values().stream().findFirst().orElseThrow();
    }

    /// {@return what a command printed, at least one result}
    private static List<JsonNode> results(ProgramRun run, List<String> command) throws InterruptedException {
        List<JsonNode> results = new ArrayList<>();
        try {
            for (String line :
                    run.tenon().output(command, LIMIT_SECONDS).lines().toList()) {
                results.add(JSON.readTree(line));
            }
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.USAGE, "'tenon " + shown(command) + "' printed no JSON: " + e.getMessage(), e);
        }
        if (results.isEmpty()) {
            throw new TenonException(ErrorCode.USAGE, "'tenon " + shown(command) + "' printed no result.");
        }
        return results;
    }

    /// Variables of the environment come first, then the command and its options.
    private static List<String> command(List<String> variant, List<String> base) {
        List<String> command = new ArrayList<>();
        variant.stream()
                .filter(word -> !word.startsWith("-") && word.matches("[A-Z_0-9]+=.*"))
                .forEach(command::add);
        command.addAll(base);
        variant.stream().filter(word -> !command.contains(word)).forEach(command::add);
        return command;
    }

    private static String shown(List<String> command) {
        return command.isEmpty() ? "as it is" : String.join(" ", command);
    }

    private static List<String> words(String text) {
        return text.isBlank() ? List.of() : Arrays.asList(text.strip().split("\\s+"));
    }

    private static String percent(double ratio) {
        return String.format(Locale.ROOT, "%+.2f", 100 * (ratio - 1));
    }
}
