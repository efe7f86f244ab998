package dev.tenon.platform.bench.output;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.gguf.TensorInfo;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;

/// Names a model for a table: architecture, number of weights, file type.
public final class FileTypes {
    /// Values of `general.file_type` (ggml's `llama_ftype`).
    private static final Map<Integer, String> NAMES = Map.ofEntries(
            Map.entry(0, "F32"),
            Map.entry(1, "F16"),
            Map.entry(2, "Q4_0"),
            Map.entry(3, "Q4_1"),
            Map.entry(7, "Q8_0"),
            Map.entry(8, "Q5_0"),
            Map.entry(9, "Q5_1"),
            Map.entry(10, "Q2_K"),
            Map.entry(11, "Q3_K_S"),
            Map.entry(12, "Q3_K_M"),
            Map.entry(13, "Q3_K_L"),
            Map.entry(14, "Q4_K_S"),
            Map.entry(15, "Q4_K_M"),
            Map.entry(16, "Q5_K_S"),
            Map.entry(17, "Q5_K_M"),
            Map.entry(18, "Q6_K"),
            Map.entry(25, "IQ4_NL"),
            Map.entry(30, "IQ4_XS"),
            Map.entry(32, "BF16"),
            Map.entry(38, "MXFP4"));

    private FileTypes() {}

    /// {@return such as `llama 1.2B Q6_K`}
    ///
    /// @param model a loaded model
    public static String describe(LoadedModel model) {
        long parameters =
                model.file().tensors().stream().mapToLong(TensorInfo::elements).sum();
        OptionalInt type = model.file().metadata().integer("general.file_type");
        String name = type.isPresent() ? NAMES.getOrDefault(type.getAsInt(), "type " + type.getAsInt()) : "";
        return (model.config().architecture() + " " + size(parameters) + " " + name).strip();
    }

    /// {@return a number of weights such as `24M`, `1.2B` or `70B`}
    ///
    /// @param parameters the number
    static String size(long parameters) {
        if (parameters < 1_000_000) {
            return Math.round(parameters / 1e3) + "K";
        }
        if (parameters < 999_500_000) {
            return Math.round(parameters / 1e6) + "M";
        }
        return String.format(Locale.ROOT, parameters < 9.95e9 ? "%.1fB" : "%.0fB", parameters / 1e9)
                .replace(".0B", "B");
    }
}
