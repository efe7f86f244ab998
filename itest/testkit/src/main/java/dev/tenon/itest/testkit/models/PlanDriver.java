package dev.tenon.itest.testkit.models;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.HostCopies;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.StateSlots;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/// Plays the platform's part for a plan: hands out pages, keeps page tables, fills batches.
///
/// Owns the plan. Pages are handed out in a shuffled order, so that a backend which takes them for
/// consecutive is found out. Not safe for several threads.
public final class PlanDriver implements AutoCloseable {
    private final Plan plan;
    private final int outputWidth;
    private final Deque<Integer> freePages = new ArrayDeque<>();
    private final Deque<Integer> freeSlots = new ArrayDeque<>();
    private final StepInput input = new StepInput();

    /// Limits and choices for the plan.
    ///
    /// @param maxTokens most tokens in one step
    /// @param maxSequences most sequences in one step
    /// @param positions positions that each sequence may reach
    /// @param keyType element type of the cached keys
    /// @param valueType element type of the cached values
    /// @param fuse whether ops may be fused
    /// @param batchInvariant whether bits must not depend on the batch
    /// @param kernels kernels of other bundles
    public record Settings(
            int maxTokens,
            int maxSequences,
            int positions,
            PlanOptions.KvType keyType,
            PlanOptions.KvType valueType,
            boolean fuse,
            boolean batchInvariant,
            Collection<KernelProvider> kernels) {
        /// {@return settings with a float32 cache, fusion and no further kernels}
        ///
        /// @param maxTokens most tokens in one step
        /// @param maxSequences most sequences in one step
        /// @param positions positions that each sequence may reach
        public static Settings of(int maxTokens, int maxSequences, int positions) {
            PlanOptions.KvType type = PlanOptions.KvType.F32;
            return new Settings(maxTokens, maxSequences, positions, type, type, true, false, List.of());
        }

        /// {@return the same with fusion switched on or off}
        ///
        /// @param on whether ops may be fused
        public Settings withFuse(boolean on) {
            return new Settings(maxTokens, maxSequences, positions, keyType, valueType, on, batchInvariant, kernels);
        }

        /// {@return the same for a plan whose bits do not depend on the batch}
        public Settings withBatchInvariance() {
            return new Settings(maxTokens, maxSequences, positions, keyType, valueType, fuse, true, kernels);
        }

        /// {@return the same with another cache type}
        ///
        /// @param type element type of the cache
        public Settings withKvType(PlanOptions.KvType type) {
            return withKvTypes(type, type);
        }

        /// {@return the same with other cache types}
        ///
        /// @param keys element type of the cached keys
        /// @param values element type of the cached values
        public Settings withKvTypes(PlanOptions.KvType keys, PlanOptions.KvType values) {
            return new Settings(maxTokens, maxSequences, positions, keys, values, fuse, batchInvariant, kernels);
        }

        /// {@return the same with kernels of other bundles}
        ///
        /// @param providers who offers them
        public Settings withKernels(Collection<KernelProvider> providers) {
            return new Settings(
                    maxTokens, maxSequences, positions, keyType, valueType, fuse, batchInvariant, providers);
        }

        public CompileRequest request(Model model, int kvTokens) {
            PlanOptions options = PlanOptions.builder(kvTokens)
                    .maxBatchTokens(maxTokens)
                    .maxSequences(maxSequences)
                    .keyType(keyType)
                    .valueType(valueType)
                    .fuse(fuse)
                    .batchInvariant(batchInvariant)
                    .build();
            return CompileRequest.builder(model.graph(), model.weights(), options)
                    .kernels(kernels)
                    .build();
        }
    }

    /// One sequence: its page table and how far it is.
    public static final class Sequence {
        private int[] pages = {};
        private int slot = StepInput.NO_SLOT;
        private float[] adapters = {};
        private int length;

        private Sequence() {}

        /// Uses adapters for the tokens that follow.
        ///
        /// @param scales the scale of each adapter of the graph; those after the last one are not used
        /// @return this
        public Sequence adapters(float... scales) {
            adapters = scales.clone();
            return this;
        }

        /// {@return the page table}
        public int[] pages() {
            return pages;
        }

        /// {@return the number of tokens run}
        public int length() {
            return length;
        }
    }

    /// Tokens of one sequence in a step.
    ///
    /// @param sequence which sequence
    /// @param tokens its next tokens
    /// @param logits whether all rows want logits; else none does
    public record Chunk(Sequence sequence, int[] tokens, boolean logits) {}

    /// Compiles a model with room for all sequences; the first plan only tells the page size.
    ///
    /// @param device an open device; the caller closes it, after this
    /// @param model graph and weights; borrowed
    /// @param settings limits
    public PlanDriver(Device device, Model model, Settings settings) {
        int tokensPerPage;
        try (Plan first = device.compiler().compile(settings.request(model, 1))) {
            tokensPerPage = first.kvPages().tokensPerPage();
        }
        int pagesEach = (settings.positions() + tokensPerPage - 1) / tokensPerPage;
        int kvTokens = Math.multiplyExact(Math.multiplyExact(pagesEach, settings.maxSequences()), tokensPerPage);
        plan = device.compiler().compile(settings.request(model, kvTokens));
        outputWidth = model.graph().output().width();
        List<Integer> pages = new ArrayList<>();
        for (int page = 0; page < plan.kvPages().pageCount(); page++) {
            pages.add(page);
        }
        Collections.shuffle(pages, new Random(7));
        freePages.addAll(pages);
        for (int slot = plan.states().map(StateSlots::slotCount).orElse(0) - 1; slot >= 0; slot--) {
            freeSlots.add(slot);
        }
    }

