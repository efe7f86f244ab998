package dev.tenon.api.quant.layout;

import java.util.ArrayList;
import java.util.List;

/// The numbers of one kind that a block holds: its levels, its scales, and so on.
///
/// A number is put together from one piece of each field of its run, the lowest bits first, and read as the
/// type says. Runs follow one another: the numbers of the first, then those of the second. Immutable.
///
/// @param type how bits become a number
/// @param runs the fields of each run, all of them with as many pieces as the run has numbers
public record Numbers(Type type, List<List<BitField>> runs) {
    /// How the bits of a number are read.
    public enum Type {
        /// A whole number without a sign.
        UNSIGNED,
        /// A whole number in two's complement.
        SIGNED,
        /// Digits of base 3, several in a byte: digit n of q is `(q * 3^n mod 256) * 3 >> 8`. The last axis of the
        /// field, of step 0, counts the digits: first the digits 0 of all bytes, then the digits 1, and so on.
        TRITS,
        /// IEEE's half precision: 16 bits.
        F16,
        /// The upper half of a float: 16 bits.
        BF16,
        /// IEEE's single precision: 32 bits.
        F32,
        /// Half of a power of two, as the scales of MXFP4 are: eight bits e stand for 2^(e - 128), as a float.
        E8M0_HALF,
        /// Half of an unsigned float of four bits exponent and three bits fraction, as the scales of NVFP4 are:
        /// x = bits 3 to 6, m = bits 0 to 2; m * 2^-10 if x is 0, else (1 + m / 8) * 2^(x - 8). 0x7f and 0x80
        /// are 0; bit 7 does not count otherwise.
        UE4M3_HALF;

        /// {@return the bits of a number; 0 if it can have any number of them}
        int width() {
            return switch (this) {
                case UNSIGNED, SIGNED -> 0;
                case TRITS, E8M0_HALF, UE4M3_HALF -> Byte.SIZE;
                case F16, BF16 -> Short.SIZE;
                case F32 -> Integer.SIZE;
            };
        }

        /// {@return whether numbers are whole}
        public boolean whole() {
            return this == UNSIGNED || this == SIGNED || this == TRITS;
        }

        /// {@return the number that some bits are}
        ///
        /// @param bits the bits, with their sign if they have one, and no others; of [#TRITS] the digit
        public float value(int bits) {
            return switch (this) {
                case UNSIGNED, SIGNED, TRITS -> bits;
                case F16 -> Float.float16ToFloat((short) bits);
                case BF16 -> Float.intBitsToFloat(bits << Short.SIZE);
                case F32 -> Float.intBitsToFloat(bits);
                case E8M0_HALF -> SmallFloats.E8M0_HALF[bits];
                case UE4M3_HALF -> SmallFloats.UE4M3_HALF[bits];
            };
        }
    }

    /// What floats of eight bits are.
    private static final class SmallFloats {
        static final float[] E8M0_HALF = new float[256];
        static final float[] UE4M3_HALF = new float[256];

        static {
            for (int e = 0; e < E8M0_HALF.length; e++) {
                E8M0_HALF[e] = Math.scalb(1f, e - 128);
                int x = e >> 3 & 15;
                int m = e & 7;
                float value = x == 0 ? Math.scalb(m, -10) : Math.scalb(1 + m / 8f, x - 8);
                UE4M3_HALF[e] = e == 0x7f || e == 0x80 ? 0 : value;
            }
        }
    }

    private static final int MOST_TRITS = 5;

    /// Checks that pieces fit together.
    public Numbers {
        runs = runs.stream().map(List::copyOf).toList();
        if (runs.isEmpty() || runs.stream().anyMatch(List::isEmpty)) {
            throw new IllegalArgumentException("numbers without a field");
        }
        for (List<BitField> run : runs) {
            int width = run.stream().mapToInt(BitField::width).sum();
            if (width > Integer.SIZE || type.width() != 0 && width != type.width()) {
                throw new IllegalArgumentException("numbers of " + width + " bits and of type " + type);
            }
            if (run.stream().mapToInt(BitField::count).distinct().count() != 1) {
                throw new IllegalArgumentException("fields of one run with different counts: " + run);
            }
            if (type == Type.TRITS && !countsTrits(run)) {
                throw new IllegalArgumentException("digits of base 3 need one field, whose last axis counts them with"
                        + " step 0, at most " + MOST_TRITS + ": " + run);
            }
        }
    }

    private static boolean countsTrits(List<BitField> run) {
        List<BitField.Axis> axes = run.getFirst().axes();
        return run.size() == 1
                && !axes.isEmpty()
                && axes.getLast().step() == 0
                && axes.getLast().count() <= MOST_TRITS;
    }

