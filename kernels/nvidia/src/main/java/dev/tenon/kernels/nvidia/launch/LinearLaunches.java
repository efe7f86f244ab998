package dev.tenon.kernels.nvidia.launch;

import dev.tenon.api.kernel.cuda.CudaMatmul;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.Blocks;
import dev.tenon.kernels.nvidia.DeviceFormat;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.MvSchedule;
import dev.tenon.kernels.nvidia.source.KernelModule;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Writes down the launches of matrix products: matrix-vector kernels for up to 4 rows, tensor core
/// kernels for more.
///
/// A product may be normed before (`norm`), and biased and added to a residual after it.
public final class LinearLaunches {
    /// Elements of a row that the tensor core kernels take at once.
    private static final int MATMUL_COLS = 32;

    /// Shared memory of a tensor core block: a fixed part, and bytes for each row of activations.
    static final int MATMUL_BYTES = 33792;

    static final int MATMUL_ROW_BYTES = 384;
    static final int TILE_ROWS = 128;
    static final int BLOCK = 256;

    /// Tokens and rows of a tile in float32.
    static final int FLOAT_TILE = 64;

    private static final KernelModule FLOAT_MATMUL = KernelModule.of("float_matmul.cu");

    private final MvSchedule schedule;
    private final boolean tensorCores;
    private final int mostSplits;
    private final Map<String, CudaMatmul> libraries;

    /// @param schedule knobs of the kernels for few rows
    /// @param tensorCores whether tensor core kernels may be used
    /// @param mostSplits most blocks that share the columns of a tile
    /// @param libraries libraries that compute products of many rows, by the weight's format
    public LinearLaunches(MvSchedule schedule, boolean tensorCores, int mostSplits, Map<String, CudaMatmul> libraries) {
        this.schedule = schedule;
        this.tensorCores = tensorCores;
        this.mostSplits = mostSplits;
        this.libraries = libraries;
    }

    /// A norm before a product.
    ///
    /// @param weight float32, as long as a row
    /// @param eps added to the mean square
    public record Norm(Argument.Address weight, float eps) {
        static Argument.Address weight(Norm norm) {
            return norm == null ? Argument.Address.NULL : norm.weight;
        }

        static float eps(Norm norm) {
            return norm == null ? 0 : norm.eps;
        }
    }

    /// One product of several that share their input.
    ///
    /// @param weight the matrix
    /// @param bias float32, or null address
    /// @param residual float32 rows to add, or null
    /// @param out float32 rows
    /// @param factor of the sum with the bias
    /// @param activation of that, or [#NO_ACTIVATION]; then there is no residual
    public record Product(
            DeviceWeight weight, Argument.Address bias, Slot residual, Slot out, float factor, int activation) {
        /// The `activation` of kernels that apply none.
        public static final int NO_ACTIVATION = -1;

        /// A product that is neither scaled nor activated.
        public Product(DeviceWeight weight, Argument.Address bias, Slot residual, Slot out) {
            this(weight, bias, residual, out, 1, NO_ACTIVATION);
        }

        /// Whether tensor cores leave something of it to another kernel.
        private boolean isChanged() {
            return factor != 1 || activation != NO_ACTIVATION;
        }
    }

    /// {@return whether a product can run on tensor cores; float32 weights stay exact and do not}
    public boolean matmul(DeviceWeight weight) {
        return tensorCores && isTiled(weight.cols()) && !isFloat(weight);
    }

    /// {@return whether tensor cores take rows of so many elements}
    ///
    /// @param cols elements of a row of weights
    public static boolean isTiled(int cols) {
        return cols % MATMUL_COLS == 0;
    }

    private static boolean isFloat(DeviceWeight weight) {
        return weight.format().equals(DeviceFormat.F32);
    }

    /// `out = activation(factor * (norm(x) weight + bias)) + residual`, for each product. Several that share launches
    /// in steps of few rows are of one format, and neither changed nor added to anything.
    public void products(Emission e, Slot x, Norm norm, List<Product> products) {
        int rows = e.rows(x);
        boolean many = rows > StepShape.FEW && products.stream().allMatch(p -> matmul(p.weight));
        if (products.size() > 1 && !(many || rows > StepShape.FEW && isFloat(products.getFirst().weight))) {
            for (int from = 0; from < products.size(); from += Together.MOST) {
                vectors(e, x, norm, products.subList(from, Math.min(products.size(), from + Together.MOST)));
            }
            return;
        }
        if (!many) {
            products.forEach(p -> {
                if (rows > StepShape.FEW && tensorCores && isFloat(p.weight) && !p.isChanged()) {
                    exact(e, x, norm, p);
                } else {
                    vector(e, x, norm, p);
                }
            });
            return;
        }
        Argument.Address f16 = f16(e, x, norm);
        for (int from = 0; from < products.size(); ) {
            int to = from + 1;
            if (products.get(from).isChanged()) {
                changed(e, f16, rows, products.get(from));
                from = to;
                continue;
            }
            Optional<CudaMatmul> library = library(products.get(from));
            if (library.isPresent()) {
                byLibrary(e, library.get(), f16, rows, products.get(from));
                from = to;
                continue;
            }
            while (to < products.size()
                    && to - from < Together.MOST
                    && products.get(from).residual == null
                    && products.get(to).residual == null
                    && !products.get(to).isChanged()
                    && library(products.get(to)).isEmpty()
                    && products.get(to)
                            .weight
                            .format()
                            .equals(products.get(from).weight.format())) {
                to++;
            }
            matrix(e, f16, rows, products.subList(from, to));
            from = to;
        }
    }

