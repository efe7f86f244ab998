package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.api.graph.StateOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.kernels.nvidia.Argument.Address;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.KvBuffer;
import dev.tenon.kernels.nvidia.launch.BufferList;
import dev.tenon.kernels.nvidia.launch.KernelCodes;
import dev.tenon.kernels.nvidia.launch.PlannedOp;
import dev.tenon.kernels.nvidia.launch.Slot;
import dev.tenon.kernels.nvidia.launch.StateLaunches;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Plans the ops with a state, with the memory of the states.
final class StateOps {
    static final List<OpRow<?>> ROWS = List.of(
            new OpRow<>(
                    StateOp.ShortConvolution.class,
                    OpSupport::float32,
                    (c, plan) -> plan.ops.add(plan.stateOps.convolution(c))),
            new OpRow<>(
                    StateOp.SelectiveScan.class,
                    (s, judge) -> support(s, s.stateLength(), judge),
                    (s, plan) -> plan.ops.add(plan.stateOps.plan(
                            s,
                            s.stateFloats(),
                            (in, vectors, state, out) ->
                                    to -> StateLaunches.scan(to, s, in[0], in[1], vectors, state, out)))),
            new OpRow<>(
                    StateOp.GatedDeltaRule.class,
                    (r, judge) -> support(r, r.keyLength(), judge),
                    (r, plan) -> plan.ops.add(plan.stateOps.plan(
                            r,
                            r.stateFloats(),
                            (in, vectors, state, out) -> to -> StateLaunches.rule(to, r, in, vectors, state, out)))),
            OpRow.fast(
                    RecurrentOp.TokenShift.class,
                    (s, plan) -> plan.ops.add(plan.stateOps.plan(
                            s,
                            s.stateFloats(),
                            (in, vectors, state, out) ->
                                    to -> StateLaunches.shift(to, s, in[0], vectors[0], state, out)))),
            new OpRow<>(
                    RecurrentOp.ReplacementRule.class,
                    (r, judge) -> support(r, r.headLength(), judge),
                    (r, plan) -> plan.ops.add(plan.stateOps.plan(
                            r,
                            r.stateFloats(),
                            (in, _, state, out) -> to -> StateLaunches.replacement(to, r, in, state, out)))),
            OpRow.none(RecurrentOp.RunMean.class));

    private static final int NO_ACTIVATION = -1;

    private final ValuePool<Slot> pool;
    private final WeightList weights;
    private final BufferList buffers;
    private final Readers readers;
    private final int slots;
    private final List<KvBuffer> states = new ArrayList<>();
    /// Results of convolutions that are activated already, by id.
    private final Set<Integer> activated = new HashSet<>();

    /// @param pool memory of values
    /// @param weights memory of weights
    /// @param buffers all memory
    /// @param readers what reads a value
    /// @param slots slots of the plan
    StateOps(ValuePool<Slot> pool, WeightList weights, BufferList buffers, Readers readers, int slots) {
        this.pool = pool;
        this.weights = weights;
        this.buffers = buffers;
        this.readers = readers;
        this.slots = slots;
    }

    /// {@return the memory of the states planned so far}
    List<KvBuffer> states() {
        return states;
    }

    /// {@return whether the convolution before it has done an op: its result is that of the convolution}
    ///
    /// @param a any activation
    boolean isDone(CoreOp.Activate a) {
        return activated.contains(a.x().id());
    }

    private static Support support(Op op, int length, OpSupport judge) {
        return length > StateLaunches.LONGEST
                ? OpSupport.notYet("op " + op.kind() + " with more than " + StateLaunches.LONGEST
                        + " numbers in a row of its state")
                : OpSupport.float32(op, judge);
    }

    /// Makes the launches of an op with its memory.
    private interface Launches {
        PlannedOp.Emitter of(Slot[] in, Address[] vectors, KvBuffer state, Slot out);
    }

    private PlannedOp convolution(StateOp.ShortConvolution c) {
        return plan(c, c.stateFloats(), (in, vectors, state, out) -> {
            int activation = activation(c.out());
            return to -> StateLaunches.convolution(to, c, in[0], vectors, state, activation, out);
        });
    }

    private PlannedOp plan(Op op, long stateFloats, Launches launches) {
        long bytes = stateFloats * Float.BYTES;
        Value result = op.outputs().getFirst();
        String purpose = "states of " + result.name();
        KvBuffer state = new KvBuffer(
                buffers.add(BufferSpec.Kind.STATE, purpose, Math.multiplyExact(bytes, (long) slots)), bytes);
        states.add(state);
        Slot[] in = op.inputs().stream().map(pool::get).toArray(Slot[]::new);
        Address[] vectors = op.weights().stream().map(this::floats).toArray(Address[]::new);
        Slot out = pool.define(result, false);
        PlannedOp.Emitter emitter = launches.of(in, vectors, state, out);
        long weightBytes =
                op.weights().stream().mapToLong(w -> 4L * w.elements()).sum();
        String name =
                op.weights().isEmpty() ? result.name() : op.weights().getFirst().name();
        return new PlannedOp(op.kind(), name, op.kind(), Support.Level.FAST, false, weightBytes + 2 * bytes, emitter);
    }

    private Address floats(Weight weight) {
        return weights.floats(weight).at(0);
    }

    /// The activation that alone reads a result, which the kernel then does.
    private int activation(Value result) {
        return readers.only(result)
                .flatMap(op -> op instanceof CoreOp.Activate a ? Optional.of(a) : Optional.empty())
                .map(a -> {
                    activated.add(result.id());
                    return KernelCodes.of(a.activation());
                })
                .orElse(NO_ACTIVATION);
    }
}