    /// {@return whole numbers without a sign}
    ///
    /// @param fields their pieces, the lowest bits first
    public static Numbers unsigned(BitField... fields) {
        return of(Type.UNSIGNED, fields);
    }

    /// {@return whole numbers in two's complement}
    ///
    /// @param fields their pieces, the lowest bits first
    public static Numbers signed(BitField... fields) {
        return of(Type.SIGNED, fields);
    }

    /// {@return numbers of a type}
    ///
    /// @param type how bits become a number
    /// @param fields their pieces, the lowest bits first
    public static Numbers of(Type type, BitField... fields) {
        return new Numbers(type, List.of(List.of(fields)));
    }

    /// {@return one number in half precision}
    ///
    /// @param at its first byte
    public static Numbers f16(int at) {
        return of(Type.F16, BitField.of(Short.SIZE).at(at));
    }

    /// {@return these numbers, and after them others of the same type}
    ///
    /// @param more the others
    public Numbers then(Numbers more) {
        if (more.type != type) {
            throw new IllegalArgumentException("numbers of type " + type + " and then of " + more.type);
        }
        List<List<BitField>> all = new ArrayList<>(runs);
        all.addAll(more.runs);
        return new Numbers(type, all);
    }

    /// {@return how many numbers there are}
    public int count() {
        return runs.stream().mapToInt(run -> run.getFirst().count()).sum();
    }

    /// {@return the most bits of a number}
    public int width() {
        return runs.stream()
                .mapToInt(run -> run.stream().mapToInt(BitField::width).sum())
                .max()
                .orElseThrow();
    }

    /// {@return the first bit behind all numbers}
    int end() {
        return runs.stream().flatMap(List::stream).mapToInt(BitField::end).max().orElseThrow();
    }

    /// Some bits of a number.
    ///
    /// @param bit the first of them in the block
    /// @param width how many
    /// @param to the lowest of them in the number; of [Type#TRITS] the digit
    public record Piece(int bit, int width, int to) {}

    /// {@return where the bits of a number are, the lowest first; of [Type#TRITS] its byte}
    ///
    /// @param number which one, from 0
    public List<Piece> pieces(int number) {
        int left = number;
        for (List<BitField> run : runs) {
            int count = run.getFirst().count();
            if (left < count) {
                return pieces(run, left);
            }
            left -= count;
        }
        throw new IndexOutOfBoundsException("number " + number + " of " + count());
    }

    private List<Piece> pieces(List<BitField> run, int number) {
        if (type == Type.TRITS) {
            BitField bytes = run.getFirst();
            int each = bytes.count() / bytes.axes().getLast().count();
            return List.of(new Piece(bytes.bit(number), Byte.SIZE, number / each));
        }
        List<Piece> pieces = new ArrayList<>(run.size());
        int to = 0;
        for (BitField field : run) {
            pieces.add(new Piece(field.bit(number), field.width(), to));
            to += field.width();
        }
        return pieces;
    }

    /// {@return the bits of a number, with its sign where it is [Type#SIGNED]; of [Type#TRITS] its byte}
    ///
    /// @param block holds the block
    /// @param at index of the block's first byte
    /// @param number which one, from 0
    public int get(byte[] block, int at, int number) {
        int bits = 0;
        int width = 0;
        for (Piece piece : pieces(number)) {
            for (int i = 0; i < piece.width; i++) {
                int bit = piece.bit + i;
                bits |= (block[at + bit / Byte.SIZE] >> bit % Byte.SIZE & 1) << width++;
            }
        }
        int sign = Integer.SIZE - width;
        return type == Type.SIGNED ? bits << sign >> sign : bits;
    }

    /// Writes the bits of a number into a block; what else is there stays.
    ///
    /// @param block holds the block
    /// @param at index of the block's first byte
    /// @param number which one, from 0
    /// @param bits the bits; those that it has no room for are left out
    /// @throws UnsupportedOperationException for [Type#TRITS], which are written together
    public void put(byte[] block, int at, int number, int bits) {
        if (type == Type.TRITS) {
            throw new UnsupportedOperationException("digits of base 3 are written together");
        }
        for (Piece piece : pieces(number)) {
            for (int i = 0; i < piece.width; i++) {
                int bit = piece.bit + i;
                int index = at + bit / Byte.SIZE;
                int mask = 1 << bit % Byte.SIZE;
                boolean set = (bits >>> piece.to + i & 1) != 0;
                block[index] = (byte) (set ? block[index] | mask : block[index] & ~mask);
            }
        }
    }
}
