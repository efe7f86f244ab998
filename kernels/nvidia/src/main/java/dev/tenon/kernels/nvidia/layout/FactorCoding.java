package dev.tenon.kernels.nvidia.layout;

import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import java.util.Optional;

/// How the scales of a block, or its minimums, lie on the device: a byte for each chunk of weights and a factor for
/// all of them, or a factor for each group.
///
/// @param whole whether there are bytes
/// @param signed whether these have a sign
/// @param power bytes are multiples of `2^-power`
/// @param halves whether factors are halves, without loss; else floats
/// @param group weights under one byte, or under one factor where there are none
record FactorCoding(boolean whole, boolean signed, int power, boolean halves, int group) {
    /// Chooses how they lie.
    ///
    /// @param scale the scales
    /// @param size weights of a block
    /// @return the coding, or empty if whole numbers need more than a byte
    static Optional<FactorCoding> of(Scale scale, int size) {
        int group = size / scale.count();
        if (!scale.numbers().type().whole()) {
            boolean exact = scale.common().isEmpty()
                    && isHalf(scale.numbers())
                    && Math.abs(scale.step()) == 1
                    && scale.offset() == 0;
            return Optional.of(new FactorCoding(false, false, 0, exact, group));
        }
        if (scale.numbers().type() == Numbers.Type.TRITS || scale.numbers().width() > Byte.SIZE) {
            return Optional.empty();
        }
        boolean halves = scale.common().map(FactorCoding::isHalf).orElse(true);
        return LevelCoding.power(LevelCoding.values(scale)).flatMap(power -> {
            double least = Math.scalb(LevelCoding.values(scale).min().orElseThrow(), power);
            double greatest = Math.scalb(LevelCoding.values(scale).max().orElseThrow(), power);
            return least >= 0 && greatest < 256
                    ? Optional.of(new FactorCoding(true, false, power, halves, group))
                    : least >= Byte.MIN_VALUE && greatest <= Byte.MAX_VALUE
                            ? Optional.of(new FactorCoding(true, true, power, halves, group))
                            : Optional.empty();
        });
    }

    private static boolean isHalf(Numbers numbers) {
        return numbers.type() == Numbers.Type.F16 || numbers.type() == Numbers.Type.UE4M3_HALF;
    }
}
