package ${package};

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceBuffer;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.Op;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/// The open device: counts its memory and makes plans. Safe for any thread.
final class PlainDevice implements Device, Compiler, Allocator {
    private final DeviceInfo info;
    private final AtomicLong allocated = new AtomicLong();
    private final AtomicLong bound = new AtomicLong();

    PlainDevice(DeviceInfo info) {
        this.info = info;
    }

    @Override
    public DeviceInfo info() {
        return info;
    }

    @Override
    public Allocator allocator() {
        return this;
    }

    @Override
    public Compiler compiler() {
        return this;
    }

    /// Nothing to give back: plans and buffers have their own memory.
    @Override
    public void close() {}

    // --- memory

    /// Counts memory, or refuses it with the numbers.
    void take(long bytes, String purpose) {
        long limit = info.memoryBytes();
        long before = allocated.getAndUpdate(used -> bytes > limit - used ? used : used + bytes);
        if (bytes > limit - before) {
            throw new OutOfResourcesException(
                    ErrorCode.MEMORY,
                    purpose + " takes " + bytes + " bytes, and " + (limit - before) + " of " + limit
                            + " are left. Use a smaller context or model",
                    bytes,
                    before,
                    limit);
        }
    }

    /// Gives counted memory back.
    void give(long bytes) {
        allocated.addAndGet(-bytes);
    }

    @Override
    public DeviceBuffer allocate(long bytes, String purpose) {
        take(bytes, purpose);
        Arena arena = Arena.ofShared();
        return new HostBuffer(arena.allocate(bytes), new AtomicBoolean(), () -> {
            arena.close();
            give(bytes);
        });
    }

    @Override
    public DeviceBuffer bind(MemorySegment host, String purpose) {
        bound.addAndGet(host.byteSize());
        return new HostBuffer(host, new AtomicBoolean(), () -> bound.addAndGet(-host.byteSize()));
    }

    @Override
    public MemoryUse use() {
        return new MemoryUse(allocated.get(), bound.get(), info.memoryBytes());
    }

    /// @param memory the bytes
    /// @param closed whether they were given back
    /// @param free gives them back
    private record HostBuffer(MemorySegment memory, AtomicBoolean closed, Runnable free) implements DeviceBuffer {
        @Override
        public long sizeBytes() {
            return memory.byteSize();
        }

        @Override
        public Optional<MemorySegment> host() {
            return Optional.of(memory);
        }

        @Override
        public void write(long offsetBytes, MemorySegment source) {
            memory.asSlice(offsetBytes, source.byteSize()).copyFrom(source);
        }

        @Override
        public void read(long offsetBytes, MemorySegment target) {
            target.copyFrom(memory.asSlice(offsetBytes, target.byteSize()));
        }

        @Override
        public void close() {
            if (closed.compareAndSet(false, true)) {
                free.run();
            }
        }
    }

    // --- compiler

    /// The ops of [PlainOps] run, and every op that expands into them; formats run through their decoder.
    @Override
    public Support supports(Op op, Weights weights, Collection<KernelProvider> kernels) {
        if (op instanceof CustomOp custom) {
            for (Op inner : custom.expand()) {
                Support support = supports(inner, weights, kernels);
                if (support.level() == Support.Level.NONE) {
                    return support;
                }
            }
            return new Support(Support.Level.GENERIC, "plain Java, through its expansion");
        }
        return PlainOps.knows(op)
                ? new Support(Support.Level.GENERIC, "plain Java")
                : new Support(Support.Level.NONE, "backend " + ${className}.ID + " does not run the op " + op.kind() + " as it is asked for");
    }

    @Override
    public Plan compile(CompileRequest request) {
        List<Issue> issues = request.graph().ops().stream()
                .map(op -> supports(op, request.weights(), request.kernels()))
                .filter(support -> support.level() == Support.Level.NONE)
                .map(support -> Issue.error(ErrorCode.BACKEND_UNSUPPORTED, support.reason(), ""))
                .toList();
        if (!issues.isEmpty()) {
            throw new UnsupportedModelException("The graph cannot run on backend " + ${className}.ID, issues);
        }
        return new PlainPlan(this, request);
    }
}
