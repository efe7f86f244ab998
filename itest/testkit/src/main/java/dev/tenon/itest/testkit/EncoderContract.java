package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Size;
import dev.tenon.api.media.encoder.EncoderDefinition;
import dev.tenon.api.media.encoder.EncoderStep;
import dev.tenon.api.media.encoder.EncoderTensors;
import dev.tenon.api.media.encoder.MediaEncoder;
import dev.tenon.api.media.encoder.MediaLayout;
import dev.tenon.api.media.encoder.MediaPrompt;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelSource;
import dev.tenon.itest.testkit.models.MemoryWeights;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.reference.ReferenceBackend;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// What every encoder of pictures has to do: extend this class, describe a tiny companion file, and run it with JUnit.
/// That its rows are right, golden pictures and rows show, which another implementation made.
public abstract class EncoderContract {
    private static final List<Size> SIZES =
            List.of(new Size(64, 48), new Size(48, 64), new Size(1, 1), new Size(300, 7), new Size(7, 300));

    /// For subclasses.
    protected EncoderContract() {}

    /// {@return the encoder}
    protected abstract MediaEncoder encoder();

    /// {@return the keys of the companion file, `clip.projector_type` among them}
    protected abstract Map<String, GgufValue> metadata();

    /// {@return its tensors: lengths by name, the fastest first}
    protected abstract Map<String, List<Long>> tensors();

    /// {@return the width of the model that reads the rows}
    protected abstract int width();

    private ModelSource source(Map<String, GgufValue> keys) {
        Map<String, TensorInfo> infos = new HashMap<>();
        tensors()
                .forEach((name, shape) -> infos.put(
                        name,
                        new TensorInfo(name, 0, shape, 0, 0, 4 * shape.stream().reduce(1L, Math::multiplyExact))));
        return new ModelSource(GgufMetadata.of("tiny.mmproj.gguf", keys), infos);
    }

    private EncoderDefinition define() {
        ModelConfig text = ModelConfig.builder("tiny").embeddingLength(width()).build();
        return encoder().define(source(metadata()), text);
    }

    private MediaLayout.OfPictures layout(EncoderDefinition defined) {
        return assertInstanceOf(
                MediaLayout.OfPictures.class,
                defined.layout(),
                "the layout of " + encoder().id());
    }

