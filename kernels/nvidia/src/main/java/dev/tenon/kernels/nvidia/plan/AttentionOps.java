package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RunAttention;
import dev.tenon.api.graph.ScoreBias;
import dev.tenon.api.graph.SelectPositions;
import dev.tenon.api.graph.SelectedAttention;
import dev.tenon.api.graph.WindowLayers;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.Blocks;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.KvBuffer;
import dev.tenon.kernels.nvidia.launch.AttentionLaunches;
import dev.tenon.kernels.nvidia.launch.BufferList;
import dev.tenon.kernels.nvidia.launch.CacheTypes;
import dev.tenon.kernels.nvidia.launch.Emission;
import dev.tenon.kernels.nvidia.launch.KernelCodes;
import dev.tenon.kernels.nvidia.launch.PlannedOp;
import dev.tenon.kernels.nvidia.launch.Slot;
import dev.tenon.kernels.nvidia.step.Buckets;
import dev.tenon.kernels.nvidia.step.GivenInput;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Plans attention and the rotations before it, with the memory of the cache.
final class AttentionOps {
    static final List<OpRow<?>> ROWS = List.of(
            new OpRow<>(
                    CoreOp.Rope.class,
                    (r, _) -> r.params().run() > 1
                            ? OpSupport.notYet("op rope of runs")
                            : new Support(Support.Level.FAST, "kernel rope"),
                    (r, plan) -> plan.attention.rope(r)),
            new OpRow<>(
                    CoreOp.Attention.class,
                    (a, _) -> support(a),
                    (a, plan) -> plan.attention.attention(a, plan.tiled(a), plan.takenAsF16(a.out()))),
            OpRow.none(SelectedAttention.class),
            OpRow.none(SelectPositions.class),
            OpRow.none(RunAttention.class));

    private final PlanOptions options;
    private final DeviceTraits traits;
    private final BufferList buffers;
    private final WeightList weights;
    private final ValuePool<Slot> pool;
    private final List<PlannedOp> ops;
    private final int pageCount;
    /// Layers that have pages of their own, and how many of these there are.
    private final WindowLayers windows;

    private final int windowPageCount;
    private final BufferSpec pages;
    private final List<KvBuffer> cache = new ArrayList<>();
    private final List<KvBuffer> windowCache = new ArrayList<>();
    /// Keys and values of each layer that an op appends to.
    private final Map<Integer, Layer> layers = new HashMap<>();
    /// What attention does with raw projections, by the id of its query value.
    private final Map<Integer, AttentionLaunches.Heads> heads = new HashMap<>();
    /// How attention scales queries by their position, by the id of its query value.
    private final Map<Integer, PositionScale> scales = new HashMap<>();

    private final Map<RopeTables.Key, BufferSpec> ropes = new HashMap<>();
    /// By bias and whether the mask is causal.
    private final Map<List<Object>, AttentionLaunches.Bias> biases = new HashMap<>();

    private int deepFrom = Integer.MAX_VALUE;

    /// The memory of a layer of the cache.
    private record Layer(KvBuffer keys, KvBuffer values) {}

    /// @param options limits of the plan
    /// @param windows layers with a window
    /// @param traits the device
    /// @param buffers all memory
    /// @param weights memory of weights
    /// @param pool memory of values
    /// @param ops the ops planned so far; more are added
    AttentionOps(
            PlanOptions options,
            WindowLayers windows,
            DeviceTraits traits,
            BufferList buffers,
            WeightList weights,
            ValuePool<Slot> pool,
            List<PlannedOp> ops) {
        this.options = options;
        this.traits = traits;
        this.buffers = buffers;
        this.weights = weights;
        this.pool = pool;
        this.ops = ops;
        this.pageCount = Math.toIntExact((options.kvTokens() + (long) KvBuffer.TOKENS - 1) / KvBuffer.TOKENS);
        this.windows = windows;
        this.windowPageCount = windows.layers().isEmpty() ? 0 : options.windowPages(KvBuffer.TOKENS);
        this.pages = buffers.add(BufferSpec.Kind.PAGES, "page tables", (windowPageCount > 0 ? 2 : 1) * tableBytes());
    }

    private static Support support(CoreOp.Attention a) {
        int longest = Math.max(a.keyLength(), a.valueLength());
        return longest > AttentionLaunches.LONGEST_HEAD
                ? new Support(
                        Support.Level.NONE,
                        "attention with heads of " + longest + " elements; the kernels take at most "
                                + AttentionLaunches.LONGEST_HEAD)
                : new Support(Support.Level.FAST, "kernel attention");
    }

