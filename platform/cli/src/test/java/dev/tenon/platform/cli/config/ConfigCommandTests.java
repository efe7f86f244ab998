package dev.tenon.platform.cli.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.config.Setting;
import dev.tenon.api.engine.Engine;
import dev.tenon.platform.cli.main.TestCli;
import dev.tenon.platform.core.control.EngineControl;
import dev.tenon.platform.core.control.SettingValue;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigCommandTests {
    private static final Setting PIN =
            Setting.flag("threads.pin", false, "Pins threads.").alsoFrom("PIN");

    @TempDir
    Path folder;

    private final List<SettingValue> declared = new ArrayList<>();
    private TestCli cli;

    @BeforeEach
    void setUp() {
        cli = new TestCli(folder);
        cli.add("config", this::command);
    }

    /// A command of its own for each call, as each process has it.
    private ConfigCommand command() {
        ConfigCommand command = new ConfigCommand();
        command.control = (EngineControl) control();
        command.sources = List.of(() -> List.of(SettingValue.find(
                "bundles",
                Setting.text("x.token", "", "X."),
                Map.of(),
                Map.of(),
                Map.of("x.token", "abc"),
                "etc/x.cfg")));
        return command;
    }

    /// An engine that only tells what is declared.
    private Object control() {
        return Proxy.newProxyInstance(
                EngineControl.class.getClassLoader(),
                new Class<?>[] {EngineControl.class, Engine.class},
                (proxy, method, given) -> {
                    if (!method.getName().equals("settings")) {
                        throw new UnsupportedOperationException(method.toString());
                    }
                    return declared;
                });
    }

    private void declare(String owner, Map<String, String> environment) {
        declared.add(SettingValue.find(owner, PIN, Map.of(), environment, Map.of(), "etc/a.cfg"));
    }

    @Test
    void eachSettingStandsWithItsValueAndWhereThatComesFrom() throws IOException {
        declare("cpu", Map.of("PIN", "TRUE"));
        declare("gpu", Map.of("PIN", "TRUE"));
        TestCli.Result result = cli.run("config");
        assertEquals(0, result.status(), result.err());
        assertTrue(result.out().contains("cpu, gpu\n  threads.pin                on  "), result.out());
        assertTrue(result.out().matches("(?s).*threads.pin +on +environment PIN\n.*"), result.out());
        assertTrue(result.out().matches("(?s).*color +auto +default\n.*"), result.out());
        assertTrue(
                result.out().matches("(?s).*model +\\S+story.gguf +etc/dev.tenon.platform.cli.cfg\n.*"), result.out());
        assertFalse(result.out().contains("abc"), "a token is shown: " + result.out());
        JsonNode json = new ObjectMapper().readTree(cli.run("config", "--json").out());
        JsonNode pin = json.valueStream()
                .filter(each -> each.get("name").asText().equals("threads.pin"))
                .findFirst()
                .orElseThrow();
        assertEquals("on", pin.get("value").asText());
        assertEquals("environment PIN", pin.get("from").asText());
        assertEquals("TENON_THREADS_PIN", pin.at("/environment/0").asText());
    }

    @Test
    void aValueThatIsNotAllowedIsAFailureWithTheReason() {
        declare("cpu", Map.of("PIN", "maybe"));
        TestCli.Result result = cli.run("config");
        assertEquals(1, result.status());
        assertTrue(result.out().contains("'maybe' (environment PIN); expected on or off"), result.out());
    }

    @Test
    void thePageKnowsNothingOfThisMachine() {
        String before = cli.run("config", "--markdown").out();
        cli.settings.put("color", "always");
        assertEquals(before, cli.run("config", "--markdown").out());
        assertTrue(before.startsWith("# Settings\n"), before);
    }

    @Test
    void onlyVariablesThatNobodyReadsAreUnknown() {
        declare("cpu", Map.of());
        List<String> environment = List.of(
                "PATH",
                "TENON_HOME",
                "TENON_LOG",
                "TENON_MODEL",
                "TENON_THREADS_PIN",
                "TENON_THRAEDS",
                "TENON_PREFER_X",
                "TENON_SERVE_PORT");
        assertEquals(List.of("TENON_THRAEDS"), UnknownVariables.find(environment, (Engine) control()));
        assertEquals(List.of(), UnknownVariables.find(environment, cli.engine), "an engine that tells nothing");
    }
}
