package dev.tenon.platform.core.gguf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TensorTypesTests {
    @Test
    void installedFormatAddsItsType() {
        TensorTypes types = TensorTypes.of(List.of(new Sizes("X7", 200, 7, 3)));
        assertEquals(new TensorType(200, "X7", 7, 3), types.find(200).orElseThrow());
        assertEquals(9, types.require(200, "t", "f").bytesFor(21));
        assertEquals(12, types.find("q4_k").orElseThrow().number());
        assertTrue(TensorTypes.standard().find(200).isEmpty());
    }

    @Test
    void formatOfGgmlThatNobodyOffersYetTakesItsNumber() {
        TensorTypes types = TensorTypes.of(List.of(new Sizes("TQ1_0", 34, 256, 54)));
        assertEquals("TQ1_0", types.require(34, "t", "f").name());
    }

    @Test
    void formatThatContradictsAnotherIsRefused() {
        TenonException error =
                assertThrows(TenonException.class, () -> TensorTypes.of(List.of(new Sizes("Q4_K", 12, 256, 100))));
        assertEquals(ErrorCode.DUPLICATE_ID, error.code());
    }

    @Test
    void unknownNumberIsRefusedWithoutAListOfTypesThatNothingDecodes() {
        UnsupportedModelException error = assertThrows(
                UnsupportedModelException.class, () -> TensorTypes.standard().require(200, "blk.0.x", "a.gguf"));
        assertEquals(ErrorCode.GGUF_TENSOR_TYPE, error.code());
        assertTrue(error.getMessage().contains("blk.0.x"), error.getMessage());
        assertFalse(error.getMessage().contains("TQ1_0"), error.getMessage());
    }

    /// A format that decodes nothing.
    private record Sizes(String id, int ggmlType, int blockSize, int blockBytes) implements QuantFormat {
        @Override
        public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
            throw new UnsupportedOperationException("not needed here");
        }

        @Override
        public Optional<Quantizer> quantizer() {
            return Optional.empty();
        }
    }
}
