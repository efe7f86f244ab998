package dev.tenon.api.quant.layout;

import java.util.Optional;

/// How the scales of a block, or its minimums, follow from what it holds: number g is
///
/// ```
/// common * (step * numbers[g] + offset)
/// ```
///
/// in float32, in this order; without `common` the second factor alone. Immutable.
///
/// @param common a factor of the whole block, of a type that is not whole
/// @param numbers one number a group
/// @param step what a number is multiplied with
/// @param offset what is added then
public record Scale(Optional<Numbers> common, Numbers numbers, float step, float offset) {
    /// Checks the common factor.
    public Scale {
        if (common.isPresent()
                && (common.get().count() != 1 || common.get().type().whole())) {
            throw new IllegalArgumentException("a common factor is one number that is not whole: " + common.get());
        }
    }

    /// {@return scales as they are in the block}
    ///
    /// @param numbers one number a group
    public static Scale of(Numbers numbers) {
        return new Scale(Optional.empty(), numbers, 1, 0);
    }

    /// {@return one scale in half precision for the whole block}
    ///
    /// @param at its first byte
    public static Scale f16(int at) {
        return of(Numbers.f16(at));
    }

    /// {@return scales that have a common factor in half precision}
    ///
    /// @param at the first byte of the factor
    /// @param numbers one number a group
    public static Scale f16(int at, Numbers numbers) {
        return new Scale(Optional.of(Numbers.f16(at)), numbers, 1, 0);
    }

    /// {@return the same with other numbers}
    ///
    /// @param by what a number is multiplied with
    /// @param plus what is added then
    public Scale with(float by, float plus) {
        return new Scale(common, numbers, by, plus);
    }

    /// {@return how many there are in a block}
    public int count() {
        return numbers.count();
    }

    /// {@return the first bit behind all of it}
    int end() {
        return Math.max(numbers.end(), common.map(Numbers::end).orElse(0));
    }
}
