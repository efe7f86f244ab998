package dev.tenon.platform.tools.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.platform.core.gguf.TensorType;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Which format each tensor of a model gets: one format for all, or a mix such as `Q4_K_M`.
///
/// The mixes are those that users of llama.cpp know by these names, and choose alike for llama-like
/// models: more bits for the output matrix (or the tied embedding), and in the `_M` mixes for
/// `attn_v` and `ffn_down` of some layers. Immutable and safe for any thread.
public final class QuantMix {
    /// What the choice depends on besides the tensor.
    ///
    /// @param architecture `general.architecture`
    /// @param layers number of layers
    /// @param headCount attention heads
    /// @param headCountKv key and value heads
    /// @param experts number of experts, 0 for none
    /// @param ownOutput whether there is an `output.weight`; if not, `token_embd.weight` is the output
    ///     matrix too
    public record Model(
            String architecture, int layers, int headCount, int headCountKv, int experts, boolean ownOutput) {}

    private record Known(String base, int fileType) {}

    private static final Pattern LAYER = Pattern.compile("blk\\.(\\d{1,9})\\..*");
    private static final String PURE = "pure:";
    private static final List<String> NOT_QUANTIZED = List.of(
            "_norm.weight",
            "ffn_gate_inp.weight",
            "position_embd.weight",
            "token_types.weight",
            "ssm_conv1d.weight",
            "shortconv.conv.weight");
    private static final Map<String, Known> KNOWN = known();
    private static final Map<String, String> ALIASES =
            Map.of("Q3_K", "Q3_K_M", "Q4_K", "Q4_K_M", "Q5_K", "Q5_K_M", "BFLOAT16", "BF16");

    private final String name;
    private final String base;
    private final int fileType;
    private final boolean pure;

    private QuantMix(String name, String base, int fileType, boolean pure) {
        this.name = name;
        this.base = base;
        this.fileType = fileType;
        this.pure = pure;
    }

    /// {@return the mix of a name}
    ///
    /// @param name a mix (`Q4_K_M`, `Q5_K_S`, ...), a format for all matrices (`Q8_0`, `F16`, or
    ///     the id of a third party's format), or `pure:FORMAT`, which makes no exception for the
    ///     output matrix; upper or lower case. `Q3_K`, `Q4_K` and `Q5_K` mean the `_M` mixes
    /// @throws TenonException (`CLI-001`) if the name is empty
    public static QuantMix of(String name) {
        String wanted = name.strip();
        boolean pure = wanted.toLowerCase(Locale.ROOT).startsWith(PURE);
        if (pure) {
            wanted = wanted.substring(PURE.length());
        }
        if (wanted.isEmpty()) {
            throw new TenonException(
                    ErrorCode.USAGE,
                    "\"" + name + "\" is not a format; expected one of " + String.join(", ", KNOWN.keySet())
                            + ", or the id of an installed format.");
        }
        String upper = wanted.toUpperCase(Locale.ROOT);
        if (!pure) {
            upper = ALIASES.getOrDefault(upper, upper);
        }
        Known known = KNOWN.get(upper);
        if (known == null) {
            return new QuantMix(pure ? PURE + wanted : wanted, wanted, fileTypeOf(pure ? upper : ""), true);
        }
        return new QuantMix(pure ? PURE + upper : upper, known.base(), known.fileType(), pure);
    }

    /// {@return the names of all mixes that are built in}
    public static List<String> names() {
        return List.copyOf(KNOWN.keySet());
    }

    /// {@return the name}
    public String name() {
        return name;
    }

    /// {@return the id of the format that most matrices get}
    public String base() {
        return base;
    }

    /// {@return the number for `general.file_type`; empty for a format that has none}
    public OptionalInt fileType() {
        return fileType < 0 ? OptionalInt.empty() : OptionalInt.of(fileType);
    }

    /// {@return whether a tensor is quantised at all: a weight matrix that is not a norm or router}
    ///
    /// @param tensor tensor name
    /// @param shape its shape
    public static boolean quantizes(String tensor, List<Long> shape) {
        return shape.size() >= 2
                && tensor.endsWith("weight")
                && NOT_QUANTIZED.stream().noneMatch(tensor::contains);
    }

    /// {@return the type that a tensor gets; for one that is not quantised, F32}
    ///
    /// A row that is not a whole number of blocks gets another type that fits: the nearest one with
    /// blocks of 32, else Q8_0, F16 or F32.
    ///
    /// @param tensor tensor name
    /// @param shape its shape, the fastest length first
    /// @param model the model
    /// @param usable finds a type by format id; empty for one that cannot be written here
    /// @throws UnsupportedModelException (`MODEL-006`) if the type wanted cannot be written here
    public TensorType choose(
            String tensor, List<Long> shape, Model model, Function<String, Optional<TensorType>> usable) {
        if (!quantizes(tensor, shape)) {
            return require("F32", tensor, usable);
        }
        long cols = shape.getFirst();
        TensorType baseType = require(base, tensor, usable);
        String wanted = pure || unquantized(base) ? base : rule(tensor, cols, model, baseType);
        TensorType type = require(wanted, tensor, usable);
        if (cols % type.blockSize() == 0) {
            return type;
        }
        for (String other : List.of(fallback(type.name()), "Q8_0", "F16")) {
            Optional<TensorType> found = usable.apply(other);
            if (found.isPresent() && cols % found.get().blockSize() == 0) {
                return found.get();
            }
        }
        return require("F32", tensor, usable);
    }

