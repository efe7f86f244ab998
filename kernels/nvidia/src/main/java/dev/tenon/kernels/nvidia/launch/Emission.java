package dev.tenon.kernels.nvidia.launch;

import dev.tenon.api.kernel.cuda.CudaMatmul;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.Blocks;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.source.KernelModule;
import dev.tenon.kernels.nvidia.step.StepLayout;
import dev.tenon.kernels.nvidia.step.StepShape;
import dev.tenon.kernels.nvidia.step.TokenMasks;
import dev.tenon.kernels.nvidia.step.TokenRing;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The launches of one step shape while they are made, op by op.
public final class Emission {
    public static final KernelModule SMALL = KernelModule.of("small.cu");
    public static final KernelModule ENCODERS = KernelModule.of("encoders.cu");
    static final KernelModule ATTENTION = KernelModule.of("attention.cu");
    static final KernelModule ROWS = KernelModule.of("rows.cu");
    static final KernelModule SAMPLE = KernelModule.of("sample.cu");
    static final KernelModule ATTENTION_PREFILL = KernelModule.of("attention_prefill.cu");

    /// Threads of a block in kernels that work element by element.
    private static final int BLOCK = 256;

    private static final int CHOOSE_BLOCK = 512;

    public final StepShape shape;
    public final StepLayout layout;
    /// Whether the bits of a row must not depend on what else the step has.
    final boolean batchInvariant;

    final DeviceTraits traits;
    final Scratch scratch;
    private final BufferSpec stepBuffer;
    private final LaunchPlan.Needs needs;
    private final List<Launch> launches = new ArrayList<>();
    private final Set<Slot> inF16 = new HashSet<>();
    private final Map<Slot, Slot> aliases = new HashMap<>();
    private int step;
    private int clusterZ = 1;

    /// @param plan the ops' plan
    /// @param shape the step's sizes
    /// @param needs hears how much scratch memory launches need
    Emission(LaunchPlan plan, StepShape shape, LaunchPlan.Needs needs) {
        this.shape = shape;
        this.layout = plan.limits().layout(shape);
        this.batchInvariant = plan.limits().options().batchInvariant();
        this.traits = plan.traits();
        this.scratch = plan.scratch();
        this.stepBuffer = plan.step();
        this.needs = needs;
    }

    List<Launch> launches() {
        return launches;
    }

    /// Begins the next op.
    void begin(int index) {
        step = index;
    }

    /// {@return rows of a slot in this shape}
    public int rows(Slot slot) {
        return slot.selected ? shape.logitRows() : shape.rows();
    }

    /// {@return the address of a slot's first row, to read it}
    public Argument.Address at(Slot slot) {
        return aliases.getOrDefault(slot, slot).buffer.at(0);
    }

    /// {@return the address of a slot's first row, to write float32 rows}
    public Argument.Address out(Slot slot) {
        aliases.remove(slot);
        inF16.remove(slot);
        return slot.buffer.at(0);
    }

    /// {@return the address of a slot's first row, to write float16 rows}
    Argument.Address outF16(Slot slot) {
        aliases.remove(slot);
        inF16.add(slot);
        return slot.buffer.at(0);
    }

    /// Lets a slot stand for another one until it is written: reading the first reads the second.
    public void alias(Slot slot, Slot other) {
        aliases.put(slot, other);
    }

    public Argument.Address stepAt(long offsetBytes) {
        return stepBuffer.at(offsetBytes);
    }

    /// {@return whether a slot holds float16 rows now}
    boolean isF16(Slot slot) {
        return inF16.contains(slot);
    }

    /// Makes sure that scratch memory is large enough.
    Argument.Address need(BufferSpec spec, long bytes) {
        needs.need(spec, bytes);
        return spec.at(0);
    }

    /// Lets the next launch form clusters.
    Emission cluster(int z) {
        clusterZ = z;
        return this;
    }

    public void launch(KernelModule module, String entry, Blocks blocks, Object... args) {
        List<Argument> arguments = new ArrayList<>(args.length);
        for (Object arg : args) {
            arguments.add(
                    switch (arg) {
                        case Argument a -> a;
                        case Integer i -> new Argument.Int(i);
                        case Long l -> new Argument.Long(l);
                        case Float f -> new Argument.Float(f);
                        default -> throw new IllegalArgumentException(entry + " takes no " + arg.getClass());
                    });
        }
        launches.add(new Launch(module, entry, blocks, clusterZ, arguments, step));
        clusterZ = 1;
    }

    /// Lets a library compute a product.
    void launch(CudaMatmul library, Argument.Address x, DeviceWeight weight, Argument.Address out, int rows) {
        launches.add(Launch.of(
                library,
                List.of(
                        x,
                        weight.at(),
                        out,
                        new Argument.Int(rows),
                        new Argument.Int(weight.cols()),
                        new Argument.Int(weight.rows())),
                step));
    }

    /// Launches a kernel of `small.cu` that works element by element; the number of elements is its
    /// last argument.
    public void elementwise(String entry, long n, Object... args) {
        elementwise(SMALL, entry, n, args);
    }

    /// Launches a kernel of a module that works element by element; the number of elements is its last argument.
    public void elementwise(KernelModule module, String entry, long n, Object... args) {
        Object[] all = new Object[args.length + 1];
        System.arraycopy(args, 0, all, 0, args.length);
        all[args.length] = n;
        launch(module, entry, new Blocks(blocks(n, BLOCK), 1, 1, BLOCK, 0), all);
    }

    /// Launches `to_f16`: float32 to float16.
    void toF16(Argument.Address from, Argument.Address to, long n) {
        launch(ROWS, "to_f16", new Blocks((int) ((n + 1023) / 1024), 1, 1, BLOCK, 0), from, to, n);
    }

    /// Launches `choose`: each row of logits gives a token, which becomes the next step's input
    /// where every sequence has one token. In other steps the input that it writes over is of no
    /// use any more.
    void choose(Slot logits) {
        int slices = TokenMasks.slices(logits.width);
        launch(
                SAMPLE,
                "choose",
                new Blocks(slices, shape.logitRows(), 1, CHOOSE_BLOCK, 0),
                at(logits),
                logits.width,
                stepAt(layout.choices()),
                need(scratch.masks(), TokenMasks.bytes(shape.logitRows(), logits.width)),
                shape.candidates(),
                need(scratch.candidates(), 8L * shape.logitRows() * slices * shape.candidates()),
                need(scratch.counters(), 4L * (shape.logitRows() + 1)),
                stepAt(layout.sequences()),
                stepAt(layout.tokens()),
                stepAt(layout.positions()),
                stepAt(layout.steps()),
                need(scratch.sampled(), TokenRing.bytes(shape.logitRows())).plus(TokenRing.ids()),
                scratch.sampled().at(0),
                TokenRing.STEPS);
    }

    private int blocks(long n, int block) {
        return (int) Math.max(1, Math.min((n + block - 1) / block, 8L * traits.multiprocessors()));
    }
}