    /// {@return the plan}
    public Plan plan() {
        return plan;
    }

    /// {@return a new sequence without pages}
    public Sequence open() {
        return new Sequence();
    }

    /// Gives the pages and the state slot of a sequence back, to be used again at once; they are not cleared.
    ///
    /// @param sequence ends here
    public void release(Sequence sequence) {
        for (int page : sequence.pages) {
            freePages.addFirst(page);
        }
        if (sequence.slot != StepInput.NO_SLOT) {
            freeSlots.addFirst(sequence.slot);
        }
        sequence.slot = StepInput.NO_SLOT;
        sequence.pages = new int[0];
        sequence.length = 0;
    }

    /// Copies a sequence, page by page, with [dev.tenon.api.device.KvPages#copy(int, int)], and its state with
    /// [StateSlots#copy(int, int)].
    ///
    /// @param sequence the original
    /// @return a sequence of the same length with pages of its own
    public Sequence fork(Sequence sequence) {
        Sequence copy = new Sequence();
        copy.length = sequence.length;
        copy.pages = new int[sequence.pages.length];
        for (int i = 0; i < copy.pages.length; i++) {
            copy.pages[i] = takePage();
            plan.kvPages().copy(sequence.pages[i], copy.pages[i]);
        }
        if (sequence.slot != StepInput.NO_SLOT) {
            copy.slot = takeSlot();
            plan.states().orElseThrow().copy(sequence.slot, copy.slot);
        }
        return copy;
    }

    /// Copies a sequence by way of the host, with [dev.tenon.api.device.HostCopies].
    ///
    /// @param sequence the original
    /// @return as [#fork]; empty if the plan cannot bring its memory to the host
    public Optional<Sequence> forkThroughHost(Sequence sequence) {
        Optional<HostCopies> pages = plan.kvPages().hostCopies();
        if (pages.isEmpty()) {
            return Optional.empty();
        }
        Sequence copy = new Sequence();
        copy.length = sequence.length;
        copy.pages = new int[sequence.pages.length];
        for (int i = 0; i < copy.pages.length; i++) {
            copy.pages[i] = takePage();
            copy(pages.get(), plan.kvPages().pageBytes(), sequence.pages[i], copy.pages[i], copy.length);
        }
        if (sequence.slot != StepInput.NO_SLOT) {
            StateSlots states = plan.states().orElseThrow();
            copy.slot = takeSlot();
            copy(states.hostCopies().orElseThrow(), states.slotBytes(), sequence.slot, copy.slot, copy.length);
        }
        return Optional.of(copy);
    }

    private static void copy(HostCopies copies, long bytes, int from, int to, int tokens) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment piece = arena.allocate(Math.max(1, bytes));
            copies.read(from, piece);
            copies.write(to, tokens, piece);
        }
    }

    private int takeSlot() {
        if (freeSlots.isEmpty()) {
            throw new IllegalStateException("no slot left; the test asks for more sequences than its settings say");
        }
        return freeSlots.removeFirst();
    }

    private int takePage() {
        if (freePages.isEmpty()) {
            throw new IllegalStateException("no page left; the test asks for more positions than its settings say");
        }
        return freePages.removeFirst();
    }

    /// Runs one step.
    ///
    /// @param chunks tokens of each sequence, each sequence at most once
    /// @return the logits of all rows that wanted them, in order
    public float[][] step(Chunk... chunks) {
        input.clear();
        for (Chunk chunk : chunks) {
            Sequence s = chunk.sequence();
            int perPage = plan.kvPages().tokensPerPage();
            while (s.pages.length * perPage < s.length + chunk.tokens().length) {
                s.pages = Arrays.copyOf(s.pages, s.pages.length + 1);
                s.pages[s.pages.length - 1] = takePage();
            }
            if (s.slot == StepInput.NO_SLOT && plan.states().isPresent()) {
                s.slot = takeSlot();
            }
            input.addSequence(s.pages, s.slot, s.adapters);
            for (int token : chunk.tokens()) {
                input.addToken(token, s.length++, chunk.logits());
            }
        }
        return rows(plan.run(input));
    }

    /// Runs tokens of one sequence in steps of at most a size.
    ///
    /// @param sequence which sequence
    /// @param tokens its next tokens
    /// @param chunkSize tokens in a step
    /// @return the logits after every token
    public float[][] feed(Sequence sequence, int[] tokens, int chunkSize) {
        float[][] all = new float[tokens.length][];
        for (int from = 0; from < tokens.length; from += chunkSize) {
            int to = Math.min(tokens.length, from + chunkSize);
            float[][] rows = step(new Chunk(sequence, Arrays.copyOfRange(tokens, from, to), true));
            if (rows.length != to - from) {
                throw new AssertionError("asked for " + (to - from) + " rows of logits, got " + rows.length);
            }
            System.arraycopy(rows, 0, all, from, rows.length);
        }
        return all;
    }

    /// {@return copies of the rows of a result}
    ///
    /// @param result what a step gave
    public float[][] rows(StepResult result) {
        float[][] rows = new float[result.rows()][outputWidth];
        for (int r = 0; r < rows.length; r++) {
            Arrays.fill(rows[r], Float.NaN);
            result.logits(r, rows[r]);
        }
        return rows;
    }

    @Override
    public void close() {
        plan.close();
    }
}
