package dev.tenon.platform.core.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.config.Setting;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.control.SettingValue;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.sampling.DefaultSamplerProvider;
import dev.tenon.platform.core.settings.DeclaredSettings;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.text.ByteLevelBpeProvider;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Where settings come from, what of them an engine refuses, and what an architecture learns of them.
class EngineSettingsTests {
    private static final Setting BLOCK =
            Setting.integer("mv.block-size", 0, 0, 512, "Threads.").alsoFrom("MV_BLOCKSIZE");

    private static final Setting WARMUP = Setting.flag("warmup", true, "Warms up.");

    private static final Setting CACHE = Setting.path("cuda.cache", "", "A folder.");

    private static final List<Setting> DECLARED = List.of(BLOCK, WARMUP, CACHE);

    private final ServiceRegistry registry = new ServiceRegistry();
    private final FakeBackend fast = new FakeBackend("fast", 2);

    @Test
    void settingsComeFromTheEnvironmentFirst() {
        EngineConfig config = EngineConfig.of(
                Map.of("backend", "a", "threads", 3), Map.of("TENON_BACKEND", "b", "MV_BLOCKSIZE", "4"));
        assertEquals("b", config.backend());
        assertEquals(3, config.threads());
        assertEquals(
                EngineConfig.of(Map.of(), Map.of("TENON_CONTEXT_LENGTH", "7")).contextLength(), 7);
        for (Map<String, Object> wrong :
                List.of(Map.<String, Object>of("threads", "many"), Map.<String, Object>of("cache.type.k", "f8"))) {
            TenonException e = assertThrows(
                    TenonException.class, () -> EngineConfig.of(wrong, Map.of()).checked());
            assertEquals(ErrorCode.CONFIG, e.code());
        }
    }

    @Test
    void aBackendIsHandedWhatItDeclares() {
        EngineConfig config = EngineConfig.of(
                Map.of("warmup", "TRUE", "odd.one", "x"), Map.of("MV_BLOCKSIZE", "4", "TENON_OTHER_ONE", "y"));
        Map<String, String> values = config.backendSettings(DECLARED, Map.of());
        assertEquals("4", values.get("mv.block-size"));
        assertEquals("on", values.get("warmup"));
        assertEquals("x", values.get("odd.one"));
        assertEquals("y", values.get("other.one"));
        assertFalse(values.containsKey("cuda.cache"));
        assertEquals(
                "8",
                config.backendSettings(DECLARED, Map.of("mv.block-size", "8")).get("mv.block-size"));
        EngineConfig own = EngineConfig.of(Map.of(), Map.of("MV_BLOCKSIZE", "4", "TENON_MV_BLOCK_SIZE", "16"));
        assertEquals("16", own.backendSettings(DECLARED, Map.of()).get("mv.block-size"));
        EngineConfig wrong = EngineConfig.of(Map.of("warmup", "hot"), Map.of());
        TenonException e = assertThrows(TenonException.class, () -> wrong.backendSettings(DECLARED, Map.of()));
        assertEquals(ErrorCode.CONFIG, e.code());
    }

    @Test
    void aRequestMayGiveWhatBackendsDeclareAndNothingElse() {
        fast.settings = DECLARED;
        registry.add(fast);
        DeclaredSettings.check(Map.of("warmup", "off"), registry);
        for (Map<String, String> wrong :
                List.of(Map.of("warmup", "hot"), Map.of("warmpu", "off"), Map.of("threads", "3"))) {
            TenonException e =
                    assertThrows(TenonException.class, () -> DeclaredSettings.check(wrong, registry), wrong::toString);
            assertEquals(ErrorCode.CONFIG, e.code());
            wrong.forEach((name, value) -> assertTrue(
                    e.getMessage().contains(name) && e.getMessage().contains("'" + value + "'"), e.getMessage()));
        }
        SettingValue block =
                DeclaredSettings.values(registry, EngineConfig.of(Map.of(), Map.of("MV_BLOCKSIZE", "900")), Map.of())
                        .stream()
                        .filter(each -> each.setting() == BLOCK)
                        .findFirst()
                        .orElseThrow();
        assertEquals("environment MV_BLOCKSIZE", block.origin());
        assertTrue(block.problem().contains("'900'") && block.problem().contains("512"), block.problem());
    }

    @Test
    void aSettingThatIsNotAllowedIsToldWhenAModelIsLoaded() {
        registry.add(fast);
        TenonEngine misconfigured = new TenonEngine(registry, EngineConfig.of(Map.of("threads", "abc"), Map.of()));
        TenonException e = assertThrows(TenonException.class, () -> misconfigured.load(EngineTests.request()));
        assertEquals(ErrorCode.CONFIG, e.code());
        assertEquals(0, fast.open.get());
    }

    @Test
    void theArchitectureLearnsHowLongSequencesMayBecome() {
        FakeLlama llama = new FakeLlama();
        registry.add(fast);
        registry.add(new FakeFormat());
        registry.add(llama);
        registry.add(new ByteLevelBpeProvider());
        registry.add(new DefaultSamplerProvider());
        LoadRequest asked = EngineTests.request().toBuilder().contextLength(8).build();
        TenonEngine free = new TenonEngine(registry, EngineConfig.of(Map.of("context.length", "0"), Map.of()));
        free.load(EngineTests.request()).close();
        assertEquals(0, llama.contextLength, "as the file says");
        free.load(asked).close();
        assertEquals(8, llama.contextLength);
        TenonEngine capped = new TenonEngine(registry, EngineConfig.of(Map.of("context.length", "16"), Map.of()));
        capped.load(EngineTests.request()).close();
        assertEquals(16, llama.contextLength);
        capped.load(asked).close();
        assertEquals(8, llama.contextLength, "the request is above the setting");
        TenonEngine high = new TenonEngine(registry, EngineConfig.of(Map.of("context.length", "1000000"), Map.of()));
        try (LoadedModel model = high.load(EngineTests.request())) {
            assertEquals(model.config().contextLength(), llama.contextLength, "the setting is a cap");
        }
    }
}
