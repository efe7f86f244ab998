package dev.tenon.platform.contracts.compare;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Fusion;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.itest.testkit.Cut;
import dev.tenon.itest.testkit.reference.OpReference;
import dev.tenon.itest.testkit.reference.Reference;
import dev.tenon.itest.testkit.reference.ReferenceOps;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Walks two runs of one sequence op by op and finds the first op whose outputs differ by more than
/// it may.
///
/// The error of a value is the largest difference in a row as a fraction of that row's root mean
/// square, or of that of all rows where those are short. An op may add a bound of its own to what its
/// inputs differ by already, which it may enlarge a few times. A router's choices, where they differ, are held against
/// each side's own logits.
public final class Comparison {
    /// How an op came out.
    ///
    /// @param index number of the op in the expanded graph
    /// @param layer its layer, or -1 outside of layers
    /// @param op its kind; with fusion all kinds since the op before
    /// @param value name of its output
    /// @param fused whether ops were fused
    /// @param error how far the outputs are apart
    /// @param inputs how far its inputs are apart, the worst of them
    /// @param bound what would be allowed
    /// @param worst where they are furthest apart
    /// @param tokens how many tokens were compared: from the first one on for which two sides rightly
    ///     chose different experts, all that follows differs
    public record Step(
            int index,
            int layer,
            String op,
            String value,
            boolean fused,
            double error,
            double inputs,
            double bound,
            Worst worst,
            int tokens) {
        /// {@return whether the outputs are further apart than they may be}
        public boolean diverges() {
            return !(error <= bound); // also for NaN
        }
    }

    /// The largest difference.
    ///
    /// @param error as a fraction of the row's root mean square; NaN if one side has NaN where the
    ///     other has not
    /// @param token which row
    /// @param element which element
    /// @param a what the one side has there
    /// @param b what the other has
    record Worst(double error, int token, int element, float a, float b) {}

    private static final Pattern LAYER = Pattern.compile("blk\\.(\\d+)\\.");
    private static final double GAIN = 4;
    /// Softmax makes differences of its scores exponentially larger, and a scan those of its decays; a
    /// product makes the differences of one factor as much larger as the other factor's largest
    /// elements are; a norm of heads makes those of small heads larger.
    private static final double LARGE_GAIN = 16;
    /// Rows that are almost zero are compared relative to the others.
    private static final double SMALL_ROW = 1e-3;
    /// Shorter rows are compared relative to the root mean square of all rows: a single sum that
    /// happens to be almost zero does not tell how large the terms are whose rounding it shows.
    private static final int SHORT_ROW = 8;

    private final Side left;
    private final Side right;
    private final int[] tokens;
    private final Tolerances tolerances;
    private final List<Step> steps = new ArrayList<>();

    /// @param left one side
    /// @param right the other
    /// @param tokens token ids
    /// @param tolerances bounds of the single ops
    public Comparison(Side left, Side right, int[] tokens, Tolerances tolerances) {
        this.left = left;
        this.right = right;
        this.tokens = tokens;
        this.tolerances = tolerances;
    }

    /// {@return where the graphs of the two sides part, if they do}
    public Optional<String> graphsDiffer() {
        List<Op> a = left.graph().ops();
        List<Op> b = right.graph().ops();
        for (int i = 0; i < Math.max(a.size(), b.size()); i++) {
            String one = i < a.size() ? text(a.get(i)) : "nothing";
            String other = i < b.size() ? text(b.get(i)) : "nothing";
            if (!one.equals(other)) {
                return Optional.of("op " + i + ": " + one + " against " + other);
            }
        }
        return Optional.empty();
    }

    /// {@return number of ops to walk}
    public int size() {
        return left.graph().ops().size();
    }

    /// Walks the ops one by one, without fusion, to the first that diverges.
    ///
    /// @param progress is told each op's number
    /// @return the ops that were seen, in order; the last one diverges, or none does
    public List<Step> unfused(IntConsumer progress) {
        return walk(false, progress);
    }

    /// Walks the ops with fusion, from one value that stays visible to the next.
    ///
    /// @param progress is told each op's number
    /// @return the groups of ops that were seen, in order; the last one diverges, or none does
    public List<Step> fused(IntConsumer progress) {
        return walk(true, progress);
    }

    private List<Step> walk(boolean fuse, IntConsumer progress) {
        steps.clear();
        Graph graph = left.graph();
        Graph whole = Fusion.fuse(graph);
        Map<Integer, Double> errors = new HashMap<>();
        int begin = 0;
        int rows = tokens.length;
        try (OpOutputs a = left.run(tokens);
                OpOutputs b = right.run(tokens)) {
            for (int i = 0; i < graph.ops().size(); i++) {
                progress.accept(i);
                if (fuse && !staysVisible(whole, graph, i)) {
                    continue;
                }
                float[][] mine = Arrays.copyOf(a.of(Cut.after(graph, i), fuse), rows);
                float[][] theirs = Arrays.copyOf(b.of(Cut.after(right.graph(), i), fuse), rows);
                Worst worst = worst(mine, theirs);
                if (graph.ops().get(i) instanceof ExpertOp.Router router && worst.error() > 0) {
                    int logits = producer(router);
                    worst = misrouted(router, a.of(Cut.after(graph, logits), fuse), mine);
                    Worst other = misrouted(router, b.of(Cut.after(right.graph(), logits), fuse), theirs);
                    worst = other.error() > worst.error() ? other : worst;
                    rows = sameRows(mine, theirs);
                }
                errors.put(graph.ops().get(i).outputs().getFirst().id(), worst.error());
                Step step = step(graph.ops().subList(begin, i + 1), i, fuse, worst, errors, mine.length);
                steps.add(step);
                if (graph.ops().get(i) instanceof ExpertOp.Router router) {
                    errors.put(router.shares().id(), step.bound()); // only the first output of an op is seen
                }
                begin = i + 1;
                if (step.diverges() || rows == 0) {
                    break;
                }
            }
        }
        return List.copyOf(steps);
    }

