package dev.tenon.platform.core.engine;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.tenon.api.config.Knob;
import dev.tenon.api.config.Setting;
import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.HostCopies;
import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Probe;
import dev.tenon.api.device.StateSlots;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.TokenGenerator;
import dev.tenon.api.device.Weights;
import dev.tenon.api.device.WindowPages;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.graph.GivenRows;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenSampling;
import dev.tenon.platform.core.placement.Placer;
import dev.tenon.platform.core.sampling.DefaultSamplerProvider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/// A backend without arithmetic: the best next token is the sum of all tokens of the sequence so
/// far, modulo the vocabulary. It keeps its "KV cache" in pages, so that a wrong page table gives a
/// wrong token.
final class FakeBackend implements Backend {
    static final int PAGE = 4;

    final String id;
    final int rank;
    final AtomicInteger open = new AtomicInteger();
    final AtomicInteger steps = new AtomicInteger();
    final List<Integer> batchSizes = new ArrayList<>();
    /// Steps of each run in which this "device" chose the tokens.
    final List<Integer> runs = Collections.synchronizedList(new ArrayList<>());
    /// Steps that mixed prompts with rows of which this "device" chose the token.
    final AtomicInteger mixed = new AtomicInteger();
    /// Rows of which it chose the token in steps of [Plan#run].
    final AtomicInteger chosen = new AtomicInteger();
    /// Rows of logits that were read.
    final AtomicInteger read = new AtomicInteger();
    /// Whether it can choose tokens: of top-k too, but not of all tokens.
    volatile boolean chooses;
    /// Whether it does so where there is a mask.
    volatile boolean takesMasks;
    /// Tokens that it has chosen by a mask.
    final AtomicInteger masked = new AtomicInteger();
    volatile boolean available = true;
    /// What opening its device fails with, or null.
    volatile RuntimeException unopened;
    volatile boolean failing;
    /// Whether a step fails after it has moved the states of its sequences on.
    volatile boolean failingLate;
    /// Whether its plans add tokens up in states too, which have to agree with the pages.
    volatile boolean states;
    /// Slots beside those of sequences.
    volatile int checkpoints;
    /// Bytes of a slot.
    volatile int slotBytes = 8;
    /// States that came from the host.
    final AtomicInteger restored = new AtomicInteger();
    /// A head guesses wrongly after tokens whose sum is a multiple of it; 0 for never.
    volatile int misguess;
    /// Rows of heads whose hidden state was not known, and those where it was not what the head's pages say.
    final AtomicInteger unknownStates = new AtomicInteger();
    final List<String> wrongStates = Collections.synchronizedList(new ArrayList<>());
    /// Tokens that layers with a window see, whose pages have to agree with the others; 0 without such layers.
    volatile int window;
    /// Positions of window pages beside those that sequences need.
    volatile int windowsBeside;
    /// How far the most probable token is from the expected one.
    volatile int shift;
    volatile boolean broken;
    volatile long stepMillis;
    /// What it says it reads in place.
    volatile long boundBytes;
    /// Runs at the begin of each step.
    volatile Runnable onStep = () -> {};
    volatile Support support = new Support(Support.Level.FAST, "fake");
    volatile Support givenRows = support;
    /// Runs while a model is being compiled.
    volatile Runnable onCompile = () -> {};

