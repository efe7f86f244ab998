package dev.tenon.backend.cuda.plan;

import dev.tenon.backend.cuda.device.Closing;
import dev.tenon.backend.cuda.device.CudaAllocator;
import dev.tenon.backend.cuda.device.CudaContext;
import dev.tenon.backend.cuda.device.PinnedMemory;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.BufferSpec.Kind;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// The memory of a plan: one allocation for each kind of buffer. Closed by the plan.
final class PlanMemory implements AutoCloseable {
    private static final long ALIGNMENT = 256;

    private final long[] addresses;
    private final List<CudaAllocator.Buffer> allocations = new ArrayList<>();
    private PinnedMemory host;
    private long hostBase;

    /// Allocates all buffers; if that fails, everything has been released. All but weights are
    /// zero.
    ///
    /// @param specs buffers, in the order of their ids
    /// @param allocator gives the device's memory
    /// @param context the device's; entered by the calling thread
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-003`) if there is not enough
    PlanMemory(List<BufferSpec> specs, CudaAllocator allocator, CudaContext context) {
        addresses = new long[specs.size()];
        Map<Kind, Long> sizes = new EnumMap<>(Kind.class);
        for (BufferSpec spec : specs) {
            addresses[spec.id()] =
                    sizes.merge(spec.kind(), aligned(spec.bytes()), Math::addExact) - aligned(spec.bytes());
        }
        Map<Kind, Long> bases = new EnumMap<>(Kind.class);
        try {
            Long hostBytes = sizes.remove(Kind.HOST);
            if (hostBytes != null) {
                host = new PinnedMemory(context, hostBytes);
                host.memory().fill((byte) 0);
                hostBase = host.memory().address();
                bases.put(Kind.HOST, hostBase);
            }
            for (Map.Entry<Kind, Long> size : sizes.entrySet()) {
                String purpose = purpose(size.getKey());
                CudaAllocator.Buffer buffer = size.getKey() == Kind.WEIGHT
                        ? allocator.allocateRaw(size.getValue(), purpose)
                        : allocator.allocateZeroed(size.getValue(), purpose);
                allocations.add(buffer);
                bases.put(size.getKey(), buffer.address());
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
        specs.forEach(spec -> addresses[spec.id()] += bases.get(spec.kind()));
    }

    private static long aligned(long bytes) {
        return (Math.addExact(bytes, ALIGNMENT - 1)) / ALIGNMENT * ALIGNMENT;
    }

    private static String purpose(Kind kind) {
        return switch (kind) {
            case WEIGHT -> "weights";
            case CONSTANT -> "vectors";
            case STEP, PAGES -> "step input";
            case ACTIVATION, ZEROED -> "activations";
            case KV -> "kv";
            case STATE -> "states";
            case HOST -> "host";
        };
    }

    /// {@return the address of a buffer}
    long address(BufferSpec spec) {
        return addresses[spec.id()];
    }

    /// {@return an address on the device}
    long address(Argument.Address address) {
        return address.buffer() < 0 ? 0 : addresses[address.buffer()] + address.offsetBytes();
    }

    /// {@return a buffer of the host's memory}
    MemorySegment host(BufferSpec spec) {
        return host.memory().asSlice(addresses[spec.id()] - hostBase, spec.bytes());
    }

    /// {@return bytes allocated on the device}
    long sizeBytes() {
        return allocations.stream().mapToLong(CudaAllocator.Buffer::sizeBytes).sum();
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(allocations);
        allocations.clear();
        if (host != null) {
            all.add(host);
            host = null;
        }
        Closing.all(all);
    }
}
