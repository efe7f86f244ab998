package dev.tenon.kernels.nvidia.launch;

import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.api.graph.StateOp;
import dev.tenon.kernels.nvidia.Argument.Address;
import dev.tenon.kernels.nvidia.Blocks;
import dev.tenon.kernels.nvidia.KvBuffer;
import dev.tenon.kernels.nvidia.source.KernelModule;

/// Writes down the launches of ops with a state: one each, for steps of any number of rows.
public final class StateLaunches {
    /// Most numbers in a row of a state, which a few lanes hold in registers.
    public static final int LONGEST = 256;

    /// Fewest that a kernel is compiled for.
    private static final int SHORTEST = 32;

    static final int BLOCK = 256;
    /// Lanes that hold a row of a state.
    static final int LANES = 8;

    private static final int CHANNELS = 128;
    private static final KernelModule STATES = KernelModule.of("states.cu");
    private static final KernelModule KEY_STATES = KernelModule.of("key_states.cu");

    private StateLaunches() {}

    /// A convolution, activated as kernels number it, or not if that is below 0; the vectors are the
    /// weight and the bias, if it has one.
    public static void convolution(
            Emission e,
            StateOp.ShortConvolution op,
            Slot x,
            Address[] vectors,
            KvBuffer states,
            int activation,
            Slot out) {
        e.launch(
                STATES,
                "short_convolution",
                new Blocks(e.rows(x), (x.width + CHANNELS - 1) / CHANNELS, 1, CHANNELS, 0),
                e.at(x),
                vectors[0],
                vectors.length > 1 ? vectors[1] : Address.NULL,
                states.buffer().at(0),
                e.stepAt(e.layout.runOfRow()),
                e.stepAt(e.layout.runs()),
                e.stepAt(e.layout.positions()),
                e.out(out),
                x.width,
                op.taps(),
                activation);
    }

    /// A selective scan; the vectors are `a`, `d` and the bias.
    public static void scan(
            Emission e, StateOp.SelectiveScan op, Slot xbc, Slot step, Address[] vectors, KvBuffer states, Slot out) {
        e.launch(
                STATES,
                "selective_scan_" + compiled(op.stateLength()),
                new Blocks(blocks(op.headLength()), op.heads(), e.layout.runCount(), BLOCK, 0),
                e.at(xbc),
                e.at(step),
                vectors[0],
                vectors[1],
                vectors[2],
                states.buffer().at(0),
                e.stepAt(e.layout.runs()),
                e.stepAt(e.layout.positions()),
                e.out(out),
                op.groups(),
                op.headLength(),
                op.stateLength());
    }

    /// A delta rule; the inputs are queries, keys and values, decays, and strengths, the vectors `a` and the bias.
    public static void rule(
            Emission e, StateOp.GatedDeltaRule op, Slot[] inputs, Address[] vectors, KvBuffer states, Slot out) {
        boolean ofKeys = op.decays() > 1;
        e.launch(
                ofKeys ? KEY_STATES : STATES,
                (ofKeys ? "delta_rule_of_keys_" : "gated_delta_rule_") + compiled(op.keyLength()),
                new Blocks(blocks(op.valueLength()), op.valueHeads(), e.layout.runCount(), BLOCK, 0),
                e.at(inputs[0]),
                e.at(inputs[1]),
                e.at(inputs[2]),
                vectors[0],
                vectors[1],
                states.buffer().at(0),
                e.stepAt(e.layout.runs()),
                e.stepAt(e.layout.positions()),
                e.out(out),
                op.keyHeads(),
                op.sharing() == StateOp.KeyHeads.CYCLIC ? 1 : 0,
                op.eps(),
                op.valueLength(),
                op.keyLength());
    }

    /// A mixture of each row with the one before it.
    public static void shift(Emission e, RecurrentOp.TokenShift op, Slot x, Address weight, KvBuffer states, Slot out) {
        e.launch(
                KEY_STATES,
                "token_shift",
                new Blocks(e.rows(x), (x.width + CHANNELS - 1) / CHANNELS, 1, CHANNELS, 0),
                e.at(x),
                weight,
                states.buffer().at(0),
                e.stepAt(e.layout.runOfRow()),
                e.stepAt(e.layout.runs()),
                e.stepAt(e.layout.positions()),
                e.out(out),
                x.width,
                op.ways());
    }

    /// A replacement rule; the inputs are receptances, keys and values, decays, and what is removed and added.
    public static void replacement(
            Emission e, RecurrentOp.ReplacementRule op, Slot[] inputs, KvBuffer states, Slot out) {
        e.launch(
                KEY_STATES,
                "replacement_rule_" + compiled(op.headLength()),
                new Blocks(blocks(op.headLength()), op.heads(), e.layout.runCount(), BLOCK, 0),
                e.at(inputs[0]),
                e.at(inputs[1]),
                e.at(inputs[2]),
                e.at(inputs[3]),
                states.buffer().at(0),
                e.stepAt(e.layout.runs()),
                e.stepAt(e.layout.positions()),
                e.out(out),
                op.headLength());
    }

    /// Blocks that share the rows of a state.
    private static int blocks(int rows) {
        int each = BLOCK / LANES;
        return (rows + each - 1) / each;
    }

    /// The shortest row of a kernel that is long enough.
    private static int compiled(int length) {
        return Math.max(SHORTEST, Integer.highestOneBit(2 * length - 1));
    }
}
