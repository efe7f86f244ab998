package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.device.PlanReport;
import dev.tenon.api.graph.WindowLayers;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.Constant;
import dev.tenon.kernels.nvidia.DeviceFormat;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.KvBuffer;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.launch.LaunchPlan;
import dev.tenon.kernels.nvidia.launch.PlannedOp;
import dev.tenon.kernels.nvidia.source.KernelModule;
import dev.tenon.kernels.nvidia.step.StepLimits;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A graph planned for a device: the memory it needs, what is uploaded, and the flat list of launches for
/// a step of any shape. Immutable; [GraphPlanner] makes it.
public final class PlannedGraph {
    private final LaunchPlan plan;
    private final BufferSpec pages;
    private final List<BufferSpec> buffers;
    private final List<DeviceWeight> matrices;
    private final List<Constant> constants;
    private final List<KvBuffer> cache;
    private final List<KvBuffer> windowCache;
    private final WindowLayers windows;
    private final List<KvBuffer> states;
    private final Map<String, OutputRows> outputs;
    private final Map<String, String> texts;

    /// @param plan the ops
    /// @param pages the buffer of the page tables
    /// @param buffers all memory that is needed, by id
    /// @param weights what is uploaded
    /// @param cache keys and values of the layers, alternating, without those that have window pages
    /// @param windowCache keys and values of those, likewise
    /// @param windows what they see
    /// @param states states of the ops that have one
    /// @param outputs those beside the default one, by name
    /// @param texts sources of other bundles' kernels, by file
    PlannedGraph(
            LaunchPlan plan,
            BufferSpec pages,
            List<BufferSpec> buffers,
            WeightList weights,
            List<KvBuffer> cache,
            List<KvBuffer> windowCache,
            WindowLayers windows,
            List<KvBuffer> states,
            Map<String, OutputRows> outputs,
            Map<String, String> texts) {
        this.plan = plan;
        this.pages = pages;
        this.buffers = List.copyOf(buffers);
        this.matrices = weights.matrices();
        this.constants = weights.constants();
        this.cache = List.copyOf(cache);
        this.windowCache = List.copyOf(windowCache);
        this.windows = windows;
        this.states = List.copyOf(states);
        this.outputs = Map.copyOf(outputs);
        this.texts = Map.copyOf(texts);
    }

    /// {@return what its steps have in common}
    public StepLimits limits() {
        return plan.limits();
    }

    /// {@return all memory that is needed, by id}
    public List<BufferSpec> buffers() {
        return buffers;
    }

    /// {@return the matrices to upload}
    public List<DeviceWeight> matrices() {
        return matrices;
    }

    /// {@return the numbers to upload}
    public List<Constant> constants() {
        return constants;
    }

    /// {@return keys and values of the layers, alternating, without those that have window pages}
    public List<KvBuffer> cache() {
        return cache;
    }

    /// {@return keys and values of the layers that have window pages, alternating}
    public List<KvBuffer> windowCache() {
        return windowCache;
    }

    /// {@return what layers with a window see}
    public WindowLayers windows() {
        return windows;
    }

    /// {@return states of the ops that have one}
    public List<KvBuffer> states() {
        return states;
    }

    /// {@return where outputs beside the default one are, by name}
    public Map<String, OutputRows> outputs() {
        return outputs;
    }

    /// {@return where the logits are, float32 rows of [#logitsWidth]}
    public BufferSpec logits() {
        return sized(plan.output().buffer);
    }

    /// {@return elements of a row of logits}
    public int logitsWidth() {
        return plan.output().width;
    }

    /// {@return the host's memory for sampled tokens, as [dev.tenon.kernels.nvidia.step.TokenRing] has it}
    public BufferSpec sampled() {
        return sized(plan.scratch().sampled());
    }

    /// {@return the host's memory of masks, as [dev.tenon.kernels.nvidia.step.TokenMasks] has it}
    public BufferSpec masks() {
        return sized(plan.scratch().masks());
    }

    /// {@return the buffer of the step's input}
    public BufferSpec step() {
        return sized(plan.step());
    }

    /// {@return the buffer of the page tables}
    public BufferSpec pages() {
        return pages;
    }

    /// A buffer with the size that it has grown to.
    private BufferSpec sized(BufferSpec spec) {
        return buffers.get(spec.id());
    }

    /// {@return the kernels, in order}
    public List<PlanReport.Kernel> steps() {
        return plan.ops().stream()
                .map(op -> new PlanReport.Kernel(op.kind(), op.name(), op.kernel(), op.level()))
                .toList();
    }

    /// {@return weight bytes that each kernel reads to decode one token}
    public List<Long> stepWeightBytes() {
        return plan.ops().stream().map(PlannedOp::weightBytes).toList();
    }

    /// {@return the modules that steps of some shapes need}
    ///
    /// @param shapes the shapes
    public List<KernelModule> modules(List<StepShape> shapes) {
        Map<String, KernelModule> modules = new LinkedHashMap<>();
        for (StepShape shape : shapes) {
            launches(shape).stream()
                    .filter(l -> l.library().isEmpty())
                    .forEach(l -> modules.putIfAbsent(l.module().name(), l.module()));
        }
        return List.copyOf(modules.values());
    }

    /// {@return the modules that rearrange the weights' bytes at upload}
    public List<KernelModule> repackModules() {
        Map<String, KernelModule> modules = new LinkedHashMap<>();
        for (DeviceWeight weight : matrices) {
            if (weight.format().repacked()) {
                modules.putIfAbsent(weight.repackModule().name(), weight.repackModule());
            }
        }
        return List.copyOf(modules.values());
    }

    /// {@return texts of third parties by name: headers of decoders, sources of kernels for their own ops}
    public Map<String, String> headers() {
        Map<String, String> headers = new LinkedHashMap<>(texts);
        for (DeviceWeight weight : matrices) {
            DeviceFormat format = weight.format();
            if (format.hasHeader() && !headers.containsKey(format.headerName())) {
                headers.put(format.headerName(), format.header().orElseThrow());
            }
        }
        return headers;
    }

    /// {@return the launches of a step, in order}
    ///
    /// @param shape the step's sizes
    public List<Launch> launches(StepShape shape) {
        return plan.launches(shape, this::checkRoom);
    }

    private void checkRoom(BufferSpec spec, long bytes) {
        BufferSpec planned = sized(spec);
        if (planned.bytes() < bytes) {
            throw new IllegalStateException(
                    planned.purpose() + " needs " + bytes + " bytes, but " + planned.bytes() + " were planned");
        }
    }
}
