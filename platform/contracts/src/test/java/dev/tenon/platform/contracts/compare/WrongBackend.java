package dev.tenon.platform.contracts.compare;

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Probe;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.KernelProvider;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/// A backend that computes one op wrongly, and everything else as the one that it wraps.
///
/// @param right the other backend
/// @param mistake what it takes an op for
/// @param when which requests it is wrong in
/// @param onlyDecode whether it is wrong only in steps of one token
record WrongBackend(Backend right, UnaryOperator<Op> mistake, Predicate<CompileRequest> when, boolean onlyDecode)
        implements Backend {
    @Override
    public String id() {
        return "wrong";
    }

    @Override
    public int rank() {
        return 0;
    }

    @Override
    public Probe probe() {
        return right.probe();
    }

    @Override
    public List<DeviceInfo> devices() {
        return right.devices();
    }

    @Override
    public Device open(DeviceOptions options) {
        return new WrongDevice(right.open(options));
    }

    private CompileRequest spoilt(CompileRequest request) {
        Graph graph = request.graph();
        List<Op> ops = graph.ops().stream().map(mistake).toList();
        return CompileRequest.builder(
                        new Graph(graph.name(), ops, graph.output()), request.weights(), request.options())
                .kernels(request.kernels())
                .build();
    }

    private final class WrongDevice implements Device, Compiler {
        private final Device device;

        WrongDevice(Device device) {
            this.device = device;
        }

        @Override
        public DeviceInfo info() {
            return device.info();
        }

        @Override
        public Allocator allocator() {
            return device.allocator();
        }

        @Override
        public Compiler compiler() {
            return this;
        }

        @Override
        public Support supports(Op op, Weights weights, Collection<KernelProvider> kernels) {
            return device.compiler().supports(op, weights, kernels);
        }

        @Override
        public Plan compile(CompileRequest request) {
            if (!when.test(request)) {
                return device.compiler().compile(request);
            }
            Plan wrong = device.compiler().compile(spoilt(request));
            return onlyDecode ? new TwoPlans(device.compiler().compile(request), wrong) : wrong;
        }

        @Override
        public void close() {
            device.close();
        }
    }

    /// Both plans run every step, so that both have all keys and values; the wrong one answers for single
    /// tokens.
    private record TwoPlans(Plan prefill, Plan decode) implements Plan {
        @Override
        public StepResult run(StepInput input) {
            StepResult of = prefill.run(input);
            StepResult or = decode.run(input);
            return input.tokenCount() == 1 ? or : of;
        }

        @Override
        public KvPages kvPages() {
            return prefill.kvPages();
        }

        @Override
        public PlanReport report() {
            return prefill.report();
        }

        @Override
        public void close() {
            prefill.close();
            decode.close();
        }
    }
}
