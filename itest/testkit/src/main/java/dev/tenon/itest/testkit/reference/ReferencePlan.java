package dev.tenon.itest.testkit.reference;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StateSlots;
import dev.tenon.api.device.StepCheck;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.TokenGenerator;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.JoinRows;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.text.TokenSampling;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/// A plan of [ReferenceBackend]: keys and values in paged lists, states in slots, each step through
/// [Reference].
final class ReferencePlan implements Plan, KvPages {
    private static final int PER_PAGE = 4;

    private final Supplier<MemoryUse> use;
    private final Runnable release;
    private final CompileRequest request;
    private final Reference reference;
    private final int pages;
    private final int vocabularySize;
    /// `[layer][page * PER_PAGE + slot]`.
    private final double[][][] keys;

    private final double[][][] values;
    /// Of each slot; empty if the graph has no states.
    private final List<Map<Op, double[]>> slots = new ArrayList<>();
    private final StepCheck check;
    /// Names of further outputs, by value, and which of them have the rows of wanted logits only.
    private final Map<Value, String> outputs = new HashMap<>();

    private final Set<String> selected = new HashSet<>();
    private boolean closed;

    /// @param request the graph and its weights
    /// @param use memory in use on the device
    /// @param release releases the plan's memory
    ReferencePlan(CompileRequest request, Supplier<MemoryUse> use, Runnable release) {
        this.request = request;
        this.use = use;
        this.release = release;
        Graph graph = request.graph().expanded();
        reference = new Reference(graph, request.weights());
        pages = pages(request);
        int layers = graph.cacheLayers().size();
        keys = new double[layers][pages * PER_PAGE][];
        values = new double[layers][pages * PER_PAGE][];
        // Without a table of tokens any will do.
        vocabularySize =
                graph.ops().getFirst() instanceof CoreOp.Embedding e ? e.table().rows() : Integer.MAX_VALUE;
        for (int slot = 0; slot < slotCount(request); slot++) {
            slots.add(new HashMap<>());
        }
        Set<Value> chosen = new HashSet<>();
        for (Op op : graph.ops()) {
            if (op instanceof CoreOp.SelectRows
                    || op instanceof JoinRows
                    || op.inputs().stream().anyMatch(chosen::contains)) {
                chosen.addAll(op.outputs());
            }
        }
        graph.outputs().forEach((name, value) -> {
            outputs.put(value, name);
            if (chosen.contains(value)) {
                selected.add(name);
            }
        });
        check = new StepCheck(request.options(), PER_PAGE, pages, vocabularySize, slots.size());
    }

    private static int pages(CompileRequest request) {
        return Math.ceilDiv(request.options().kvTokens(), PER_PAGE);
    }

    private static long pageBytes(CompileRequest request) {
        long perToken = 1;
        for (CoreOp.Attention a : request.graph().expanded().cacheLayers()) {
            perToken += 8L * (a.k().width() + a.v().width());
        }
        return perToken * PER_PAGE;
    }

    private static int slotCount(CompileRequest request) {
        return request.graph().expanded().opsWithState().isEmpty()
                ? 0
                : request.options().stateSlots();
    }

    private static long slotBytes(CompileRequest request) {
        return 8
                * request.graph().expanded().opsWithState().stream()
                        .mapToLong(RecurrentOp::stateFloats)
                        .sum();
    }

    /// {@return bytes of the memory that a plan needs}
    ///
    /// @param request the graph and its weights
    static long memoryBytes(CompileRequest request) {
        return Math.max(1, pages(request) * pageBytes(request) + slotCount(request) * slotBytes(request));
    }

    @Override
    public StepResult run(StepInput in) {
        if (closed) {
            throw new TenonException(ErrorCode.CLOSED, "the plan is closed");
        }
        check.check(in);
        List<TokenSampling> choices = new ArrayList<>();
        List<long[]> masks = new ArrayList<>();
        List<double[]> rows = new ArrayList<>();
        Map<String, List<double[]>> named = new HashMap<>();
        outputs.values().forEach(name -> named.put(name, new ArrayList<>()));
        for (int from = 0; from < in.tokenCount(); from = end(in, from)) {
            int first = from;
            double[][] computed = rows(in, from, end(in, from), (value, all) -> {
                String name = outputs.get(value);
                for (int t = 0; name != null && t < all.length; t++) {
                    if (in.wantsLogits(first + t) || !selected.contains(name)) {
                        named.get(name).add(all[t]);
                    }
                }
            });
            for (int t = from; t < from + computed.length; t++) {
                if (in.wantsLogits(t)) {
                    rows.add(computed[t - from]);
                    choices.add(in.sampling(t));
                    masks.add(in.mask(t));
                }
            }
        }
        return new StepResult() {
            @Override
            public int rows() {
                return rows.size();
            }

            @Override
            public void logits(int row, float[] target) {
                copy(rows.get(row), target);
            }

            @Override
            public int rows(String output) {
                return named.containsKey(output) ? named.get(output).size() : StepResult.super.rows(output);
            }

            @Override
            public void output(String output, int row, float[] target) {
                if (!named.containsKey(output)) {
                    StepResult.super.output(output, row, target);
                }
                copy(named.get(output).get(row), target);
            }

            private void copy(double[] source, float[] target) {
                for (int i = 0; i < source.length; i++) {
                    target[i] = (float) source[i];
                }
            }

            @Override
            public int token(int row) {
                TokenSampling choice = choices.get(row);
                if (choice == null) {
                    return -1;
                }
                float[] logits = new float[vocabularySize];
                logits(row, logits);
                return HostGenerator.sample(logits, masks.get(row), choice, 0);
            }
        };
    }

