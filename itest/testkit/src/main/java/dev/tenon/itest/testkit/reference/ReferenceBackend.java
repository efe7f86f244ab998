package dev.tenon.itest.testkit.reference;

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceBuffer;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Probe;
import dev.tenon.api.device.StepCheck;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.TokenGenerator;
import dev.tenon.api.device.Weights;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.text.TokenSampling;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/// A backend made of [Reference] and paged lists, for tests that need some backend: of a bundle
/// that wraps another backend, or of a plan's users.
///
/// It keeps the whole contract and is slow on purpose. Every cache type is accepted and means
/// float64. Its one device has the id `0` and the kind `interpreter`.
public final class ReferenceBackend implements Backend {
    private static final int PER_PAGE = 4;
    private static final long LIMIT = 1L << 32;

    /// Creates the backend; it has no state.
    public ReferenceBackend() {}

    @Override
    public String id() {
        return "reference";
    }

    @Override
    public int rank() {
        return 0;
    }

    @Override
    public Probe probe() {
        return new Probe(true, "needs nothing", List.of());
    }

    @Override
    public List<DeviceInfo> devices() {
        return List.of(new DeviceInfo("0", "interpreter", "interpreter", LIMIT, Map.of()));
    }

    @Override
    public Device open(DeviceOptions options) {
        if (!Set.of("", "0").contains(options.deviceId())) {
            throw new BackendException(ErrorCode.BACKEND_UNAVAILABLE, "there is no device " + options.deviceId());
        }
        return new SlowDevice();
    }

    private final class SlowDevice implements Device, Compiler, Allocator {
        private final AtomicLong allocated = new AtomicLong();
        private final AtomicLong bound = new AtomicLong();

        @Override
        public DeviceInfo info() {
            return devices().getFirst();
        }

        @Override
        public Allocator allocator() {
            return this;
        }

        @Override
        public Compiler compiler() {
            return this;
        }

        @Override
        public void close() {}

        private void take(long bytes) {
            if (bytes > LIMIT - allocated.get()) {
                throw new OutOfResourcesException(
                        ErrorCode.MEMORY, bytes + " bytes do not fit", bytes, allocated.get(), LIMIT);
            }
            allocated.addAndGet(bytes);
        }

        @Override
        public DeviceBuffer allocate(long bytes, String purpose) {
            take(bytes);
            Arena arena = Arena.ofShared();
            return new Buffer(arena.allocate(bytes), () -> {
                arena.close();
                allocated.addAndGet(-bytes);
            });
        }

        @Override
        public DeviceBuffer bind(MemorySegment host, String purpose) {
            bound.addAndGet(host.byteSize());
            return new Buffer(host, () -> bound.addAndGet(-host.byteSize()));
        }

        @Override
        public MemoryUse use() {
            return new MemoryUse(allocated.get(), bound.get(), LIMIT);
        }

        @Override
        public Support supports(Op op, Weights weights, Collection<KernelProvider> kernels) {
            boolean known = op instanceof CustomOp || op instanceof CoreOp || op instanceof ExpertOp;
            return known
                    ? new Support(Support.Level.GENERIC, "interpreted")
                    : new Support(Support.Level.NONE, "unknown op " + op.kind());
        }

        @Override
        public Plan compile(CompileRequest request) {
            List<Issue> issues = new ArrayList<>();
            for (Op op : request.graph().expanded().ops()) {
                if (supports(op, request.weights(), List.of()).level() == Support.Level.NONE) {
                    issues.add(Issue.error(ErrorCode.BACKEND_UNSUPPORTED, "op " + op.kind() + " is unknown", ""));
                }
            }
            if (!issues.isEmpty()) {
                throw new UnsupportedModelException("not supported", issues);
            }
            return new SlowPlan(this, request);
        }
    }

    private record Buffer(MemorySegment memory, Runnable free, boolean[] closed) implements DeviceBuffer {
        Buffer(MemorySegment memory, Runnable free) {
            this(memory, free, new boolean[1]);
        }

        @Override
        public long sizeBytes() {
            return memory.byteSize();
        }

        @Override
        public Optional<MemorySegment> host() {
            return Optional.of(memory);
        }

        @Override
        public void write(long offsetBytes, MemorySegment source) {
            memory.asSlice(offsetBytes, source.byteSize()).copyFrom(source);
        }

        @Override
        public void read(long offsetBytes, MemorySegment target) {
            target.copyFrom(memory.asSlice(offsetBytes, target.byteSize()));
        }

        @Override
        public void close() {
            if (!closed[0]) {
                closed[0] = true;
                free.run();
            }
        }
    }

    private final class SlowPlan implements Plan, KvPages {
        private final SlowDevice device;
        private final CompileRequest request;
        private final Reference reference;
        private final long bytes;
        private final int pages;
        private final int vocabularySize;
        /// `[layer][page * PER_PAGE + slot]`.
        private final double[][][] keys;

        private final double[][][] values;
        private final StepCheck check;
        private boolean closed;

        SlowPlan(SlowDevice device, CompileRequest request) {
            this.device = device;
            this.request = request;
            Graph graph = request.graph().expanded();
            reference = new Reference(graph, request.weights());
            pages = Math.ceilDiv(request.options().kvTokens(), PER_PAGE);
            int layers = graph.attentionLayers().size();
            bytes = Math.max(1, pages * pageBytes());
            device.take(bytes);
            keys = new double[layers][pages * PER_PAGE][];
            values = new double[layers][pages * PER_PAGE][];
            vocabularySize = ((CoreOp.Embedding) graph.ops().getFirst()).table().rows();
            check = new StepCheck(request.options(), PER_PAGE, pages, vocabularySize);
        }

        @Override
        public StepResult run(StepInput in) {
            if (closed) {
                throw new TenonException(ErrorCode.CLOSED, "the plan is closed");
            }
            check.check(in);
            List<TokenSampling> choices = new ArrayList<>();
            List<double[]> rows = new ArrayList<>();
            for (int from = 0; from < in.tokenCount(); from = end(in, from)) {
                double[][] computed = rows(in, from, end(in, from));
                for (int t = from; t < from + computed.length; t++) {
                    if (in.wantsLogits(t)) {
                        rows.add(computed[t - from]);
                        choices.add(in.sampling(t));
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
                    double[] source = rows.get(row);
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
                    return HostGenerator.sample(logits, choice, 0);
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

        private double[][] rows(StepInput in, int from, int to) {
            int[] tokens = new int[to - from];
            int[] positions = new int[to - from];
            for (int t = from; t < to; t++) {
                tokens[t - from] = in.token(t);
                positions[t - from] = in.position(t);
            }
            return reference.evaluate(tokens, positions, new PagedStore(in.pageTable(in.sequence(from))));
        }

        @Override
        public Optional<TokenGenerator> generator() {
            return Optional.of(new HostGenerator(this, vocabularySize));
        }

        private final class PagedStore implements KvStore {
            private final int[] table;

            PagedStore(int[] table) {
                this.table = table;
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
            return new PlanReport(steps, weightBytes, device.use());
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
            long perToken = 1;
            for (CoreOp.Attention a : request.graph().expanded().attentionLayers()) {
                perToken += 8L * (a.k().width() + a.v().width());
            }
            return perToken * PER_PAGE;
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
                device.allocated.addAndGet(-bytes);
            }
            closed = true;
        }
    }
}