    private long tableBytes() {
        return Math.multiplyExact(4L * options.maxSequences(), pageCount);
    }

    /// {@return whether a layer has window pages}
    private boolean ofWindow(CoreOp.Attention a) {
        return windowPageCount > 0 && windows.has(a.layer());
    }

    /// {@return pages of the cache}
    int pageCount() {
        return pageCount;
    }

    /// {@return window pages; 0 where layers with a window keep all positions}
    int windowPageCount() {
        return windowPageCount;
    }

    /// {@return keys and values of the layers that have window pages, alternating}
    List<KvBuffer> windowCache() {
        return windowCache;
    }

    /// {@return the page tables, and after them those of window pages}
    BufferSpec pages() {
        return pages;
    }

    /// {@return keys and values of the other layers, alternating}
    List<KvBuffer> cache() {
        return cache;
    }

    /// {@return the first position from which steps are deep}
    int deepFrom() {
        return deepFrom;
    }

    private void add(Op op, String name, String kernel, PlannedOp.Emitter emitter) {
        ops.add(new PlannedOp(op.kind(), name, kernel, Support.Level.FAST, false, 0, emitter));
    }

    /// Notes that attention norms, rotates and appends what projections leave.
    ///
    /// @param f the projections
    void raw(FusedOp.Qkv f) {
        boolean byHead = !FusedOpFilter.wholeNorms(f);
        Optional<CoreOp.RmsNorm> qNorm = f.qNorm().filter(_ -> byHead);
        Optional<CoreOp.RmsNorm> kNorm = f.kNorm().filter(_ -> byHead);
        Optional<RopeParams> rope = f.qRope().map(CoreOp.Rope::params);
        heads.put(
                f.queries().id(),
                new AttentionLaunches.Heads(
                        qNorm.map(n -> weights.floats(n.weight()).at(0)).orElse(Argument.Address.NULL),
                        kNorm.map(n -> weights.floats(n.weight()).at(0)).orElse(Argument.Address.NULL),
                        qNorm.or(() -> kNorm).map(CoreOp.RmsNorm::eps).orElse(0f),
                        rope.map(r -> table(r).at(0)).orElse(Argument.Address.NULL),
                        rope));
    }

    /// Lets attention scale its queries by their position.
    ///
    /// @param s an op whose result is the queries of one attention, and nothing else
    void scaled(PositionScale s) {
        pool.share(s.out(), pool.get(s.x()));
        scales.put(s.out().id(), s);
        AttentionLaunches.Heads raw = heads.get(s.x().id());
        if (raw != null) {
            heads.put(s.out().id(), raw);
        }
    }

    private BufferSpec table(RopeParams params) {
        return ropes.computeIfAbsent(RopeTables.key(params), key -> {
            int pairs = params.ropeDim() / 2;
            double[] frequencies = RopeTables.frequencies(
                    params, params.freqFactors().map(weights::values).orElse(null));
            BufferSpec frequency = weights.constant("rope frequencies", RopeTables.ofText(params, frequencies));
            Optional<Along> along = params.turns().isEmpty()
                    ? Optional.empty()
                    : Optional.of(new Along(
                            weights.constant("rope frequencies along axes", frequencies),
                            weights.numbers("rope axes", RopeTables.axes(params))));
            BufferSpec table = buffers.add(
                    BufferSpec.Kind.ACTIVATION, "rope table", 8L * pairs * Buckets.of(options.maxBatchTokens()));
            ops.add(new PlannedOp("rope", "rope table", "rope_table", Support.Level.FAST, false, 8L * pairs, to -> {
                Blocks blocks = new Blocks(to.shape.rows(), 1, 1, 64, 0);
                if (along.isPresent() && to.shape.has(GivenInput.PLACES)) {
                    to.launch(
                            Emission.SMALL,
                            "rope_table_along",
                            blocks,
                            to.stepAt(to.layout.given().places()),
                            along.get().axes.at(0),
                            along.get().frequency.at(0),
                            table.at(0),
                            pairs,
                            params.attentionFactor());
                } else {
                    to.launch(
                            Emission.SMALL,
                            "rope_table",
                            blocks,
                            to.stepAt(to.layout.positions()),
                            frequency.at(0),
                            table.at(0),
                            pairs,
                            params.attentionFactor());
                }
            }));
            return table;
        });
    }

