package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.kernel.cpu.Memory;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/// Pieces that lie anywhere in sixteen bytes.
///
/// Of each pair of numbers, both get the two bytes that hold their pieces, in 16 bits; a multiplication shifts each
/// by as much as it needs, since no processor shifts 16 bits each by another number in few instructions.
final class SelectStep extends ByteStep {
    private static final int PAIRS = 8;

    private final byte[] even;
    private final byte[] odd;
    private final short[] evenFactors;
    private final short[] oddFactors;
    private final byte[] masks;

    /// Creates a step.
    ///
    /// @param bits first bit of each piece, counted from the load's first; -1 for none
    /// @param widths bits of each
    /// @param to lowest of them in the number
    SelectStep(Place[] places, boolean adds, Finish finish, int[] bits, int[] widths, int[] to) {
        super(places, adds, finish);
        even = new byte[2 * PAIRS];
        odd = new byte[2 * PAIRS];
        evenFactors = new short[PAIRS];
        oddFactors = new short[PAIRS];
        masks = new byte[2 * PAIRS];
        for (int i = 0; i < bits.length; i++) {
            if (bits[i] >= 0) {
                byte[] indices = i % 2 == 0 ? even : odd;
                int low = bits[i] / Byte.SIZE;
                indices[i & -2] = (byte) low;
                indices[i | 1] = (byte) ((bits[i] + widths[i] - 1) / Byte.SIZE);
                (i % 2 == 0 ? evenFactors : oddFactors)[i / 2] = (short) (1 << Byte.SIZE - bits[i] % Byte.SIZE + to[i]);
                masks[i] = (byte) ((1 << widths[i]) - 1 << to[i]);
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
        ByteVector mask = ByteVector.fromArray(BYTES, masks, 0);
        int places = places(numbers);
        for (int r = 0; r < rows; r++) {
            long p = at + r * apart;
            int to = first + r * outApart;
            for (int i = 0; i < places; i++) {
                ByteVector v = load(base, p, i);
                ShortVector low = e.selectFrom(v).reinterpretAsShorts().mul(ef).lanewise(VectorOperators.LSHR, 8);
                ShortVector high = o.selectFrom(v).reinterpretAsShorts().mul(of).and((short) 0xFF00);
                store(low.or(high).reinterpretAsBytes().and(mask), out, to, i);
            }
        }
    }
}
