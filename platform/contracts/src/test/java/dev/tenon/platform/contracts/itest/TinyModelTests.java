package dev.tenon.platform.contracts.itest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.EncoderHead;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// The tiny models of architectures that are given no file.
class TinyModelTests {
    /// @param causal whether it has a mask
    /// @param needed a key that it reads besides the usual ones
    private record Layer(boolean causal, String needed) implements ModelArchitecture {
        @Override
        public String id() {
            return "layer";
        }

        @Override
        public ModelDefinition define(ModelSource source) {
            ModelKeys keys = ModelKeys.of(source);
            keys.number(needed, 0, 1);
            ModelConfig config = ModelConfig.readShape(source, 10_000);
            DecoderBlocks b = new DecoderBlocks(source, config);
            var params = b.attentionParams("blk.0.").causal(causal).build();
            var x = b.attention("blk.0.", b.embedding(), 0, params, Optional.empty());
            return new ModelDefinition(config, causal ? b.build(x) : EncoderHead.build(b, keys, x));
        }
    }

    @Test
    void aDecoderHasAnOutputMatrix() {
        TinyModel model = TinyModel.of(new Layer(true, "attention.layer_norm_rms_epsilon"));
        assertTrue(model.tensors().containsKey("output.weight"));
        assertFalse(model.metadata().containsKey("layer.pooling_type"));
    }

    @Test
    void anEncoderHasKeysOfItsOwn() {
        TinyModel model = TinyModel.of(new Layer(false, "attention.layer_norm_epsilon"));
        assertFalse(model.tensors().containsKey("output.weight"));
        assertFalse(model.metadata().containsKey("layer.attention.layer_norm_rms_epsilon"));
        assertTrue(model.metadata().containsKey("layer.pooling_type"));
    }

    @Test
    void whatNeitherKeysDefineNeedsAFile() {
        for (Layer layer : new Layer[] {new Layer(false, "own.key"), new Layer(true, "attention.layer_norm_epsilon")}) {
            TenonException e = assertThrows(TenonException.class, () -> TinyModel.of(layer));
            assertEquals(ErrorCode.ITEST_MODEL, e.code());
        }
    }
}
