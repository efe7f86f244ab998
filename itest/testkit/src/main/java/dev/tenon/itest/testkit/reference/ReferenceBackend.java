package dev.tenon.itest.testkit.reference;

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceBuffer;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.Probe;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.KernelProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/// A backend made of [Reference] and paged lists, for tests that need some backend: of a bundle
/// that wraps another backend, or of a plan's users.
///
/// It keeps the whole contract and is slow on purpose. Every cache type is accepted and means
/// float64. Its one device has the id `0` and the kind `interpreter`.
public final class ReferenceBackend implements Backend {
    private static final long LIMIT = 1L << 32;

    /// Creates the backend; it has no state.
    public ReferenceBackend() {}

    @Override
    public String id() {
        return "reference";
    }

    @Override
    public int rank() {
        return 0;
    }

    @Override
    public Probe probe() {
        return new Probe(true, "needs nothing", List.of());
    }

    @Override
    public List<DeviceInfo> devices() {
        return List.of(new DeviceInfo("0", "interpreter", "interpreter", LIMIT, Map.of()));
    }

    @Override
    public Device open(DeviceOptions options) {
        if (!Set.of("", "0").contains(options.deviceId())) {
            throw new BackendException(ErrorCode.BACKEND_UNAVAILABLE, "there is no device " + options.deviceId());
        }
        return new SlowDevice();
    }

    private final class SlowDevice implements Device, Compiler, Allocator {
        private final AtomicLong allocated = new AtomicLong();
        private final AtomicLong bound = new AtomicLong();

        @Override
        public DeviceInfo info() {
            return devices().getFirst();
        }

        @Override
        public Allocator allocator() {
            return this;
        }

        @Override
        public boolean batchInvariant() {
            return true;
        }

        @Override
        public Compiler compiler() {
            return this;
        }

        @Override
        public void close() {}

        private void take(long bytes) {
            if (bytes > LIMIT - allocated.get()) {
                throw new OutOfResourcesException(
                        ErrorCode.MEMORY, bytes + " bytes do not fit", bytes, allocated.get(), LIMIT);
            }
            allocated.addAndGet(bytes);
        }

        @Override
        public DeviceBuffer allocate(long bytes, String purpose) {
            take(bytes);
            Arena arena = Arena.ofShared();
            return new Buffer(arena.allocate(bytes), () -> {
                arena.close();
                allocated.addAndGet(-bytes);
            });
        }

        @Override
        public DeviceBuffer bind(MemorySegment host, String purpose) {
            bound.addAndGet(host.byteSize());
            return new Buffer(host, () -> bound.addAndGet(-host.byteSize()));
        }

        @Override
        public MemoryUse use() {
            return new MemoryUse(allocated.get(), bound.get(), LIMIT);
        }

        @Override
        public Support supports(Op op, Weights weights, Collection<KernelProvider> kernels) {
            boolean known = op instanceof CustomOp || ReferenceOps.ALL.row(op).isPresent();
            return known
                    ? new Support(Support.Level.GENERIC, "interpreted")
                    : new Support(Support.Level.NONE, "unknown op " + op.kind());
        }

        @Override
        public Plan compile(CompileRequest request) {
            List<Issue> issues = new ArrayList<>();
            for (Op op : request.graph().expanded().ops()) {
                if (supports(op, request.weights(), List.of()).level() == Support.Level.NONE) {
                    issues.add(Issue.error(ErrorCode.BACKEND_UNSUPPORTED, "op " + op.kind() + " is unknown", ""));
                }
            }
            if (!issues.isEmpty()) {
                throw new UnsupportedModelException("not supported", issues);
            }
            long bytes = ReferencePlan.memoryBytes(request);
            take(bytes);
            return new ReferencePlan(request, this::use, () -> allocated.addAndGet(-bytes));
        }
    }

    private record Buffer(MemorySegment memory, Runnable free, boolean[] closed) implements DeviceBuffer {
        Buffer(MemorySegment memory, Runnable free) {
            this(memory, free, new boolean[1]);
        }

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
            if (!closed[0]) {
                closed[0] = true;
                free.run();
            }
        }
    }
}
