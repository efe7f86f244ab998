package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.itest.golden.ImpossibleModelTests.Model;
import dev.tenon.platform.core.StandaloneEngine;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Factors beside matrices, through the engine. Powers of two leave no rounding: results are equal bit for bit.
class MatrixScaleTests {
    private static final int[] TOKENS = {3, 10, 17, 24};

    private static Engine engine;

    @TempDir
    Path folder;

    @BeforeAll
    static void start() {
        engine = StandaloneEngine.create(Map.of());
    }

    @AfterAll
    static void stop() {
        engine.close();
    }

    private float[] logits(Model model) throws IOException {
        try (LoadedModel loaded = engine.load(LoadRequest.of(model.write(folder.resolve("model.gguf"))))) {
            return GoldenContract.last(loaded, TOKENS);
        }
    }

    /// A model whose head is a matrix of its own, with the elements that it has without.
    private static Model withHead() {
        return new Model().copy("token_embd.weight", "output.weight");
    }

    private static float[] times(float factor, float[] values) {
        float[] product = values.clone();
        for (int i = 0; i < product.length; i++) {
            product[i] *= factor;
        }
        return product;
    }

    @Test
    void aFactorMultipliesWhatItsMatrixGives() throws IOException {
        float[] plain = logits(new Model());
        assertArrayEquals(times(0.5f, plain), logits(withHead().vector("output.scale", 0.5f)));
        float[] values = logits(new Model().vector("blk.0.attn_v.scale", 2));
        assertTrue(GoldenData.nmse(values, plain, 0) > 1e-6, "the factor of attn_v changes nothing");
        Model both = new Model().vector("blk.0.attn_v.scale", 2).vector("blk.0.attn_output.scale", 0.5f);
        assertArrayEquals(plain, logits(both));
    }

    @Test
    void aFactorIsThatOfTheEmbeddingsToo() throws IOException {
        float[] halves = logits(new Model().vector("token_embd.scale", 0.5f));
        assertTrue(GoldenData.nmse(halves, logits(new Model()), 0) > 1e-6, "the factor changes nothing");
        Model again = new Model().vector("token_embd.scale", 1);
        assertArrayEquals(logits(new Model()), logits(again));
    }

    @Test
    void withABiasTheProductAloneIsMultiplied() throws IOException {
        long width = new Model().tensors.get("blk.0.attn_v.weight").shape().get(1);
        float[] bias = new float[(int) width];
        for (int i = 0; i < bias.length; i++) {
            bias[i] = i / 16f;
        }
        Model plain = new Model().vector("blk.0.attn_v.bias", bias);
        Model scaled = new Model()
                .vector("blk.0.attn_v.bias", times(2, bias))
                .vector("blk.0.attn_v.scale", 2)
                .vector("blk.0.attn_output.scale", 0.5f);
        assertArrayEquals(logits(plain), logits(scaled));
    }

    @Test
    void factorsOfActivationsAreNotNeeded() throws IOException {
        assertArrayEquals(logits(new Model()), logits(new Model().vector("blk.0.attn_v.input_scale", 3)));
    }

    @Test
    void whatIsNoFactorOfAMatrixIsRefused() {
        refuse(ErrorCode.MODEL_TENSOR_UNUSED, new Model().vector("blk.0.attn_x.scale", 1), "blk.0.attn_x.scale");
        refuse(ErrorCode.MODEL_TENSOR_UNUSED, new Model().vector("blk.0.attn_v.scale", 1, 2), "blk.0.attn_v.scale");
        refuse(ErrorCode.MODEL_TENSOR_UNUSED, new Model().vector("output_norm.scale", 1), "output_norm.scale");
        refuse(ErrorCode.MODEL_DATA, withHead().vector("output.scale", Float.NaN), "output.scale");
    }

    @Test
    void factorsOfExpertsAreRefused() {
        Model experts = new Model().experts().vector("blk.0.ffn_gate_exps.scale", 1);
        refuse(ErrorCode.MODEL_TENSOR_UNUSED, experts, "blk.0.ffn_gate_exps.scale");
    }

    private void refuse(String code, Model model, String tensor) {
        TenonException e = assertThrows(TenonException.class, () -> logits(model));
        assertEquals(code, e.code(), e.getMessage());
        assertTrue(e.getMessage().contains(tensor), e.getMessage());
    }
}