    /// Random elements; those of tensors that the layout has not declared are refused.
    private EncoderTensors elements(MediaLayout layout) {
        return name -> {
            assertTrue(layout.tensors().contains(name), "MediaLayout.tensors() does not name " + name);
            List<Long> shape = tensors().get(name);
            if (shape == null) {
                throw new IllegalArgumentException("no tensor " + name);
            }
            Random random = new Random(name.hashCode());
            float[] values = new float[Math.toIntExact(shape.stream().reduce(1L, Math::multiplyExact))];
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) random.nextGaussian();
            }
            return values;
        };
    }

    private static Picture picture(Size size, long seed) {
        Random random = new Random(seed);
        return Picture.of(size, (y, rgb) -> random.nextBytes(rgb));
    }

    /// What a layout says: the steps, and that it says something.
    private static final class Said implements MediaPrompt {
        final List<EncoderStep> steps = new ArrayList<>();

        @Override
        public void text(String text) {
            assertFalse(text.isEmpty(), "an empty text is said");
        }

        @Override
        public void token(String token) {
            assertFalse(token.isEmpty(), "an empty token is said");
        }

        @Override
        public void rows(EncoderStep step, int columns, boolean together) {
            assertTrue(columns > 0 && step.results() % columns == 0, step.results() + " rows in lines of " + columns);
            steps.add(step);
        }

        @Override
        public void lines(EncoderStep step, int columns, float[] between) {
            rows(step, columns, false);
        }
    }

    private Said lay(EncoderDefinition defined, Picture picture) {
        Said said = new Said();
        MediaLayout.OfPictures layout = layout(defined);
        layout.lay(picture, elements(layout), said);
        return said;
    }

    @Test
    void itsIdIsTheFilesProjector() {
        assertEquals(metadata().get("clip.projector_type").value(), encoder().id());
    }

    @Test
    void theGraphHasTheTensorsOfTheFile() {
        EncoderDefinition defined = define();
        Map<String, List<Long>> left = new HashMap<>(tensors());
        for (Weight weight : defined.graph().weights()) {
            List<Long> shape = left.remove(weight.name());
            assertTrue(shape != null, "the file has no " + weight.name());
            assertEquals(
                    weight.tensor().elements(),
                    shape.stream().reduce(1L, Math::multiplyExact),
                    "elements of " + weight.name());
        }
        ModelSource source = source(metadata());
        left.keySet()
                .removeIf(name ->
                        defined.layout().tensors().contains(name) || encoder().ignores(source, name));
        assertEquals(Map.of(), left, "tensors that nothing uses");
        assertEquals(0, defined.width() % width(), "rows of " + defined.width() + " for a model of " + width());
    }

    @Test
    void aPictureOfAnySizeBecomesRows() {
        EncoderDefinition defined = define();
        for (Size size : SIZES) {
            List<float[]> rows = encode(defined, picture(size, 7));
            assertFalse(rows.isEmpty(), "no rows of a picture of " + size);
            for (float[] row : rows) {
                for (float value : row) {
                    assertTrue(Float.isFinite(value), size + ": an element is " + value);
                }
            }
        }
    }

    @Test
    void rowsDependOnThePictureAlone() {
        EncoderDefinition defined = define();
        List<float[]> first = encode(defined, picture(SIZES.getFirst(), 7));
        encode(defined, picture(SIZES.getLast(), 8));
        List<float[]> again = encode(defined, picture(SIZES.getFirst(), 7));
        List<float[]> other = encode(defined, picture(SIZES.getFirst(), 9));
        assertEquals(first.size(), again.size());
        boolean differ = other.size() != first.size();
        for (int r = 0; r < first.size(); r++) {
            assertArrayEquals(first.get(r), again.get(r), "row " + r + " of the same picture");
            differ |= !Arrays.equals(first.get(r), other.get(r));
        }
        assertTrue(differ, "two pictures have the same rows");
    }

    @Test
    void keysThatAreMissingOrZeroAreRefused() {
        for (String key : metadata().keySet()) {
            Map<String, GgufValue> keys = new HashMap<>(metadata());
            keys.remove(key);
            definesOrRefuses(keys, "without " + key);
            if (metadata().get(key).type().isInteger()) {
                keys.put(key, GgufValue.ofUint32(0));
                definesOrRefuses(keys, key + " = 0");
            }
        }
    }

    private void definesOrRefuses(Map<String, GgufValue> keys, String what) {
        ModelSource source = source(keys);
        ModelConfig text = ModelConfig.builder("tiny").embeddingLength(width()).build();
        try {
            encoder().define(source, text);
        } catch (TenonException e) {
            assertFalse(e.text().isBlank(), what);
        } catch (RuntimeException e) {
            throw new AssertionError(what + " is neither defined nor refused, but fails with " + e, e);
        }
    }

    private List<float[]> encode(EncoderDefinition defined, Picture picture) {
        List<float[]> rows = new ArrayList<>();
        PlanOptions options = PlanOptions.builder(defined.mostTokens())
                .maxBatchTokens(defined.mostTokens())
                .build();
        try (MemoryWeights weights = RandomModels.weightsFor(defined.graph(), TestFormats.F32, 3);
                Device device =
                        new ReferenceBackend().open(DeviceOptions.builder().build());
                Plan plan = device.compiler()
                        .compile(CompileRequest.builder(defined.graph(), weights, options)
                                .build())) {
            int[] pages = IntStream.range(0, plan.kvPages().pageCount()).toArray();
            for (EncoderStep step : lay(defined, picture).steps) {
                assertTrue(
                        step.rows().size() <= defined.mostTokens(),
                        "a step of " + step.rows().size() + " tokens; mostTokens is " + defined.mostTokens());
                StepInput input = new StepInput();
                input.addSequence(pages);
                step.addTo(input);
                StepResult result = plan.run(input);
                assertEquals(step.results(), result.rows(), "rows of a step");
                for (int r = 0; r < result.rows(); r++) {
                    float[] row = new float[defined.width()];
                    result.logits(r, row);
                    rows.add(row);
                }
            }
        }
        return rows;
    }
}
