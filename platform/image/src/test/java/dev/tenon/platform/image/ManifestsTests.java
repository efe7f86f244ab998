package dev.tenon.platform.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1Deployment;
import io.kubernetes.client.openapi.models.V1PodDisruptionBudget;
import io.kubernetes.client.openapi.models.V1Service;
import io.kubernetes.client.openapi.models.V2HorizontalPodAutoscaler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/// The manifests of docs/deploy have the fields that Kubernetes knows, and those that it wants. Kinds that others
/// define (KEDA, the gateway, the Prometheus operator) are not known here.
class ManifestsTests {
    private interface Check {
        void accept(JsonElement object) throws IOException;
    }

    private static final Map<String, Check> KNOWN = Map.of(
            "apps/v1 Deployment", V1Deployment::validateJsonElement,
            "v1 Service", V1Service::validateJsonElement,
            "v1 ConfigMap", V1ConfigMap::validateJsonElement,
            "policy/v1 PodDisruptionBudget", V1PodDisruptionBudget::validateJsonElement,
            "autoscaling/v2 HorizontalPodAutoscaler", V2HorizontalPodAutoscaler::validateJsonElement);
    private static final List<String> OTHERS = List.of(
            "keda.sh/v1alpha1 ScaledObject",
            "inference.networking.k8s.io/v1 InferencePool",
            "monitoring.coreos.com/v1 PodMonitor");

    private static Map<String, JsonObject> objects() throws IOException {
        Map<String, JsonObject> objects = new TreeMap<>();
        try (Stream<Path> files = Files.list(Path.of("../../docs/deploy"))) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".yaml")).toList()) {
                for (Object each : new Yaml(new SafeConstructor(new LoaderOptions())).loadAll(Files.readString(file))) {
                    JsonObject object = new Gson().toJsonTree(each).getAsJsonObject();
                    objects.put(
                            object.get("apiVersion").getAsString() + " "
                                    + object.get("kind").getAsString(),
                            object);
                }
            }
        }
        return objects;
    }

    @Test
    void fieldsAreThoseOfTheirKinds() throws IOException {
        int known = 0;
        for (Map.Entry<String, JsonObject> object : objects().entrySet()) {
            Check check = KNOWN.get(object.getKey());
            if (check != null) {
                check.accept(object.getValue());
                known++;
            } else {
                assertTrue(OTHERS.contains(object.getKey()), object::getKey);
            }
        }
        assertEquals(KNOWN.size(), known);
    }

    @Test
    void aFieldThatIsNotThereIsFound() throws IOException {
        JsonObject deployment = objects().get("apps/v1 Deployment");
        deployment
                .getAsJsonObject("spec")
                .getAsJsonObject("template")
                .getAsJsonObject("spec")
                .addProperty("terminationGracePeriod", 1);
        assertThrows(IllegalArgumentException.class, () -> V1Deployment.validateJsonElement(deployment));
    }
}
