package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.PromptMedia;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.media.MediaKind;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.encoder.EncoderDefinition;
import dev.tenon.api.media.encoder.EncoderTensors;
import dev.tenon.api.media.encoder.MediaEncoder;
import dev.tenon.api.media.encoder.MediaLayout;
import dev.tenon.api.media.encoder.MediaPrompt;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelSource;
import dev.tenon.platform.core.control.ServiceKind;
import dev.tenon.platform.core.engine.TenonEngine;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A bundle with an encoder goes, comes back and is replaced while a model uses it.
class EncoderBundlesTests {
    private static final String NAME = "vision/gemma3";
    private static final long OLD = 1;
    private static final long NEXT = 2;

    /// A later version of an encoder.
    ///
    /// @param of the version before
    /// @param mirrored whether it sees pictures otherwise than that
    private record Later(MediaEncoder of, boolean mirrored) implements MediaEncoder {
        @Override
        public String id() {
            return of.id();
        }

        @Override
        public EncoderDefinition define(ModelSource source, ModelConfig text) {
            EncoderDefinition defined = of.define(source, text);
            MediaLayout.OfPictures layout = (MediaLayout.OfPictures) defined.layout();
            return new EncoderDefinition(
                    defined.graph(), defined.mostTokens(), mirrored ? new Mirrored(layout) : layout);
        }
    }

    private record Mirrored(MediaLayout.OfPictures of) implements MediaLayout.OfPictures {
        @Override
        public void lay(Picture picture, EncoderTensors tensors, MediaPrompt prompt) {
            of.lay(mirrored(picture), tensors, prompt);
        }

        private static Picture mirrored(Picture picture) {
            int width = picture.size().width();
            return Picture.of(picture.size(), (y, rgb) -> {
                for (int i = 0; i < rgb.length; i++) {
                    rgb[i] = (byte) picture.sample(width - 1 - i / 3, y, i % 3);
                }
            });
        }
    }

    private final ServiceRegistry registry = new ServiceRegistry();
    private MediaEncoder encoder;
    private TenonEngine engine;
    private LoadedModel model;

    @BeforeEach
    void load() {
        for (ServiceKind kind : ServiceKind.values()) {
            ServiceLoader.load(kind.type()).forEach(service -> {
                boolean used = service instanceof MediaEncoder each && each.id().equals("gemma3");
                registry.add(service, used ? OLD : ServiceRegistry.NO_OWNER);
                encoder = used ? (MediaEncoder) service : encoder;
            });
        }
        engine = new TenonEngine(
                registry, EngineConfig.of(Map.of("move.timeout.ms", "100", "media.cache.mb", "0"), Map.of()));
        model = engine.load(LoadRequest.builder(GoldenData.file(NAME + ".text.gguf"))
                .companion(GoldenData.file(NAME + ".mmproj.gguf"))
                .build());
    }

    @AfterEach
    void close() {
        engine.close();
    }

    private float[] rows() {
        PromptMedia media = model.encode(GoldenPictures.picture("wide"));
        float[] first = media.row(0);
        assertTrue(media.rows() > 1);
        return first;
    }

    @Test
    void aModelTellsWhatItTakes() {
        assertEquals(Set.of(MediaKind.PICTURE), model.media());
        assertEquals(List.of(model), engine.models(), "its encoder is no model of its own");
    }

    @Test
    void theModelWaitsForAnEncoderThatWasWithdrawn() {
        float[] before = rows();
        registry.remove(encoder);
        TenonException e = assertThrows(TenonException.class, this::rows);
        assertEquals(ErrorCode.BACKEND_WITHDRAWN, e.code(), e.getMessage());
        registry.add(encoder, OLD);
        assertArrayEquals(before, rows());
    }

    @Test
    void anotherVersionTakesItsPlace() {
        float[] before = rows();
        registry.hold(NEXT);
        registry.add(new Later(encoder, false), NEXT);
        assertEquals(List.of(), engine.replace(Set.of(OLD), Set.of(NEXT), "updated", false));
        registry.remove(encoder);
        assertArrayEquals(before, rows());
    }

    @Test
    void aVersionThatMakesOtherRowsIsRefused() {
        float[] before = rows();
        registry.hold(NEXT);
        registry.add(new Later(encoder, true), NEXT);
        TenonException e =
                assertThrows(TenonException.class, () -> engine.replace(Set.of(OLD), Set.of(NEXT), "updated", false));
        assertEquals(ErrorCode.BUNDLE_RESULTS, e.code(), e.getMessage());
        assertTrue(e.getMessage().contains("the rows of a small picture on gemma3.mmproj.gguf"), e.getMessage());
        assertArrayEquals(before, rows());
        assertFalse(engine.replace(Set.of(OLD), Set.of(NEXT), "updated", true).isEmpty());
    }
}