    private TensorType require(String id, String tensor, Function<String, Optional<TensorType>> usable) {
        return usable.apply(id)
                .orElseThrow(() -> new UnsupportedModelException(
                        ErrorCode.MODEL_TENSOR_FORMAT,
                        "Tensor " + tensor + " is to be written as " + id + (id.equals(name) ? "" : " (" + name + ")")
                                + ", which no installed format writes. Install one with a quantizer, or choose"
                                + " another format."));
    }

    private String rule(String tensor, long cols, Model model, TensorType baseType) {
        if (name.equals("MXFP4_MOE")) {
            return tensor.contains("_exps.") ? "MXFP4" : base;
        }
        if (tensor.equals("output.weight") || (!model.ownOutput() && tensor.equals("token_embd.weight"))) {
            return cols % baseType.blockSize() != 0 || base.equals("Q8_0") ? "Q8_0" : "Q6_K";
        }
        int layer = layer(tensor);
        int layers = model.layers();
        if (tensor.contains("attn_v.weight")
                || tensor.contains("attn_qkv.weight")
                || tensor.contains("attn_kv_b.weight")) {
            return attentionValue(layer, model);
        }
        if (tensor.contains("attn_k.weight") && model.experts() == 8) {
            return "Q8_0";
        }
        if (tensor.contains("ffn_down")) {
            return switch (name) {
                case "Q2_K" -> "Q3_K";
                case "Q3_K_M" -> layer < layers / 16 ? "Q5_K" : "Q4_K";
                case "Q3_K_L" -> "Q5_K";
                case "Q4_K_S" -> layer < layers / 8 ? "Q5_K" : base;
                case "Q4_K_M", "Q5_K_M" -> moreBits(layer, layers) ? "Q6_K" : base;
                default -> base;
            };
        }
        if (tensor.contains("attn_output.weight")) {
            boolean fewBits = base.equals("Q2_K") || base.equals("Q3_K") || base.equals("Q4_K");
            if (model.experts() == 8) {
                return fewBits && !name.equals("Q3_K_L") ? "Q5_K" : base;
            }
            return switch (name) {
                case "Q2_K" -> "Q3_K";
                case "Q3_K_M" -> "Q4_K";
                case "Q3_K_L" -> "Q5_K";
                default -> base;
            };
        }
        return base;
    }

    private String attentionValue(int layer, Model model) {
        if (model.experts() == 8) {
            return "Q8_0";
        }
        boolean manyShare = model.headCountKv() > 0 && model.headCount() / model.headCountKv() >= 4;
        String chosen = switch (name) {
            case "Q2_K" -> manyShare ? "Q4_K" : "Q3_K";
            case "Q3_K_M" -> layer < 2 ? "Q5_K" : "Q4_K";
            case "Q3_K_L" -> "Q5_K";
            case "IQ4_NL", "IQ4_XS" -> manyShare ? "Q5_K" : base;
            case "Q4_K_S" -> layer < 4 ? "Q5_K" : base;
            case "Q4_K_M", "Q5_K_M" -> moreBits(layer, model.layers()) ? "Q6_K" : base;
            default -> base;
        };
        boolean llama70b = model.architecture().equals("llama")
                && model.layers() == 80
                && model.headCount() != model.headCountKv();
        return llama70b && (chosen.equals("Q3_K") || chosen.equals("Q4_K")) ? "Q5_K" : chosen;
    }

    /// The first and last eighth of the layers, and every third one between.
    static boolean moreBits(int layer, int layers) {
        return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
    }

    /// {@return the layer that a tensor name begins with, -1 for none}
    static int layer(String tensor) {
        Matcher matcher = LAYER.matcher(tensor);
        return matcher.matches() ? Integer.parseInt(matcher.group(1)) : -1;
    }

    private static boolean unquantized(String format) {
        return format.equals("F32") || format.equals("F16") || format.equals("BF16");
    }

    private static String fallback(String format) {
        return switch (format) {
            case "Q2_K", "Q3_K", "IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_XS" ->
                "IQ4_NL";
            case "Q4_K" -> "Q5_0";
            case "Q5_K" -> "Q5_1";
            case "TQ1_0", "TQ2_0" -> "Q4_0";
            default -> "Q8_0";
        };
    }

    private static int fileTypeOf(String format) {
        return switch (format) {
            case "Q3_K" -> 11;
            case "Q4_K" -> 14;
            case "Q5_K" -> 16;
            default -> -1;
        };
    }

    private static Map<String, Known> known() {
        Map<String, Known> known = new TreeMap<>();
        known.put("F32", new Known("F32", 0));
        known.put("F16", new Known("F16", 1));
        known.put("Q4_0", new Known("Q4_0", 2));
        known.put("Q4_1", new Known("Q4_1", 3));
        known.put("Q8_0", new Known("Q8_0", 7));
        known.put("Q5_0", new Known("Q5_0", 8));
        known.put("Q5_1", new Known("Q5_1", 9));
        known.put("Q2_K", new Known("Q2_K", 10));
        known.put("Q3_K_S", new Known("Q3_K", 11));
        known.put("Q3_K_M", new Known("Q3_K", 12));
        known.put("Q3_K_L", new Known("Q3_K", 13));
        known.put("Q4_K_S", new Known("Q4_K", 14));
        known.put("Q4_K_M", new Known("Q4_K", 15));
        known.put("Q5_K_S", new Known("Q5_K", 16));
        known.put("Q5_K_M", new Known("Q5_K", 17));
        known.put("Q6_K", new Known("Q6_K", 18));
        known.put("IQ4_NL", new Known("IQ4_NL", 25));
        known.put("IQ4_XS", new Known("IQ4_XS", 30));
        known.put("BF16", new Known("BF16", 32));
        known.put("MXFP4_MOE", new Known("Q8_0", 38));
        return known;
    }

    @Override
    public String toString() {
        return name;
    }
}
