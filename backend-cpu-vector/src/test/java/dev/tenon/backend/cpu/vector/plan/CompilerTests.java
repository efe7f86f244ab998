package dev.tenon.backend.cpu.vector.plan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceBuffer;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.Support;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.backend.cpu.vector.TestWeights;
import dev.tenon.backend.cpu.vector.TinyModel;
import dev.tenon.backend.cpu.vector.op.OpTests;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import dev.tenon.itest.testkit.reference.Reference;
import dev.tenon.quant.formats.Q8_0Format;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CompilerTests {
    private final Device device =
            new CpuVectorBackend().open(DeviceOptions.builder().threads(2).build());

    @AfterEach
    void closeDevice() {
        device.close();
    }

    private static PlanOptions options(KvType type) {
        return PlanOptions.builder(256)
                .maxBatchTokens(32)
                .maxSequences(2)
                .keyType(type)
                .valueType(type)
                .build();
    }

    private Plan compile(TinyModel model, KernelProvider... kernels) {
        return device.compiler()
                .compile(CompileRequest.builder(model.graph(), model.weights(), options(KvType.F16))
                        .kernels(List.of(kernels))
                        .build());
    }

    private static float[] one(Plan plan) {
        StepInput input = new StepInput();
        input.addSequence(new int[] {0});
        input.addToken(5, 0, true);
        float[] logits = new float[TinyModel.VOCABULARY];
        plan.run(input).logits(0, logits);
        return logits;
    }

    @Test
    void aDecoderLayerIsFiveKernels() {
        try (Plan plan = compile(TinyModel.create(1, new Q8_0Format(), true))) {
            List<PlanReport.Kernel> steps = plan.report().kernels();
            assertEquals(
                    List.of("norm_qkv_rope", "attention", "linear_add", "norm_gate_up", "linear_add"),
                    steps.subList(1, 6).stream().map(PlanReport.Kernel::op).toList());
            assertEquals(1 + 2 * 5 + 3, steps.size());
            assertTrue(steps.stream().allMatch(s -> s.level() == Support.Level.FAST), steps.toString());
            assertTrue(
                    steps.get(1).kernel().startsWith("q8_0.vector"),
                    steps.get(1).kernel());
        }
    }

    @Test
    void weightBytesOfATokenAreCounted() {
        try (Plan plan = compile(TinyModel.create(1, new Q8_0Format(), false))) {
            long matrices = 2L * (256 * 256 + 2 * 128 * 256 + 256 * 256 + 3 * 256 * 512) + 97 * 256;
            long norms = 5 * 256 * 4;
            assertEquals((matrices + 256) / 32 * 34 + norms, plan.report().weightBytesPerToken());
        }
    }

    /// A format of a bundle, which the backend has no kernel for.
    private record Foreign(QuantFormat as) implements QuantFormat {
        Foreign() {
            this(new Q8_0Format());
        }

        @Override
        public String id() {
            return "ACME8";
        }

        @Override
        public int ggmlType() {
            return as.ggmlType();
        }

        @Override
        public int blockSize() {
            return as.blockSize();
        }

        @Override
        public int blockBytes() {
            return as.blockBytes();
        }

        @Override
        public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
            as.dequantize(source, offsetBytes, target, targetOffset, n);
        }

        @Override
        public Optional<Quantizer> quantizer() {
            return as.quantizer();
        }
    }

    @Test
    void aFormatWithoutKernelRunsThroughItsDecoderAndTheReportSaysSo() {
        TinyModel model = TinyModel.create(2, new Foreign(), false);
        try (Plan plan = compile(model)) {
            PlanReport.Kernel step = plan.report().kernels().get(1);
            assertEquals("acme8.generic", step.kernel());
            assertEquals(Support.Level.GENERIC, step.level());
            double[][] expected =
                    new Reference(model.graph(), model.weights()).newSequence().feed(5);
            assertTrue(PlanTests.nmse(new float[][] {one(plan)}, expected) < 1e-6);
        }
    }

    /// The least that makes a kernel: packed rows are the activations as they are.
    private record Offered(String name, QuantFormat decoder, Predicate<Integer> lengths) implements LinearKernel {
        @Override
        public String format() {
            return decoder.id();
        }

        @Override
        public boolean accepts(int n) {
            return lengths.test(n);
        }

        @Override
        public void run(LinearCall call) {
            float[] row = new float[call.n];
            for (int r = 0; r < call.rows; r++) {
                decoder.dequantize(call.weights, call.rowAt(r), row, 0, row.length);
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

    @Test
    void anOfferedKernelIsTakenForAFormatWithoutOne() {
        TinyModel model = TinyModel.create(2, new Foreign(), false);
        List<Kernel> kernels = List.of(new Offered("acme8.test", new Foreign(), _ -> true));
        try (Plan plan = compile(model, () -> kernels)) {
            assertEquals("acme8.test", plan.report().kernels().get(1).kernel());
            double[][] expected =
                    new Reference(model.graph(), model.weights()).newSequence().feed(5);
            assertTrue(PlanTests.nmse(new float[][] {one(plan)}, expected) < 1e-6);
        }
    }

    @Test
    void ofOfferedKernelsTheFirstThatAcceptsTheRowsComesBeforeTheBackendsOwn() {
        KernelProvider provider = () -> List.of(
                new Offered("short", new Q8_0Format(), n -> n <= 32),
                new Offered("first", new Q8_0Format(), n -> n <= 64),
                new Offered("second", new Q8_0Format(), n -> n <= 64));
        KernelSet kernels = new KernelSet(false, false, List.of(provider));
        assertEquals("short", kernels.linear(new Q8_0Format(), 32).name());
        assertEquals("first", kernels.linear(new Q8_0Format(), 64).name());
        assertEquals("q8_0.scalar", kernels.linear(new Q8_0Format(), 96).name());
    }

    private record Strange(String kind, Value in, Value out) implements Op {
        @Override
        public List<Value> inputs() {
            return List.of(in);
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

    private record Twice(Value in, Value out) implements CustomOp {
        @Override
        public String kind() {
            return "twice";
        }

        @Override
        public List<Value> inputs() {
            return List.of(in);
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
            return List.of(new CoreOp.Add(in, in, out));
        }
    }

    @Test
    void unknownOpsAreRefusedAllAtOnce() {
        TinyModel model = TinyModel.create(2, TestWeights.F32, false);
        GraphBuilder b = new GraphBuilder("strange");
        Value x = b.embedding("x", new Weight("token_embd.weight", 256, 97));
        Value y = b.value("y", 256);
        b.add(new Strange("warp", x, y));
        Value z = b.value("z", 256);
        b.add(new Strange("weave", y, z));
        CompileRequest request = CompileRequest.of(b.build(z), model.weights(), options(KvType.F32));
        UnsupportedModelException e = assertThrows(
                UnsupportedModelException.class, () -> device.compiler().compile(request));
        assertEquals(ErrorCode.BACKEND_UNSUPPORTED, e.code());
        assertEquals(2, e.issues().size());
        assertTrue(e.getMessage().contains("warp") && e.getMessage().contains("weave"), e.getMessage());
        assertEquals(
                Support.Level.NONE,
                device.compiler()
                        .supports(new Strange("warp", x, y), model.weights(), List.of())
                        .level());
    }

    @Test
    void aCustomOpRunsAsItsExpansion() {
        TinyModel model = TinyModel.create(2, TestWeights.F32, false);
        GraphBuilder b = new GraphBuilder("custom");
        Value x = b.embedding("x", new Weight("token_embd.weight", 256, 97));
        Value y = b.value("y", 256);
        b.add(new Twice(x, y));
        OpTests.check(device, b.build(y), model.weights());
        Support support = device.compiler().supports(new Twice(x, y), model.weights(), List.of());
        assertEquals(Support.Level.GENERIC, support.level());
    }

    @Test
    void aQ8CacheForHeadsThatNoBlockFitsIsRefused() {
        TestWeights weights = new TestWeights();
        Weight table = new Weight("table", 48, 50);
        weights.put(table, TestWeights.F32, TestWeights.random(new Random(4), table));
        GraphBuilder b = new GraphBuilder("odd heads");
        Value x = b.embedding("x", table);
        Value out = b.value("out", 48);
        b.add(new CoreOp.Attention(x, x, x, 0, AttentionParams.builder(2, 2, 1).build(), out));
        CompileRequest request = CompileRequest.of(b.build(out), weights, options(KvType.Q8_0));
        UnsupportedModelException e = assertThrows(
                UnsupportedModelException.class, () -> device.compiler().compile(request));
        assertEquals(ErrorCode.BACKEND_UNSUPPORTED, e.code());
        assertEquals(2, e.issues().size());
        assertTrue(e.getMessage().contains("multiple of 32") && e.getMessage().contains("have 24"), e.getMessage());
    }

    @Test
    void closingThePlanReleasesItsMemory() {
        MemoryUse before = device.allocator().use();
        Plan plan = compile(TinyModel.create(2, TestWeights.F32, false));
        one(plan);
        MemoryUse during = device.allocator().use();
        long kv = plan.kvPages().pageBytes() * plan.kvPages().pageCount();
        assertEquals(2L * 2 * 64 * 128 * 2 * 4, kv);
        assertTrue(during.allocatedBytes() >= before.allocatedBytes() + kv);
        assertTrue(during.boundBytes() > 0);
        assertEquals(during.boundBytes(), plan.report().memory().boundBytes());
        assertEquals(during.allocatedBytes(), plan.report().memory().allocatedBytes());
        plan.close();
        plan.close();
        assertEquals(before, device.allocator().use());
        BackendException e = assertThrows(BackendException.class, () -> one(plan));
        assertEquals(ErrorCode.CLOSED, e.code());
    }

    @Test
    void moreCacheThanMemoryIsRefusedAndReleasesEverything() {
        TinyModel model = TinyModel.create(2, TestWeights.F32, false);
        MemoryUse before = device.allocator().use();
        PlanOptions huge = PlanOptions.builder(Integer.MAX_VALUE)
                .maxBatchTokens(32)
                .maxSequences(2)
                .keyType(KvType.F32)
                .valueType(KvType.F32)
                .build();
        CompileRequest request = CompileRequest.of(model.graph(), model.weights(), huge);
        OutOfResourcesException e = assertThrows(
                OutOfResourcesException.class, () -> device.compiler().compile(request));
        assertEquals(ErrorCode.MEMORY, e.code());
        assertEquals(before, device.allocator().use());
    }

    @Test
    void buffersCopyAndCount() {
        MemoryUse before = device.allocator().use();
        try (DeviceBuffer buffer = device.allocator().allocate(100, "test")) {
            assertEquals(before.allocatedBytes() + 100, device.allocator().use().allocatedBytes());
            byte[] bytes = {1, 2, 3};
            buffer.write(97, MemorySegment.ofArray(bytes));
            byte[] read = new byte[3];
            buffer.read(97, MemorySegment.ofArray(read));
            assertEquals(3, read[2]);
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.write(98, MemorySegment.ofArray(bytes)));
        }
        assertEquals(before, device.allocator().use());
    }

    @Test
    void copiedPagesServeAnotherSequence() {
        try (Plan plan = compile(TinyModel.create(2, TestWeights.F32, false))) {
            StepInput input = new StepInput();
            input.addSequence(new int[] {0});
            for (int t = 0; t < 20; t++) {
                input.addToken(t, t, t == 19);
            }
            float[] expected = new float[TinyModel.VOCABULARY];
            plan.run(input).logits(0, expected);
            plan.kvPages().copy(0, 3);
            input.clear();
            input.addSequence(new int[] {3});
            input.addToken(19, 19, true);
            float[] got = new float[TinyModel.VOCABULARY];
            plan.run(input).logits(0, got);
            assertArrayEquals(expected, got);
            assertThrows(IndexOutOfBoundsException.class, () -> plan.kvPages().copy(0, 4));
        }
    }
}
