package dev.tenon.kernels.nvidia.layout;

import dev.tenon.api.quant.layout.BlockLayout;
import java.util.Optional;

/// How a weight lies on a device whose kernels are made of its format's layout: in the planes of `layout.cuh`.
/// Immutable; equal layouts are equal.
public final class DeviceLayout {
    private static final int ALIGNMENT = 16;
    private static final int PIECE = 16;
    private static final int WORD = Integer.BYTES;
    private static final int HALF_UNIT = 32;
    private static final int UNIT = 64;
    private static final int SMALLEST_CHUNK = 16;

    private final BlockLayout layout;
    private final LevelCoding levels;
    private final FactorCoding scales;
    private final Optional<FactorCoding> minimums;
    private final int unit;
    private final int chunk;
    private final int group;

    private DeviceLayout(
            BlockLayout layout, LevelCoding levels, FactorCoding scales, Optional<FactorCoding> minimums, int unit) {
        this.layout = layout;
        this.levels = levels;
        this.scales = scales;
        this.minimums = minimums;
        this.unit = unit;
        this.chunk = perByte() % HALF_UNIT == 0 ? HALF_UNIT : SMALLEST_CHUNK;
        int perFactor = perFactor();
        this.group = unit * Integer.lowestOneBit(perFactor / unit);
    }

    /// Chooses how weights of a layout lie.
    ///
    /// @param layout the format's
    /// @return the choice, or empty if the kernels cannot be made: numbers of more than eight bits, scales of fewer
    ///     than 16 weights
    public static Optional<DeviceLayout> of(BlockLayout layout) {
        if (layout.scales().isEmpty() || layout.size() % HALF_UNIT != 0) {
            return Optional.empty();
        }
        Optional<LevelCoding> levels = LevelCoding.of(layout);
        Optional<FactorCoding> scales = FactorCoding.of(layout.scales().get(), layout.size());
        Optional<FactorCoding> minimums = layout.minimums().flatMap(m -> FactorCoding.of(m, layout.size()));
        if (levels.isEmpty()
                || scales.isEmpty()
                || minimums.isPresent() != layout.minimums().isPresent()
                || minimums.filter(m -> m.whole() && m.signed()).isPresent()) {
            return Optional.empty();
        }
        LevelCoding coding = levels.get();
        DeviceLayout wide = new DeviceLayout(layout, coding, scales.get(), minimums, UNIT);
        if (coding.bits() <= 3 && wide.fits()) {
            return Optional.of(wide);
        }
        LevelCoding four = coding.bits() > 3
                ? coding
                : new LevelCoding(4, coding.signed(), coding.negative(), coding.power(), coding.table());
        return Optional.of(new DeviceLayout(layout, four, scales.get(), minimums, HALF_UNIT))
                .filter(DeviceLayout::fits);
    }

    private boolean fits() {
        return perByte() % SMALLEST_CHUNK == 0 && perFactor() % unit == 0;
    }

    /// Weights that have a byte of scale and of minimum in common.
    private int perByte() {
        int scaled = scales.whole() ? scales.group() : layout.size();
        return minimums.filter(FactorCoding::whole)
                .map(m -> Math.min(scaled, m.group()))
                .orElse(scaled);
    }

    /// Weights that have factors in common.
    private int perFactor() {
        int scaled = scales.whole() ? layout.size() : scales.group();
        return minimums.filter(m -> !m.whole())
                .map(m -> Math.min(scaled, m.group()))
                .orElse(scaled);
    }

    private int words() {
        boolean ones = levels.bits() == 3 || levels.bits() == 5 || levels.bits() == 7;
        boolean pairs = levels.bits() == 6 || levels.bits() == 7;
        return (pairs ? 2 : 0) + (ones ? unit / HALF_UNIT : 0);
    }

    private int pieces() {
        return levels.bits() == Byte.SIZE ? 2 : 1;
    }

    /// Bytes of scales and minimums of a unit.
    private int scaleBytes() {
        int each = unit / chunk;
        return (scales.whole() ? each : 0)
                + (minimums.filter(FactorCoding::whole).isPresent() ? each : 0);
    }

    private boolean floats() {
        return !scales.halves() || minimums.filter(m -> !m.halves()).isPresent();
    }

    private int factorBytes() {
        return (floats() ? Float.BYTES : Short.BYTES) * (minimums.isPresent() ? 2 : 1);
    }

    /// {@return bytes that a number of weights takes}
    ///
    /// @param elements a multiple of the block size
    public long bytes(long elements) {
        long units = elements / unit;
        long bytes = units * PIECE * pieces() + words() * padded(units * WORD);
        int apart = scaleBytes() > WORD ? 2 : 1;
        bytes += apart * padded(units * scaleBytes() / apart);
        int factors = floats() && minimums.isPresent() ? 2 : 1;
        return bytes + factors * padded(units * unit / group * factorBytes() / factors);
    }

    private static long padded(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    /// {@return bytes that a lane copies of a unit at once, in pieces of 16 and of 4}
    public int pieceBytes() {
        int scaleWords = (scaleBytes() + WORD - 1) / WORD;
        int factorWords = floats() && minimums.isPresent() ? 2 : 1;
        return PIECE * pieces() + WORD * (words() + scaleWords + factorWords);
    }

    /// {@return weights that a lane takes at once}
    public int unit() {
        return unit;
    }

    /// {@return the struct that `layout.cuh` expects}
    ///
    /// @param name the struct's name
    public String source(String name) {
        return new LayoutSource(layout, levels, scales, minimums).text(name, unit, chunk, group, floats());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof DeviceLayout same && same.layout.equals(layout);
    }

    @Override
    public int hashCode() {
        return layout.hashCode();
    }
}
