package dev.tenon.platform.cli.options;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.SamplingStage;
import dev.tenon.platform.cli.Range;
import dev.tenon.platform.core.control.SamplingNumber;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
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
            names = "--dynatemp-range",
            paramLabel = "X",
            description =
                    "How far the temperature goes down and up with how sure the model is; 0: not (default: the model's, else 0).")
    @Range(max = HOTTEST)
    private Float dynamicRange;

    @Option(
            names = "--dynatemp-exp",
            paramLabel = "X",
            description = "How it follows the entropy (default: the model's, else 1).")
    @Range(min = 0.01, max = 100)
    private Float dynamicExponent;

    @Option(
            names = {"--top-nsigma", "--top-n-sigma"},
            paramLabel = "X",
            description =
                    "Keep tokens whose logits are at most X standard deviations below the best; -1 or 0: all (default: the model's, else -1).")
    @Range(min = -1)
    private Float topNSigma;

    @Option(
            names = "--xtc-probability",
            paramLabel = "P",
            description =
                    "How often all but the least probable of the probable tokens are dropped; 0: never (default: the model's, else 0).")
    @Range(max = 1)
    private Float xtcProbability;

    @Option(
            names = "--xtc-threshold",
            paramLabel = "P",
            description = "Which tokens are probable; above 0.5: none (default: the model's, else 0.1).")
    @Range(max = 1)
    private Float xtcThreshold;

    @Option(
            names = "--dry-multiplier",
            paramLabel = "X",
            description = "Penalty for tokens that go on with a repetition; 0: none (default: the model's, else 0).")
    @Range(max = 100)
    private Float dryMultiplier;

    @Option(
            names = "--dry-base",
            paramLabel = "X",
            description = "How it grows with each repeated token (default: the model's, else 1.75).")
    @Range(min = 1, max = 100)
    private Float dryBase;

    @Option(
            names = "--dry-allowed-length",
            paramLabel = "N",
            description = "How many tokens may be repeated (default: the model's, else 2).")
    @Range(min = 1)
    private Integer dryAllowedLength;

    @Option(
            names = "--dry-penalty-last-n",
            paramLabel = "N",
            description = "How many of the last tokens count; 0: none, -1: all (default: the model's, else -1).")
    @Range(min = -1)
    private Integer dryLastN;

    @Option(
            names = "--mirostat",
            paramLabel = "N",
            description =
                    "Mirostat 1 or 2 in place of the steps that drop tokens; 0: off (default: the model's, else 0).")
    @Range(max = 2)
    private Integer mirostat;

    @Option(
            names = "--mirostat-ent",
            paramLabel = "X",
            description = "Bits by which its tokens surprise on average (default: the model's, else 5).")
    @Range(max = 100)
    private Float mirostatTau;

    @Option(
            names = "--mirostat-lr",
            paramLabel = "X",
            description = "How fast it learns from each token (default: the model's, else 0.1).")
    @Range(max = 100)
    private Float mirostatEta;

    @Option(
            names = "--dry-sequence-breaker",
            paramLabel = "TEXT",
            description = "A repetition does not span this text; may be repeated; none: no text (default: line ends,"
                    + " colons, quotation marks, asterisks).")
    private List<String> breakers;

    @Option(
            names = {"--samplers", "--sampling-seq"},
            paramLabel = "NAMES",
            description = "The steps of sampling and their order; others are off (default:"
                    + " penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature).")
    private String stages;

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
        return over(SamplingNumber.builder(STANDARD, number -> defaults.sampling(number, STANDARD))
                .seed(newSeed())
                .build());
    }

    /// {@return other parameters with the options that were given}
    ///
    /// @param params the others
    public SamplingParams over(SamplingParams params) {
        try {
            SamplingParams.Builder builder = SamplingNumber.builder(params, number -> {
                Number given = given(number);
                return given == null ? number.of(params) : given.doubleValue();
            });
            if (stages != null) {
                builder.stages(SamplingStage.of(List.of(stages)));
            }
            if (!logitBias.isEmpty()) {
                builder.logitBias(biases());
            }
            if (seed != null) {
                builder.seed(seed == -1 ? newSeed() : seed);
            }
            return builder.build();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "Invalid sampling option: " + e.getMessage(), e);
        }
    }

    private Number given(SamplingNumber number) {
        return switch (number) {
            case TEMPERATURE -> temperature;
            case TOP_K -> topK;
            case TOP_P -> topP;
            case MIN_P -> minP;
            case TYPICAL_P -> typicalP;
            case REPEAT_PENALTY -> repeatPenalty;
            case REPEAT_LAST_N -> repeatLastN;
            case PRESENCE_PENALTY -> presencePenalty;
            case FREQUENCY_PENALTY -> frequencyPenalty;
            case DYNATEMP_RANGE -> dynamicRange;
            case DYNATEMP_EXPONENT -> dynamicExponent;
            case TOP_N_SIGMA -> topNSigma;
            case XTC_PROBABILITY -> xtcProbability;
            case XTC_THRESHOLD -> xtcThreshold;
            case DRY_MULTIPLIER -> dryMultiplier;
            case DRY_BASE -> dryBase;
            case DRY_ALLOWED_LENGTH -> dryAllowedLength;
            case DRY_PENALTY_LAST_N -> dryLastN;
            case MIROSTAT -> mirostat;
            case MIROSTAT_TAU -> mirostatTau;
            case MIROSTAT_ETA -> mirostatEta;
        };
    }

    private static long newSeed() {
        return ThreadLocalRandom.current().nextLong(1L << 32);
    }

    /// {@return parameters for a model; what does not fit it is refused}
    ///
    /// @param params from [#params] or [#over]
    /// @param model the loaded model
    /// @throws ParameterException if a token is none of the model's
    public SamplingParams of(SamplingParams params, LoadedModel model) {
        int vocabulary = model.config().vocabularySize();
        for (int token : params.logitBias().keySet()) {
            if (token >= vocabulary) {
                throw noToken(Integer.toString(token), vocabulary);
            }
        }
        List<String> texts = breakers == null
                ? SamplingNumber.BREAKERS
                : breakers.stream().filter(text -> !text.equals("none")).toList();
        return params.toBuilder()
                .dry(SamplingNumber.broken(params.dry(), texts, model.tokenizer()))
                .build();
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
