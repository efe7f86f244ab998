package dev.tenon.quant.formats;

import dev.tenon.api.quant.QuantFormat;
import java.util.List;

/// The list of the formats in this module.
final class QuantFormats {
    private QuantFormats() {}

    /// {@return one new object of each format; unmodifiable}
    static List<QuantFormat> all() {
        return List.of(
                new F32Format(),
                new F16Format(),
                new BF16Format(),
                new Q8_0Format(),
                new Q6_KFormat(),
                new Q5_KFormat(),
                new Q4_KFormat(),
                new Q3_KFormat(),
                new Q2_KFormat(),
                new Q5_1Format(),
                new Q5_0Format(),
                new Q4_1Format(),
                new Q4_0Format(),
                new IQ4_NLFormat(),
                new IQ4_XSFormat(),
                new MXFP4Format(),
                new NVFP4Format(),
                new IQ3_SFormat(),
                new IQ3_XXSFormat(),
                new IQ2_SFormat(),
                new IQ2_XSFormat(),
                new IQ2_XXSFormat(),
                new IQ1_MFormat(),
                new IQ1_SFormat(),
                new TQ2_0Format(),
                new TQ1_0Format(),
                new Q2_0Format(),
                new Q1_0Format(),
                new I32Format());
    }
}
