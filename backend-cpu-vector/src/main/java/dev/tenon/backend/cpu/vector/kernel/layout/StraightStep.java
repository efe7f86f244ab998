package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.kernel.cpu.ForceInline;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.Unpacking;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.IntVector;

/// Pieces that lie in neighbouring bytes, at the same bits of each.
final class StraightStep extends ByteStep {
    private final int shift;
    private final int mask;

    /// Creates a step.
    ///
    /// @param shift how far pieces are shifted to the right; less than 0: to the left
    /// @param mask their bits of a byte, after that
    StraightStep(Place[] places, boolean adds, Finish finish, int shift, int mask) {
        super(places, adds, finish);
        this.shift = shift;
        this.mask = mask * 0x01010101;
    }

    @Override
    void run(MemorySegment w, long at, long apart, int rows, int numbers, byte[] out, int first, int outApart) {
        MemorySegment base = Memory.base(w);
        int places = places(numbers);
        for (int r = 0; r < rows; r++) {
            long p = at + r * apart;
            int to = first + r * outApart;
            if (shift < 0) {
                for (int i = 0; i < places; i++) {
                    IntVector v = load(base, p, i).reinterpretAsInts();
                    store(bytes(Unpacking.left(v, -shift)), out, to, i);
                }
            } else {
                for (int i = 0; i < places; i++) {
                    IntVector v = load(base, p, i).reinterpretAsInts();
                    store(bytes(Unpacking.right(v, shift)), out, to, i);
                }
            }
        }
    }

    @ForceInline
    private ByteVector bytes(IntVector v) {
        return v.and(mask).reinterpretAsBytes();
    }
}
