package dev.tenon.backend.cpu.vector.expert;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.backend.cpu.vector.memory.PlanMemory;
import java.util.ArrayList;
import java.util.List;

/// What the expert layers of a plan share, because they run one after the other: tokens by expert, packed and
/// gathered rows. Kernels get it without memory, and say what they need.
public final class ExpertMemory {
    private final List<PackedGroups> packed = new ArrayList<>();
    private int experts;
    private int used = 1;
    private int plainCols;
    private int upLength;
    private int sharedLength;
    private ExpertGroups groups;
    private float[][] gathered;
    private int[][] order;
    private HostFloats up;
    private HostFloats sharedUp;

    /// Notes the experts of a layer.
    ///
    /// @param count their number
    /// @param usedCount how many a token uses
    void need(int count, int usedCount) {
        experts = Math.max(experts, count);
        used = Math.max(used, usedCount);
    }

    /// {@return packed rows of a kernel}
    ///
    /// @param kernel the kernel
    /// @param n elements in a row
    PackedGroups packed(LinearKernel kernel, int n) {
        for (PackedGroups each : packed) {
            if (each.kernel == kernel && each.n == n) {
                return each;
            }
        }
        PackedGroups made = new PackedGroups(kernel, n);
        packed.add(made);
        return made;
    }

    /// Notes that a kernel reads rows as they are.
    ///
    /// @param n elements in a row
    void needPlain(int n) {
        plainCols = Math.max(plainCols, n);
    }

    /// Notes the second projections of a layer.
    ///
    /// @param length elements of those of a token's experts
    /// @param ofShared elements of that of a shared expert
    public void needUp(int length, int ofShared) {
        upLength = Math.max(upLength, length);
        sharedLength = Math.max(sharedLength, ofShared);
    }

    /// {@return whether a layer of the plan has experts}
    public boolean any() {
        return experts > 0;
    }

    /// Takes the memory.
    ///
    /// @param memory gives it
    /// @param maxTokens most tokens of a step
    /// @param threads number of threads
    public void use(PlanMemory memory, int maxTokens, int threads) {
        groups = new ExpertGroups(experts, Math.multiplyExact(maxTokens, used));
        packed.forEach(each -> each.use(memory, experts, used, maxTokens, threads));
        gathered = new float[threads][];
        for (int i = 0; i < threads; i++) {
            gathered[i] = memory.floats((long) maxTokens * plainCols, "gathered activations of experts");
        }
        order = new int[threads][used];
        up = new HostFloats(memory.floats(upLength, "up projections"));
        sharedUp = new HostFloats(memory.floats(sharedLength, "up projections"));
    }

    /// {@return memory for the second projections of the step's only token}
    HostFloats up() {
        return up;
    }

    /// {@return memory for that of a shared expert}
    HostFloats sharedUp() {
        return sharedUp;
    }

    ExpertGroups groups() {
        return groups;
    }

    /// {@return a thread's memory for rows of activations}
    float[] gathered(int thread) {
        return gathered[thread];
    }

    /// {@return a thread's memory for the numbers of a token's experts}
    int[] order(int thread) {
        return order[thread];
    }
}