    FakeBackend(String id, int rank) {
        this.id = id;
        this.rank = rank;
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public int rank() {
        return rank;
    }

    List<Setting> settings = List.of();

    @Override
    public List<Setting> settings() {
        return settings;
    }

    List<Knob> knobs = List.of();

    @Override
    public List<Knob> knobs() {
        return knobs;
    }

    /// What its devices were opened with.
    final List<DeviceOptions> opened = new ArrayList<>();
    /// Facts of its device.
    Map<String, String> details = Map.of();

    @Override
    public Probe probe() {
        return new Probe(available, available ? "fake" : "switched off", List.of());
    }

    @Override
    public List<DeviceInfo> devices() {
        return List.of(info());
    }

    private DeviceInfo info() {
        return new DeviceInfo("0", "fake " + id, "fake", 0, details);
    }

    @Override
    public Device open(DeviceOptions options) {
        if (unopened != null) {
            throw unopened;
        }
        opened.add(options);
        open.incrementAndGet();
        return new Device() {
            private boolean closed;

            @Override
            public DeviceInfo info() {
                return FakeBackend.this.info();
            }

            @Override
            public Allocator allocator() {
                throw new IllegalStateException("the engine does not allocate");
            }

            @Override
            public Compiler compiler() {
                return new FakeCompiler();
            }

            @Override
            public void close() {
                if (!closed) {
                    closed = true;
                    open.decrementAndGet();
                }
            }
        };
    }

    private final class FakeCompiler implements Compiler {
        @Override
        public Support supports(Op op, Weights weights, Collection<KernelProvider> kernels) {
            return op instanceof GivenRows ? givenRows : support;
        }

        @Override
        public Plan compile(CompileRequest request) {
            onCompile.run();
            boolean head = request.graph().ops().stream().anyMatch(GivenRows.class::isInstance);
            return head ? new FakeHead(FakeBackend.this, request) : new FakePlan(request);
        }
    }

    private final class FakePlan implements Plan {
        private final int vocab;
        private final int maxTokens;
        /// Whether there are hidden states for a head.
        private final boolean hidden;

        private final int[][] pages;
        private final FakeStates slots;
        private final int seen = window;
        private final FakePages windowPages;
        private boolean closed;

        FakePlan(CompileRequest request) {
            vocab = request.graph().output().width();
            maxTokens = request.options().maxBatchTokens();
            hidden = request.graph().outputs().containsKey(Graph.HIDDEN_ROWS);
            slots = states ? new FakeStates(request.options().stateSlots() + checkpoints) : null;
            pages = new int[(request.options().kvTokens() + PAGE - 1) / PAGE][PAGE];
            PlanOptions asked = request.options();
            int windowTokens = asked.maxSequences() * (seen + Placer.TAKEN_BACK) + maxTokens + windowsBeside;
            windowPages = new FakePages(
                    "fake windows",
                    new int[asked.toBuilder().windowTokens(windowTokens).build().windowPages(PAGE)][PAGE]);
        }

        private int firstSeen(int position) {
            return Math.max(0, position - seen + 1);
        }

        /// Keeps a token in the window's pages, and compares what it sees there.
        private void checkWindow(int[] table, int[] windowTable, int position, int token) {
            int[][] own = windowPages.pages();
            own[windowTable[position / PAGE]][position % PAGE] = token;
            for (int p = 0; p <= position; p++) {
                int held = own[windowTable[p / PAGE]][p % PAGE];
                if (p >= firstSeen(position) && held != pages[table[p / PAGE]][p % PAGE]) {
                    throw new IllegalArgumentException("position " + position + " sees " + held + " at " + p);
                }
            }
        }

        @Override
        public Optional<WindowPages> windowPages() {
            return seen == 0 ? Optional.empty() : Optional.of(new WindowPages(windowPages, this::firstSeen));
        }

        @Override
        public StepResult run(StepInput input) {
            FakeResult result = step(input);
            long own = result.tokens().stream().filter(token -> token >= 0).count();
            chosen.addAndGet((int) own);
            mixed.addAndGet(own > 0 && input.tokenCount() > input.sequenceCount() ? 1 : 0);
            return result;
        }

        private FakeResult step(StepInput input) {
            if (closed) {
                throw new IllegalStateException("closed");
            }
            if (broken) {
                throw new NoClassDefFoundError("a class of a bundle that is gone");
            }
            if (failing) {
                throw new BackendException(ErrorCode.BACKEND_FAILED, "the fake device failed");
            }
            if (input.tokenCount() > maxTokens) {
                throw new IllegalArgumentException("batch of " + input.tokenCount());
            }
            steps.incrementAndGet();
            onStep.run();
            sleep();
            synchronized (batchSizes) {
                batchSizes.add(input.tokenCount());
            }
            List<Integer> best = new ArrayList<>();
            List<Integer> tokens = new ArrayList<>();
            List<Integer> sums = new ArrayList<>();
            for (int t = 0; t < input.tokenCount(); t++) {
                int[] table = input.pageTable(input.sequence(t));
                int position = input.position(t);
                pages[table[position / PAGE]][position % PAGE] = input.token(t);
                if (seen > 0) {
                    checkWindow(table, input.windowTable(input.sequence(t)), position, input.token(t));
                }
                int state = slots == null ? 0 : slots.add(input.stateSlot(input.sequence(t)), position, input.token(t));
                int sum = 0;
                for (int p = 0; p <= position && (hidden || input.wantsLogits(t)); p++) {
                    sum += pages[table[p / PAGE]][p % PAGE];
                }
                sums.add(sum);
                if (input.wantsLogits(t)) {
                    if (slots != null && state != sum) {
                        throw new IllegalArgumentException("position " + position + " of slot "
                                + input.stateSlot(input.sequence(t)) + ": a state of " + state + ", pages of " + sum);
                    }
                    int next = (sum + shift) % vocab;
                    best.add(next);
                    tokens.add(token(next, input.sampling(t), input.mask(t)));
                }
            }
            if (failingLate) {
                throw new BackendException(ErrorCode.BACKEND_FAILED, "the fake device failed late");
            }
            return new FakeResult(best, tokens, sums, read);
        }

        @Override
        public Optional<StateSlots> states() {
            return Optional.ofNullable(slots);
        }

        private boolean canChoose(TokenSampling choice) {
            return chooses
                    && choice != null
                    && (choice.params().temperature() == 0 || choice.params().topK() > 0);
        }

        /// Chooses a token of a row's logits; -1 if this is left to the host.
        private int token(int best, TokenSampling choice, long[] mask) {
            if (!canChoose(choice)) {
                return -1;
            }
            SamplingParams how = SamplingParams.builder()
                    .temperature(choice.params().temperature())
                    .topK(choice.params().topK())
                    .topP(choice.params().topP())
                    .minP(choice.params().minP())
                    .repeatLastN(0)
                    .seed(choice.params().seed())
                    .build();
            Sampler sampler = new DefaultSamplerProvider().create(how, vocab);
            for (long i = 0; i < choice.drawn(); i++) {
                sampler.sampled(0);
            }
            float[] logits = new float[vocab];
            FakeResult.fill(logits, best);
            for (int id = 0; mask != null && id < vocab; id++) {
                if ((mask[id / Long.SIZE] >>> id & 1) == 0) {
                    logits[id] = Float.NEGATIVE_INFINITY;
                }
            }
            masked.addAndGet(mask == null ? 0 : 1);
            return sampler.sample(logits);
        }

        @Override
        public boolean takesMasks() {
            return takesMasks;
        }

        @Override
        public Optional<TokenGenerator> generator() {
            return chooses ? Optional.of(new FakeGenerator()) : Optional.empty();
        }

        /// Runs one step more than the sink wants to hear of, as a device does that is ahead of the
        /// host.
        private final class FakeGenerator implements TokenGenerator {
            @Override
            public boolean supports(TokenSampling choice) {
                return canChoose(choice);
            }

            @Override
            public void generate(StepInput input, List<TokenSampling> choices, int steps, TokenSink sink) {
                int rows = input.tokenCount();
                if (choices.size() != rows || input.logitRows() != rows || input.sequenceCount() != rows) {
                    throw new IllegalArgumentException("a token, a row of logits and a choice for each sequence");
                }
                int[] tokens = new int[rows];
                for (int i = 0; i < rows; i++) {
                    tokens[i] = input.token(i);
                }
                boolean more = true;
                int done = 0;
                for (; more && done < steps; done++) {
                    step(input, choices, tokens, done);
                    more = sink.accept(tokens);
                }
                if (done < steps) {
                    step(input, choices, tokens, done);
                }
                runs.add(done);
            }

            private void step(StepInput input, List<TokenSampling> choices, int[] tokens, int further) {
                StepInput next = new StepInput();
                for (int i = 0; i < tokens.length; i++) {
                    next.addSequence(
                            input.pageTable(i), input.windowTable(i), input.stateSlot(i), input.adapterScales(i));
                    TokenSampling c = choices.get(i);
                    long drawn = c.drawn() + further;
                    next.addToken(tokens[i], input.position(i) + further, new TokenSampling(c.params(), drawn));
                }
                FakeResult result = FakePlan.this.step(next);
                for (int i = 0; i < tokens.length; i++) {
                    tokens[i] = result.token(i);
                }
            }
        }

        private void sleep() {
            if (stepMillis > 0) {
                try {
                    Thread.sleep(stepMillis);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }

        @Override
        public KvPages kvPages() {
            return new FakePages("fake pages of " + id, pages);
        }

        @Override
        public PlanReport report() {
            return new PlanReport(List.of(), 0, new MemoryUse(0, boundBytes, 0));
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    /// The sums of sequences' tokens, and how many they have seen.
    private final class FakeStates implements StateSlots {
        private final int[] sums;
        private final int[] lengths;

        FakeStates(int count) {
            sums = new int[count];
            lengths = new int[count];
        }

        int add(int slot, int position, int token) {
            if (position == 0) {
                sums[slot] = 0;
                lengths[slot] = 0;
            }
            if (position != lengths[slot]) {
                throw new IllegalArgumentException(
                        "position " + position + "; slot " + slot + " has seen " + lengths[slot]);
            }
            lengths[slot]++;
            sums[slot] += token;
            return sums[slot];
        }

        @Override
        public int slotCount() {
            return sums.length;
        }

        @Override
        public long slotBytes() {
            return slotBytes;
        }

        @Override
        public void copy(int from, int to) {
            sums[to] = sums[from];
            lengths[to] = lengths[from];
        }

        @Override
        public Optional<HostCopies> hostCopies() {
            return Optional.of(new FakeCopies(
                    "fake states", (slot, to) -> to.set(JAVA_INT, 0, sums[slot]), (slot, tokens, from) -> {
                        sums[slot] = from.get(JAVA_INT, 0);
                        lengths[slot] = tokens;
                        restored.incrementAndGet();
                    }));
        }
    }

    /// The tokens that a greedy generation on this backend gives.
    static List<Integer> expected(int[] prompt, int vocab, int count) {
        int sum = Arrays.stream(prompt).sum();
        List<Integer> tokens = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int token = sum % vocab;
            tokens.add(token);
            sum += token;
        }
        return tokens;
    }
}
