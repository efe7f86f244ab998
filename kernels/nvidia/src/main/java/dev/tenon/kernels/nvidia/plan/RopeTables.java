package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Turn;
import dev.tenon.api.graph.RopeParams.Yarn;
import dev.tenon.api.graph.Weight;
import dev.tenon.kernels.nvidia.step.GivenInput;
import java.util.List;
import java.util.Optional;

/// The frequencies of rotations.
final class RopeTables {
    private RopeTables() {}

    /// What two rotations share if their tables are the same.
    record Key(
            int ropeDim,
            float freqBase,
            float freqScale,
            Optional<Weight> freqFactors,
            Optional<Yarn> yarn,
            List<Turn> turns,
            float attentionFactor) {}

    static Key key(RopeParams p) {
        return new Key(
                p.ropeDim(), p.freqBase(), p.freqScale(), p.freqFactors(), p.yarn(), p.turns(), p.attentionFactor());
    }

    /// {@return the angle of each pair at position 1}
    ///
    /// @param p the rotation
    /// @param factors divisors, one a pair, or null
    static double[] frequencies(RopeParams p, float[] factors) {
        double[] frequencies = new double[p.ropeDim() / 2];
        for (int i = 0; i < frequencies.length; i++) {
            frequencies[i] = factors == null ? p.frequency(i) : p.frequency(i) / factors[i];
        }
        return frequencies;
    }

    /// {@return the angle of each pair at position 1 of a text: 0 for those that turn along an axis on which it has
    /// none}
    ///
    /// @param p the rotation
    /// @param frequencies the angles at 1 on the axis of the pair
    static double[] ofText(RopeParams p, double[] frequencies) {
        double[] text = frequencies.clone();
        for (int i = 0; i < p.turns().size(); i++) {
            text[i] = p.turns().get(i).axis() < GivenInput.TEXT_AXES ? text[i] : 0;
        }
        return text;
    }

    /// {@return the axis of each pair}
    ///
    /// @param p a rotation along axes
    static float[] axes(RopeParams p) {
        float[] axes = new float[p.turns().size()];
        for (int i = 0; i < axes.length; i++) {
            axes[i] = p.turns().get(i).axis();
        }
        return axes;
    }
}
