package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import dev.tenon.itest.testkit.models.TestFormats;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Each broken format fails the test of the format contract that is there for it.
class QuantFormatContractTests {
    private enum Fault {
        READS_FROM_AN_ALIGNED_OFFSET("whereTheBlocksStandDoesNotMatter"),
        WRITES_BEHIND_THE_VALUES("decodingWritesNothingElse"),
        IGNORES_THE_REST("decodingChecksItsBounds"),
        SHARES_A_BUFFER("manyThreadsMayUseItAtOnce"),
        ENCODES_WITH_HALF_THE_SCALE("theErrorOfARoundTripStaysInTheBound"),
        CHANGES_ITS_SOURCE("encodingIsRepeatableAndKeepsItsSource"),
        KEEPS_NOT_A_NUMBER("notANumberAndInfinityStayInTheirBlock"),
        SCALES_OVER_ALL_BLOCKS("aBlockIsEncodedFromItsOwnValues"),
        COUNTS_WRONG_BYTES("bytesForCountsWholeBlocks"),
        PROMISES_NOTHING("idTypeAndSizesMakeSense"),
        HAS_ANOTHER_LAYOUT("theLayoutSaysTheSame");

        private final String found;

        Fault(String found) {
            this.found = found;
        }
    }

    private static Fault current;

    /// Run by the launcher below, not by the build itself.
    static class UnderTest extends QuantFormatContract {
        @Override
        protected QuantFormat format() {
            return new Broken(current);
        }
    }

    private record Broken(Fault fault) implements QuantFormat {
        private static final QuantFormat SOUND = TestFormats.UNHEARD_OF;
        private static final float[] SHARED = new float[100_000];

        @Override
        public String id() {
            return SOUND.id();
        }

        @Override
        public double roundTripBound() {
            return fault == Fault.PROMISES_NOTHING ? Double.POSITIVE_INFINITY : 0.005;
        }

        @Override
        public int ggmlType() {
            return SOUND.ggmlType();
        }

        @Override
        public int blockSize() {
            return SOUND.blockSize();
        }

        @Override
        public int blockBytes() {
            return SOUND.blockBytes();
        }

        @Override
        public Optional<BlockLayout> layout() {
            Numbers levels = Numbers.signed(BitField.of(8).at(2).bytes(blockSize(), 1));
            BlockLayout layout = BlockLayout.of(blockSize(), blockBytes(), levels, 1, Scale.f16(0));
            return fault == Fault.HAS_ANOTHER_LAYOUT ? Optional.of(layout) : Optional.empty();
        }

        @Override
        public long bytesFor(long n) {
            return fault == Fault.COUNTS_WRONG_BYTES ? n * blockBytes() / blockSize() : SOUND.bytesFor(n);
        }

        @Override
        public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
            switch (fault) {
                case READS_FROM_AN_ALIGNED_OFFSET ->
                    SOUND.dequantize(source, offsetBytes & ~1L, target, targetOffset, n);
                case IGNORES_THE_REST ->
                    SOUND.dequantize(source, offsetBytes, target, targetOffset, n / blockSize() * blockSize());
                case SHARES_A_BUFFER -> {
                    SOUND.dequantize(source, offsetBytes, SHARED, 0, n);
                    LockSupport.parkNanos(100_000); // long enough for another thread to come in, on a busy machine too
                    System.arraycopy(SHARED, 0, target, targetOffset, n);
                    Arrays.fill(SHARED, 0, n, 0);
                }
                default -> SOUND.dequantize(source, offsetBytes, target, targetOffset, n);
            }
            if (fault == Fault.KEEPS_NOT_A_NUMBER) {
                for (int i = 1; i < n; i++) {
                    // As a running sum over the elements would.
                    target[targetOffset + i] += 0 * target[targetOffset + i - 1];
                }
            }
            if (fault == Fault.WRITES_BEHIND_THE_VALUES && targetOffset + n < target.length) {
                target[targetOffset + n] = 0;
            }
        }

        @Override
        public Optional<Quantizer> quantizer() {
            Quantizer sound = SOUND.quantizer().orElseThrow();
            return Optional.of((source, at, target, offsetBytes, n) -> {
                sound.quantize(source, at, target, offsetBytes, n);
                if (fault == Fault.SCALES_OVER_ALL_BLOCKS && n > blockSize()) {
                    byte q = target.get(ValueLayout.JAVA_BYTE, offsetBytes + 2);
                    target.set(ValueLayout.JAVA_BYTE, offsetBytes + 2, (byte) (q / 2 + 1));
                }
                if (fault == Fault.CHANGES_ITS_SOURCE && n > 0) {
                    source[at] = 0;
                }
                if (fault == Fault.ENCODES_WITH_HALF_THE_SCALE && n > 0) {
                    byte q = target.get(ValueLayout.JAVA_BYTE, offsetBytes + 3);
                    target.set(ValueLayout.JAVA_BYTE, offsetBytes + 3, (byte) (q / 2));
                }
            });
        }
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void aBrokenFormatFails(Fault fault) {
        current = fault;
        Map<String, String> failures = ContractRunner.failuresOf(UnderTest.class, fault.found);
        assertTrue(failures.containsKey(fault.found), () -> "failed: " + failures);
    }
}
