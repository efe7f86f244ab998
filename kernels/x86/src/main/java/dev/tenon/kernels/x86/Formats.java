package dev.tenon.kernels.x86;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.MicroKernels;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import dev.tenon.kernels.x86.format.Q4_KPairs;
import dev.tenon.kernels.x86.format.Q4_KStreams;
import dev.tenon.kernels.x86.format.Q6_KPairs;
import dev.tenon.kernels.x86.format.Q6_KQuads;
import dev.tenon.kernels.x86.format.Q6_KStreams;
import dev.tenon.kernels.x86.format.Q8_0Pairs;
import dev.tenon.kernels.x86.format.Q8_0Streams;
import dev.tenon.kernels.x86.layout.LayoutCode;
import dev.tenon.kernels.x86.linear.MachineLinear;
import dev.tenon.kernels.x86.linear.QuantizedLinear;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The kernels of formats, each made when it is first asked for.
final class Formats implements AutoCloseable {
    /// Inner loops that are written by hand because they are faster than what follows from the layout.
    private static final Map<String, MicroKernels> BY_HAND = Map.of(
            "Q8_0", new MicroKernels(Q8_0Streams::new, Q8_0Pairs::new, () -> null),
            "Q6_K", new MicroKernels(Q6_KStreams::new, Q6_KPairs::new, Q6_KQuads::new),
            "Q4_K", new MicroKernels(Q4_KStreams::new, Q4_KPairs::new, () -> null));

    /// What a kernel is made of.
    private record Key(String id, BlockLayout layout) {}

    private final FeatureSet set;
    private final Map<Key, Optional<MachineLinear>> made = new HashMap<>();

    /// Creates a list without kernels.
    ///
    /// @param set which instructions may be used
    Formats(FeatureSet set) {
        this.set = set;
    }

    /// {@return the code of a format's blocks; empty if none can be made}
    static Optional<BlockCode> code(QuantFormat format) {
        return format.layout()
                .flatMap(layout ->
                        LayoutCode.of(format.id(), layout, BY_HAND.getOrDefault(format.id(), MicroKernels.NONE)));
    }

    /// {@return the kernel of a format, without code yet; none if it can have none}
    synchronized List<MachineLinear> kernels(QuantFormat format) {
        return format.layout()
                .flatMap(layout -> made.computeIfAbsent(
                        new Key(format.id(), layout), _ -> code(format).map(code -> new QuantizedLinear(code, set))))
                .map(List::of)
                .orElse(List.of());
    }

    /// Frees all code; waits for running calls.
    @Override
    public synchronized void close() {
        made.values().forEach(kernel -> kernel.ifPresent(MachineLinear::close));
    }
}
