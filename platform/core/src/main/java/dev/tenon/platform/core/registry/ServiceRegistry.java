package dev.tenon.platform.core.registry;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.KernelProvider;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.text.ChatTemplateEngine;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.TokenizerProvider;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// The services that are installed now. Safe for any thread.
///
/// Two services with one id are kept, but asking for that id is refused with a list of both, unless a
/// preference names the
/// class or the jar of one.
public final class ServiceRegistry {
    private final List<QuantFormat> formats = new CopyOnWriteArrayList<>();
    private final List<ModelArchitecture> architectures = new CopyOnWriteArrayList<>();
    private final List<Backend> backends = new CopyOnWriteArrayList<>();
    private final List<KernelProvider> kernels = new CopyOnWriteArrayList<>();
    private final List<TokenizerProvider> tokenizers = new CopyOnWriteArrayList<>();
    private final List<ChatTemplateEngine> templates = new CopyOnWriteArrayList<>();
    private final List<SamplerProvider> samplers = new CopyOnWriteArrayList<>();
    private final List<Consumer<Object>> removalListeners = new CopyOnWriteArrayList<>();
    private final List<Runnable> additionListeners = new CopyOnWriteArrayList<>();
    private volatile Map<String, String> preferences = Map.of();

    /// Creates an empty registry.
    public ServiceRegistry() {}

    /// Adds a service of one of the known kinds.
    ///
    /// @param service the service
    /// @throws IllegalArgumentException if it is of no known kind
    public void add(Object service) {
        switch (service) {
            case QuantFormat format -> formats.add(format);
            case ModelArchitecture architecture -> architectures.add(architecture);
            case Backend backend -> backends.add(backend);
            case KernelProvider provider -> kernels.add(provider);
            case TokenizerProvider provider -> tokenizers.add(provider);
            case ChatTemplateEngine engine -> templates.add(engine);
            case SamplerProvider provider -> samplers.add(provider);
            default -> throw new IllegalArgumentException("no kind of service: " + service.getClass());
        }
        additionListeners.forEach(Runnable::run);
    }

    /// Removes a service, then tells the removal listeners, which return when nothing uses it any more.
    ///
    /// @param service the service
    public void remove(Object service) {
        List<List<?>> lists = List.of(formats, architectures, backends, kernels, tokenizers, templates, samplers);
        for (List<?> list : lists) {
            list.removeIf(s -> s == service);
        }
        removalListeners.forEach(listener -> listener.accept(service));
    }

    /// Registers a listener that ends the use of a removed service before it returns.
    ///
    /// @param listener hears the service
    public void onRemoval(Consumer<Object> listener) {
        removalListeners.add(listener);
    }

    /// Registers a listener for new services.
    ///
    /// @param listener called after each addition
    public void onAddition(Runnable listener) {
        additionListeners.add(listener);
    }

    /// Sets which class wins where two services have one id.
    ///
    /// @param byId class names or jar names, or their ends, by `format.ID`, `architecture.ID`, `backend.ID`
    public void prefer(Map<String, String> byId) {
        preferences = Map.copyOf(byId);
    }

    /// {@return the format of a tensor type}
    ///
    /// @param ggmlType type number
    /// @throws TenonException (`CFG-002`) if several formats have it and no preference names one
    public Optional<QuantFormat> format(int ggmlType) {
        return choose(formats, f -> f.ggmlType() == ggmlType, QuantFormat::id, "format");
    }

    /// {@return the formats in the order they came}
    public List<QuantFormat> formats() {
        return List.copyOf(formats);
    }

    /// {@return the architecture of an id}
    ///
    /// @param id value of `general.architecture`
    /// @throws TenonException (`CFG-002`) if several have it and no preference names one
    public Optional<ModelArchitecture> architecture(String id) {
        return choose(architectures, a -> a.id().equals(id), ModelArchitecture::id, "architecture");
    }

    /// {@return the architectures in the order they came}
    public List<ModelArchitecture> architectures() {
        return List.copyOf(architectures);
    }

    /// {@return the backend of an id}
    ///
    /// @param id backend id
    /// @throws TenonException (`CFG-002`) if several have it and no preference names one
    public Optional<Backend> backend(String id) {
        return choose(backends, b -> b.id().equals(id), Backend::id, "backend");
    }

    /// {@return the backends, best rank first}
    public List<Backend> backends() {
        return backends.stream()
                .sorted(Comparator.comparingInt(Backend::rank).reversed())
                .toList();
    }

    /// {@return the kernel providers}
    public List<KernelProvider> kernelProviders() {
        return List.copyOf(kernels);
    }

    /// {@return the tokenizer providers}
    public List<TokenizerProvider> tokenizerProviders() {
        return List.copyOf(tokenizers);
    }

    /// {@return the chat template engines}
    public List<ChatTemplateEngine> templateEngines() {
        return List.copyOf(templates);
    }

    /// {@return the sampler providers}
    public List<SamplerProvider> samplerProviders() {
        return List.copyOf(samplers);
    }

    private <S> Optional<S> choose(List<S> services, Predicate<S> wanted, Function<S, String> id, String kind) {
        List<S> found = services.stream().filter(wanted).toList();
        if (found.size() < 2) {
            return found.stream().findFirst();
        }
        String key = kind + "." + id.apply(found.getFirst());
        String preferred = preferences.get(key);
        return Optional.of(found.stream()
                .filter(s -> preferred != null
                        && (s.getClass().getName().endsWith(preferred)
                                || origin(s).contains(preferred)))
                .findFirst()
                .orElseThrow(() -> new TenonException(
                        ErrorCode.DUPLICATE_ID,
                        "Several bundles offer the " + kind + " " + id.apply(found.getFirst()) + ": " + names(found)
                                + ". Remove all but one, or name the class or the jar of one in the setting prefer."
                                + key)));
    }

    private static <S> String names(List<S> services) {
        return services.stream()
                .map(s -> s.getClass().getName() + " from " + origin(s))
                .collect(Collectors.joining(", "));
    }

    private static String origin(Object service) {
        var domain = service.getClass().getProtectionDomain().getCodeSource();
        return domain == null ? "an unknown place" : String.valueOf(domain.getLocation());
    }
}
