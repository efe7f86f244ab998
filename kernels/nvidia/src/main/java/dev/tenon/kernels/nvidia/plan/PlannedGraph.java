package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StepCheck;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.TokenChoice;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.Constant;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.KvBuffer;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.source.KernelModule;
import dev.tenon.kernels.nvidia.step.Buckets;
import dev.tenon.kernels.nvidia.step.PageTables;
import dev.tenon.kernels.nvidia.step.StepLayout;
import dev.tenon.kernels.nvidia.step.StepShape;
import dev.tenon.kernels.nvidia.step.TokenRing;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A graph planned for a device: the memory it needs, what is uploaded, and the flat list of
/// launches for a step of any shape. Immutable once made, but for [#writePages]; that is called
/// under the plan's lock.
public final class PlannedGraph {
    private final PlanOptions options;
    private final DeviceTraits traits;
    private final BufferList buffers;
    private final Scratch scratch;
    private final BufferSpec step;
    private final BufferSpec pages;
    private final int pageCount;
    private final List<PlannedOp> ops;
    private final WeightList weights;
    private final List<KvBuffer> cache;
    private final int tileRows;
    private final int maxSelected;
    private final PageTables tables;
    private int deepFrom = Integer.MAX_VALUE;
    private Slot output;
    private int vocabulary;

    PlannedGraph(
            PlanOptions options,
            DeviceTraits traits,
            BufferList buffers,
            Scratch scratch,
            BufferSpec step,
            BufferSpec pages,
            int pageCount,
            List<PlannedOp> ops,
            WeightList weights,
            List<KvBuffer> cache,
            int tileRows,
            int maxSelected) {
        this.options = options;
        this.traits = traits;
        this.buffers = buffers;
        this.scratch = scratch;
        this.step = step;
        this.pages = pages;
        this.pageCount = pageCount;
        this.ops = List.copyOf(ops);
        this.weights = weights;
        this.cache = List.copyOf(cache);
        this.tileRows = tileRows;
        this.maxSelected = maxSelected;
        this.tables = new PageTables(pageCount);
    }

    void deepFrom(int position) {
        deepFrom = position;
    }

    void output(Slot slot, int nVocabulary) {
        output = slot;
        vocabulary = nVocabulary;
    }

    /// Finds out how much scratch memory the largest steps need.
    void measure(int maxRows) {
        for (int rows = 1; rows <= maxRows; rows *= 2) {
            int most = Math.min(rows, maxSelected);
            for (int selected = rows == maxRows ? 1 : most; selected <= most; selected *= 2) {
                measure(new StepShape(rows, selected, false));
                measure(shapeAt(new StepShape(rows, selected, false), Integer.MAX_VALUE));
                if (rows > StepShape.FEW) {
                    measure(new StepShape(rows, selected, true));
                }
            }
        }
        for (int rows = 1; canChoose() && rows <= Math.min(maxRows, Buckets.of(options.maxSequences())); rows *= 2) {
            measure(StepShape.choosing(rows, TokenRing.MOST_CANDIDATES));
        }
        if (canChoose()) {
            measure(new StepShape(maxRows, maxChosen(), false).choosing(TokenRing.MOST_CANDIDATES));
        }
        buffers.freeze();
    }

    private void measure(StepShape shape) {
        launches(shape);
        buffers.grow(step, stepBytes(shape));
    }

    /// {@return all memory that is needed, by id}
    public List<BufferSpec> buffers() {
        return buffers.list();
    }

    /// {@return the matrices to upload}
    public List<DeviceWeight> matrices() {
        return weights.matrices();
    }

    /// {@return the numbers to upload}
    public List<Constant> constants() {
        return weights.constants();
    }

    /// {@return keys and values of the layers, alternating}
    public List<KvBuffer> cache() {
        return cache;
    }

    /// {@return pages of the cache}
    public int pageCount() {
        return pageCount;
    }

    /// {@return number of token ids that all embeddings know}
    public int vocabulary() {
        return vocabulary;
    }

    /// {@return what checks the input of its steps}
    public StepCheck stepCheck() {
        return new StepCheck(options, KvBuffer.TOKENS, pageCount, vocabulary);
    }

    /// {@return where the logits are, float32 rows}
    public BufferSpec logits() {
        return output.buffer;
    }

    /// {@return elements of a row of logits}
    public int logitsWidth() {
        return output.width;
    }

    /// {@return whether the rows of the logits are those that want logits; else there is one a
    ///     token}
    public boolean logitsSelected() {
        return output.selected;
    }

