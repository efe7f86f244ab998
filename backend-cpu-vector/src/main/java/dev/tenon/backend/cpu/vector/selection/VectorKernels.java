package dev.tenon.backend.cpu.vector.selection;

import static java.util.Map.entry;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.backend.cpu.vector.kernel.Species;
import dev.tenon.backend.cpu.vector.kernel.attention.AttentionMath;
import dev.tenon.backend.cpu.vector.kernel.attention.VectorAttention;
import dev.tenon.backend.cpu.vector.kernel.elements.ElementMath;
import dev.tenon.backend.cpu.vector.kernel.elements.VectorElementMath;
import dev.tenon.backend.cpu.vector.kernel.layout.SpanReader;
import dev.tenon.backend.cpu.vector.kernel.linear.BF16Linear;
import dev.tenon.backend.cpu.vector.kernel.linear.F16Linear;
import dev.tenon.backend.cpu.vector.kernel.linear.F32Linear;
import dev.tenon.backend.cpu.vector.kernel.linear.FloatLinear;
import dev.tenon.backend.cpu.vector.kernel.linear.IQ4_NLLinear;
import dev.tenon.backend.cpu.vector.kernel.linear.IQ4_XSLinear;
import dev.tenon.backend.cpu.vector.kernel.linear.LayoutLinear;
import dev.tenon.backend.cpu.vector.kernel.linear.MXFP4Linear;
import dev.tenon.backend.cpu.vector.kernel.linear.Q2_KLinear;
import dev.tenon.backend.cpu.vector.kernel.linear.Q3_KLinear;
import dev.tenon.backend.cpu.vector.kernel.linear.Q4_0Linear;
import dev.tenon.backend.cpu.vector.kernel.linear.Q4_1Linear;
import dev.tenon.backend.cpu.vector.kernel.linear.Q5_0Linear;
import dev.tenon.backend.cpu.vector.kernel.linear.Q5_1Linear;
import dev.tenon.backend.cpu.vector.kernel.linear.Q5_KLinear;
import dev.tenon.backend.cpu.vector.kernel.linear.Q8_0Linear;
import dev.tenon.backend.cpu.vector.kernel.lowrank.LowRankMath;
import dev.tenon.backend.cpu.vector.kernel.lowrank.VectorLowRankMath;
import dev.tenon.backend.cpu.vector.kernel.permuted.PermutedLinear;
import dev.tenon.backend.cpu.vector.kernel.permuted.Q4_KLinear;
import dev.tenon.backend.cpu.vector.kernel.permuted.Q6_KLinear;
import dev.tenon.backend.cpu.vector.kernel.permuted.Q8_0Permuted;
import dev.tenon.backend.cpu.vector.kernel.states.StateMath;
import dev.tenon.backend.cpu.vector.kernel.states.VectorStateMath;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// The Vector API kernels. Not to be touched where the module `jdk.incubator.vector` is missing:
/// everything else in the backend is free of it.
public final class VectorKernels {
    private static final Map<String, FloatLinear> LINEAR = Map.ofEntries(
            entry("F32", new F32Linear()),
            entry("F16", new F16Linear()),
            entry("BF16", new BF16Linear()),
            entry("Q8_0", new Q8_0Linear()),
            entry("Q5_K", new Q5_KLinear()),
            entry("Q5_1", new Q5_1Linear()),
            entry("Q5_0", new Q5_0Linear()),
            entry("Q4_1", new Q4_1Linear()),
            entry("Q4_0", new Q4_0Linear()),
            entry("IQ4_NL", new IQ4_NLLinear()),
            entry("IQ4_XS", new IQ4_XSLinear()),
            entry("MXFP4", new MXFP4Linear()),
            entry("Q3_K", new Q3_KLinear()),
            entry("Q2_K", new Q2_KLinear()));

    /// Narrow vectors take Q8_0 from where it lies: its packed form is slower there.
    private static final Map<String, PermutedLinear> PACKED = Species.LANES == 16
            ? Map.of("Q6_K", new Q6_KLinear(), "Q4_K", new Q4_KLinear(), "Q8_0", new Q8_0Permuted())
            : Map.of("Q6_K", new Q6_KLinear(), "Q4_K", new Q4_KLinear());

    /// What was made of layouts; stays, so that all plans share it.
    private static final Map<Key, Optional<LayoutLinear>> LAYOUTS = new ConcurrentHashMap<>();

    private record Key(String format, BlockLayout layout) {}

    private static final AttentionMath ATTENTION = new VectorAttention();
    private static final ElementMath ELEMENTS = new VectorElementMath();
    private static final StateMath STATES = new VectorStateMath();

    private static final LowRankMath LOW_RANK = new VectorLowRankMath();

    private VectorKernels() {}

    /// {@return the kernel for a format that reads activations as they are, by hand or made of the format's layout;
    /// or null if there is none}
    ///
    /// @param format the format
    /// @param n elements in a row
    public static FloatLinear linear(QuantFormat format, int n) {
        FloatLinear own = LINEAR.get(format.id());
        return own != null ? own : layout(format, n);
    }

    /// {@return the kernel that is made of a format's layout, or null if there is none}
    ///
    /// @param format the format
    /// @param n elements in a row
    public static FloatLinear layout(QuantFormat format, int n) {
        return format.layout()
                .flatMap(layout -> LAYOUTS.computeIfAbsent(
                        new Key(format.id(), layout),
                        key -> SpanReader.of(key.layout).map(reader -> new LayoutLinear(key.format, reader))))
                .filter(kernel -> kernel.accepts(n))
                .orElse(null);
    }

    /// {@return the kernel for a format that packs its activations, or null if there is none}
    ///
    /// @param format format id
    public static PermutedLinear packed(String format) {
        return PACKED.get(format);
    }

    /// {@return the arithmetic of attention}
    public static AttentionMath attention() {
        return ATTENTION;
    }

    /// {@return activations and norms}
    public static ElementMath elements() {
        return ELEMENTS;
    }

    /// {@return the products of adapters}
    public static LowRankMath lowRank() {
        return LOW_RANK;
    }

    /// {@return the arithmetic of ops with a state}
    public static StateMath states() {
        return STATES;
    }
}
