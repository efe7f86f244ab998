package dev.tenon.platform.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.config.Setting;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.core.control.SettingValue;
import dev.tenon.platform.server.TenonServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/// The files of docs/deploy name paths, ports, settings and metrics that the server has. The limit on time ends a hang.
@Timeout(120)
class DeployFilesTests {
    private static final Path FOLDER = Path.of("../../docs/deploy");
    private static final Pattern VARIABLE = Pattern.compile("\\b(TENON_SERVE_[A-Z_]+)(?:=(\\S+))?");
    private static final Pattern METRIC = Pattern.compile("\\btenon:([a-z][a-z0-9_]+)");

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private static Engine engine;
    private static TenonServer server;
    private static String metrics;

    @BeforeAll
    static void start() throws Exception {
        engine = StandaloneEngine.create(Map.of());
        server = TenonServer.builder(engine)
                .port(0)
                .context(512)
                .model("story", LoadRequest.of(ServingTests.MODEL))
                .start();
        HttpRequest.BodyPublisher body = HttpRequest.BodyPublishers.ofString("{\"prompt\":\"Once\",\"max_tokens\":3}");
        assertEquals(200, send(request("/v1/completions").POST(body)).statusCode());
        metrics = send(request("/metrics")).body();
    }

    @AfterAll
    static void stop() {
        server.close();
        engine.close();
        CLIENT.close();
    }

