package dev.tenon.kernels.nvidia.launch;

import dev.tenon.api.graph.RouterParams;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.Blocks;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.MvSchedule;
import dev.tenon.kernels.nvidia.launch.LinearLaunches.Norm;
import dev.tenon.kernels.nvidia.source.KernelModule;
import dev.tenon.kernels.nvidia.step.StepLimits;
import java.util.Map;

/// Writes down the launches of experts. Steps of few rows multiply with the matrices of each token's own experts;
/// in steps of many rows the choices are ordered by expert first, on the device, and each expert multiplies its
/// tokens on tensor cores.
public final class ExpertLaunches {
    /// Most experts that a router chooses among.
    public static final int MOST_EXPERTS = 1024;

    /// Steps of more rows run on tensor cores.
    public static final int FEW = 8;

    /// Most choices whose results one launch adds up.
    static final int MOST_USED = 32;

    static final int ROUTER_BLOCK = 256;
    static final int GROUP_BLOCK = 1024;
    private static final int SMALLEST_TILE = 16;
    private static final int LARGEST_TILE = 128;
    private static final int BLOCK = 256;
    /// Elements of a row that a lane takes at once, of formats without blocks.
    private static final int VECTOR = 8;

    private static final KernelModule ROUTER = KernelModule.of("router.cu");

    private final LinearLaunches linears;
    private final MvSchedule schedule;

    /// @param linears decides what runs on tensor cores
    /// @param schedule knobs of the kernels for few rows
    public ExpertLaunches(LinearLaunches linears, MvSchedule schedule) {
        this.linears = linears;
        this.schedule = schedule;
    }

    /// What a router has chosen.
    ///
    /// @param chosen numbers of experts
    /// @param experts how many there are
    /// @param order the choices ordered by expert, in steps of many rows
    /// @param tiles which of them are multiplied together
    /// @param results float32 rows of each choice, where they are not added up at once; null where they never are
    public record Choices(Slot chosen, int experts, BufferSpec order, BufferSpec tiles, BufferSpec results) {
        int used() {
            return chosen.width;
        }
    }

    /// Matrices of all experts.
    ///
    /// @param weight the matrices, one after the other
    /// @param bias float32 `[experts, rows]`, or null address
    public record Matrices(DeviceWeight weight, Argument.Address bias) {
        int rows() {
            return weight.weight().rows();
        }
    }

    /// What becomes of a row: `act(gate) * up`, gpt-oss' own gate, or `act(row)` of a single one.
    ///
    /// @param activation as kernels number it
    /// @param alpha of gpt-oss' gate
    /// @param limit of gpt-oss' gate
    public record Gate(int activation, float alpha, float limit) {
        /// Nothing.
        public static final Gate NONE = new Gate(-1, 0, 0);
        /// The `activation` of gpt-oss' gate.
        public static final int SWIGLU_OAI = -2;
    }

    /// {@return whether products with such matrices run on tensor cores in steps of many rows}
    public boolean matmul(DeviceWeight weight) {
        return linears.matmul(weight);
    }

    private static KernelModule module(String file, DeviceWeight weight) {
        return new KernelModule(file, weight.format().macros());
    }

    /// Chooses experts; in steps of many rows, `grouped` also orders the choices.
    public void router(
            Emission e,
            RouterParams params,
            Slot logits,
            Argument.Address bias,
            Choices choices,
            Slot shares,
            boolean grouped) {
        int rows = e.rows(logits);
        e.launch(
                ROUTER,
                "router",
                new Blocks(rows, 1, 1, ROUTER_BLOCK, 0),
                e.at(logits),
                bias,
                e.out(choices.chosen),
                e.out(shares),
                choices.experts,
                choices.used(),
                params.gating() == RouterParams.Gating.SIGMOID ? 1 : 0,
                params.normalise() ? 1 : 0,
                params.scale(),
                params.groups(),
                params.groupsUsed());
        if (grouped) {
            order(e, choices);
        }
    }

    /// In steps of many rows, orders choices by expert, for the launches that multiply with their matrices.
    public void order(Emission e, Choices choices) {
        int rows = e.rows(choices.chosen);
        if (rows > FEW) {
            int pairs = rows * choices.used();
            e.launch(
                    ROUTER,
                    "expert_groups",
                    new Blocks(1, 1, 1, GROUP_BLOCK, 0),
                    e.at(choices.chosen),
                    pairs,
                    choices.experts,
                    tile(pairs, choices),
                    e.need(choices.order, 4L * pairs),
                    e.need(choices.tiles, 16L * tileCount(pairs, SMALLEST_TILE, choices)),
                    tileCount(pairs, tile(pairs, choices), choices));
        }
    }