    /// A product on tensor cores, then what is done to it, in place.
    private void changed(Emission e, Argument.Address f16, int rows, Product p) {
        matrix(e, f16, rows, List.of(new Product(p.weight, p.bias, null, p.out)));
        Argument.Address out = e.at(p.out);
        long n = (long) rows * p.weight.rows();
        if (p.factor != 1) {
            e.elementwise("scale", n, out, p.factor, out);
        }
        if (p.activation != Product.NO_ACTIVATION) {
            e.elementwise("activate", n, out, p.activation, out);
        }
        if (p.residual != null) {
            e.elementwise("add", n, out, e.at(p.residual), out);
        }
    }

    /// The library that computes a product of many rows, if there is one.
    private Optional<CudaMatmul> library(Product p) {
        return p.bias.equals(Argument.Address.NULL)
                ? Optional.ofNullable(libraries.get(p.weight.format().id()))
                : Optional.empty();
    }

    private static void byLibrary(Emission e, CudaMatmul library, Argument.Address f16, int rows, Product p) {
        Argument.Address out = e.out(p.out);
        e.launch(library, f16, p.weight, out, rows);
        if (p.residual != null) {
            e.elementwise("add", (long) rows * p.weight.rows(), out, e.at(p.residual), out);
        }
    }

    /// The rows of a slot in float16, normed if asked for.
    static Argument.Address f16(Emission e, Slot x, Norm norm) {
        int rows = e.rows(x);
        if (norm == null && e.isF16(x)) {
            return e.at(x);
        }
        Argument.Address f16 = e.need(e.scratch.f16(), 2L * rows * x.width);
        if (norm == null) {
            e.toF16(e.at(x), f16, (long) rows * x.width);
        } else {
            e.launch(
                    Emission.ROWS,
                    "norm_f16",
                    new Blocks(rows, 1, 1, BLOCK, 0),
                    e.at(x),
                    norm.weight,
                    norm.eps,
                    f16,
                    x.width);
        }
        return f16;
    }

    /// A product of many rows in float32.
    private void exact(Emission e, Slot x, Norm norm, Product p) {
        int rows = e.rows(x);
        Argument.Address from = e.at(x);
        if (norm != null) {
            Argument.Address normed = e.need(e.scratch.normed(), 4L * rows * x.width);
            e.launch(
                    Emission.SMALL,
                    "rms_norm",
                    new Blocks(rows, 1, 1, BLOCK, 0),
                    from,
                    norm.weight,
                    norm.eps,
                    normed,
                    x.width,
                    1);
            from = normed;
        }
        int tokenTiles = (rows + FLOAT_TILE - 1) / FLOAT_TILE;
        int rowTiles = (p.weight.rows() + FLOAT_TILE - 1) / FLOAT_TILE;
        int tiles = tokenTiles * rowTiles;
        int splits = Math.clamp(e.traits.multiprocessors() / (e.batchInvariant ? rowTiles : tiles), 1, mostSplits);
        boolean split = splits > 1;
        Argument.Address out = e.out(p.out);
        e.launch(
                FLOAT_MATMUL,
                "float_matmul",
                new Blocks(tokenTiles, rowTiles, splits, BLOCK, 0),
                from,
                rows,
                x.width,
                p.weight.at(),
                p.weight.rows(),
                p.bias,
                p.residual == null ? Argument.Address.NULL : e.at(p.residual),
                out,
                split
                        ? e.need(e.scratch.partial(), 4L * splits * tiles * FLOAT_TILE * FLOAT_TILE)
                        : Argument.Address.NULL,
                split ? e.need(e.scratch.counters(), 4L * tiles) : Argument.Address.NULL,
                splits);
    }

