package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cpu.AttentionRows;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.reference.PlainAttention;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Sound kernels pass the contract, and each broken one fails the test that is there for it.
class KernelContractTests {
    private enum Fault {
        NONE(""),
        MISSES_THE_LAST_BLOCK("kernelsMultiplyAsTheirFormatDecodes"),
        STARTS_AT_ROW_0("kernelsMultiplyAsTheirFormatDecodes"),
        WRITES_BEHIND_ITS_SUMS("kernelsMultiplyAsTheirFormatDecodes"),
        WRITES_IN_FRONT_OF_ITS_SUMS("kernelsMultiplyAsTheirFormatDecodes"),
        DEPENDS_ON_OTHER_TOKENS("kernelsMultiplyAsTheirFormatDecodes"),
        SHARES_ITS_SUMS("manyThreadsMayUseAKernelAtOnce"),
        OFFERS_A_NAME_TWICE("kernelsNameThemselvesAndStayTheSame"),
        SEES_A_POSITION_TOO_MANY("attentionAddsInTheOrderThatIsWritten");

        private final String found;

        Fault(String found) {
            this.found = found;
        }
    }

    private static Fault current = Fault.NONE;

    /// Run by the launcher below, not by the build itself.
    static class UnderTest extends KernelContract {
        @Override
        protected KernelProvider provider() {
            Kernel packed = new Packed(current);
            Kernel attention = new Attention(current);
            return () -> current == Fault.OFFERS_A_NAME_TWICE ? List.of(packed, packed) : List.of(packed, attention);
        }

        @Override
        protected Collection<QuantFormat> formats() {
            return List.of(TestFormats.UNHEARD_OF);
        }
    }

    private static final QuantFormat FORMAT = TestFormats.UNHEARD_OF;
    private static float sharedSum;

    private static float dot(MemorySegment weights, long at, float[] x, int xOffset, int n) {
        float[] row = new float[n];
        FORMAT.dequantize(weights, at, row, 0, n);
        double sum = 0;
        for (int i = 0; i < n; i++) {
            sum += (double) row[i] * x[xOffset + i];
        }
        return (float) sum;
    }

    /// Computes as it is written, for F16.
    private static final class Attention extends PlainAttention {
        private final Fault fault;

        Attention(Fault fault) {
            super(KvType.F16);
            this.fault = fault;
        }

        @Override
        public void attend(
                MemorySegment page,
                long keysAt,
                long valuesAt,
                int keyLength,
                int valueLength,
                AttentionRows rows,
                MemorySegment scratch) {
            AttentionRows seen = rows;
            if (fault == Fault.SEES_A_POSITION_TOO_MANY) {
                int[] runs = rows.runs().toArray(ValueLayout.JAVA_INT);
                runs[3] = Math.min(runs[3] + 1, TOKENS);
                seen = new AttentionRows(
                        array(rows.q()), array(rows.max()), array(rows.sum()), array(rows.acc()), runs);
            }
            super.attend(page, keysAt, valuesAt, keyLength, valueLength, seen, scratch);
        }

        private static float[] array(MemorySegment numbers) {
            return (float[]) numbers.heapBase().orElseThrow();
        }
    }

    /// Takes rows as they are.
    private record Packed(Fault fault) implements LinearKernel {
        @Override
        public String name() {
            return "test.packed";
        }

        @Override
        public String format() {
            return FORMAT.id();
        }

        @Override
        public void run(LinearCall call) {
            for (int t = 0; t < call.tokens; t++) {
                float[] x = new float[call.n];
                MemorySegment.copy(call.packed, ValueLayout.JAVA_FLOAT, t * packedBytes(call.n), x, 0, call.n);
                int at = call.outOffset + t * call.outStride;
                for (int r = 0; r < call.rows; r++) {
                    int row = fault == Fault.STARTS_AT_ROW_0 ? r : call.firstRow + r;
                    int length = fault == Fault.MISSES_THE_LAST_BLOCK ? call.n - FORMAT.blockSize() : call.n;
                    float sum = KernelContractTests.dot(call.weights, row * call.rowBytes, x, 0, length);
                    if (fault == Fault.SHARES_ITS_SUMS) {
                        sharedSum = sum;
                        LockSupport.parkNanos(100_000); // long enough for another thread to come in
                        sum = sharedSum;
                    }
                    call.out.array()[at + r] =
                            fault == Fault.DEPENDS_ON_OTHER_TOKENS && call.tokens == 3 ? Math.nextUp(sum) : sum;
                }
                if (fault == Fault.WRITES_BEHIND_ITS_SUMS) {
                    call.out.array()[at + call.rows] = 0;
                }
                if (fault == Fault.WRITES_IN_FRONT_OF_ITS_SUMS) {
                    call.out.array()[call.outOffset - 1] = 0;
                }
            }
        }
    }

    @Test
    void soundKernelsPass() {
        current = Fault.NONE;
        assertEquals(Map.of(), ContractRunner.failuresOf(UnderTest.class, 10));
    }

    @ParameterizedTest
    @EnumSource(value = Fault.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aBrokenKernelFails(Fault fault) {
        current = fault;
        Map<String, String> failures = ContractRunner.failuresOf(UnderTest.class, 1);
        assertTrue(failures.containsKey(fault.found), () -> "failed: " + failures);
    }
}
