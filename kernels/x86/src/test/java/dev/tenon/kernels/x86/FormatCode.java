package dev.tenon.kernels.x86;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.kernels.x86.block.BlockCode;

/// The code of formats, for the tests of other packages.
public final class FormatCode {
    private FormatCode() {}

    /// {@return the code of a format's blocks}
    public static BlockCode of(QuantFormat format) {
        return Formats.code(format)
                .orElseThrow(() -> new AssertionError("nothing can be made of the layout of " + format.id()));
    }
}
