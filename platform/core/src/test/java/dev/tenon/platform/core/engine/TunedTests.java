package dev.tenon.platform.core.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.config.Knob;
import dev.tenon.api.config.Setting;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.platform.core.control.Selection;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.sampling.DefaultSamplerProvider;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.text.ByteLevelBpeProvider;
import dev.tenon.platform.core.tuned.TunedFolder;
import dev.tenon.platform.core.tuned.TunedIdentity;
import dev.tenon.platform.core.tuned.TunedModel;
import dev.tenon.platform.core.tuned.TunedSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// When a model runs with what was tuned for it.
class TunedTests {
    private static final Setting BLOCK = Setting.choice("block", "1", List.of("1", "2", "4"), "Size of a block.");
    private static final Setting OTHER = Setting.flag("other", true, "Something else.");

    private final ServiceRegistry registry = new ServiceRegistry();
    private final FakeBackend fast = new FakeBackend("fast", 2);

    @TempDir
    Path folder;

    @BeforeEach
    void install() {
        fast.settings = List.of(BLOCK, OTHER);
        fast.knobs = List.of(Knob.exact("block", List.of("2", "4")), Knob.exact("threads", List.of("1")));
        fast.details = Map.of("driver", "1.0");
        List.of(fast, new FakeFormat(), new FakeLlama(), new ByteLevelBpeProvider(), new DefaultSamplerProvider())
                .forEach(registry::add);
    }

    private TenonEngine engine(Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(Map.of("tuned.folder", folder.toString()));
        all.putAll(settings);
        return new TenonEngine(registry, EngineConfig.of(all, Map.of()));
    }

    private static LoadRequest request(Map<String, String> settings) {
        return EngineTests.request().toBuilder().settings(settings).build();
    }

    private TunedModel.Status load(Map<String, String> config, Map<String, String> request) {
        fast.opened.clear();
        try (TenonEngine engine = engine(config);
                LoadedModel model = engine.load(request(request))) {
            return assertInstanceOf(TunedModel.class, model).tuned();
        }
    }

    private String block() {
        return fast.opened.getLast().settings().get("block");
    }

    private void tune(Map<String, String> settings) throws IOException {
        try (TenonEngine engine = engine(Map.of());
                LoadedModel model = engine.load(request(Map.of("tuned", "off")))) {
            TunedIdentity identity = assertInstanceOf(TunedModel.class, model).tunedIdentity();
            new TunedFolder(folder).write(new TunedSettings(identity, settings, "decode +5 %", Map.of()));
        }
    }

    @Test
    void nothingTunedIsNoWordLost() {
        assertEquals(TunedModel.Status.NONE, load(Map.of(), Map.of()));
        assertEquals("1", block());
    }

    @Test
    void whatWasTunedHoldsUntilTheUserSaysOtherwise() throws IOException {
        tune(Map.of("block", "4", "threads", "1"));
        assertEquals(
                new TunedModel.Status(Map.of("block", "4", "threads", "1"), "decode +5 %"), load(Map.of(), Map.of()));
        assertEquals("4", block());
        assertEquals(1, fast.opened.getLast().threads());
        assertEquals(
                "not used: setting tuned=off",
                load(Map.of(), Map.of("tuned", "off")).reason());
        assertEquals("1", block());
        // Explicit values are stronger, whoever they come from, and whatever else was found together.
        for (List<Map<String, String>> given : List.of(
                List.of(Map.<String, String>of(), Map.of("block", "2")),
                List.of(Map.of("block", "2"), Map.<String, String>of()),
                List.of(Map.of("other", "off", "block", "2"), Map.<String, String>of()))) {
            String reason = load(given.getFirst(), given.getLast()).reason();
            assertTrue(reason.startsWith("not used: settings given are block=2"), reason);
            assertEquals("2", block());
            assertEquals(0, fast.opened.getLast().threads());
        }
        // Saying what is the default anyway is saying nothing.
        assertEquals("decode +5 %", load(Map.of(), Map.of("block", "1")).reason());
    }