    /// Choices that are multiplied together: room for twice as many as an expert has on average.
    private static int tile(int pairs, Choices choices) {
        int each = Math.clamp(2L * pairs / choices.experts, SMALLEST_TILE, LARGEST_TILE);
        return Integer.highestOneBit(2 * each - 1);
    }

    /// As many tiles as there can be.
    private static int tileCount(int pairs, int tile, Choices choices) {
        return pairs / tile + Math.min(choices.experts, pairs);
    }

    /// `out = residual + sum of shares * x`; the residual may be null, or out.
    public void weightedSum(Emission e, Argument.Address x, Slot shares, Argument.Address residual, Slot out) {
        weightedSum(e, x, e.at(shares), shares.width, residual, out);
    }

    /// `out = residual + sum of shares * x`; the residual may be null, or out, and `x` may be out if a row has one
    /// share.
    ///
    /// @param shares float32 rows of `used`
    public void weightedSum(
            Emission e, Argument.Address x, Argument.Address shares, int used, Argument.Address residual, Slot out) {
        e.launch(
                ROUTER,
                "weighted_sum",
                new Blocks(e.rows(out), (out.width + BLOCK - 1) / BLOCK, 1, BLOCK, 0),
                x,
                shares,
                residual,
                e.out(out),
                used,
                out.width);
    }

    /// `out = act(norm(x) weight + bias)` for each choice.
    ///
    /// @param e the step
    /// @param x rows of the tokens, or, if they are wider, of the choices
    /// @param norm of the tokens' rows, or null
    /// @param choices which experts
    /// @param matrices their matrices
    /// @param activation as kernels number it; -1 for none
    /// @param out float32 rows of the choices
    public void linear(
            Emission e, Slot x, Norm norm, Choices choices, Matrices matrices, int activation, Argument.Address out) {
        DeviceWeight w = matrices.weight;
        int rows = e.rows(x);
        int used = choices.used();
        boolean own = x.width != w.cols();
        if (rows > FEW && matmul(w)) {
            boolean ordered = own && e.isF16(x);
            Argument.Address f16 = LinearLaunches.f16(e, x, norm);
            Tiles tiles = new Tiles(choices, rows);
            e.launch(
                    module("expert_matmul.cu", w),
                    "expert_matmul_" + w.format().id() + "_n" + tiles.tile,
                    new Blocks(
                            tiles.count,
                            (matrices.rows() + LinearLaunches.TILE_ROWS - 1) / LinearLaunches.TILE_ROWS,
                            1,
                            LinearLaunches.BLOCK,
                            tiles.sharedBytes()),
                    f16,
                    choices.order.at(0),
                    choices.tiles.at(0),
                    ordered ? 0 : own ? 1 : used,
                    w.cols(),
                    w.at(),
                    choices.experts,
                    matrices.rows(),
                    matrices.bias,
                    activation,
                    out);
            return;
        }
        int splits = splits(e, rows * used, matrices);
        MvGeometry g = geometry(e, w, w.cols(), schedule.rows(), matrices.rows(), splits);
        e.launch(
                module("experts.cu", w, g),
                "expert_linear_" + w.format().id(),
                new Blocks(splits, used, rows, g.block(), g.sharedBytes()),
                w.at(),
                e.at(x),
                Norm.weight(norm),
                Norm.eps(norm),
                e.at(choices.chosen),
                matrices.bias,
                out,
                used,
                own ? 1 : 0,
                choices.experts,
                matrices.rows(),
                w.cols(),
                activation,
                g.threadsPerRow());
    }

    /// The first two matrices of experts, and what becomes of their products.
    ///
    /// @param gate the gates
    /// @param up what they multiply
    /// @param glu how
    public record GateUp(Matrices gate, Matrices up, Gate glu) {}

