package dev.tenon.itest.testkit;

import dev.tenon.api.device.Weights;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.api.quant.QuantFormat;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// Ops and kernels as other bundles may bring them, for [BackendContract].
final class ForeignParts {
    private ForeignParts() {}

    /// An op that no backend can know and that does not expand.
    record StrangeOp(Value x, Value out) implements Op {
        @Override
        public String kind() {
            return "testkit_strange";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x);
        }

        @Override
        public List<Value> outputs() {
            return List.of(out);
        }

        @Override
        public List<Weight> weights() {
            return List.of();
        }
    }

    /// `out = 3 * x + x`: an op of a model bundle, defined by core ops with values of their own.
    record ThirdPartyOp(Value x, Value scaled, Value out) implements CustomOp {
        @Override
        public String kind() {
            return "testkit_custom";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x);
        }

        @Override
        public List<Value> outputs() {
            return List.of(out);
        }

        @Override
        public List<Weight> weights() {
            return List.of();
        }

        @Override
        public List<Op> expand() {
            return List.of(new CoreOp.Scale(x, 3, scaled), new CoreOp.Add(scaled, x, out));
        }
    }

    /// Weights that cannot be read any more after so many look-ups, as of a file that was cut off.
    record FailingWeights(Weights sound, AtomicInteger left) implements Weights {
        static final String REASON = "the weights cannot be read";

        private void lookUp() {
            if (left.getAndDecrement() <= 0) {
                throw new IllegalStateException(REASON);
            }
        }

        @Override
        public TensorInfo info(String name) {
            return sound.info(name);
        }

        @Override
        public QuantFormat format(String name) {
            return sound.format(name);
        }

        @Override
        public MemorySegment data(String name) {
            lookUp();
            return sound.data(name);
        }
    }

    /// The scalar definition of `linear` for any format, as a format bundle would offer it.
    record OfferedKernel(QuantFormat of, AtomicInteger calls) implements LinearKernel {
        @Override
        public String name() {
            return "testkit.offered";
        }

        @Override
        public String format() {
            return of.id();
        }

        @Override
        public void run(LinearCall call) {
            calls.incrementAndGet();
            float[] row = new float[call.n];
            for (int r = 0; r < call.rows; r++) {
                of.dequantize(call.weights, call.rowAt(r), row, 0, row.length);
                for (int t = 0; t < call.tokens; t++) {
                    MemorySegment x = call.packed.asSlice(t * packedBytes(row.length));
                    double sum = 0;
                    for (int i = 0; i < row.length; i++) {
                        sum += (double) row[i] * x.getAtIndex(ValueLayout.JAVA_FLOAT, i);
                    }
                    call.out.array()[call.outOffset + t * call.outStride + r] = (float) sum;
                }
            }
        }
    }
}
