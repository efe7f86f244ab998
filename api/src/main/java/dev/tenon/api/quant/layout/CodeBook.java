package dev.tenon.api.quant.layout;

import java.util.Arrays;

/// A table of what levels stand for: level q for the small whole numbers `q * length` to `q * length + length -
/// 1`, one a value. Immutable.
public final class CodeBook {
    private final int length;
    private final byte[] numbers;

    private CodeBook(int length, byte[] numbers) {
        if (length < 1 || numbers.length == 0 || numbers.length % length != 0) {
            throw new IllegalArgumentException(numbers.length + " numbers in entries of " + length);
        }
        this.length = length;
        this.numbers = numbers;
    }

    /// {@return a table of single numbers}
    ///
    /// @param numbers what level 0, 1, ... stand for; each from -128 to 127
    public static CodeBook of(int... numbers) {
        byte[] bytes = new byte[numbers.length];
        for (int i = 0; i < numbers.length; i++) {
            bytes[i] = (byte) numbers[i];
            if (bytes[i] != numbers[i]) {
                throw new IllegalArgumentException(
                        "level " + i + " stands for " + numbers[i] + ", which no byte holds");
            }
        }
        return new CodeBook(1, bytes);
    }

    /// {@return a table of rows of numbers, such as eight of them a level}
    ///
    /// @param length numbers of a level
    /// @param numbers those of level 0, then those of level 1, and so on; copied
    public static CodeBook grid(int length, byte[] numbers) {
        return new CodeBook(length, numbers.clone());
    }

    /// {@return numbers of a level, which are those of as many values}
    public int length() {
        return length;
    }

    /// {@return how many levels there are}
    public int levels() {
        return numbers.length / length;
    }

    /// {@return what a level stands for}
    ///
    /// @param level the level
    /// @param i which of its numbers, from 0
    public int number(int level, int i) {
        return numbers[level * length + i];
    }

    /// {@return the least number of all}
    public int least() {
        int least = numbers[0];
        for (byte number : numbers) {
            least = Math.min(least, number);
        }
        return least;
    }

    /// {@return the greatest number of all}
    public int greatest() {
        int greatest = numbers[0];
        for (byte number : numbers) {
            greatest = Math.max(greatest, number);
        }
        return greatest;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CodeBook book && book.length == length && Arrays.equals(book.numbers, numbers);
    }

    @Override
    public int hashCode() {
        return 31 * length + Arrays.hashCode(numbers);
    }

    @Override
    public String toString() {
        return levels() + " levels of " + length;
    }
}
