package dev.tenon.kernels.nvidia.launch;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.Blocks;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.KvBuffer;
import dev.tenon.kernels.nvidia.source.KernelModule;
import dev.tenon.kernels.nvidia.step.GivenInput;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.Map;
import java.util.Optional;

/// Writes down the launches of one attention op: append to the cache, unless another op of its layer did, then
/// attend, in one kernel where it can.
///
/// @param op the op
/// @param appends whether it is the first op of its layer
/// @param q queries; raw where `heads` is not null
/// @param k keys, likewise
/// @param v values
/// @param out result
/// @param heads how raw queries and keys become final ones; null where they are final
/// @param cache element types of the cache
/// @param keys the layer's keys
/// @param values the layer's values
/// @param sinks the score of each head's sink, or null address
/// @param bias what is added to scores by distance, or empty
/// @param growth how queries are scaled by their position, or empty
/// @param pages the page tables of the layer
/// @param maxPages entries of a page table
/// @param maxContext positions that a sequence can have
/// @param mostSplits most pieces of a sequence's positions, up to 64
/// @param tiled whether steps of many rows are cut into tiles that suit the op
/// @param f16Out whether everything that reads the result takes float16 in steps of many rows
public record AttentionLaunches(
        CoreOp.Attention op,
        boolean appends,
        Slot q,
        Slot k,
        Slot v,
        Slot out,
        Heads heads,
        CacheTypes cache,
        KvBuffer keys,
        KvBuffer values,
        Argument.Address sinks,
        Optional<Bias> bias,
        Optional<PositionScale> growth,
        Argument.Address pages,
        int maxPages,
        long maxContext,
        int mostSplits,
        boolean tiled,
        boolean f16Out) {
    /// Longest head that there is a kernel for.
    public static final int LONGEST_HEAD = 576;

    /// Longest head that steps of few rows norm, rotate and append within attention.
    static final int SHORT_HEAD = 256;

    static final int BLOCK = 128;
    /// Threads of a block in the kernel for long sequences with heads of 64 elements.
    static final int DEEP_BLOCK = 384;
    /// First positions at which that kernel is the faster one, with heads of 64 and of 128 elements.
    private static final int DEEP_FROM = 256;

    private static final int DEEP_FROM_OF_LONG_HEADS = 128;
    /// Most pieces that it has been seen to join on a device; with more, models keep the other one.
    private static final int DEEP_PIECES = 16;
    private static final int APPEND_BLOCK = 32;
    static final int MAX_SPLITS = 64;
    private static final int WARP = 32;
    /// Most times that a warp has 16 keys and values under way.
    static final int MOST_STAGES = 2;
    /// What a block declares itself: at most so much, and so much for each element of a head.
    private static final int STATIC_BYTES = 1024;

    private static final int STATIC_BYTES_OF_ELEMENT = 80;
    /// What is set aside for each block, and what a residual product takes beyond half of the memory.
    private static final int SET_ASIDE = 2048;
    static final int HEADS_A_BLOCK = 4;
    private static final int TILE_ROWS = 64;
    /// Shared memory of a tile for each element of a head: two pages of keys and values.
    static final int TILE_BYTES = 512;

    /// What happens to the heads of raw queries and keys.
    ///
    /// @param qNorm weight of the queries' norm, or null address
    /// @param kNorm weight of the keys' norm, or null address
    /// @param eps of both norms
    /// @param table cosines and sines of the step's positions, or null address
    /// @param rope how they are rotated, or empty if they are not
    public record Heads(
            Argument.Address qNorm,
            Argument.Address kNorm,
            float eps,
            Argument.Address table,
            Optional<RopeParams> rope) {}

    /// A bias of scores, worked out for each distance that there can be.
    ///
    /// @param values `[heads, span]`
    /// @param reach place of distance 0 in a row
    /// @param span distances of a row; those outside count as its ends
    public record Bias(BufferSpec values, int reach, int span) {}

    /// {@return rows of a tile of the kernel for many rows; 0 if that kernel does not take such
    ///     heads, or the device has not enough shared memory for it}
    public static int tileRows(CoreOp.Attention op, DeviceTraits traits) {
        int length = op.keyLength();
        if (length * TILE_BYTES > traits.sharedBytes()
                || op.params().scoreBias().isPresent()) {
            return 0;
        }
        boolean fits = length == op.valueLength() && (length == 64 || length == 96 || length == 128 || length == 256);
        int group = op.headCount() / op.headCountKv();
        return fits && group <= TILE_ROWS ? TILE_ROWS / group : 0;
    }

    public void emit(Emission e) {
        int rows = e.rows(q);
        if (rows <= StepShape.FEW && fused() && !spanned(e)) {
            attend(e, true);
            return;
        }
        if (appends) {
            append(e);
        }
        if (rows > StepShape.FEW && !e.shape.decode() && tiled && tileRows(op, e.traits) > 0) {
            attendTiles(e);
        } else {
            attend(e, false);
        }
    }

    /// Whether few rows are appended by the kernel that attends, which sees no row after its own.
    private boolean fused() {
        return heads != null && op.params().causal() && longest() <= SHORT_HEAD;
    }

    /// Whether spans matter: those of texts are the tokens themselves.
    private boolean spanned(Emission e) {
        return op.params().spans()
                && (e.shape.has(GivenInput.SPANS) || !op.params().causal());
    }

    /// Writes keys and values to the cache; raw queries become final in place.
    private void append(Emission e) {
        int own = heads == null ? 0 : op.headCount();
        e.launch(
                cache.module(Emission.SMALL),
                "rope_append_" + cache.entry(),
                new Blocks(own + 2 * op.headCountKv(), e.rows(q), 1, APPEND_BLOCK, 0),
                heads == null ? Argument.Address.NULL : e.at(q),
                e.at(k),
                e.at(v),
                heads == null ? Argument.Address.NULL : heads.qNorm,
                heads == null ? Argument.Address.NULL : heads.kNorm,
                heads == null ? 0f : heads.eps,
                heads == null ? Argument.Address.NULL : heads.table,
                e.stepAt(e.layout.positions()),
                e.stepAt(e.layout.sequences()),
                pages,
                maxPages,
                keys.buffer().at(0),
                values.buffer().at(0),
                own,
                op.headCountKv(),
                op.keyLength(),
                op.valueLength(),
                ropeDim(),
                pairing());
    }

    /// {@return the first position from which on the step should be [StepShape#deep]; none if there is no
    ///     other kernel for such}
    public int deepFrom(DeviceTraits traits) {
        if (!fused()
                || !onTensorCores()
                || !traits.programmaticLaunch()
                || traits.multiprocessors() / groups() > DEEP_PIECES) {
            return Integer.MAX_VALUE;
        }
        return op.keyLength() == 64 ? DEEP_FROM : DEEP_FROM_OF_LONG_HEADS;
    }

    /// {@return blocks of a row and piece: a kv head with up to [#HEADS_A_BLOCK] of its query heads each}
    private int groups() {
        return op.headCountKv() * ((op.headCount() / op.headCountKv() + HEADS_A_BLOCK - 1) / HEADS_A_BLOCK);
    }

    /// The kernel that splits the positions of a sequence among blocks; with `raw`, it appends too.
    private void attend(Emission e, boolean raw) {
        int rows = e.rows(q);
        int groups = groups();
        int splits = splits(e, groups, e.batchInvariant ? 1 : rows);
        boolean deep = raw && e.shape.deep() && deepFrom(e.traits) < Integer.MAX_VALUE;
        int block = deep && op.keyLength() == 64 ? DEEP_BLOCK : block();
        Argument.Address none = Argument.Address.NULL;
        e.launch(
                module(e, Emission.ATTENTION),
                (deep ? "attention_deep_" : "attention_") + cache.entry() + "_d" + variant(),
                new Blocks(splits, groups, rows, block, sharedBytes(e.traits, block)),
                e.at(q),
                raw ? e.at(k) : none,
                raw ? e.at(v) : none,
                raw ? heads.qNorm : none,
                raw ? heads.kNorm : none,
                raw ? heads.eps : 0f,
                raw ? heads.table : none,
                e.stepAt(e.layout.positions()),
                e.stepAt(e.layout.sequences()),
                pages,
                maxPages,
                keys.buffer().at(0),
                values.buffer().at(0),
                e.out(out),
                e.need(
                        deep ? e.scratch.attentionWords() : e.scratch.attention(),
                        4L * rows * op.headCount() * splits * (op.valueLength() + 2)),
                e.need(e.scratch.attentionCounters(), 4L * rows * groups * HEADS_A_BLOCK),
                op.headCount(),
                op.headCountKv(),
                op.keyLength(),
                op.valueLength(),
                raw ? ropeDim() : 0,
                raw ? pairing() : 0,
                op.params().scale(),
                window(e),
                op.params().softCap(),
                sinks,
                lasts(e),
                gain(),
                growth.map(PositionScale::offset).orElse(0),
                growth.map(PositionScale::period).orElse(1),
                op.params().chunk(),
                bias.map(b -> b.values().at(0)).orElse(none),
                bias.map(Bias::reach).orElse(0),
                bias.map(Bias::span).orElse(1),
                firsts(e));
    }

    /// The module to attend with: what few models have is compiled out of a second one, where code is compiled for
    /// the device. There attention over long contexts is faster, and elsewhere the modules are as large as before.
    private KernelModule module(Emission e, KernelModule all) {
        boolean plain = !spanned(e)
                && sinks.equals(Argument.Address.NULL)
                && growth.isEmpty()
                && bias.isEmpty()
                && op.params().causal()
                && op.params().chunk() == 0;
        return cache.module(
                plain && e.traits.programmaticLaunch()
                        ? new KernelModule(all.file(), Map.of("TENON_PLAIN", "plain"))
                        : all);
    }

    private float gain() {
        return growth.map(PositionScale::gain).orElse(0f);
    }

    private void attendTiles(Emission e) {
        int length = op.keyLength();
        e.launch(
                module(e, Emission.ATTENTION_PREFILL),
                "attention_prefill_" + cache.entry() + "_d" + length,
                new Blocks(e.layout.tileCount(), op.headCountKv(), 1, BLOCK, length * TILE_BYTES),
                e.at(q),
                e.stepAt(e.layout.tiles()),
                e.stepAt(e.layout.positions()),
                pages,
                maxPages,
                keys.buffer().at(0),
                values.buffer().at(0),
                f16Out ? e.outF16(out) : e.out(out),
                f16Out ? 1 : 0,
                op.headCount(),
                op.headCountKv(),
                op.params().scale(),
                window(e),
                op.params().softCap(),
                sinks,
                lasts(e),
                gain(),
                growth.map(PositionScale::offset).orElse(0),
                growth.map(PositionScale::period).orElse(1),
                op.params().chunk(),
                firsts(e));
    }

    /// The last position that each row sees, its window aside; none where that is its own.
    private Argument.Address lasts(Emission e) {
        if (spanned(e)) {
            return e.stepAt(e.shape.has(GivenInput.SPANS) ? e.layout.given().lasts() : e.layout.positions());
        }
        return op.params().causal() ? Argument.Address.NULL : e.stepAt(e.layout.lasts());
    }

    /// With spans, the position that the window of each row ends at: its own, or, for one that sees its span alone,
    /// the first of that, with a window of 1.
    private Argument.Address firsts(Emission e) {
        if (!spanned(e)) {
            return Argument.Address.NULL;
        }
        boolean own = op.params().causal() || !e.shape.has(GivenInput.SPANS);
        return e.stepAt(own ? e.layout.positions() : e.layout.given().firsts());
    }

    private int window(Emission e) {
        return spanned(e) && !op.params().causal() ? 1 : op.params().slidingWindow();
    }

    /// As many pieces as there is room for blocks: on tensor cores one on each multiprocessor where
    /// the kernel in front is still there, else two.
    private int splits(Emission e, int groups, int rows) {
        int multiprocessors = e.traits.multiprocessors();
        long blocks = (long) groups * rows;
        long wanted = onTensorCores() && e.traits.programmaticLaunch()
                ? multiprocessors / blocks
                : (2L * multiprocessors + blocks - 1) / blocks;
        long pagesAtMost = (maxContext + KvBuffer.TOKENS - 1) / KvBuffer.TOKENS;
        return (int) Math.max(1, Math.min(Math.min(mostSplits, MAX_SPLITS), Math.min(wanted, pagesAtMost)));
    }

    private boolean scalar() {
        return variant().equals("any") || variant().equals("long");
    }

    private int block() {
        return scalar() ? BLOCK : 2 * BLOCK;
    }

    private boolean onTensorCores() {
        return !scalar() && cache.onTensorCores();
    }

    /// Dynamic shared memory of [#attend]: keys and values under way, as many as leave room for a block
    /// of the residual product that follows.
    private int sharedBytes(DeviceTraits traits, int block) {
        if (!onTensorCores()) {
            return 0;
        }
        int length = op.keyLength();
        int stage = block / WARP * cache.tileBytes(length);
        int room = traits.sharedBytes() / 2 - SET_ASIDE - STATIC_BYTES - STATIC_BYTES_OF_ELEMENT * length;
        return Math.clamp(room / stage, 1, MOST_STAGES) * stage;
    }

    private int longest() {
        return Math.max(op.keyLength(), op.valueLength());
    }

    private String variant() {
        if (longest() > SHORT_HEAD) {
            return "long";
        }
        boolean equal = op.keyLength() == op.valueLength() && bias.isEmpty(); // few models have one
        return equal && (op.keyLength() == 64 || op.keyLength() == 128) ? Integer.toString(op.keyLength()) : "any";
    }

    private Optional<RopeParams> rope() {
        return heads == null ? Optional.empty() : heads.rope;
    }

    private int ropeDim() {
        return rope().map(RopeParams::ropeDim).orElse(0);
    }

    private int pairing() {
        return rope().map(r -> KernelCodes.of(r.pairing())).orElse(0);
    }
}
