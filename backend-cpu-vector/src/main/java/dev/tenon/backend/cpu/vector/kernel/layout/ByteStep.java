package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.kernel.cpu.ForceInline;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import java.util.List;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/// Computes pieces of numbers that lie alike, sixteen at a time: a load or two, a few instructions and a store.
///
/// The first step of some numbers stores its pieces, the others add theirs; the last one makes levels of them.
abstract class ByteStep {
    /// Vectors of numbers: sixteen, at every width, so that the smallest blocks fill one.
    static final VectorSpecies<Byte> BYTES = ByteVector.SPECIES_128;

    /// Where numbers go, a vector of them each; ascending.
    final int[] to;

    private final boolean adds;
    private final Finish finish;

    /// What becomes of numbers that are complete.
    ///
    /// @param zero what is subtracted, after the bits of `flip` have been inverted
    /// @param flip bits to invert
    /// @param table sixteen levels that they stand for instead; empty for none
    record Finish(byte zero, byte flip, byte[] table) {
        /// Leaves them as they are.
        static final Finish NONE = new Finish((byte) 0, (byte) 0, new byte[0]);
    }

    /// Sixteen numbers.
    ///
    /// @param to index of the first number
    /// @param from first byte of each load, counted from the span's first
    /// @param shifts first bit of each load's pieces in their bytes
    record Place(int to, List<Integer> from, List<Integer> shifts) {}

    ByteStep(List<Place> places, boolean adds, Finish finish) {
        this.to = places.stream().mapToInt(Place::to).toArray();
        this.adds = adds;
        this.finish = finish;
    }

    /// Runs the step for some rows.
    ///
    /// @param rows the rows
    /// @param numbers numbers of each
    /// @param out receives them
    /// @param first index of the first row's first number
    /// @param outApart numbers to the next row's
    abstract void run(RowSpans rows, int numbers, byte[] out, int first, int outApart);

    /// {@return places within so many numbers}
    ///
    /// @param numbers the numbers of a row
    final int places(int numbers) {
        int places = to.length;
        while (places > 0 && to[places - 1] >= numbers) {
            places--;
        }
        return places;
    }

    /// Stores pieces.
    ///
    /// @param pieces the pieces
    /// @param out receives them
    /// @param at index of the first
    @ForceInline
    final void store(ByteVector pieces, byte[] out, int at) {
        ByteVector v = adds ? pieces.or(ByteVector.fromArray(BYTES, out, at)) : pieces;
        if (finish.table.length > 0) {
            v.selectFrom(ByteVector.fromArray(BYTES, finish.table, 0)).intoArray(out, at);
        } else if (finish.flip != 0) {
            v.lanewise(VectorOperators.XOR, finish.flip).sub(finish.zero).intoArray(out, at);
        } else {
            v.sub(finish.zero).intoArray(out, at);
        }
    }

    /// {@return whether nothing but [Finish#zero] is to be done before a store}
    final boolean isPlain() {
        return !adds && finish.table.length == 0 && finish.flip == 0;
    }

    /// {@return what is subtracted}
    final byte zero() {
        return finish.zero;
    }
}
