package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.CodeBook;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import java.util.Optional;
import java.util.stream.IntStream;

/// What the numbers of a layout become, so that signs and shifts are part of them and a byte holds the sum.
///
/// @param power numbers are multiplied with `2^power`, the least one that makes shifts whole
/// @param table what each level stands for, entry by entry; empty where levels are the numbers
record LevelNumbers(int power, byte[] table) {
    private static final int MOST_POWER = 6;
    private static final int MOST_BITS = 4;

    /// {@return the numbers of a layout, or empty if some are too large}
    ///
    /// @param layout a layout with scales
    static Optional<LevelNumbers> of(BlockLayout layout) {
        int[] numbers = numbers(layout);
        boolean tabled = layout.codeBook().isPresent() || layout.shifts().isPresent();
        if (tabled && layout.codeBook().isEmpty() && layout.levels().width() > MOST_BITS
                || layout.shifts().filter(shifts -> !readsShifts(shifts)).isPresent()) {
            return Optional.empty();
        }
        for (int power = 0; power <= MOST_POWER; power++) {
            if (fits(layout, numbers, power)) {
                byte[] table = new byte[tabled ? numbers.length : 0];
                for (int i = 0; i < table.length; i++) {
                    table[i] = (byte) (numbers[i] << power);
                }
                return Optional.of(new LevelNumbers(power, table));
            }
        }
        return Optional.empty();
    }

    private static int[] numbers(BlockLayout layout) {
        if (layout.codeBook().isPresent()) {
            CodeBook book = layout.codeBook().get();
            return IntStream.range(0, book.levels() * book.length())
                    .map(i -> book.number(i / book.length(), i % book.length()))
                    .toArray();
        }
        Numbers levels = layout.levels();
        int count = levels.type() == Numbers.Type.TRITS ? 3 : 1 << levels.width();
        boolean signed = levels.type() == Numbers.Type.SIGNED;
        return IntStream.range(0, count)
                .map(q -> (signed && q >= count / 2 ? q - count : q) - layout.zero())
                .toArray();
    }

    private static boolean readsShifts(Scale shifts) {
        return shifts.common().isEmpty()
                && shifts.numbers().type() == Numbers.Type.UNSIGNED
                && shifts.numbers().width() <= MOST_BITS;
    }

    /// Whether sums are whole, and bytes.
    private static boolean fits(BlockLayout layout, int[] numbers, int power) {
        int least = IntStream.of(numbers).min().orElseThrow() << power;
        int greatest = IntStream.of(numbers).max().orElseThrow() << power;
        if (layout.signs().isPresent()) {
            int far = Math.max(-least, greatest);
            least = -far;
            greatest = far;
        }
        if (layout.shifts().isPresent()) {
            Scale shifts = layout.shifts().get();
            int count = 1 << shifts.numbers().width();
            if (IntStream.range(0, count)
                    .anyMatch(key -> shift(shifts, key, power) != Math.rint(shift(shifts, key, power)))) {
                return false;
            }
            least += (int) IntStream.range(0, count)
                    .mapToDouble(key -> shift(shifts, key, power))
                    .min()
                    .orElseThrow();
            greatest += (int) IntStream.range(0, count)
                    .mapToDouble(key -> shift(shifts, key, power))
                    .max()
                    .orElseThrow();
        }
        return least >= Byte.MIN_VALUE && greatest <= Byte.MAX_VALUE;
    }

    /// {@return what is added to levels}
    ///
    /// @param shifts the shifts
    /// @param bits bits of one
    /// @param power levels are multiplied with `2^power`
    static double shift(Scale shifts, int bits, int power) {
        return Math.scalb((double) shifts.step() * bits + shifts.offset(), power);
    }
}