    private static HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(server.address() + path));
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    /// An object of a YAML file, with paths such as `spec.containers.0.name`.
    private record Node(Object value) {
        Node at(String path) {
            Object at = value;
            for (String key : path.split("\\.")) {
                at = at instanceof List<?> list ? list.get(Integer.parseInt(key)) : ((Map<?, ?>) at).get(key);
                assertTrue(at != null, () -> "no " + path + " in " + value);
            }
            return new Node(at);
        }

        int number() {
            return Integer.parseInt(value.toString());
        }

        String text() {
            return value.toString();
        }

        List<Node> list() {
            return ((List<?>) value).stream().map(Node::new).toList();
        }
    }

    private static List<Node> objects(String file) throws IOException {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        List<Node> objects = new ArrayList<>();
        new Yaml(new SafeConstructor(options))
                .loadAll(Files.readString(FOLDER.resolve(file)))
                .forEach(each -> objects.add(new Node(each)));
        return objects;
    }

    private static Node object(String file, String kind) throws IOException {
        return objects(file).stream()
                .filter(each -> each.at("kind").text().equals(kind))
                .findFirst()
                .orElseThrow();
    }

    private static Map<String, Setting> variables() {
        return new ServeSettings(Map.of())
                .settings().stream()
                        .map(SettingValue::setting)
                        .collect(Collectors.toMap(Setting::variable, Function.identity()));
    }

    private static List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            List<Path> all = files.sorted().toList();
            assertTrue(all.size() >= 6, all::toString);
            return all;
        }
    }

    @Test
    void variablesAreThoseOfSettings() throws IOException {
        Map<String, Setting> known = variables();
        Set<String> unknown = new TreeSet<>();
        Set<String> seen = new TreeSet<>();
        for (Path file : files()) {
            for (MatchResult found :
                    VARIABLE.matcher(Files.readString(file)).results().toList()) {
                seen.add(found.group(1));
                if (!known.containsKey(found.group(1))) {
                    unknown.add(file.getFileName() + ": " + found.group(1));
                }
            }
        }
        assertEquals(Set.of(), unknown);
        assertTrue(seen.size() >= 5, seen::toString);
    }

    @Test
    void metricsAreThoseThatAreTold() throws IOException {
        Set<String> unknown = new TreeSet<>();
        Set<String> seen = new TreeSet<>();
        List<Path> all = new ArrayList<>(files());
        all.add(FOLDER.resolveSibling("deploy.md"));
        for (Path file : all) {
            for (MatchResult found :
                    METRIC.matcher(Files.readString(file)).results().toList()) {
                seen.add(found.group(1));
                if (!metrics.contains("# TYPE tenon:" + found.group(1) + " ")) {
                    unknown.add(file.getFileName() + ": " + found.group());
                }
            }
        }
        assertEquals(Set.of(), unknown);
        assertTrue(seen.size() >= 4, seen::toString);
    }

    /// The right column of the table of OpenTelemetry's names.
    @Test
    void eachNameOfOpenTelemetryHasItsMetric() throws IOException {
        List<String> ours = Pattern.compile("(?m)^\\| `gen_ai\\.[^|]*\\| `([a-z0-9_]+)` \\|$")
                .matcher(Files.readString(FOLDER.resolveSibling("deploy.md")))
                .results()
                .map(found -> found.group(1))
                .toList();
        assertEquals(5, ours.size());
        for (String name : ours) {
            assertTrue(metrics.contains("# TYPE tenon:" + name + " histogram\n"), name);
        }
    }

    @Test
    void whatThePickerReadsAreGaugesWithTheLabelsThatItWants() throws IOException {
        Object config = new Yaml(new SafeConstructor(new LoaderOptions()))
                .load(((Map<?, ?>)
                                object("gateway.yaml", "ConfigMap").at("data").value())
                        .get("config.yaml")
                        .toString());
        Node engine = new Node(config).at("plugins.1.parameters.engineConfigs.0");
        for (String spec : List.of("queuedRequestsSpec", "runningRequestsSpec", "kvUsageSpec", "cacheInfoSpec")) {
            assertTrue(metrics.contains("# TYPE " + engine.at(spec).text() + " gauge\n"), spec);
        }
        assertTrue(
                Pattern.compile(engine.at("cacheInfoSpec").text()
                                + "\\{.*block_size=\"[1-9]\\d*\",num_gpu_blocks=\"[1-9]\\d*\"} 1\n")
                        .matcher(metrics)
                        .find(),
                metrics);
        assertEquals(
                engine.at("name").text(),
                ((Map<?, ?>) object("kubernetes.yaml", "Deployment")
                                .at("spec.template.metadata.labels")
                                .value())
                        .get("llm-d.ai/engine-type"));
    }

    @Test
    void probesAskPathsThatAnswerAndPortsThatAreListenedOn() throws Exception {
        Node container = object("kubernetes.yaml", "Deployment").at("spec.template.spec.containers.0");
        assertEquals(
                variables().get("TENON_SERVE_PORT").defaultValue(),
                container.at("ports.0.containerPort").text());
        String port = container.at("ports.0.name").text();
        for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
            Node get = container.at(probe + ".httpGet");
            assertEquals(port, get.at("port").text(), probe);
            assertEquals(200, send(request(get.at("path").text())).statusCode(), probe);
        }
        Node service = object("kubernetes.yaml", "Service").at("spec.ports.0");
        assertEquals(port, service.at("targetPort").text());
        assertEquals(
                container.at("ports.0.containerPort").text(),
                object("gateway.yaml", "InferencePool")
                        .at("spec.targetPorts.0.number")
                        .text());
        Node scraped = object("monitoring.yaml", "PodMonitor").at("spec.podMetricsEndpoints.0");
        assertEquals(port, scraped.at("port").text());
        assertEquals(200, send(request(scraped.at("path").text())).statusCode());
        assertTrue(object("keda.yaml", "ScaledObject")
                .at("spec.triggers.0.metadata.url")
                .text()
                .endsWith(":" + service.at("port").text() + "/metrics"));
    }

    @Test
    void thoseWhoEndTheServerWaitLongerThanItsDrain() throws IOException {
        Node pod = object("kubernetes.yaml", "Deployment").at("spec.template.spec");
        Map<String, String> environment = new TreeMap<>();
        pod.at("containers.0.env")
                .list()
                .forEach(each ->
                        environment.put(each.at("name").text(), each.at("value").text()));
        int drain = Integer.parseInt(environment.get("TENON_SERVE_DRAIN_DELAY"))
                + Integer.parseInt(environment.get("TENON_SERVE_DRAIN_TIMEOUT"));
        assertTrue(pod.at("terminationGracePeriodSeconds").number() > drain + 10);

        String unit = Files.readString(FOLDER.resolve("tenon.service"));
        assertTrue(number(unit, "TimeoutStopSec=") > number(unit, "TENON_SERVE_DRAIN_TIMEOUT=") + 10);
    }

    private static int number(String text, String before) {
        return Integer.parseInt(
                text.substring(text.indexOf(before) + before.length()).replaceFirst("(?s)\\D.*", ""));
    }
}
