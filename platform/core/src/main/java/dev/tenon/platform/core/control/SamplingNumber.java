package dev.tenon.platform.core.control;

import dev.tenon.api.text.Dry;
import dev.tenon.api.text.DynamicTemperature;
import dev.tenon.api.text.Mirostat;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.Xtc;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/// The numbers of [SamplingParams], by the names and with the ranges of requests.
public enum SamplingNumber {
    /// The temperature.
    TEMPERATURE("temp", 0, 100, SamplingParams::temperature),
    /// How much the temperature changes.
    DYNATEMP_RANGE("dynatemp-range", 0, 100, p -> p.dynamicTemperature().range()),
    /// How it follows the entropy.
    DYNATEMP_EXPONENT("dynatemp-exp", 0.01, 100, p -> p.dynamicTemperature().exponent()),
    /// How many best tokens are kept.
    TOP_K("top-k", -1, Integer.MAX_VALUE, SamplingParams::topK),
    /// The probability of the tokens that are kept.
    TOP_P("top-p", 0, 1, SamplingParams::topP),
    /// The least share of the best token's probability.
    MIN_P("min-p", 0, 1, SamplingParams::minP),
    /// The probability of the typical tokens that are kept.
    TYPICAL_P("typical", 0, 1, SamplingParams::typicalP),
    /// Standard deviations below the best token.
    TOP_N_SIGMA("top-nsigma", -1, 1000, SamplingParams::topNSigma),
    /// How often the best tokens are dropped.
    XTC_PROBABILITY("xtc-probability", 0, 1, p -> p.xtc().probability()),
    /// Which tokens are the best of these.
    XTC_THRESHOLD("xtc-threshold", 0, 1, p -> p.xtc().threshold()),
    /// The repetition penalty.
    REPEAT_PENALTY("repeat-penalty", 0.01, 100, SamplingParams::repeatPenalty),
    /// How many tokens penalties look at.
    REPEAT_LAST_N("repeat-last-n", -1, 1 << 20, SamplingParams::repeatLastN),
    /// The presence penalty.
    PRESENCE_PENALTY("presence-penalty", -2, 2, SamplingParams::presencePenalty),
    /// The frequency penalty.
    FREQUENCY_PENALTY("frequency-penalty", -2, 2, SamplingParams::frequencyPenalty),
    /// The penalty for repetitions.
    DRY_MULTIPLIER("dry-multiplier", 0, 100, p -> p.dry().multiplier()),
    /// How it grows.
    DRY_BASE("dry-base", 1, 100, p -> p.dry().base()),
    /// What may be repeated.
    DRY_ALLOWED_LENGTH("dry-allowed-length", 1, 1 << 20, p -> p.dry().allowedLength()),
    /// How many tokens it looks at.
    DRY_PENALTY_LAST_N("dry-penalty-last-n", -1, 1 << 20, p -> p.dry().lastN()),
    /// The version of mirostat.
    MIROSTAT("mirostat", 0, 2, p -> p.mirostat().version()),
    /// Its bits.
    MIROSTAT_TAU("mirostat-ent", 0, 100, p -> p.mirostat().tau()),
    /// How fast it learns.
    MIROSTAT_ETA("mirostat-lr", 0, 100, p -> p.mirostat().eta());

    /// Texts that a repetition does not span if nothing else is said.
    public static final List<String> BREAKERS = List.of("\n", ":", "\"", "*");

    private final String option;
    private final double least;
    private final double most;
    private final ToDoubleFunction<SamplingParams> value;

    SamplingNumber(String option, double least, double most, ToDoubleFunction<SamplingParams> value) {
        this.option = option;
        this.least = least;
        this.most = most;
        this.value = value;
    }

    /// {@return its name in requests, such as `top_k`}
    public String field() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// {@return its name on command lines, such as `top-k`}
    public String option() {
        return option;
    }

    /// {@return its least value}
    public double least() {
        return least;
    }

    /// {@return its greatest value}
    public double most() {
        return most;
    }

    /// {@return whether it is a whole number}
    public boolean isWhole() {
        return List.of(TOP_K, REPEAT_LAST_N, DRY_ALLOWED_LENGTH, DRY_PENALTY_LAST_N, MIROSTAT)
                .contains(this);
    }

    /// {@return its value}
    ///
    /// @param params has it
    public double of(SamplingParams params) {
        return value.applyAsDouble(params);
    }

    /// {@return parameters with other numbers}
    ///
    /// @param params has all else
    /// @param given gives each number, in its range
    public static SamplingParams.Builder builder(SamplingParams params, ToDoubleFunction<SamplingNumber> given) {
        double[] all = Arrays.stream(values()).mapToDouble(given).toArray();
        ToDoubleFunction<SamplingNumber> number = each -> all[each.ordinal()];
        return params.toBuilder()
                .temperature(real(number, TEMPERATURE))
                .dynamicTemperature(
                        new DynamicTemperature(real(number, DYNATEMP_RANGE), real(number, DYNATEMP_EXPONENT)))
                .topK(Math.max(0, whole(number, TOP_K)))
                .topP(real(number, TOP_P))
                .minP(real(number, MIN_P))
                .typicalP(real(number, TYPICAL_P))
                .topNSigma(Math.max(0, real(number, TOP_N_SIGMA)))
                .xtc(new Xtc(real(number, XTC_PROBABILITY), real(number, XTC_THRESHOLD)))
                .repeatPenalty(real(number, REPEAT_PENALTY))
                .repeatLastN(whole(number, REPEAT_LAST_N))
                .presencePenalty(real(number, PRESENCE_PENALTY))
                .frequencyPenalty(real(number, FREQUENCY_PENALTY))
                .dry(new Dry(
                        real(number, DRY_MULTIPLIER),
                        real(number, DRY_BASE),
                        whole(number, DRY_ALLOWED_LENGTH),
                        whole(number, DRY_PENALTY_LAST_N),
                        params.dry().breakers()))
                .mirostat(
                        new Mirostat(whole(number, MIROSTAT), real(number, MIROSTAT_TAU), real(number, MIROSTAT_ETA)));
    }

    private static float real(ToDoubleFunction<SamplingNumber> numbers, SamplingNumber which) {
        return (float) numbers.applyAsDouble(which);
    }

    private static int whole(ToDoubleFunction<SamplingNumber> numbers, SamplingNumber which) {
        return (int) numbers.applyAsDouble(which);
    }

    /// {@return a penalty for repetitions that do not span some texts: each token that has one, and the tokens of each
    ///     if they are several}
    ///
    /// @param dry the penalty
    /// @param texts the texts
    /// @param tokenizer the model's
    public static Dry broken(Dry dry, List<String> texts, Tokenizer tokenizer) {
        if (dry.multiplier() == 0) {
            return dry;
        }
        List<List<Integer>> breakers = new ArrayList<>();
        List<String> bytes = texts.stream()
                .map(text -> latin(text.getBytes(StandardCharsets.UTF_8)))
                .toList();
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            String token = latin(tokenizer.bytes(id));
            if (bytes.stream().anyMatch(token::contains)) {
                breakers.add(List.of(id));
            }
        }
        for (String text : texts) {
            List<Integer> tokens =
                    Arrays.stream(tokenizer.encode(text, false, false)).boxed().toList();
            if (tokens.size() > 1) {
                breakers.add(tokens);
            }
        }
        return new Dry(dry.multiplier(), dry.base(), dry.allowedLength(), dry.lastN(), breakers);
    }

    private static String latin(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
