package dev.tenon.backend.cpu.vector.kernel;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import dev.tenon.api.kernel.cpu.CompileThresholdScaling;
import dev.tenon.api.kernel.cpu.ForceInline;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShuffle;

/// The order in which dot products of this backend are summed, except those of `PermutedLinear`.
///
/// Element `i` is multiplied and added (fused, one rounding) to strand `i % 32`, in ascending order; at
/// the end the 32 strands are added in a tree. The order depends on neither the vector width nor the
/// number of tokens or rows that are computed together, so that decode and prefill, and machines with
/// wide and narrow vectors, give the same bits.
@CompileThresholdScaling(0.03)
@ForceInline
public final class Strands {
    /// Number of strands.
    public static final int COUNT = 32;

    private static final VectorShuffle<Float> BY_8 = by(8);
    private static final VectorShuffle<Float> BY_4 = by(4);
    private static final VectorShuffle<Float> BY_2 = by(2);
    private static final VectorShuffle<Float> BY_1 = by(1);

    private Strands() {}

    private static VectorShuffle<Float> by(int distance) {
        return VectorShuffle.fromOp(F, i -> (i + distance) % LANES);
    }

    /// Adds up the strands.
    ///
    /// A shuffle tree instead of `reduceLanes`, whose order of summation is not specified.
    ///
    /// @param strands holds them
    /// @param at index of the first
    /// @return the sum
    public static float sum(float[] strands, int at) {
        if (LANES == 16) {
            return fold(load(strands, at, 0).add(load(strands, at, 1)));
        }
        if (LANES == 8) {
            FloatVector low = load(strands, at, 0).add(load(strands, at, 2));
            return fold(low.add(load(strands, at, 1).add(load(strands, at, 3))));
        }
        FloatVector a = load(strands, at, 0).add(load(strands, at, 4));
        FloatVector b = load(strands, at, 1).add(load(strands, at, 5));
        FloatVector c = load(strands, at, 2).add(load(strands, at, 6));
        FloatVector d = load(strands, at, 3).add(load(strands, at, 7));
        return fold(a.add(c).add(b.add(d)));
    }

    /// {@return the sum of the lanes, as a tree: the upper part is added to the lower one, then the same in what is
    /// left}
    ///
    /// @param v a vector of [Species#LANES] lanes
    public static float fold(FloatVector v) {
        FloatVector s = v;
        if (LANES == 16) {
            s = s.add(s.rearrange(BY_8));
        }
        if (LANES >= 8) {
            s = s.add(s.rearrange(BY_4));
        }
        s = s.add(s.rearrange(BY_2));
        return s.add(s.rearrange(BY_1)).lane(0);
    }

    private static FloatVector load(float[] strands, int at, int vector) {
        return FloatVector.fromArray(F, strands, at + vector * LANES);
    }
}