    /// {@return most rows that one run computes behind `select_rows`; more need further runs with 0
    ///     rows}
    public int maxLogitRows() {
        return maxSelected;
    }

    /// {@return whether the device can choose tokens: the graph gives a row of logits a sequence}
    public boolean canChoose() {
        return output.selected;
    }

    /// {@return most rows that want logits in a step in which the device chooses tokens; it has
    /// memory for the candidates of a row a sequence}
    public int maxChosen() {
        return Math.min(Buckets.of(options.maxSequences()), maxSelected);
    }

    /// {@return the host's memory for chosen tokens, as [TokenRing] has it}
    public BufferSpec chosen() {
        return buffers.list().get(scratch.chosen().id());
    }

    /// {@return the buffer of the step's input}
    public BufferSpec step() {
        return step;
    }

    /// {@return the buffer of the page tables}
    public BufferSpec pages() {
        return pages;
    }

    /// {@return the kernels, in order}
    public List<PlanReport.Step> steps() {
        return ops.stream()
                .map(op -> new PlanReport.Step(op.kind(), op.name(), op.kernel(), op.level()))
                .toList();
    }

    /// {@return weight bytes that each kernel reads to decode one token}
    public List<Long> stepWeightBytes() {
        return ops.stream().map(PlannedOp::weightBytes).toList();
    }

    /// {@return the modules that steps of some shape need}
    ///
    /// @param shapes the shapes
    public List<KernelModule> modules(List<StepShape> shapes) {
        Map<String, KernelModule> modules = new LinkedHashMap<>();
        for (StepShape shape : shapes) {
            launches(shape).forEach(l -> modules.putIfAbsent(l.module().name(), l.module()));
        }
        return List.copyOf(modules.values());
    }

    /// {@return the headers of third parties' decoders, by name}
    public Map<String, String> headers() {
        Map<String, String> headers = new LinkedHashMap<>();
        for (DeviceWeight weight : weights.matrices()) {
            if (weight.format().fragment().isPresent()) {
                headers.put(weight.format().headerName(), weight.format().header());
            }
        }
        return headers;
    }

    /// {@return the launches of a step, in order}
    ///
    /// @param shape the step's sizes
    public List<Launch> launches(StepShape shape) {
        Emission emission = new Emission(shape, layout(shape), traits, scratch, buffers, step);
        for (int i = 0; i < ops.size(); i++) {
            PlannedOp op = ops.get(i);
            if (op.selected() ? shape.logitRows() > 0 : shape.rows() > 0) {
                emission.begin(i);
                op.emitter().emit(emission);
            }
        }
        if (shape.candidates() > 0) {
            emission.begin(ops.size() - 1);
            emission.choose(output);
        }
        return new ArrayList<>(emission.launches());
    }

    /// {@return the shape of a step with the kernels for a depth; its input has the same layout}
    ///
    /// @param shape the step's sizes
    /// @param position the largest position in the step
    public StepShape shapeAt(StepShape shape, int position) {
        return position >= deepFrom ? shape.withDepth() : shape;
    }

    private StepLayout layout(StepShape shape) {
        return new StepLayout(shape, tileRows, options.maxSequences());
    }

    /// {@return bytes of a step's input}
    ///
    /// @param shape the step's sizes
    public long stepBytes(StepShape shape) {
        return layout(shape).bytes();
    }

    /// Writes a step's input.
    ///
    /// @param shape the step's sizes
    /// @param input the step; checked by [#stepCheck]
    /// @param firstLogit index of the first row, of those that want logits, that this run computes
    /// @param logits how many it computes
    /// @param target host memory of [#stepBytes]
    public void writeStep(StepShape shape, StepInput input, int firstLogit, int logits, MemorySegment target) {
        layout(shape).write(input, firstLogit, logits, target);
    }

    /// Writes how the device chooses the tokens behind a step of a choosing shape.
    ///
    /// @param shape the step's sizes
    /// @param choices one a row that wants logits
    /// @param target host memory of [#stepBytes]
    public void writeChoices(StepShape shape, List<TokenChoice> choices, MemorySegment target) {
        layout(shape).writeChoices(choices, target);
    }

    /// Writes the page tables of steps.
    ///
    /// @param input the first step; checked by [#stepCheck]
    /// @param steps how many; each goes one position further
    /// @param target host memory as large as [#pages]; zero at first, then as the call before left
    ///     it
    /// @return offset of the first byte that changed and number of bytes from there on; the number
    ///     may be 0
    public long[] writePages(StepInput input, int steps, MemorySegment target) {
        tables.write(input, steps, target);
        return new long[] {tables.from(), tables.bytes()};
    }
}
