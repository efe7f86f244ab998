package ${package};

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.device.Support;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import java.util.ArrayList;
import java.util.List;

/// A compiled graph: walks its core ops for one token after the other.
///
/// Keys and values are kept in float32 whatever type was asked for, a row for each position of a page.
final class PlainPlan implements Plan, KvPages {
    private static final int TOKENS_PER_PAGE = 16;

    private final PlainDevice device;
    private final Graph graph;
    private final PlainOps ops;
    private final PlanOptions options;
    private final PlanReport report;
    private final int vocabularySize;
    private final int pages;
    private final long pageBytes;
    /// `[layer][page * TOKENS_PER_PAGE + position in the page][headCountKv * length]`
    private final float[][][] keys;
    private final float[][][] values;
    private boolean closed;

    PlainPlan(PlainDevice device, CompileRequest request) {
        this.device = device;
        graph = request.graph().expanded();
        options = request.options();
        pages = Math.ceilDiv(options.kvTokens(), TOKENS_PER_PAGE);
        List<CoreOp.Attention> layers = graph.attentionLayers();
        long rowBytes = Math.max(
                1,
                layers.stream()
                        .mapToLong(a -> 4L * (a.k().width() + a.v().width()))
                        .sum());
        pageBytes = rowBytes * TOKENS_PER_PAGE;
        vocabularySize = ((CoreOp.Embedding) graph.ops().getFirst()).table().rows();
        ops = new PlainOps(request.weights());
        List<PlanReport.Kernel> steps = graph.ops().stream()
                .map(op -> new PlanReport.Kernel(
                        op.kind(), op.outputs().getFirst().name(), "plain.java", Support.Level.GENERIC))
                .toList();
        long weightBytes = graph.weights().stream()
                .mapToLong(w -> request.weights().info(w.name()).sizeBytes())
                .sum();
        // Last, so that nothing is left taken if something above fails.
        device.take(pages * pageBytes, "The KV cache");
        int slots = layers.isEmpty() ? 0 : pages * TOKENS_PER_PAGE;
        keys = new float[layers.size()][slots][];
        values = new float[layers.size()][slots][];
        report = new PlanReport(steps, weightBytes, device.use());
    }

    @Override
    public StepResult run(StepInput input) {
        if (closed) {
            throw new TenonException(ErrorCode.CLOSED, "A step was run on a plan that is closed");
        }
        check(input);
        List<double[]> rows = new ArrayList<>();
        for (int t = 0; t < input.tokenCount(); t++) {
            double[] row = evaluate(input.token(t), input.position(t), input.pageTable(input.sequence(t)));
            if (input.wantsLogits(t)) {
                rows.add(row);
            }
        }
        return new StepResult() {
            @Override
            public int rows() {
                return rows.size();
            }

            @Override
            public void logits(int row, float[] target) {
                double[] source = rows.get(row);
                for (int i = 0; i < source.length; i++) {
                    target[i] = (float) source[i];
                }
            }
        };
    }

    private void check(StepInput in) {
        require(in.tokenCount() <= options.maxBatchTokens(), in.tokenCount() + " tokens", "at most " + options.maxBatchTokens());
        require(
                in.sequenceCount() <= options.maxSequences(),
                in.sequenceCount() + " sequences",
                "at most " + options.maxSequences());
        for (int t = 0; t < in.tokenCount(); t++) {
            int token = in.token(t);
            int position = in.position(t);
            int[] table = in.pageTable(in.sequence(t));
            require(token >= 0 && token < vocabularySize, "token " + token, "0 to " + (vocabularySize - 1));
            require(
                    position >= 0 && position / TOKENS_PER_PAGE < table.length,
                    "position " + position,
                    "a page table that reaches it");
            int page = table[position / TOKENS_PER_PAGE];
            require(page >= 0 && page < pages, "page " + page, "0 to " + (pages - 1));
        }
    }

    private static void require(boolean holds, String found, String expected) {
        if (!holds) {
            throw new IllegalArgumentException("the step has " + found + "; the plan takes " + expected);
        }
    }

    private double[] evaluate(int token, int position, int[] table) {
        double[][] rows = new double[graph.valueCount()][];
        for (Op op : graph.ops()) {
            if (op instanceof CoreOp.Attention a) {
                int slot = slot(table, position);
                keys[a.layer()][slot] = PlainOps.narrow(rows[a.k().id()]);
                values[a.layer()][slot] = PlainOps.narrow(rows[a.v().id()]);
                rows[a.out().id()] = PlainOps.attention(
                        a,
                        rows[a.q().id()],
                        position,
                        p -> keys[a.layer()][slot(table, p)],
                        p -> values[a.layer()][slot(table, p)]);
            } else {
                rows[op.outputs().getFirst().id()] = ops.run(op, rows, token, position);
            }
        }
        return rows[graph.output().id()];
    }

    private static int slot(int[] table, int position) {
        return table[position / TOKENS_PER_PAGE] * TOKENS_PER_PAGE + position % TOKENS_PER_PAGE;
    }

    @Override
    public PlanReport report() {
        return report;
    }

    // --- pages

    @Override
    public KvPages kvPages() {
        return this;
    }

    @Override
    public int tokensPerPage() {
        return TOKENS_PER_PAGE;
    }

    @Override
    public int pageCount() {
        return pages;
    }

    @Override
    public long pageBytes() {
        return pageBytes;
    }

    /// Rows are never changed once they are there, so copying them means sharing them.
    @Override
    public void copy(int from, int to) {
        for (float[][][] all : List.of(keys, values)) {
            for (float[][] layer : all) {
                System.arraycopy(layer, from * TOKENS_PER_PAGE, layer, to * TOKENS_PER_PAGE, TOKENS_PER_PAGE);
            }
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            device.give(pages * pageBytes);
        }
    }
}
