package dev.tenon.benchmarks;

import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.quant.QuantFormat;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;

/// Finds what is on the class path, and the model that comes with the project.
final class Services {
    private Services() {}

    /// {@return all providers of a service}
    ///
    /// @param type the service
    static <T> List<T> all(Class<T> type) {
        return ServiceLoader.load(type).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
    }

    /// {@return an installed format}
    ///
    /// @param id its id
    static QuantFormat format(String id) {
        return all(QuantFormat.class).stream()
                .filter(f -> f.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no format " + id + " is on the class path"));
    }

    /// {@return what a plan is offered: nothing for `own`, the kernels of all bundles for `offered`}
    ///
    /// @param which one of the two
    static List<KernelProvider> kernels(String which) {
        return which.equals("offered") ? all(KernelProvider.class) : List.of();
    }

    /// {@return the file named by the property `tenon.benchmarks.model`, or the project's own small model}
    static Path model() {
        String given = System.getProperty("tenon.benchmarks.model");
        if (given != null) {
            return Path.of(given);
        }
        for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
            Path model = folder.resolve("platform/launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf");
            if (Files.isRegularFile(model)) {
                return model;
            }
        }
        throw new IllegalStateException("no model is found from here: give one with -Dtenon.benchmarks.model=FILE");
    }
}