    @Test
    void anotherDriverOrOtherCodeMakesItStale() throws IOException {
        tune(Map.of("block", "4"));
        fast.details = Map.of("driver", "2.0");
        String reason = load(Map.of(), Map.of()).reason();
        assertTrue(reason.contains("driver 1.0") && reason.contains("to 'driver 2.0"), reason);
        assertEquals("1", block());
        fast.details = Map.of("driver", "1.0");
        TunedSettings kept = new TunedFolder(folder).all().getFirst();
        TunedIdentity i = kept.identity();
        TunedIdentity old = new TunedIdentity(i.backend(), i.device(), i.driver(), i.given(), "0123", i.model());
        new TunedFolder(folder).write(new TunedSettings(old, kept.settings(), kept.result(), kept.failed()));
        reason = load(Map.of(), Map.of()).reason();
        assertTrue(reason.contains("the code of the backend or its kernels changed"), reason);
    }

    @Test
    void aValueThatTheBackendDoesNotTryIsNotTaken() throws IOException {
        for (Map<String, String> foreign :
                List.of(Map.of("block", "3"), Map.of("other", "off"), Map.of("block", "4", "evil", "rm"))) {
            tune(foreign);
            String reason = load(Map.of(), Map.of()).reason();
            assertTrue(reason.contains("is not among what fast tries"), reason);
            assertEquals("1", block());
        }
    }

    @Test
    void defaultsThatWereFoundBestAreTold() throws IOException {
        tune(Map.of());
        assertEquals(new TunedModel.Status(Map.of(), "the defaults are best: decode +5 %"), load(Map.of(), Map.of()));
    }

    @Test
    void aLoadThatFailsWithThemIsDoneWithoutThem() throws IOException {
        tune(Map.of("block", "4"));
        fast.onCompile = () -> {
            if (block().equals("4")) {
                throw new IllegalStateException("no memory for such blocks");
            }
        };
        assertEquals("not used: setting tuned=off", load(Map.of(), Map.of()).reason());
        assertEquals("1", block());
        assertEquals(0, fast.open.get(), "open devices");
    }

    @Test
    void theReasonsOfAPlacementNameThem() throws IOException {
        tune(Map.of("block", "4"));
        try (TenonEngine engine = engine(Map.of())) {
            Selection tuned = engine.explain(request(Map.of())).stream()
                    .filter(selection -> selection.kind().equals("tuned"))
                    .findFirst()
                    .orElseThrow();
            assertEquals("block=4", tuned.candidates().getFirst().name());
            assertTrue(tuned.candidates().getFirst().taken());
        }
    }

    @Test
    void damagedAndForeignFilesAreRefused() throws IOException {
        tune(Map.of("block", "4"));
        Path file = folder.resolve(
                new TunedFolder(folder).all().getFirst().identity().fileName());
        String whole = Files.readString(file);
        for (int at = 0; at < whole.length(); at += 7) {
            Files.writeString(file, whole.substring(0, at) + (char) (whole.charAt(at) ^ 1) + whole.substring(at + 1));
            assertEquals(TunedModel.Status.NONE, load(Map.of(), Map.of()), "changed at " + at);
        }
        for (int length = 0; length < whole.length() - 1; length += 11) {
            Files.writeString(file, whole.substring(0, length));
            assertEquals(TunedModel.Status.NONE, load(Map.of(), Map.of()), "cut to " + length);
        }
        Files.write(file, new byte[] {(byte) 0xFF, (byte) 0xFE, 0, 1});
        assertEquals(TunedModel.Status.NONE, load(Map.of(), Map.of()));
        Files.write(file, new byte[2 << 20]);
        assertEquals(TunedModel.Status.NONE, load(Map.of(), Map.of()));
        Files.delete(file);
        Files.createDirectory(file);
        assertEquals(TunedModel.Status.NONE, load(Map.of(), Map.of()));
        Files.delete(file);
        // Another model's file under this model's name.
        TunedIdentity other = new TunedIdentity("fast", "d", "x", "", "c", "m");
        new TunedFolder(folder).write(new TunedSettings(other, Map.of("block", "4"), "r", Map.of()));
        Files.move(folder.resolve(other.fileName()), file);
        assertTrue(load(Map.of(), Map.of()).reason().contains("another model, device or backend"));
        assertEquals(1, new TunedFolder(folder).removeAll());
        assertEquals(TunedModel.Status.NONE, load(Map.of(), Map.of()));
    }
}