    private void vector(Emission e, Slot x, Norm norm, Product p) {
        DeviceWeight w = p.weight;
        int rows = e.rows(x);
        MvGeometry g =
                MvGeometry.of(schedule, e.traits, new MvShape(rows, w.cols(), schedule.rows(), w.rows()), w.format());
        int tile = g.tile();
        Argument.Address out = e.out(p.out);
        for (int row = 0; row < rows; row += tile) {
            Argument.Address residual = p.residual == null ? Argument.Address.NULL : e.at(p.residual);
            e.launch(
                    module("linear.cu", w.format(), g),
                    "linear_" + w.format().id() + "_t" + tile,
                    new Blocks(
                            Math.min(e.traits.multiprocessors(), w.rows()),
                            1,
                            1,
                            g.block(),
                            // a residual: the product after attention, and the one at the end of a layer
                            p.residual == null ? g.sharedBytes() : g.aloneBytes(e.traits)),
                    w.at(),
                    e.at(x).plus(4L * row * w.cols()),
                    Norm.weight(norm),
                    Norm.eps(norm),
                    p.bias,
                    residual.plus(4L * row * w.rows()),
                    out.plus(4L * row * w.rows()),
                    w.rows(),
                    w.cols(),
                    g.threadsPerRow(),
                    p.factor,
                    p.activation);
        }
    }

    /// Query, key and value projections of a step of few rows in one launch each 8 rows; q and k
    /// share a format.
    public void qkv(Emission e, Slot x, Norm norm, Product q, Product k, Product v) {
        vectors(e, x, norm, List.of(q, k, v));
    }

    /// Up to three products; the first two share a format.
    private void vectors(Emission e, Slot x, Norm norm, List<Product> products) {
        if (products.size() == 1) {
            vector(e, x, norm, products.getFirst());
            return;
        }
        int rows = e.rows(x);
        Together all = new Together(e, products);
        int cols = x.width;
        DeviceFormat format = products.getFirst().weight.format();
        DeviceFormat other = products.getLast().weight.format();
        int outRows = products.stream().mapToInt(p -> p.weight.rows()).sum();
        MvGeometry g =
                MvGeometry.of(schedule, e.traits, new MvShape(rows, cols, schedule.rows(), outRows), format, other);
        int tile = g.tile();
        for (int row = 0; row < rows; row += tile) {
            e.launch(
                    pair(format, other, g),
                    "qkv_" + format.id() + "_" + other.id() + "_t" + tile,
                    new Blocks(
                            Math.max(2, Math.min(e.traits.multiprocessors(), outRows)),
                            1,
                            1,
                            g.block(),
                            g.sharedBytes()),
                    all.weights[0],
                    all.weights[1],
                    all.weights[2],
                    e.at(x).plus(4L * row * cols),
                    Norm.weight(norm),
                    Norm.eps(norm),
                    all.biases[0],
                    all.biases[1],
                    all.biases[2],
                    all.outs[0].plus(4L * row * all.rows[0]),
                    all.outs[1].plus(4L * row * all.rows[1]),
                    all.outs[2].plus(4L * row * all.rows[2]),
                    all.rows[0],
                    all.rows[1],
                    all.rows[2],
                    cols,
                    g.threadsPerRow());
        }
    }

    /// `out = activation(norm(x) gate) * (norm(x) up)`; in steps of many rows, `out` is float16 if
    /// `f16Out` allows it.
    public void gateUp(Emission e, Slot x, Norm norm, GatedWeights pair, Slot out, boolean f16Out) {
        DeviceWeight gate = pair.gate();
        DeviceWeight up = pair.up();
        int rows = e.rows(x);
        int cols = gate.cols();
        if (rows > StepShape.FEW && matmul(gate) && f16Out) {
            Argument.Address f16 = f16(e, x, norm);
            Grid grid = grid(e, (gate.rows() + TILE_ROWS / 2 - 1) / (TILE_ROWS / 2), rows, cols);
            e.cluster(grid.cluster(e))
                    .launch(
                            new KernelModule("matmul.cu", gate.format().macros()),
                            "matmul_gate_up_" + gate.format().id() + grid.suffix(),
                            new Blocks(grid.tokenTiles, grid.rowTiles, grid.splits, BLOCK, grid.sharedBytes()),
                            f16,
                            rows,
                            cols,
                            gate.at(),
                            up.at(),
                            gate.rows(),
                            pair.activation(),
                            e.outF16(out),
                            grid.partial(e),
                            grid.counters(e),
                            grid.splits);
            return;
        }
        Argument.Address to = e.out(out);
        int pairs = 2 * Math.max(1, schedule.rows() / 2);
        MvGeometry g =
                MvGeometry.of(schedule, e.traits, new MvShape(rows, cols, pairs, 2 * gate.rows()), gate.format());
        int tile = g.tile();
        for (int row = 0; row < rows; row += tile) {
            e.launch(
                    module("linear.cu", gate.format(), g),
                    "gate_up_" + gate.format().id() + "_t" + tile,
                    new Blocks(Math.min(e.traits.multiprocessors(), gate.rows()), 1, 1, g.block(), g.sharedBytes()),
                    gate.at(),
                    up.at(),
                    e.at(x).plus(4L * row * cols),
                    Norm.weight(norm),
                    Norm.eps(norm),
                    to.plus(4L * row * gate.rows()),
                    gate.rows(),
                    cols,
                    g.threadsPerRow(),
                    pair.activation());
        }
    }

