package dev.tenon.platform.cli.chat;

import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.cli.Range;
import dev.tenon.platform.cli.Ranges;
import dev.tenon.platform.cli.options.RuleOptions;
import dev.tenon.platform.cli.options.SamplingOptions;
import dev.tenon.platform.cli.terminal.CliErrors;
import dev.tenon.platform.cli.terminal.EditDistance;
import dev.tenon.platform.core.control.SamplingNumber;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/// How a chat chooses tokens and how many; the user changes it by the names of the command's
/// options.
final class ChatSettings {
    private final LoadedModel model;
    private final List<String> stop;
    private final RuleOptions rules;
    private SamplingParams params;
    private int predict;
    private int answers;

    /// Creates the settings.
    ///
    /// @param model what runs
    /// @param params how to choose tokens
    /// @param predict most tokens of an answer; -1 until the context is full
    /// @param stop texts that end an answer
    /// @param rules what steers each answer
    /// @throws dev.tenon.api.error.TenonException (`CLI-001`) if a rule is not there
    ChatSettings(LoadedModel model, SamplingParams params, int predict, List<String> stop, RuleOptions rules) {
        this.model = model;
        this.params = params;
        this.predict = predict;
        this.stop = List.copyOf(stop);
        this.rules = rules;
        rules.check(model, params);
    }

    /// {@return how to generate the next answer, but for its prompt: with random numbers and rules of its own}
    GenerationRequest next() {
        SamplingParams next = params.toBuilder().seed(params.seed() + answers++).build();
        return GenerationRequest.builder()
                .sampling(next)
                .sampler(rules.sampler(model, next))
                .maxNewTokens(predict)
                .stop(stop)
                .processors(rules.processors(model))
                .constraint(rules.constraint(model, null))
                .build();
    }

    /// {@return a conversation with the limit on reasoning}
    ///
    /// @param request the conversation
    ChatRequest limited(ChatRequest request) {
        return rules.limited(request);
    }

    /// {@return most tokens of an answer; -1 until the context is full}
    int predict() {
        return predict;
    }

    /// {@return texts that end an answer}
    List<String> stop() {
        return stop;
    }

    /// Changes a setting.
    ///
    /// @param name an option's name without dashes
    /// @param value its value
    /// @throws IllegalArgumentException if there is no such setting, or it does not take the value;
    ///     the message is for the user
    void set(String name, String value) {
        String option = "--" + name.replace('_', '-').toLowerCase(Locale.ROOT);
        Change change = new Change();
        CommandLine line = new CommandLine(change);
        if (line.getCommandSpec().findOption(option) == null) {
            List<String> names = line.getCommandSpec().options().stream()
                    .flatMap(o -> Arrays.stream(o.names()))
                    .filter(n -> n.startsWith("--"))
                    .map(n -> n.substring(2))
                    .toList();
            throw new IllegalArgumentException("There is no setting '" + name + "'."
                    + EditDistance.suggestion(option.substring(2), names) + " /show lists them.");
        }
        try {
            Ranges.run(line.parseArgs(option + "=" + value));
        } catch (ParameterException e) {
            throw new IllegalArgumentException(
                    CliErrors.plain(e.getMessage()).replaceFirst("^Invalid value for option '--", "Invalid value for '")
                            + ".",
                    e);
        }
    }

    /// {@return the settings and their values}
    Map<String, String> values() {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("predict", Integer.toString(predict));
        for (SamplingNumber number : SamplingNumber.values()) {
            double value = number.of(params);
            values.put(
                    number.option(), number.isWhole() ? Integer.toString((int) value) : Float.toString((float) value));
        }
        values.put("logit-bias", params.logitBias().toString());
        values.put("seed", Long.toString(params.seed()));
        return values;
    }

    /// One change, read as options of a command.
    @Command(name = "/set")
    private final class Change implements Runnable {
        @Option(names = {"--predict", "--n-predict", "-n"})
        @Range(min = -1)
        private Integer limit;

        @Option(names = "--temperature")
        @Range(max = SamplingOptions.HOTTEST)
        private Float temperature;

        @Mixin
        private SamplingOptions sampling = new SamplingOptions();

        @Override
        public void run() {
            SamplingParams before = temperature == null
                    ? params
                    : params.toBuilder().temperature(temperature).build();
            params = sampling.of(sampling.over(before), model);
            predict = limit == null ? predict : limit;
        }
    }
}
