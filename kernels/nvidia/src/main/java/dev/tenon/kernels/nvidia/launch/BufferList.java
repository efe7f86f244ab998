package dev.tenon.kernels.nvidia.launch;

import dev.tenon.kernels.nvidia.BufferSpec;
import java.util.ArrayList;
import java.util.List;

/// The buffers of a plan while it is made; scratch buffers may still grow.
public final class BufferList {
    private final List<BufferSpec> specs = new ArrayList<>();

    public BufferSpec add(BufferSpec.Kind kind, String purpose, long bytes) {
        BufferSpec spec = new BufferSpec(specs.size(), kind, purpose, Math.max(16, bytes));
        specs.add(spec);
        return spec;
    }

    /// Makes a buffer larger, if it is smaller.
    public void grow(BufferSpec spec, long bytes) {
        BufferSpec now = specs.get(spec.id());
        if (now.bytes() < bytes) {
            specs.set(spec.id(), new BufferSpec(spec.id(), spec.kind(), spec.purpose(), bytes));
        }
    }

    public List<BufferSpec> list() {
        return List.copyOf(specs);
    }
}
