package dev.tenon.backend.cpu.vector.warmup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.backend.cpu.vector.kernel.linear.Scratch;
import dev.tenon.backend.cpu.vector.memory.PackedActivations;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import dev.tenon.backend.cpu.vector.selection.VectorKernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WarmupTaskTests {
    private static final int COLS = 32;

    /// A kernel that needs more scratch memory the more tokens there are, and says what it was given.
    private static class Hungry implements LinearKernel {
        final List<Integer> tokensSeen = new ArrayList<>();

        @Override
        public String name() {
            return "hungry";
        }

        @Override
        public String format() {
            return "F32";
        }

        @Override
        public boolean accepts(int n) {
            return true;
        }

        @Override
        public long packedBytes(int n) {
            return 64;
        }

        @Override
        public long scratchBytes(int n, int tokens) {
            return 1000L * tokens;
        }

        @Override
        public void pack(HostFloats x, int xOffset, int n, MemorySegment packed) {
            assertEquals(COLS, n);
        }

        @Override
        public void run(LinearCall call) {
            long bytes = call.scratch.byteSize();
            assertTrue(bytes >= scratchBytes(call.n, call.tokens), bytes + " for " + call.tokens);
            tokensSeen.add(call.tokens);
        }
    }

    /// A plan for one token has scratch memory for one; the warm-up runs more at once.
    @Test
    void kernelsGetScratchMemoryForTheTokensTheyAreWarmedUpWith() {
        Hungry kernel = new Hungry();
        try (Arena arena = Arena.ofConfined()) {
            BoundLinear linear = new BoundLinear(
                    "matrix",
                    null,
                    new PackedActivations(kernel, COLS),
                    arena.allocate(4 * COLS),
                    4 * COLS,
                    1,
                    COLS,
                    new float[0],
                    BoundLinear.UNCHANGED);
            Scratch ofThePlan = new Scratch(new float[1], new byte[0], arena.allocate(kernel.scratchBytes(COLS, 1)));
            List<WarmupTask> tasks = WarmupTask.linears(List.of(linear), ofThePlan, arena);
            tasks.forEach(task -> task.vector().run());
            assertEquals(List.of(1, 12), kernel.tokensSeen);
        }
    }

    /// Rows are taken in panels near a matrix's end; a kernel that names none, or too many, must not stop that.
    @ParameterizedTest
    @CsvSource({"0, 1", "-5, 1", "48, 48", "1000, 64"})
    void panelsOfAKernelHaveOneToSixtyFourRows(int named, int taken) {
        Hungry kernel = new Hungry() {
            @Override
            public int panelRows() {
                return named;
            }
        };
        try (Arena arena = Arena.ofConfined()) {
            BoundLinear linear = new BoundLinear(
                    "matrix",
                    null,
                    new PackedActivations(kernel, 256),
                    arena.allocate(256),
                    210,
                    1,
                    256,
                    new float[0],
                    BoundLinear.UNCHANGED);
            assertEquals(taken, linear.panelRows());
        }
    }

    /// The first 300 ms of a plan are for kernels that generate code; those of this backend are left to
    /// the JIT compiler, and one run of them in the interpreter helps nobody.
    @Test
    void onlyKernelsOfOthersGenerateCode() {
        assumeTrue(
                new CpuVectorBackend().probe().issues().isEmpty(), "the Vector API is not there or not compiled by C2");
        LinearKernel own = VectorKernels.packed("Q6_K");
        try (Arena arena = Arena.ofConfined()) {
            for (LinearKernel kernel : List.of(own, new Hungry())) {
                BoundLinear linear = new BoundLinear(
                        "matrix",
                        null,
                        new PackedActivations(kernel, 256),
                        arena.allocate(256),
                        210,
                        1,
                        256,
                        new float[0],
                        BoundLinear.UNCHANGED);
                Scratch scratch = new Scratch(new float[1], new byte[0], arena.allocate(1));
                for (WarmupTask task : WarmupTask.linears(List.of(linear), scratch, arena)) {
                    assertEquals(kernel != own, task.generatesCode());
                }
            }
        }
    }
}
