package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.kernel.cpu.Memory;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/// Digits of base 3 whose bytes lie anywhere in sixteen.
final class TritStep extends ByteStep {
    private static final int PAIRS = 8;
    private static final short[] POWERS = {1, 3, 9, 27, 81};
    private static final short LOW = 0xFF;

    private final byte[] even;
    private final byte[] odd;
    private final short[] evenFactors;
    private final short[] oddFactors;

    /// Creates a step.
    ///
    /// @param bits first bit of each number's byte, counted from the load's first; -1 for none
    /// @param digits which of its digits the number is
    TritStep(Place[] places, boolean adds, Finish finish, int[] bits, int[] digits) {
        super(places, adds, finish);
        even = new byte[2 * PAIRS];
        odd = new byte[2 * PAIRS];
        evenFactors = new short[PAIRS];
        oddFactors = new short[PAIRS];
        for (int i = 0; i < bits.length; i++) {
            if (bits[i] >= 0) {
                (i % 2 == 0 ? even : odd)[i & -2] = (byte) (bits[i] / Byte.SIZE);
                (i % 2 == 0 ? evenFactors : oddFactors)[i / 2] = POWERS[digits[i]];
            }
        }
    }

    @Override
    void run(MemorySegment w, long at, long apart, int rows, int numbers, byte[] out, int first, int outApart) {
        MemorySegment base = Memory.base(w);
        ByteVector e = ByteVector.fromArray(BYTES, even, 0);
        ByteVector o = ByteVector.fromArray(BYTES, odd, 0);
        ShortVector ef = ShortVector.fromArray(ShortVector.SPECIES_128, evenFactors, 0);
        ShortVector of = ShortVector.fromArray(ShortVector.SPECIES_128, oddFactors, 0);
        int places = places(numbers);
        for (int r = 0; r < rows; r++) {
            long p = at + r * apart;
            int to = first + r * outApart;
            for (int i = 0; i < places; i++) {
                ByteVector v = load(base, p, i);
                ShortVector low = e.selectFrom(v).reinterpretAsShorts().mul(ef).and(LOW);
                ShortVector high = o.selectFrom(v).reinterpretAsShorts().mul(of).and(LOW);
                ShortVector digits = low.mul((short) 3)
                        .lanewise(VectorOperators.LSHR, Byte.SIZE)
                        .or(high.mul((short) 3).and((short) 0xFF00));
                store(digits.reinterpretAsBytes(), out, to, i);
            }
        }
    }
}