    /// {@return the token after those that are computed together: one sequence's}
    private int end(StepInput in, int from) {
        int end = from + 1;
        while (end < in.tokenCount() && in.sequence(end) == in.sequence(from)) {
            end++;
        }
        return end;
    }

    private double[][] rows(StepInput in, int from, int to, BiConsumer<Value, double[][]> seen) {
        int[] tokens = new int[to - from];
        int[] positions = new int[to - from];
        for (int t = from; t < to; t++) {
            tokens[t - from] = in.token(t);
            positions[t - from] = in.position(t);
        }
        int sequence = in.sequence(from);
        Map<Op, double[]> states = slots.isEmpty() ? Map.of() : slots.get(in.stateSlot(sequence));
        if (positions[0] == 0 && !slots.isEmpty()) {
            states.clear();
        }
        return reference.evaluate(tokens, positions, new PagedStore(in, from, states), seen);
    }

    @Override
    public boolean takesMasks() {
        return true;
    }

    @Override
    public Optional<TokenGenerator> generator() {
        return Optional.of(new HostGenerator(this, vocabularySize));
    }

    private final class PagedStore implements KvStore {
        private final StepInput input;
        private final int first;
        private final int sequence;
        private final int[] table;
        private final Map<Op, double[]> states;

        PagedStore(StepInput input, int first, Map<Op, double[]> states) {
            this.input = input;
            this.first = first;
            this.sequence = input.sequence(first);
            this.table = input.pageTable(sequence);
            this.states = states;
        }

        private int slot(int position) {
            return table[position / PER_PAGE] * PER_PAGE + position % PER_PAGE;
        }

        @Override
        public void put(int layer, int position, double[] key, double[] value) {
            keys[layer][slot(position)] = key;
            values[layer][slot(position)] = value;
        }

        @Override
        public double[] key(int layer, int position) {
            return keys[layer][slot(position)];
        }

        @Override
        public double[] value(int layer, int position) {
            return values[layer][slot(position)];
        }

        private int token(int position) {
            return first + position - input.position(first);
        }

        @Override
        public float[] given(int position) {
            return input.row(token(position));
        }

        @Override
        public int coordinate(int position, int axis) {
            return input.coordinate(token(position), axis);
        }

        @Override
        public int[] span(int position) {
            return new int[] {input.spanStart(token(position)), input.spanEnd(token(position))};
        }

        @Override
        public float adapterScale(int adapter) {
            return input.adapterScale(sequence, adapter);
        }

        @Override
        public double[] state(Op op) {
            return states.computeIfAbsent(op, o -> new double[Math.toIntExact(RecurrentOp.stateFloats(o))]);
        }
    }

    @Override
    public Optional<StateSlots> states() {
        return slots.isEmpty() ? Optional.empty() : Optional.of(new Slots());
    }

    private final class Slots implements StateSlots {
        @Override
        public int slotCount() {
            return slots.size();
        }

        @Override
        public long slotBytes() {
            return ReferencePlan.slotBytes(request);
        }

        @Override
        public void copy(int from, int to) {
            Map<Op, double[]> target = slots.get(to);
            target.clear();
            slots.get(from).forEach((op, state) -> target.put(op, state.clone()));
        }
    }

    @Override
    public KvPages kvPages() {
        return this;
    }

    @Override
    public PlanReport report() {
        List<PlanReport.Kernel> steps = request.graph().ops().stream()
                .map(op -> new PlanReport.Kernel(op.kind(), "", "interpreter", Support.Level.GENERIC))
                .toList();
        long weightBytes = request.graph().weights().stream()
                .mapToLong(w -> request.weights().info(w.name()).sizeBytes())
                .sum();
        return new PlanReport(steps, weightBytes, use.get());
    }

    @Override
    public int tokensPerPage() {
        return PER_PAGE;
    }

    @Override
    public int pageCount() {
        return pages;
    }

    @Override
    public long pageBytes() {
        return pageBytes(request);
    }

    @Override
    public void copy(int from, int to) {
        for (double[][][] all : List.of(keys, values)) {
            for (double[][] layer : all) {
                for (int i = 0; i < PER_PAGE; i++) {
                    layer[to * PER_PAGE + i] = layer[from * PER_PAGE + i];
                }
            }
        }
    }

    @Override
    public void close() {
        if (!closed) {
            release.run();
        }
        closed = true;
    }
}
