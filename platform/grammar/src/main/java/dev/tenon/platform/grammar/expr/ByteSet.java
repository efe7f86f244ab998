package dev.tenon.platform.grammar.expr;

/// A set of bytes. Immutable.
///
/// @param a bytes 0 to 63, a bit each
/// @param b bytes 64 to 127
/// @param c bytes 128 to 191
/// @param d bytes 192 to 255
record ByteSet(long a, long b, long c, long d) {
    /// {@return the bytes of a range, both ends included}
    static ByteSet range(int from, int to) {
        return new ByteSet(word(from, to, 0), word(from, to, 64), word(from, to, 128), word(from, to, 192));
    }

    private static long word(int from, int to, int base) {
        int low = Math.max(from - base, 0);
        int high = Math.min(to - base, 63);
        return low > high ? 0 : -1L >>> 63 - high & -1L << low;
    }

    boolean contains(int value) {
        long word = switch (value >> 6) {
            case 0 -> a;
            case 1 -> b;
            case 2 -> c;
            default -> d;
        };
        return (word >>> (value & 63) & 1) != 0;
    }

    /// {@return the first byte of the set from a value on; 256 if there is none}
    int next(int from) {
        for (int value = from; value < 256; value = (value | 63) + 1) {
            long word = switch (value >> 6) {
                case 0 -> a;
                case 1 -> b;
                case 2 -> c;
                default -> d;
            };
            long rest = word >>> (value & 63);
            if (rest != 0) {
                return value + Long.numberOfTrailingZeros(rest);
            }
        }
        return 256;
    }

    ByteSet or(ByteSet other) {
        return new ByteSet(a | other.a, b | other.b, c | other.c, d | other.d);
    }

    ByteSet and(ByteSet other) {
        return new ByteSet(a & other.a, b & other.b, c & other.c, d & other.d);
    }

    boolean isEmpty() {
        return (a | b | c | d) == 0;
    }
}
