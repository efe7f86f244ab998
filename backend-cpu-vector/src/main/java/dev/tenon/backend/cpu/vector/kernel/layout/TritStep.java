package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.api.quant.layout.Numbers.Piece;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import dev.tenon.backend.cpu.vector.kernel.Species;
import java.lang.foreign.MemorySegment;
import java.util.List;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/// Digits of base 3 whose bytes lie anywhere in sixteen.
final class TritStep extends ByteStep {
    private static final int PAIRS = 8;
    private static final short[] POWERS = {1, 3, 9, 27, 81};
    private static final short LOW = 0xFF;

    private final int[] from;
    private final byte[] even;
    private final byte[] odd;
    private final short[] evenFactors;
    private final short[] oddFactors;

    /// Creates a step.
    ///
    /// @param lanes the byte of each number, its bits counted from the load's first, and which digit it is; of no
    /// bits if it has none
    TritStep(List<Place> places, boolean adds, Finish finish, List<Piece> lanes) {
        super(places, adds, finish);
        from = places.stream().mapToInt(place -> place.from().getFirst()).toArray();
        even = new byte[2 * PAIRS];
        odd = new byte[2 * PAIRS];
        evenFactors = new short[PAIRS];
        oddFactors = new short[PAIRS];
        for (int i = 0; i < lanes.size(); i++) {
            Piece piece = lanes.get(i);
            if (piece.width() > 0) {
                (i % 2 == 0 ? even : odd)[i & -2] = (byte) (piece.bit() / Byte.SIZE);
                (i % 2 == 0 ? evenFactors : oddFactors)[i / 2] = POWERS[piece.to()];
            }
        }
    }

    @Override
    void run(RowSpans rows, int numbers, byte[] out, int first, int outApart) {
        MemorySegment base = Memory.base(rows.weights);
        ByteVector e = ByteVector.fromArray(BYTES, even, 0);
        ByteVector u = ByteVector.fromArray(BYTES, odd, 0);
        ShortVector ef = ShortVector.fromArray(ShortVector.SPECIES_128, evenFactors, 0);
        ShortVector of = ShortVector.fromArray(ShortVector.SPECIES_128, oddFactors, 0);
        int places = places(numbers);
        for (int r = 0; r < rows.rows; r++) {
            long p = rows.at(r);
            int o = first + r * outApart;
            for (int i = 0; i < places; i++) {
                ByteVector v = ByteVector.fromMemorySegment(BYTES, base, p + from[i] & Memory.ADDRESS, Species.LE);
                ShortVector low = e.selectFrom(v).reinterpretAsShorts().mul(ef).and(LOW);
                ShortVector high = u.selectFrom(v).reinterpretAsShorts().mul(of).and(LOW);
                ShortVector digits = low.mul((short) 3)
                        .lanewise(VectorOperators.LSHR, Byte.SIZE)
                        .or(high.mul((short) 3).and((short) 0xFF00));
                store(digits.reinterpretAsBytes(), out, o + to[i]);
            }
        }
    }
}
