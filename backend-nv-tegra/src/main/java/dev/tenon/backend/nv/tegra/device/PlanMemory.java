package dev.tenon.backend.nv.tegra.device;

import dev.tenon.backend.nv.tegra.gpu.MemoryKind;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.BufferSpec.Kind;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// The memory of a plan: one allocation for each kind of buffer, each seen by processor and GPU.
/// Closed by the plan.
final class PlanMemory implements AutoCloseable {
    private static final long ALIGNMENT = 256;

    private final List<BufferSpec> specs;
    private final long[] offsets;
    private final Map<Kind, NvAllocator.Buffer> slabs = new EnumMap<>(Kind.class);
    private final BufferSpec logits;
    private NvAllocator.Buffer logitsMemory;

    /// Allocates all buffers, zeroed; if that fails, everything has been released.
    ///
    /// @param specs buffers, in the order of their ids
    /// @param logits the buffer that the processor reads after a step
    /// @param allocator gives the memory
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-003`) if there is not enough
    PlanMemory(List<BufferSpec> specs, BufferSpec logits, NvAllocator allocator) {
        this.specs = specs;
        this.logits = logits;
        this.offsets = new long[specs.size()];
        Map<Kind, Long> sizes = new EnumMap<>(Kind.class);
        for (BufferSpec spec : specs) {
            if (spec.id() == logits.id()) {
                continue;
            }
            long bytes = Math.addExact(spec.bytes(), ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            offsets[spec.id()] = sizes.merge(spec.kind(), bytes, Math::addExact) - bytes;
        }
        boolean done = false;
        try {
            sizes.forEach((kind, bytes) -> slabs.put(kind, allocator.allocate(bytes, memoryKind(kind), purpose(kind))));
            logitsMemory = allocator.allocate(logits.bytes(), MemoryKind.READ_BACK, "logits");
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    private static MemoryKind memoryKind(Kind kind) {
        return kind == Kind.HOST ? MemoryKind.READ_BACK : MemoryKind.DATA;
    }

    private static String purpose(Kind kind) {
        return switch (kind) {
            case WEIGHT -> "weights";
            case CONSTANT -> "vectors";
            case STEP, PAGES -> "step input";
            case ACTIVATION, ZEROED -> "activations";
            case KV -> "kv";
            case STATE -> "states";
            case HOST -> "sampled tokens";
        };
    }

    /// {@return an address on the GPU; 0 for none}
    long address(Argument.Address address) {
        if (address.buffer() < 0) {
            return 0;
        }
        BufferSpec spec = specs.get(address.buffer());
        long start = spec.id() == logits.id()
                ? logitsMemory.va()
                : slabs.get(spec.kind()).va() + offsets[spec.id()];
        return start + address.offsetBytes();
    }

    /// {@return a buffer as the processor sees it}
    MemorySegment host(BufferSpec spec) {
        BufferSpec own = specs.get(spec.id());
        if (own.id() == logits.id()) {
            return logitsMemory.memory();
        }
        return slabs.get(own.kind()).memory().asSlice(offsets[own.id()], own.bytes());
    }

    /// {@return bytes allocated}
    long sizeBytes() {
        return slabs.values().stream().mapToLong(NvAllocator.Buffer::sizeBytes).sum() + logitsMemory.sizeBytes();
    }

    @Override
    public void close() {
        slabs.values().forEach(NvAllocator.Buffer::close);
        slabs.clear();
        if (logitsMemory != null) {
            logitsMemory.close();
        }
    }
}
