package org.example.tracing;

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.Op;
import java.util.Collection;

/// The other backend's device, whose plans are traced. It keeps its kind, so kernels of other
/// bundles are found.
///
/// @param traced the other device; closed with this one
/// @param trace receives the steps; closed with this one
record TracingDevice(Device traced, TraceFile trace) implements Device, Compiler {
    @Override
    public DeviceInfo info() {
        return traced.info();
    }

    @Override
    public Allocator allocator() {
        return traced.allocator();
    }

    @Override
    public Compiler compiler() {
        return this;
    }

    @Override
    public Support supports(Op op, Weights weights, Collection<KernelProvider> kernels) {
        return traced.compiler().supports(op, weights, kernels);
    }

    @Override
    public Plan compile(CompileRequest request) {
        return new TracingPlan(traced.compiler().compile(request), trace);
    }

    @Override
    public void close() {
        try {
            traced.close();
        } finally {
            trace.close();
        }
    }
}
