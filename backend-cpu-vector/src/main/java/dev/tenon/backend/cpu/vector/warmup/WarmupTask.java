package dev.tenon.backend.cpu.vector.warmup;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.api.kernel.cpu.AttentionRows;
import dev.tenon.api.kernel.cpu.ElementKernel;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.backend.cpu.vector.kernel.attention.AttentionMath;
import dev.tenon.backend.cpu.vector.kernel.attention.SoftmaxRows;
import dev.tenon.backend.cpu.vector.kernel.linear.Scratch;
import dev.tenon.backend.cpu.vector.kernel.permuted.PermutedLinear;
import dev.tenon.backend.cpu.vector.kernel.states.StateMath;
import dev.tenon.backend.cpu.vector.kernel.states.StateWork;
import dev.tenon.backend.cpu.vector.kv.CpuKv;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.PackedActivations;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/// A kernel to warm up, with memory of its own; a call takes a few milliseconds at most, compiled or not.
///
/// @param vector runs the form that has to be compiled
/// @param plain runs the form to compare with, the same work in plain Java; null where there is none
/// @param generatesCode whether the first call makes code that lasts, rather than leaving that to
/// the JIT compiler
public record WarmupTask(Runnable vector, Runnable plain, boolean generatesCode) {
    /// {@return the task of arithmetic in two forms}
    ///
    /// @param <K> the arithmetic
    private static <K> WarmupTask of(K vector, K plain, Consumer<K> call) {
        return new WarmupTask(() -> call.accept(vector), () -> call.accept(plain), false);
    }

    /// What the code of attention depends on.
    ///
    /// @param group query heads that share a key head
    /// @param length elements of a key
    /// @param stride elements of a value, aligned
    /// @param keyLevels whether keys are kept in 8 bits
    /// @param valueLevels whether values are
    record AttentionShape(int group, int length, int stride, boolean keyLevels, boolean valueLevels) {
        List<WarmupTask> tasks(WarmAttention forms) {
            int tile = AttentionMath.TILE;
            List<WarmupTask> tasks = new ArrayList<>();
            // Both row counts that kernels distinguish: groups of four, and what is left.
            Set<Integer> counts = new HashSet<>();
            counts.add(group >= 4 ? 4 : 1);
            if (group % 4 != 0) {
                counts.add(1);
            }
            for (int rows : counts) {
                float[] q = values(rows * length);
                float[] keys = values(tile * length);
                float[] tileValues = values(tile * stride);
                float[] scores = new float[rows * tile + AttentionMath.SPARE];
                SoftmaxRows weights =
                        new SoftmaxRows(values(rows * tile), scores, scores, values(rows), new float[rows * stride]);
                tasks.add(pair(forms, m -> m.scores(q, 0, rows, length, keys, scores)));
                tasks.add(pair(forms, m -> m.mix(weights, 0, rows, stride, tileValues, 0, tile)));
            }
            SoftmaxRows row = new SoftmaxRows(
                    values(tile + AttentionMath.SPARE), new float[1], new float[1], new float[1], new float[0]);
            int[] calls = new int[1];
            tasks.add(pair(forms, m -> {
                for (int i = 0; i < 8; i++) {
                    row.max()[0] = calls[0] % 3 == 0 ? Float.NEGATIVE_INFINITY : 0;
                    m.weigh(row, 0, calls[0] % 2 == 0 ? 0 : 3, calls[0] % 5 == 0 ? 40 : tile);
                    calls[0]++;
                }
            }));
            byte[] levels = new byte[tile * Math.max(length, stride) + AttentionMath.LEVEL_SPARE];
            float[] scales = values(levels.length / CpuKv.BLOCK);
            if (keyLevels) {
                float[] keys = new float[tile * length];
                tasks.add(pair(forms, m -> m.keyLevels(levels, scales, length, keys)));
            }
            if (valueLevels) {
                int whole = stride / CpuKv.BLOCK * CpuKv.BLOCK;
                float[] target = new float[tile * stride];
                tasks.add(pair(forms, m -> m.valueLevels(levels, scales, whole, stride, 0, tile, target)));
            }
            return tasks;
        }

        private static WarmupTask pair(WarmAttention forms, Consumer<AttentionMath> call) {
            return of(forms.vector(), forms.plain(), call);
        }
    }

    /// {@return tasks for norms and activations}
    ///
    /// @param forms the two forms
    static List<WarmupTask> elements(WarmElementMath forms) {
        int n = 256;
        float[] x = values(n);
        float[] up = values(n);
        float[] out = new float[n];
        float[] sum = new float[1];
        List<WarmupTask> tasks = new ArrayList<>();
        for (Activation activation : List.of(Activation.SILU, Activation.GELU_TANH)) {
            tasks.add(of(forms.vector(), forms.plain(), m -> {
                System.arraycopy(x, 0, out, 0, n);
                m.gate(activation, out, up, 0, n);
            }));
        }
        tasks.add(of(forms.vector(), forms.plain(), m -> sum[0] += m.squares(x, 0, n)));
        tasks.add(of(forms.vector(), forms.plain(), m -> m.addScaled(out, 0, x, 0, n, 0.5f)));
        return tasks;
    }