    /// What pairs that turn along axes have: the angle of each at 1, and its axis.
    private record Along(BufferSpec frequency, BufferSpec axes) {}

    /// Plans a rotation by itself.
    void rope(CoreOp.Rope r) {
        Slot x = pool.get(r.x());
        if (x.selected) {
            throw new IllegalStateException("rotation of selected rows; positions are known for all rows only");
        }
        BufferSpec table = table(r.params());
        Slot out = pool.define(r.out(), false);
        RopeParams p = r.params();
        add(
                r,
                r.out().name(),
                "rope",
                to -> to.launch(
                        Emission.SMALL,
                        "rope",
                        new Blocks(x.width / p.headDim(), to.rows(x), 1, 64, 0),
                        to.at(x),
                        table.at(0),
                        to.out(out),
                        x.width / p.headDim(),
                        p.headDim(),
                        p.ropeDim(),
                        p.span() / 2,
                        KernelCodes.of(p.pairing())));
    }

    /// Plans attention.
    ///
    /// @param a the op
    /// @param tiled whether steps of many rows are cut into tiles that suit the op
    /// @param f16Out whether everything that reads the result takes float16 in steps of many rows
    void attention(CoreOp.Attention a, boolean tiled, boolean f16Out) {
        Slot q = pool.get(a.q());
        Slot k = pool.get(a.k());
        Slot v = pool.get(a.v());
        Slot out = pool.define(a.out(), false);
        boolean appends = !layers.containsKey(a.layer());
        Layer layer = layers.computeIfAbsent(a.layer(), _ -> layer(a));
        CacheTypes types = new CacheTypes(options.keyType(), options.valueType());
        AttentionLaunches launches = new AttentionLaunches(
                a,
                appends,
                q,
                k,
                v,
                out,
                heads.get(a.q().id()),
                types,
                layer.keys,
                layer.values,
                a.params().sinks().map(s -> weights.floats(s).at(0)).orElse(Argument.Address.NULL),
                a.params().scoreBias().map(b -> bias(b, a.params().causal())),
                Optional.ofNullable(scales.get(a.q().id())),
                pages.at(ofWindow(a) ? tableBytes() : 0),
                pageCount,
                (long) pageCount * KvBuffer.TOKENS,
                Integer.parseInt(PlanSettings.ATTENTION_SPLITS.in(options.settings())),
                tiled,
                f16Out);
        deepFrom = Math.min(deepFrom, launches.deepFrom(traits));
        add(a, a.out().name(), "attention_" + types.entry(), launches::emit);
    }

    /// {@return a bias worked out for each distance: up to where buckets end, or without them as far as a sequence
    /// goes}
    private AttentionLaunches.Bias bias(ScoreBias bias, boolean causal) {
        return biases.computeIfAbsent(List.of(bias, causal), _ -> {
            int reach = bias.table().isPresent() ? bias.maxDistance() : pageCount * KvBuffer.TOKENS;
            int span = causal ? reach + 1 : 2 * reach + 1;
            float[] table = bias.table().map(weights::values).orElse(new float[0]);
            float[] values = new float[Math.multiplyExact(bias.headCount(), span)];
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) bias.at(i / span, i % span - reach, causal, table);
            }
            return new AttentionLaunches.Bias(weights.numbers("bias of scores", values), reach, span);
        });
    }

    private Layer layer(CoreOp.Attention a) {
        long keyBytes = a.headCountKv() * KvBuffer.TOKENS * KvBuffer.rowBytes(options.keyType(), a.keyLength());
        long valueBytes = a.headCountKv() * KvBuffer.TOKENS * KvBuffer.rowBytes(options.valueType(), a.valueLength());
        boolean window = ofWindow(a);
        return new Layer(
                kv("keys of layer " + a.layer(), keyBytes, window),
                kv("values of layer " + a.layer(), valueBytes, window));
    }

    private KvBuffer kv(String purpose, long pageBytes, boolean window) {
        long count = window ? windowPageCount : pageCount;
        KvBuffer made =
                new KvBuffer(buffers.add(BufferSpec.Kind.KV, purpose, Math.multiplyExact(pageBytes, count)), pageBytes);
        (window ? windowCache : cache).add(made);
        return made;
    }
}
