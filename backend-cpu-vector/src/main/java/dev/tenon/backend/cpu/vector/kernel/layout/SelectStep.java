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

/// Pieces that lie anywhere in sixteen bytes.
///
/// Of each pair of numbers, both get the two bytes that hold their pieces, in 16 bits; a multiplication shifts each
/// by as much as it needs, since no processor shifts 16 bits each by another number in few instructions.
final class SelectStep extends ByteStep {
    private static final int PAIRS = 8;

    private final int[] from;
    private final byte[] even;
    private final byte[] odd;
    private final short[] evenFactors;
    private final short[] oddFactors;
    private final byte[] masks;

    /// Creates a step.
    ///
    /// @param lanes the piece of each number, its bits counted from the load's first; of no bits if it has none
    SelectStep(List<Place> places, boolean adds, Finish finish, List<Piece> lanes) {
        super(places, adds, finish);
        from = places.stream().mapToInt(place -> place.from().getFirst()).toArray();
        even = new byte[2 * PAIRS];
        odd = new byte[2 * PAIRS];
        evenFactors = new short[PAIRS];
        oddFactors = new short[PAIRS];
        masks = new byte[2 * PAIRS];
        for (int i = 0; i < lanes.size(); i++) {
            Piece piece = lanes.get(i);
            if (piece.width() > 0) {
                byte[] indices = i % 2 == 0 ? even : odd;
                indices[i & -2] = (byte) (piece.bit() / Byte.SIZE);
                indices[i | 1] = (byte) ((piece.bit() + piece.width() - 1) / Byte.SIZE);
                (i % 2 == 0 ? evenFactors : oddFactors)[i / 2] =
                        (short) (1 << Byte.SIZE - piece.bit() % Byte.SIZE + piece.to());
                masks[i] = (byte) ((1 << piece.width()) - 1 << piece.to());
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
        ByteVector mask = ByteVector.fromArray(BYTES, masks, 0);
        int places = places(numbers);
        for (int r = 0; r < rows.rows; r++) {
            long p = rows.at(r);
            int o = first + r * outApart;
            for (int i = 0; i < places; i++) {
                ByteVector v = ByteVector.fromMemorySegment(BYTES, base, p + from[i] & Memory.ADDRESS, Species.LE);
                ShortVector low = e.selectFrom(v).reinterpretAsShorts().mul(ef).lanewise(VectorOperators.LSHR, 8);
                ShortVector high = u.selectFrom(v).reinterpretAsShorts().mul(of).and((short) 0xFF00);
                store(low.or(high).reinterpretAsBytes().and(mask), out, o + to[i]);
            }
        }
    }
}