    private void matrix(Emission e, Argument.Address f16, int rows, List<Product> products) {
        DeviceFormat format = products.getFirst().weight.format();
        int cols = products.getFirst().weight.cols();
        Together all = new Together(e, products);
        int rowTiles = products.stream()
                .mapToInt(p -> (p.weight.rows() + TILE_ROWS - 1) / TILE_ROWS)
                .sum();
        Slot residual = products.getFirst().residual;
        Grid grid = grid(e, rowTiles, rows, cols);
        e.cluster(grid.cluster(e))
                .launch(
                        new KernelModule("matmul.cu", format.macros()),
                        "matmul_" + format.id() + grid.suffix(),
                        new Blocks(grid.tokenTiles, grid.rowTiles, grid.splits, BLOCK, grid.sharedBytes()),
                        f16,
                        rows,
                        cols,
                        all.weights[0],
                        all.weights[1],
                        all.weights[2],
                        all.rows[0],
                        all.rows[1],
                        all.rows[2],
                        all.biases[0],
                        all.biases[1],
                        all.biases[2],
                        residual == null ? Argument.Address.NULL : e.at(residual),
                        all.outs[0],
                        all.outs[1],
                        all.outs[2],
                        grid.partial(e),
                        grid.counters(e),
                        grid.splits);
    }

    /// The geometry of a tensor core launch.
    ///
    /// @param rowTiles tiles of weight rows
    /// @param tokens rows of activations in a tile
    /// @param tokenTiles tiles of activations
    /// @param splits blocks that share a tile, each with a part of the columns
    /// @param alone whether no two blocks have to share a multiprocessor, so that each may take all its registers
    private record Grid(int rowTiles, int tokens, int tokenTiles, int splits, boolean alone) {
        /// What the entry's name ends with.
        String suffix() {
            return "_n" + tokens + (tokens == 128 && alone ? "_alone" : "");
        }

        /// Whether the blocks of a tile add up through distributed shared memory.
        boolean clustered(Emission e) {
            return splits > 1 && e.traits.capability() >= 90;
        }

        int cluster(Emission e) {
            return clustered(e) ? splits : 1;
        }

        int sharedBytes() {
            return MATMUL_BYTES + MATMUL_ROW_BYTES * tokens;
        }

        Argument.Address partial(Emission e) {
            return splits == 1 || clustered(e)
                    ? Argument.Address.NULL
                    : e.need(e.scratch.partial(), 4L * splits * tokenTiles * tokens * rowTiles * TILE_ROWS);
        }

        Argument.Address counters(Emission e) {
            return splits == 1 || clustered(e)
                    ? Argument.Address.NULL
                    : e.need(e.scratch.counters(), 4L * rowTiles * tokenTiles);
        }
    }

    private Grid grid(Emission e, int rowTiles, int rows, int cols) {
        int multiprocessors = e.traits.multiprocessors();
        boolean wide = rows > 128
                && 4 * rowTiles * ((rows + 255) / 256) >= 7 * multiprocessors
                && MATMUL_BYTES + MATMUL_ROW_BYTES * 256 <= e.traits.sharedBytes();
        int tokens = wide ? 256 : Math.clamp(rows, 16, 128);
        int tokenTiles = (rows + tokens - 1) / tokens;
        long tiles = (long) rowTiles * tokenTiles;
        long sharing = e.batchInvariant ? rowTiles : tiles;
        long blocks = rows <= 256 || e.batchInvariant ? 2L * multiprocessors : 3L * multiprocessors / 2;
        int splits = 1;
        while (2 * splits <= mostSplits && 2 * splits * sharing <= blocks && 2 * splits <= (cols + 255) / 256) {
            splits *= 2;
        }
        return new Grid(rowTiles, tokens, tokenTiles, splits, splits * tiles <= multiprocessors);
    }

    private KernelModule module(String file, DeviceFormat format, MvGeometry geometry) {
        Map<String, String> macros = format.macros();
        macros.putAll(schedule.macros());
        macros.putAll(geometry.macros());
        return new KernelModule(file, macros);
    }

    private KernelModule pair(DeviceFormat format, DeviceFormat other, MvGeometry geometry) {
        Map<String, String> macros = format.macros();
        macros.put("TENON_FORMAT_V", other.id());
        if (other.hasHeader()) {
            macros.put("TENON_FORMAT_V_FILE", "\"" + other.headerName() + "\"");
        }
        macros.putAll(schedule.macros());
        macros.putAll(geometry.macros());
        return new KernelModule("qkv.cu", macros);
    }
}
