package dev.tenon.platform.contracts.itest;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import dev.tenon.api.quant.layout.BlockLayout;
import java.util.Optional;

/// A format under another name, so that a backend has no kernels for it but those that it makes of the layout.
///
/// @param format the format
/// @param known its layout
record LayoutOnly(QuantFormat format, BlockLayout known) implements QuantFormat {
    /// Above all numbers that files have.
    private static final int FIRST_TYPE = 1 << 30;

    /// {@return the format under another name; empty if it has no layout}
    ///
    /// @param format the format
    static Optional<QuantFormat> of(QuantFormat format) {
        return format.layout().map(layout -> new LayoutOnly(format, layout));
    }

    @Override
    public String id() {
        return "LAYOUT_" + format.id();
    }

    @Override
    public int ggmlType() {
        return FIRST_TYPE + format.ggmlType();
    }

    @Override
    public Optional<BlockLayout> layout() {
        return Optional.of(known);
    }

    @Override
    public Optional<Quantizer> quantizer() {
        return format.quantizer();
    }

    @Override
    public double roundTripBound() {
        return format.roundTripBound();
    }
}