    private static int sameRows(float[][] a, float[][] b) {
        return IntStream.range(0, a.length)
                .filter(t -> !Arrays.equals(a[t], b[t]))
                .findFirst()
                .orElse(a.length);
    }

    /// {@return number of the op that gives a router's logits}
    private int producer(ExpertOp.Router router) {
        List<Op> ops = left.graph().ops();
        return IntStream.range(0, ops.size())
                .filter(i -> ops.get(i).outputs().contains(router.logits()))
                .findFirst()
                .orElseThrow();
    }

    /// How far the choices of one side are from what its own logits say. Two sides whose logits differ by rounding may
    /// choose differently where two scores are close, and both be right.
    private Worst misrouted(ExpertOp.Router router, float[][] logits, float[][] chosen) {
        Reference reference = new Reference(left.graph(), left.weights());
        Worst worst = new Worst(0, 0, 0, chosen[0][0], chosen[0][0]);
        for (int t = 0; t < chosen.length; t++) {
            double error = reference.misrouted(router, logits[t], chosen[t]);
            if (!(error <= worst.error())) {
                worst = new Worst(error, t, 0, chosen[t][0], chosen[t][0]);
            }
        }
        return worst;
    }

    /// Whether a graph that is cut after an op fuses as the whole graph does up to there.
    private static boolean staysVisible(Graph whole, Graph graph, int index) {
        List<Op> cut = Fusion.fuse(Cut.after(graph, index)).ops();
        boolean added = cut.size() > 1
                && cut.getLast() instanceof CoreOp.SelectRows
                && !whole.ops().contains(cut.getLast());
        List<Op> own = added ? cut.subList(0, cut.size() - 1) : cut;
        return own.size() <= whole.ops().size() && own.equals(whole.ops().subList(0, own.size()));
    }

    private Step step(List<Op> group, int index, boolean fuse, Worst worst, Map<Integer, Double> errors, int compared) {
        double inputs = 0;
        double own = 0;
        double gain = 1;
        for (Op op : group) {
            for (Value input : op.inputs()) {
                inputs = Math.max(inputs, errors.getOrDefault(input.id(), 0.0));
            }
            double opGain = reference(op).enlarges().test(op) ? LARGE_GAIN : GAIN;
            own = group.size() == 1 ? own(op) : Math.min(opGain, 2) * own + own(op);
            gain = Math.max(gain, opGain);
        }
        Op last = group.getLast();
        Value out = last.outputs().getFirst();
        String kinds = group.stream().map(Op::kind).collect(Collectors.joining(" "));
        return new Step(
                index,
                layer(out),
                kinds,
                out.name(),
                fuse,
                worst.error(),
                inputs,
                own + gain * inputs,
                worst,
                compared);
    }

    private static OpReference<Op> reference(Op op) {
        return ReferenceOps.ALL.row(op).orElseThrow();
    }

    /// How large an op's own error may be.
    private double own(Op op) {
        OpReference<Op> reference = reference(op);
        int terms = reference.terms().applyAsInt(op, tokens.length);
        double sums = reference
                .matrix()
                .apply(op)
                .map(weight -> tolerances.of("linear", left.weights().format(weight.name()), terms))
                .orElseGet(() -> tolerances.exact(terms));
        return sums + tokens.length * reference.perPosition();
    }

    static Worst worst(float[][] a, float[][] b) {
        double greatest = 0;
        double squares = 0;
        for (float[] row : b) {
            greatest = Math.max(greatest, rms(row));
            squares += rms(row) * rms(row);
        }
        double least = b[0].length < SHORT_ROW ? Math.sqrt(squares / b.length) : SMALL_ROW * greatest;
        Worst worst = new Worst(0, 0, 0, a[0][0], b[0][0]);
        for (int t = 0; t < b.length; t++) {
            double scale = Math.max(rms(b[t]), least);
            for (int i = 0; i < b[t].length; i++) {
                float x = a[t][i];
                float y = b[t][i];
                boolean same = Float.compare(x, y) == 0 || x == y;
                double error = same ? 0 : Math.abs((double) x - y) / scale;
                if (Double.isNaN(error)) {
                    return new Worst(Double.NaN, t, i, x, y);
                }
                if (error > worst.error()) {
                    worst = new Worst(error, t, i, x, y);
                }
            }
        }
        return worst;
    }

    private static double rms(float[] row) {
        double squares = 0;
        for (float v : row) {
            squares += (double) v * v;
        }
        return Math.sqrt(squares / row.length);
    }

    private static int layer(Value value) {
        Matcher matcher = LAYER.matcher(value.name());
        return matcher.find() ? Integer.parseInt(matcher.group(1)) : -1;
    }

    private static String text(Op op) {
        List<String> weights = op.weights().stream().map(Weight::name).toList();
        return op.kind() + " " + weights + " of width "
                + op.outputs().getFirst().width();
    }
}
