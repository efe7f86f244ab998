package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.text.ChatTemplateEngine;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.text.ByteLevelBpeProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Chat templates that an architecture gives.
class GivenTemplateTests {
    private final FakeLlama llama = new FakeLlama();
    private final ServiceRegistry registry = new ServiceRegistry();
    private final TenonEngine engine = new TenonEngine(registry, EngineConfig.of(Map.of(), Map.of()));

    @BeforeEach
    void install() {
        registry.add(new FakeBackend("device", 1));
        registry.add(new FakeFormat());
        registry.add(llama, 6);
        registry.add(new ByteLevelBpeProvider());
        registry.add((ChatTemplateEngine) source -> variables -> source);
    }

    @AfterEach
    void close() {
        engine.close();
    }

    @Test
    void anArchitectureGivesAFileATemplateOrABetterOne(@TempDir Path folder) throws IOException {
        Path file = DefaultsTests.withTemplate(folder);
        try (LoadedModel with = engine.load(LoadRequest.of(file));
                LoadedModel without = engine.load(request())) {
            assertEquals(Optional.of(DefaultsTests.OWN), rendered(with), "nothing is given");
            assertEquals(Optional.empty(), rendered(without));
        }
        llama.template = metadata -> metadata.has("tokenizer.chat_template") ? Optional.empty() : Optional.of("given");
        try (LoadedModel with = engine.load(LoadRequest.of(file));
                LoadedModel without = engine.load(request())) {
            assertEquals(Optional.of(DefaultsTests.OWN), rendered(with));
            assertEquals(Optional.of("given"), rendered(without));
        }
        llama.template = metadata -> metadata.string("tokenizer.chat_template")
                .filter(DefaultsTests.OWN::equals)
                .map(own -> "better");
        try (LoadedModel with = engine.load(LoadRequest.of(file));
                LoadedModel without = engine.load(request())) {
            assertEquals(Optional.of("better"), rendered(with));
            assertEquals(Optional.empty(), rendered(without));
        }
        llama.template = metadata -> {
            throw new IllegalStateException("an architecture that is broken");
        };
        try (LoadedModel with = engine.load(LoadRequest.of(file));
                LoadedModel without = engine.load(request())) {
            assertEquals(Optional.of(DefaultsTests.OWN), rendered(with));
            assertEquals(Optional.empty(), rendered(without));
        }
    }

    private static Optional<String> rendered(LoadedModel model) {
        Optional<String> rendered = model.chatTemplate().map(template -> template.render(Map.of()));
        assertEquals(rendered, model.chatTemplateSource());
        return rendered;
    }

    @Test
    void whatAnotherVersionOfAnArchitectureGivesIsTaken() {
        llama.template = metadata -> Optional.of("first");
        FakeLlama next = new FakeLlama();
        next.template = metadata -> Optional.of("second");
        try (LoadedModel model = engine.load(request())) {
            assertEquals(Optional.of("first"), rendered(model));
            registry.add(next, 7);
            registry.remove(llama);
            assertEquals(Optional.of("second"), rendered(model));
        }
    }
}