    /// `out = glu(norm(x) gate + bias, norm(x) up + bias)` for each choice; in steps of many rows, `out` is float16 in
    /// the order of the choices if `ordered` allows it.
    public void gateUp(Emission e, Slot x, Norm norm, Choices choices, GateUp pair, Slot out, boolean ordered) {
        Matrices gate = pair.gate;
        Matrices up = pair.up;
        Gate glu = pair.glu;
        DeviceWeight w = gate.weight;
        int rows = e.rows(x);
        int used = choices.used();
        if (rows > FEW && matmul(w) && ordered) {
            Argument.Address f16 = LinearLaunches.f16(e, x, norm);
            Tiles tiles = new Tiles(choices, rows);
            int half = LinearLaunches.TILE_ROWS / 2;
            e.launch(
                    module("expert_matmul.cu", w),
                    "expert_matmul_gate_up_" + w.format().id() + "_n" + tiles.tile,
                    new Blocks(
                            tiles.count, (gate.rows() + half - 1) / half, 1, LinearLaunches.BLOCK, tiles.sharedBytes()),
                    f16,
                    choices.order.at(0),
                    choices.tiles.at(0),
                    used,
                    w.cols(),
                    w.at(),
                    up.weight.at(),
                    choices.experts,
                    gate.rows(),
                    gate.bias,
                    up.bias,
                    glu.activation,
                    glu.alpha,
                    glu.limit,
                    e.outF16(out));
            return;
        }
        int pairs = 2 * Math.max(1, schedule.rows() / 2);
        int splits = splits(e, rows * used, gate);
        MvGeometry g = geometry(e, w, w.cols(), pairs, 2 * gate.rows(), splits);
        e.launch(
                module("experts.cu", w, g),
                "expert_gate_up_" + w.format().id(),
                new Blocks(splits, used, rows, g.block(), g.sharedBytes()),
                w.at(),
                up.weight.at(),
                e.at(x),
                Norm.weight(norm),
                Norm.eps(norm),
                e.at(choices.chosen),
                gate.bias,
                up.bias,
                e.out(out),
                used,
                choices.experts,
                gate.rows(),
                w.cols(),
                glu.activation,
                glu.alpha,
                glu.limit,
                g.threadsPerRow());
    }

    /// `out = residual + sum of shares * (x weight + bias)`; the residual may be null, or out.
    public void down(Emission e, Slot x, Choices choices, Matrices matrices, Slot shares, Slot residualSlot, Slot out) {
        DeviceWeight w = matrices.weight;
        int rows = e.rows(x);
        int used = choices.used();
        Argument.Address residual = residualSlot == null ? Argument.Address.NULL : e.at(residualSlot);
        if (rows > FEW || !addsUp(w, used)) {
            Argument.Address results = e.need(choices.results, 4L * rows * used * matrices.rows());
            linear(e, x, null, choices, matrices, Gate.NONE.activation, results);
            weightedSum(e, results, shares, residual, out);
            return;
        }
        int splits = splits(e, rows, matrices);
        MvGeometry g = geometry(e, w, used * w.cols(), schedule.rows(), matrices.rows(), splits);
        e.launch(
                module("experts.cu", w, g),
                "expert_down_" + w.format().id(),
                new Blocks(splits, rows, 1, g.block(), g.sharedBytes()),
                w.at(),
                e.at(x),
                e.at(choices.chosen),
                e.at(shares),
                matrices.bias,
                residual,
                e.out(out),
                used,
                choices.experts,
                matrices.rows(),
                w.cols(),
                g.threadsPerRow());
    }

    /// Whether one launch multiplies and adds up: the rows of few experts, of whole units.
    private static boolean addsUp(DeviceWeight weight, int used) {
        return used <= MOST_USED && (weight.format().blockSize() > 1 || weight.cols() % VECTOR == 0);
    }

    /// Blocks that share the rows of one expert: all together two on each multiprocessor, where there are enough rows.
    private static int splits(Emission e, int parts, Matrices matrices) {
        int shared = e.batchInvariant ? Math.min(parts, StepLimits.INVARIANT_ROWS) : parts;
        return Math.clamp((2L * e.traits.multiprocessors() + shared - 1) / shared, 1, matrices.rows());
    }

    private MvGeometry geometry(Emission e, DeviceWeight weight, int cols, int weightRows, int allRows, int splits) {
        return MvGeometry.of(schedule, e.traits, new MvShape(1, cols, weightRows, allRows), splits, weight.format());
    }

    private KernelModule module(String file, DeviceWeight weight, MvGeometry geometry) {
        Map<String, String> macros = weight.format().macros();
        macros.putAll(schedule.macros());
        macros.putAll(geometry.macros());
        return new KernelModule(file, macros);
    }

    /// The tiles of a step of many rows.
    private static final class Tiles {
        final int tile;
        final int count;

        Tiles(Choices choices, int rows) {
            int pairs = rows * choices.used();
            tile = tile(pairs, choices);
            count = tileCount(pairs, tile, choices);
        }

        int sharedBytes() {
            return LinearLaunches.MATMUL_BYTES + LinearLaunches.MATMUL_ROW_BYTES * tile;
        }
    }
}