    /// {@return tasks for ops with a state: a token with the state of a usual head}
    ///
    /// @param forms the two forms
    static List<WarmupTask> states(WarmStateMath forms) {
        StateWork work = new StateWork();
        work.rows = 128;
        work.columns = StateMath.COLUMNS;
        work.state = values(work.rows * work.columns);
        work.in = values(2 * work.rows + work.columns);
        work.column = 2 * work.rows;
        work.query = work.rows;
        work.out = new float[work.columns];
        work.decay = 0.9f;
        work.strength = 0.1f;
        work.keyFactor = 0.1f;
        work.queryFactor = 0.1f;
        StateMath vector = forms.vectors().get();
        return List.of(of(vector, forms.plain(), m -> m.scan(work)), of(vector, forms.plain(), m -> m.correct(work)));
    }

    /// {@return the task of a kernel of another bundle that computes norms and activations}
    ///
    /// @param kernel the kernel
    public static WarmupTask elements(ElementKernel kernel) {
        MemorySegment x = MemorySegment.ofArray(values(64));
        MemorySegment out = MemorySegment.ofArray(new float[64]);
        return new WarmupTask(() -> kernel.norm(1, x, 0, x, 1, out, 0), null, true);
    }

    /// {@return tasks for kernels of other bundles that compute attention}
    ///
    /// @param kernels the kernel of each layer that has one
    /// @param scratch sizes of scratch memory that suffice for each of them
    /// @param arena gives off-heap memory
    public static List<WarmupTask> attention(
            Map<CoreOp.Attention, AttentionKernel> kernels, Scratch scratch, Arena arena) {
        List<WarmupTask> tasks = new ArrayList<>();
        Set<List<Object>> known = new HashSet<>();
        kernels.forEach((op, kernel) -> {
            if (known.add(List.of(kernel, op.keyLength(), op.valueLength()))) {
                tasks.add(attention(op, kernel, scratch, arena));
            }
        });
        return tasks;
    }

    private static WarmupTask attention(CoreOp.Attention op, AttentionKernel kernel, Scratch sizes, Arena arena) {
        int length = Math.max(op.keyLength(), op.valueLength());
        MemorySegment head = arena.allocate((long) AttentionKernel.TOKENS * length * Float.BYTES, 64);
        MemorySegment scratch = arena.allocate(sizes.call().scratch.byteSize(), 64);
        AttentionRows row = new AttentionRows(
                values(op.keyLength()), new float[1], new float[1], new float[op.valueLength()], new int[] {
                    0, 1, 0, AttentionKernel.TOKENS
                });
        return new WarmupTask(
                () -> kernel.attend(head, 0, 0, op.keyLength(), op.valueLength(), row, scratch), null, true);
    }

    /// {@return tasks for the linear kernels of a plan: the first rows of the first matrix of each kind}
    ///
    /// @param linears all matrices
    /// @param scratch sizes of scratch memory that suffice for each of them
    /// @param arena gives off-heap memory
    public static List<WarmupTask> linears(List<BoundLinear> linears, Scratch scratch, Arena arena) {
        List<WarmupTask> tasks = new ArrayList<>();
        Set<String> known = new HashSet<>();
        for (BoundLinear linear : linears) {
            if (known.add(linear.kernelName())) {
                for (int tokens : new int[] {1, 12}) {
                    tasks.add(linear(linear, tokens, scratch, arena));
                }
            }
        }
        return tasks;
    }

    private static WarmupTask linear(BoundLinear linear, int tokens, Scratch sizes, Arena arena) {
        int rows = Math.min(16, linear.rows());
        float[] x = values(tokens * linear.cols());
        float[] out = new float[tokens * rows];
        // The plan's own scratch memory suffices for its tokens, which may be fewer than these.
        long packedScratch =
                linear.packed() == null ? 0 : linear.packed().kernel.scratchBytes(linear.cols(), tokens);
        Scratch scratch = new Scratch(
                new float[sizes.floats().length],
                new byte[sizes.levels().length],
                arena.allocate(Math.max(sizes.call().scratch.byteSize(), packedScratch), 64));
        LinearCall call = scratch.call()
                .of(linear.data(), linear.rowBytes(), linear.cols())
                .rows(0, rows)
                .to(new HostFloats(out), 0, rows);
        Runnable run;
        if (linear.packed() == null) {
            call.times(null, tokens);
            run = () -> linear.kernel().run(call, x, scratch);
        } else {
            PackedActivations packed = new PackedActivations(linear.packed().kernel, linear.cols());
            packed.use(arena.allocate(packed.bytes(tokens), 64));
            Activations input = new Activations(linear.cols(), false);
            input.use(x);
            call.times(packed.memory(), tokens);
            run = () -> {
                for (int t = 0; t < tokens; t++) {
                    packed.pack(input, t);
                }
                packed.kernel.run(call);
            };
        }
        // This backend's own packed kernels are compiled by the JIT compiler, as the others are. It asks for the class
        // because the alternative is a method of the api's LinearKernel, for every author to answer, or a flag through
        // all that hands kernels on, and both only for this line.
        boolean generates = linear.packed() != null && !(linear.packed().kernel instanceof PermutedLinear);
        return new WarmupTask(run, null, generates);
    }

    private static float[] values(int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (i % 7 - 3) * 0.25f;
        }
        return values;
    }
}
