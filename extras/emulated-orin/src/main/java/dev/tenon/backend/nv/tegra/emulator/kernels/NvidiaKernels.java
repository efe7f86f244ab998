package dev.tenon.backend.nv.tegra.emulator.kernels;

import dev.tenon.backend.nv.tegra.emulator.launch.KernelReference;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Finds what a kernel of `kernels/nvidia` computes by its entry's name.
public final class NvidiaKernels {
    private static final Pattern LINEAR = Pattern.compile("(linear|gate_up)_(\\w+)_t(\\d+)");
    private static final Pattern QKV = Pattern.compile("qkv_(\\w+)_t(\\d+)");
    private static final Pattern MATMUL = Pattern.compile("(matmul|matmul_gate_up)_([A-Z]\\w+)_n\\d+(?:_alone)?");
    private static final Pattern EXPERTS =
            Pattern.compile("(expert_(?:linear|gate_up|down|matmul|matmul_gate_up))_([A-Z]\\w*?)(?:_n\\d+)?");
    private static final Pattern WHOLE = Pattern.compile("(embedding|repack|dequantise)_(\\w+)");
    private static final Pattern APPEND = Pattern.compile("rope_append_(f32|f16|q8_0)");
    private static final Pattern ATTENTION = Pattern.compile("attention_(f32|f16|q8_0)_d\\w+");
    private static final Pattern PREFILL = Pattern.compile("attention_prefill_(f32|f16|q8_0)_d(\\d+)");

    private static final Pattern STATES =
            Pattern.compile("(selective_scan|gated_delta_rule|delta_rule_of_keys|replacement_rule)_\\d+");

    private static final Map<String, KernelReference> SMALL = Map.ofEntries(
            Map.entry("float_matmul", Products::floatMatmul),
            Map.entry("router", Experts::router),
            Map.entry("short_convolution", States::convolution),
            Map.entry("token_shift", States::shift),
            Map.entry("weighted_sum", Experts::weightedSum),
            Map.entry("expert_groups", Experts::groups),
            Map.entry("rms_norm", SmallKernels::rmsNorm),
            Map.entry("rms_norm_two", SmallKernels::rmsNormTwo),
            Map.entry("rms_norm_add", SmallKernels::rmsNormAdd),
            Map.entry("layer_norm", SmallKernels::layerNorm),
            Map.entry("rope_table", SmallKernels::ropeTable),
            Map.entry("rope", SmallKernels::rope),
            Map.entry("rope_table_along", EncoderKernels::ropeTable),
            Map.entry("given_rows", EncoderKernels::givenRows),
            Map.entry("join_rows", EncoderKernels::joinRows),
            Map.entry("transpose", EncoderKernels::transpose),
            Map.entry("clamp", EncoderKernels::clamp),
            Map.entry("xielu", EncoderKernels::xielu),
            Map.entry("group_mean", EncoderKernels::groupMean),
            Map.entry("centred_convolution", EncoderKernels::centredConvolution),
            Map.entry("transposed_linear", EncoderKernels::transposedLinear),
            Map.entry("select_rows", SmallKernels::selectRows),
            Map.entry("repeat", SmallKernels::repeat),
            Map.entry("position_scale", SmallKernels::positionScale),
            Map.entry("slice", SmallKernels::slice),
            Map.entry("join", SmallKernels::join),
            Map.entry("swiglu_oai", SmallKernels::swigluOai),
            Map.entry("pool", SmallKernels::pool),
            Map.entry("norm_f16", SmallKernels::normF16),
            Map.entry("to_f16", SmallKernels::toF16),
            Map.entry("to_f32", SmallKernels::toFloats),
            Map.entry("gate_f16", SmallKernels::gateF16),
            Map.entry("add", l -> SmallKernels.binary(l, Float::sum)),
            Map.entry("multiply", l -> SmallKernels.binary(l, (a, b) -> a * b)),
            Map.entry("scale", l -> SmallKernels.unary(l, x -> l.floatParameter(1) * x)),
            Map.entry(
                    "soft_cap",
                    l -> SmallKernels.unary(
                            l, x -> (float) (l.floatParameter(1) * Math.tanh(x / l.floatParameter(1))))),
            Map.entry("activate", l -> SmallKernels.unary(l, x -> Arrays.activated(x, l.intParameter(1)))));

