package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.kernel.cpu.ForceInline;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import dev.tenon.backend.cpu.vector.kernel.Species;
import dev.tenon.backend.cpu.vector.kernel.Unpacking;
import java.lang.foreign.MemorySegment;
import java.util.List;
import jdk.incubator.vector.IntVector;

/// The first piece of sixteen numbers that has neighbouring bytes, the same bits of each, and maybe a second one.
final class StraightStep extends ByteStep {
    private final int[] from;
    private final int[] shifts;
    private final int mask;
    private final boolean twice;
    private final int[] secondFrom;
    private final int[] secondShifts;
    private final int secondMask;
    private final int secondTo;
    /// Whether two places together are a vector of 256 bits.
    private final boolean wide;

    /// Creates a step.
    ///
    /// @param widths bits of a piece of each load, of one or two
    StraightStep(List<Place> places, Finish finish, List<Integer> widths) {
        super(places, false, finish);
        twice = widths.size() > 1;
        from = places.stream().mapToInt(place -> place.from().getFirst()).toArray();
        shifts = places.stream().mapToInt(place -> place.shifts().getFirst()).toArray();
        mask = mask(widths.getFirst());
        secondFrom = places.stream().mapToInt(place -> place.from().getLast()).toArray();
        secondShifts =
                places.stream().mapToInt(place -> place.shifts().getLast()).toArray();
        secondMask = mask(widths.getLast());
        secondTo = widths.getFirst();
        wide = !Unpacking.TWICE && isPlain() && pairs();
    }

    private static int mask(int width) {
        return ((1 << width) - 1) * 0x01010101;
    }

    private boolean pairs() {
        for (int i = 1; i < to.length; i += 2) {
            if (to[i] != to[i - 1] + BYTES.length()
                    || from[i] != from[i - 1] + BYTES.length()
                    || secondFrom[i] != secondFrom[i - 1] + BYTES.length()
                    || shifts[i] != shifts[i - 1]
                    || secondShifts[i] != secondShifts[i - 1]) {
                return false;
            }
        }
        return to.length % 2 == 0;
    }

    @Override
    void run(RowSpans rows, int numbers, byte[] out, int first, int outApart) {
        MemorySegment base = Memory.base(rows.weights);
        int places = places(numbers);
        for (int r = 0; r < rows.rows; r++) {
            long p = rows.at(r);
            int o = first + r * outApart;
            if (wide && places % 2 == 0) {
                if (twice) {
                    wideTwice(base, p, places, out, o);
                } else {
                    wideOnce(base, p, places, out, o);
                }
            } else if (twice) {
                twice(base, p, places, out, o);
            } else {
                once(base, p, places, out, o);
            }
        }
    }

    private void once(MemorySegment base, long at, int places, byte[] out, int first) {
        for (int i = 0; i < places; i++) {
            IntVector v = Unpacking.right(load(base, at, from[i]), shifts[i]).and(mask);
            store(v.reinterpretAsBytes(), out, first + to[i]);
        }
    }

    private void twice(MemorySegment base, long at, int places, byte[] out, int first) {
        for (int i = 0; i < places; i++) {
            IntVector v = Unpacking.right(load(base, at, from[i]), shifts[i]).and(mask);
            IntVector u = Unpacking.right(load(base, at, secondFrom[i]), secondShifts[i])
                    .and(secondMask);
            store(v.or(Unpacking.left(u, secondTo)).reinterpretAsBytes(), out, first + to[i]);
        }
    }

    private void wideOnce(MemorySegment base, long at, int places, byte[] out, int first) {
        for (int i = 0; i < places; i += 2) {
            IntVector v = Unpacking.right(loadTwo(base, at, from[i]), shifts[i]).and(mask);
            v.reinterpretAsBytes().sub(zero()).intoArray(out, first + to[i]);
        }
    }

    private void wideTwice(MemorySegment base, long at, int places, byte[] out, int first) {
        for (int i = 0; i < places; i += 2) {
            IntVector v = Unpacking.right(loadTwo(base, at, from[i]), shifts[i]).and(mask);
            IntVector u = Unpacking.right(loadTwo(base, at, secondFrom[i]), secondShifts[i])
                    .and(secondMask);
            v.or(Unpacking.left(u, secondTo)).reinterpretAsBytes().sub(zero()).intoArray(out, first + to[i]);
        }
    }

    @ForceInline
    private static IntVector load(MemorySegment base, long at, int from) {
        return IntVector.fromMemorySegment(IntVector.SPECIES_128, base, at + from & Memory.ADDRESS, Species.LE);
    }

    @ForceInline
    private static IntVector loadTwo(MemorySegment base, long at, int from) {
        return IntVector.fromMemorySegment(IntVector.SPECIES_256, base, at + from & Memory.ADDRESS, Species.LE);
    }
}
