package dev.tenon.platform.contracts.itest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.BackendContract;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

class SuiteTests {
    @TempDir
    Path folder;

    private static boolean isTest(Method method) {
        return method.isAnnotationPresent(Test.class) || method.isAnnotationPresent(TestFactory.class);
    }

    @Test
    void eachTestOfABackendIsInOneSuite() {
        int tests = 0;
        Set<String> wrong = new TreeSet<>();
        for (Class<?> type = BackendContract.class; type != Object.class; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (isTest(method)) {
                    tests++;
                    if (List.of(Suite.values()).stream()
                                    .filter(suite -> suite.has(method.getDeclaringClass()))
                                    .count()
                            != 1) {
                        wrong.add(method.toString());
                    }
                }
            }
        }
        assertEquals(Set.of(), wrong);
        assertTrue(tests > 50, tests + " tests");
    }

    @Test
    void suitesHaveNames() {
        assertEquals(Optional.of(List.of(Suite.OPS)), Suite.named("ops"));
        assertEquals(Optional.of(List.of(Suite.values())), Suite.named("all"));
        assertEquals(Optional.empty(), Suite.named("OPS"));
        assertEquals("ops, schedule, capture, queue, gguf, server", Suite.names());
    }

    @Test
    void aReportCountsByMethod() throws IOException {
        List<QuantFormat> formats = ServiceLoader.load(QuantFormat.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(format -> format.id().equals("Q8_0"))
                .toList();
        List<ContractRun.Case> heard = new ArrayList<>();
        Contracts contracts = new Contracts(
                List.of(),
                formats,
                List.of(),
                new Contracts.Choices("", Map.of(), 1, false, Set.of(), false, Map.of()),
                heard::add);
        contracts.suites(List.of(Suite.GGUF), null, List.of());
        Report report = contracts.report();
        assertTrue(report.passed(), report::text);
        Path file = folder.resolve("report.json");
        report.write(file);
        JsonNode runs = new ObjectMapper().readTree(file.toFile()).get("runs");
        assertEquals(2, runs.size());
        assertEquals("gguf", runs.at("/0/suite").asText());
        assertEquals(
                "[21,0,0]",
                runs.at("/0/methods/aBrokenFileIsRefusedWithItsCode").toString());
        int counted = 0;
        for (JsonNode run : runs) {
            for (JsonNode counts : run.get("methods")) {
                counted += counts.get(0).asInt()
                        + counts.get(1).asInt()
                        + counts.get(2).asInt();
            }
        }
        assertEquals(heard.size(), counted);
    }
}