    private NvidiaKernels() {}

    /// {@return what a kernel computes, or empty if it is none of `kernels/nvidia` or not known here}
    ///
    /// @param entry the kernel's name
    public static Optional<KernelReference> reference(String entry) {
        KernelReference small = SMALL.get(entry);
        if (small != null) {
            return Optional.of(small);
        }
        Matcher states = STATES.matcher(entry);
        if (states.matches()) {
            return Optional.of(
                    switch (states.group(1)) {
                        case "selective_scan" -> States::scan;
                        case "replacement_rule" -> States::replacement;
                        case String rule -> launch -> States.rule(launch, rule.equals("delta_rule_of_keys"));
                    });
        }
        return match(LINEAR, entry, (m, f) -> {
                    int rows = Integer.parseInt(m.group(3));
                    return m.group(1).equals("linear")
                            ? l -> Products.linear(l, f, rows)
                            : l -> Products.gateUp(l, f, rows);
                })
                .or(() -> match(
                        MATMUL,
                        entry,
                        (m, f) -> m.group(1).equals("matmul")
                                ? l -> Products.matmul(l, f)
                                : l -> Products.matmulGateUp(l, f)))
                .or(() -> match(EXPERTS, entry, (m, f) -> switch (m.group(1)) {
                    case "expert_linear" -> l -> Experts.linear(l, f);
                    case "expert_gate_up" -> l -> Experts.gateUp(l, f);
                    case "expert_down" -> l -> Experts.down(l, f);
                    case "expert_matmul" -> l -> Experts.matmul(l, f);
                    default -> l -> Experts.matmulGateUp(l, f);
                }))
                .or(() -> match(WHOLE, entry, (m, f) -> switch (m.group(1)) {
                    case "embedding" -> l -> WholeWeights.embedding(l, f);
                    case "repack" -> l -> WholeWeights.repack(l, f);
                    default -> l -> WholeWeights.dequantise(l, f);
                }))
                .or(() -> qkv(entry))
                .or(() -> attention(entry));
    }

    private static Optional<KernelReference> match(
            Pattern pattern, String entry, BiFunction<Matcher, WeightFormat, KernelReference> make) {
        Matcher matcher = pattern.matcher(entry);
        return matcher.matches()
                ? Optional.ofNullable(WeightFormat.of(matcher.group(2))).map(format -> make.apply(matcher, format))
                : Optional.empty();
    }

    /// `qkv_F_V_tN`, where names of formats contain the separator.
    private static Optional<KernelReference> qkv(String entry) {
        Matcher matcher = QKV.matcher(entry);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        String both = matcher.group(1);
        int rows = Integer.parseInt(matcher.group(2));
        for (int at = both.indexOf('_'); at >= 0; at = both.indexOf('_', at + 1)) {
            WeightFormat first = WeightFormat.of(both.substring(0, at));
            WeightFormat second = WeightFormat.of(both.substring(at + 1));
            if (first != null && second != null) {
                return Optional.of(l -> Products.qkv(l, first, second, rows));
            }
        }
        return Optional.empty();
    }

    private static Optional<KernelReference> attention(String entry) {
        Matcher prefill = PREFILL.matcher(entry);
        if (prefill.matches()) {
            int length = Integer.parseInt(prefill.group(2));
            return Optional.of(l -> Attention.attendTiles(l, prefill.group(1), length));
        }
        Matcher append = APPEND.matcher(entry);
        if (append.matches()) {
            return Optional.of(l -> Attention.ropeAppend(l, append.group(1)));
        }
        Matcher attention = ATTENTION.matcher(entry);
        return attention.matches() ? Optional.of(l -> Attention.attend(l, attention.group(1))) : Optional.empty();
    }
}
