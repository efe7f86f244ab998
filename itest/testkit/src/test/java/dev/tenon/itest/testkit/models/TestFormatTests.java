package dev.tenon.itest.testkit.models;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.QuantFormatContract;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/// The testkit's own two formats keep the format contract.
class TestFormatTests {
    @Test
    void theyHoldWeights() {
        assertTrue(TestFormats.holdsWeights(TestFormats.F32));
        assertTrue(TestFormats.holdsWeights(TestFormats.UNHEARD_OF));
    }

    @Nested
    class F32 extends QuantFormatContract {
        @Override
        protected QuantFormat format() {
            return TestFormats.F32;
        }

        @Override
        protected List<Golden> golden() {
            return List.of(new Golden(
                    "by hand", new byte[] {0, 0, (byte) 0x80, 0x3f, 0, 0, 0, (byte) 0x80}, new float[] {1, -0f}));
        }
    }

    @Nested
    class UnheardOf extends QuantFormatContract {
        @Override
        protected QuantFormat format() {
            return TestFormats.UNHEARD_OF;
        }

        @Override
        protected double roundTripBound() {
            return 0.005; // 8 bits an element; the scale of so small a block adds bits but no precision
        }

        @Override
        protected List<Golden> golden() {
            return List.of(new Golden(
                    "by hand", new byte[] {0, 0x3c, 1, -1, 127, -128, 0}, new float[] {1, -1, 127, -128, 0}));
        }
    }
}
