package dev.tenon.platform.core.engine;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.text.ByteLevelBpeProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// When a model whose file is cut short ends its sessions.
class ChangedModelTests {
    @TempDir
    Path folder;

    private final FakeBackend device = new FakeBackend("device", 1);
    private final ServiceRegistry registry = new ServiceRegistry();
    private final TenonEngine engine = new TenonEngine(registry, EngineConfig.of(Map.of(), Map.of()));
    private Path file;

    @BeforeEach
    void offer() throws IOException {
        registry.add(device);
        registry.add(new FakeFormat());
        registry.add(new FakeLlama());
        registry.add(new ByteLevelBpeProvider());
        file = Files.copy(EngineTests.request().path(), folder.resolve("model.gguf"));
    }

    private void cut() {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(64);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void step(Session session) {
        session.evaluate(new int[] {5}, Rows.LAST, (row, logits) -> {});
    }

    private static void refused(Runnable what) {
        assertEquals(
                ErrorCode.GGUF_CHANGED,
                assertThrows(TenonException.class, what::run).code());
    }

    @Test
    void aPlanThatReadsTheFileFailsFromThenOn() {
        device.boundBytes = 1;
        try (LoadedModel model = engine.load(LoadRequest.of(file));
                Session session = model.newSession()) {
            step(session);
            cut();
            refused(() -> step(session));
            refused(() -> step(session));
        }
    }

    /// The device reads nonsense and says that it failed: what the user learns is why.
    @Test
    void aStepThatFailsForItSaysSo() {
        device.boundBytes = 1;
        try (LoadedModel model = engine.load(LoadRequest.of(file));
                Session session = model.newSession()) {
            device.onStep = () -> {
                cut();
                throw new InternalError("a fault occurred in an unsafe memory access operation");
            };
            refused(() -> step(session));
        }
    }

    @Test
    void aPlanThatHasCopiedTheFileGoesOnAndIsNotPlacedAgain() {
        try (LoadedModel model = engine.load(LoadRequest.of(file));
                Session session = model.newSession()) {
            cut();
            assertDoesNotThrow(() -> step(session));
            registry.remove(device);
            registry.add(device);
            refused(() -> step(session));
        }
    }

    @Test
    void aModelThatIsCutWhileItIsCompiledIsRefused() {
        device.onCompile = this::cut;
        refused(() -> engine.load(LoadRequest.of(file)).close());
        assertEquals(0, device.open.get());
    }
}
