package dev.tenon.platform.cli.options;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.cli.Range;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// Sampling options, named as in llama.cpp, with its defaults unless the user or the model's own
/// defaults set other values.
public final class SamplingOptions {
    private static final Pattern BIAS = Pattern.compile("(\\d+)([+-]\\d+(?:\\.\\d*)?|-inf)");
    private static final SamplingParams STANDARD = SamplingParams.defaults();

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    /// Far above it all tokens are as likely as each other.
    public static final double HOTTEST = 100;

    @Option(
            names = "--temp",
            paramLabel = "T",
            description = "Temperature; 0: always the most likely token (default: the model's, else 0.8).")
    @Range(max = HOTTEST)
    private Float temperature;

    @Option(
            names = "--top-k",
            paramLabel = "N",
            description = "Keep the N most likely tokens; 0: all (default: the model's, else 40).")
    @Range
    private Integer topK;

    @Option(
            names = "--top-p",
            paramLabel = "P",
            description = "Keep the most likely tokens up to this total probability; 1: all (default: the model's,"
                    + " else 0.95).")
    @Range(max = 1)
    private Float topP;

    @Option(
            names = "--min-p",
            paramLabel = "P",
            description = "Drop tokens below this fraction of the most likely one's probability; 0: none (default:"
                    + " the model's, else 0.05).")
    @Range(max = 1)
    private Float minP;

    @Option(
            names = {"--typical", "--typical-p"},
            paramLabel = "P",
            description = "Locally typical sampling; 1: off (default: the model's, else 1).")
    @Range(max = 1)
    private Float typicalP;

    @Option(
            names = "--repeat-penalty",
            paramLabel = "X",
            description = "Penalty for recent tokens; 1: none (default: the model's, else 1).")
    @Range
    private Float repeatPenalty;

    @Option(
            names = "--repeat-last-n",
            paramLabel = "N",
            description = "How many tokens count as recent; 0: none, -1: all (default: the model's, else 64).")
    @Range(min = -1)
    private Integer repeatLastN;

    @Option(
            names = "--presence-penalty",
            paramLabel = "X",
            description = "Subtracted from the logits of recent tokens (default: the model's, else 0).")
    @Range(min = -Float.MAX_VALUE)
    private Float presencePenalty;

    @Option(
            names = "--frequency-penalty",
            paramLabel = "X",
            description = "Subtracted from a token's logit for each recent occurrence (default: the model's, else 0).")
    @Range(min = -Float.MAX_VALUE)
    private Float frequencyPenalty;

    @Option(
            names = {"-l", "--logit-bias"},
            paramLabel = "TOKEN(+/-)BIAS",
            description = "Change the logit of a token id, such as 15043+1 or 29905-inf; may be repeated.")
    private List<String> logitBias = List.of();

    @Option(
            names = {"-s", "--seed"},
            paramLabel = "N",
            description = "Random seed; -1: a new one each time (default: -1).")
    @Range(min = -1)
    private Long seed;

    /// {@return the sampling parameters, with a fixed seed}
    ///
    /// @param defaults the model's own defaults
    public SamplingParams params(ModelDefaults defaults) {
        return over(SamplingParams.builder()
                .temperature(defaults.number("sampling.temperature", STANDARD.temperature()))
                .topK(defaults.integer("sampling.top-k", STANDARD.topK()))
                .topP(defaults.number("sampling.top-p", STANDARD.topP()))
                .minP(defaults.number("sampling.min-p", STANDARD.minP()))
                .typicalP(defaults.number("sampling.typical", STANDARD.typicalP()))
                .repeatPenalty(defaults.number("sampling.repeat-penalty", STANDARD.repeatPenalty()))
                .presencePenalty(defaults.number("sampling.presence-penalty", STANDARD.presencePenalty()))
                .frequencyPenalty(defaults.number("sampling.frequency-penalty", STANDARD.frequencyPenalty()))
                .repeatLastN(defaults.integer("sampling.repeat-last-n", STANDARD.repeatLastN()))
                .seed(newSeed()));
    }

    /// {@return other parameters with the options that were given}
    ///
    /// @param params the others; changed
    public SamplingParams over(SamplingParams.Builder params) {
        try {
            given(temperature, params::temperature);
            given(topK, params::topK);
            given(topP, params::topP);
            given(minP, params::minP);
            given(typicalP, params::typicalP);
            given(repeatPenalty, params::repeatPenalty);
            given(presencePenalty, params::presencePenalty);
            given(frequencyPenalty, params::frequencyPenalty);
            given(repeatLastN, params::repeatLastN);
            if (!logitBias.isEmpty()) {
                params.logitBias(biases());
            }
            if (seed != null) {
                params.seed(seed == -1 ? newSeed() : seed);
            }
            return params.build();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "Invalid sampling option: " + e.getMessage(), e);
        }
    }

    private static long newSeed() {
        return ThreadLocalRandom.current().nextLong(1L << 32);
    }

    private static <T> void given(T value, Consumer<T> setter) {
        if (value != null) {
            setter.accept(value);
        }
    }

    /// Refuses what does not fit the model, which [#params] does not know.
    ///
    /// @param params from [#params]
    /// @param model the loaded model
    /// @throws ParameterException if a token is none of the model's
    public void check(SamplingParams params, LoadedModel model) {
        int vocabulary = model.config().vocabularySize();
        for (int token : params.logitBias().keySet()) {
            if (token >= vocabulary) {
                throw noToken(Integer.toString(token), vocabulary);
            }
        }
    }

    private ParameterException noToken(String token, int vocabulary) {
        return new ParameterException(
                spec.commandLine(),
                "Invalid value for option '--logit-bias': " + token + " is not a token; expected 0 to "
                        + (vocabulary - 1));
    }

    private Map<Integer, Float> biases() {
        Map<Integer, Float> biases = new LinkedHashMap<>();
        for (String text : logitBias) {
            Matcher form = BIAS.matcher(text);
            if (!form.matches()) {
                throw new ParameterException(
                        spec.commandLine(),
                        "Invalid value for option '--logit-bias': '" + text
                                + "' is not a token id with a bias such as 15043+1");
            }
            try {
                biases.put(
                        Integer.parseInt(form.group(1)),
                        Float.parseFloat(form.group(2).replace("inf", "Infinity")));
            } catch (NumberFormatException e) {
                throw noToken(form.group(1), Integer.MAX_VALUE);
            }
        }
        return biases;
    }
}
