package dev.tenon.kernels.nvidia.layout;

import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.CodeBook;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/// How the numbers that are scaled, with their signs and shifts, become levels of a few bits on the device.
///
/// @param bits of a level, 2 to 8
/// @param signed whether `2^(bits - 1)` is subtracted from levels, or entries of the table have a sign
/// @param negative whether levels stand for the negative numbers, which may take a bit less
/// @param power numbers are whole when they are multiplied with `2^power`
/// @param table the whole numbers that levels stand for; empty where the levels are the numbers
record LevelCoding(int bits, boolean signed, boolean negative, int power, List<Integer> table) {
    private static final int TABLE_LEVELS = 16;
    private static final int MOST_POWER = 8;
    private static final int MOST_SHIFT_BITS = 4;

    /// Chooses the fewest bits.
    ///
    /// @param layout the format's
    /// @return the coding, or empty if the numbers need more than eight bits
    static Optional<LevelCoding> of(BlockLayout layout) {
        Optional<double[]> shifts = layout.shifts().map(LevelCoding::shifts).orElse(Optional.of(new double[] {0}));
        if (!layout.levels().type().whole()
                || layout.codeBook().isEmpty() && layout.levels().width() > Byte.SIZE
                || shifts.isEmpty()) {
            return Optional.empty();
        }
        TreeSet<Double> all = new TreeSet<>();
        numbers(layout).distinct().forEach(number -> {
            for (double shift : shifts.get()) {
                all.add(number + shift);
                if (layout.signs().isPresent()) {
                    all.add(shift - number);
                }
            }
        });
        return power(all.stream().mapToDouble(Double::doubleValue))
                .flatMap(power -> of(layout, power, whole(layout, all, power)));
    }

    private static Optional<LevelCoding> of(BlockLayout layout, int power, List<Integer> numbers) {
        int least = numbers.stream().mapToInt(Integer::intValue).min().orElseThrow();
        int greatest = numbers.stream().mapToInt(Integer::intValue).max().orElseThrow();
        boolean signed = layout.minimums().isEmpty();
        int straight = signed ? signedBits(least, greatest) : least < 0 ? Integer.SIZE : bits(greatest);
        int turned = signed ? signedBits(-greatest, -least) : Integer.SIZE;
        int bits = Math.max(2, Math.min(straight, turned));
        if (bits > 4 && numbers.size() <= TABLE_LEVELS && straight <= Byte.SIZE) {
            return Optional.of(new LevelCoding(4, signed, false, power, numbers));
        }
        return bits > Byte.SIZE
                ? Optional.empty()
                : Optional.of(new LevelCoding(bits, signed, turned < straight, power, List.of()));
    }

    private static int bits(int greatest) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(greatest);
    }

    /// Bits of numbers from `least` to `greatest` in two's complement.
    private static int signedBits(int least, int greatest) {
        return 1 + Math.max(bits(Math.max(0, greatest)), bits(-1 - Math.min(-1, least)));
    }

    /// The whole numbers in the order of levels where a small code book has them, else in their own.
    private static List<Integer> whole(BlockLayout layout, TreeSet<Double> all, int power) {
        if (isBook(layout)) {
            CodeBook book = layout.codeBook().orElseThrow();
            return IntStream.range(0, book.levels())
                    .map(q -> book.number(q, 0))
                    .boxed()
                    .toList();
        }
        return all.stream().map(number -> (int) Math.scalb(number, power)).toList();
    }

    /// {@return whether the file's levels are the indices of the table}
    ///
    /// @param layout the format's
    static boolean isBook(BlockLayout layout) {
        return layout.codeBook().isPresent()
                && layout.codeBook().get().length() == 1
                && layout.codeBook().get().levels() <= TABLE_LEVELS
                && layout.signs().isEmpty()
                && layout.shifts().isEmpty();
    }

    private static IntStream numbers(BlockLayout layout) {
        if (layout.codeBook().isPresent()) {
            CodeBook book = layout.codeBook().get();
            return IntStream.range(0, book.levels() * book.length())
                    .map(i -> book.number(i / book.length(), i % book.length()));
        }
        Numbers levels = layout.levels();
        int count = levels.type() == Numbers.Type.TRITS ? 3 : 1 << levels.width();
        int first = levels.type() == Numbers.Type.SIGNED ? -count / 2 : 0;
        return IntStream.range(first, first + count).map(level -> level - layout.zero());
    }

    private static Optional<double[]> shifts(Scale scale) {
        if (scale.common().isPresent()
                || !scale.numbers().type().whole()
                || scale.numbers().width() > MOST_SHIFT_BITS) {
            return Optional.empty();
        }
        return Optional.of(values(scale).toArray());
    }

    /// {@return what the whole numbers of a scale can be, without a common factor}
    ///
    /// @param scale of whole numbers
    static DoubleStream values(Scale scale) {
        int count = 1 << scale.numbers().width();
        int first = scale.numbers().type() == Numbers.Type.SIGNED ? -count / 2 : 0;
        return IntStream.range(first, first + count).mapToDouble(n -> (double) scale.step() * n + scale.offset());
    }

    /// {@return the least power of two that makes all of them whole, as its exponent; empty if none up to 8 does}
    ///
    /// @param values the numbers
    static Optional<Integer> power(DoubleStream values) {
        List<Double> all = new ArrayList<>(values.boxed().toList());
        return IntStream.rangeClosed(0, MOST_POWER)
                .filter(power ->
                        all.stream().allMatch(value -> Math.rint(Math.scalb(value, power)) == Math.scalb(value, power)))
                .boxed()
                .findFirst();
    }
}
