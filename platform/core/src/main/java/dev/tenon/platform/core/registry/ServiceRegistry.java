package dev.tenon.platform.core.registry;

import dev.tenon.api.device.Backend;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.text.ChatTemplateEngine;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.TokenizerProvider;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// The services that are installed now. Safe for any thread.
///
/// Two services with one id are kept, but asking for that id is refused with a list of both, unless a
/// preference names the class or the jar of one.
///
/// The services of a bundle can be held: they are kept but not offered. So a new version of a bundle is
/// tried beside the old one, and then takes its place in one step.
public final class ServiceRegistry {
    /// The owner of services that no bundle owns.
    public static final long NO_OWNER = -1;

    private static final List<Class<?>> KINDS = List.of(
            QuantFormat.class,
            ModelArchitecture.class,
            Backend.class,
            KernelProvider.class,
            TokenizerProvider.class,
            ChatTemplateEngine.class,
            SamplerProvider.class);

    private final List<Entry> entries = new CopyOnWriteArrayList<>();
    private final List<Consumer<Object>> removalListeners = new CopyOnWriteArrayList<>();
    private final List<Consumer<Object>> additionListeners = new CopyOnWriteArrayList<>();
    private volatile Set<Long> held = Set.of();
    private volatile Map<String, String> preferences = Map.of();

    private record Entry(Object service, long owner) {}

    /// Creates an empty registry.
    public ServiceRegistry() {}

    /// Adds a service of one of the known kinds that no bundle owns.
    ///
    /// @param service the service
    /// @throws IllegalArgumentException if it is of no known kind
    public void add(Object service) {
        add(service, NO_OWNER);
    }

    /// Adds a service of one of the known kinds; adding it twice does nothing.
    ///
    /// @param service the service
    /// @param owner number of the bundle it comes from, or [#NO_OWNER]
    /// @throws IllegalArgumentException if it is of no known kind
    public void add(Object service, long owner) {
        if (KINDS.stream().noneMatch(kind -> kind.isInstance(service))) {
            throw new IllegalArgumentException("no kind of service: " + service.getClass());
        }
        synchronized (entries) {
            if (entries.stream().anyMatch(e -> e.service == service)) {
                return;
            }
            entries.add(new Entry(service, owner));
        }
        if (!held.contains(owner)) {
            additionListeners.forEach(listener -> listener.accept(service));
        }
    }

    /// Removes a service, then calls the removal listeners, which return when nothing uses it any more.
    ///
    /// @param service the service
    public void remove(Object service) {
        entries.removeIf(e -> e.service == service);
        removalListeners.forEach(listener -> listener.accept(service));
    }

    /// Offers no service of a bundle, neither those that are here nor those to come, until it is released.
    ///
    /// @param owner number of the bundle
    public void hold(long owner) {
        change(Set.of(owner), Set.of());
    }

    /// {@return whether the services of a bundle are held}
    ///
    /// @param owner number of the bundle
    public boolean isHeld(long owner) {
        return held.contains(owner);
    }

    /// Offers the services of a bundle that was held.
    ///
    /// @param owner number of the bundle
    public void release(long owner) {
        if (held.contains(owner)) {
            change(Set.of(), Set.of(owner));
            servicesOf(owner).forEach(service -> additionListeners.forEach(listener -> listener.accept(service)));
        }
    }

    /// Offers the services of some bundles instead of others', in one step: nobody sees both, or neither.
    ///
    /// @param old numbers of the bundles that are held from now on
    /// @param next numbers of the bundles that are released
    public void swap(Set<Long> old, Set<Long> next) {
        change(old, next);
    }

    private synchronized void change(Set<Long> holding, Set<Long> releasing) {
        Set<Long> next = new HashSet<>(held);
        next.addAll(holding);
        next.removeAll(releasing);
        held = Set.copyOf(next);
    }

    /// {@return all services of a bundle, held or not, in the order they came}
    ///
    /// @param owner number of the bundle
    public List<Object> servicesOf(long owner) {
        return servicesOf(Set.of(owner));
    }

    /// {@return all services of some bundles, held or not, in the order they came}
    ///
    /// @param owners numbers of the bundles
    public List<Object> servicesOf(Set<Long> owners) {
        return entries.stream()
                .filter(e -> owners.contains(e.owner))
                .map(Entry::service)
                .toList();
    }

    /// {@return whether a service is offered now}
    ///
    /// @param service the service
    public boolean offers(Object service) {
        Set<Long> now = held;
        return entries.stream().anyMatch(e -> e.service == service && !now.contains(e.owner));
    }

    /// Registers a listener that ends the use of a removed service before it returns.
    ///
    /// @param listener gets the service
    public void onRemoval(Consumer<Object> listener) {
        removalListeners.add(listener);
    }

    /// Registers a listener for new services.
    ///
    /// @param listener gets each service after it was added; not those of bundles that are held
    public void onAddition(Consumer<Object> listener) {
        additionListeners.add(listener);
    }

    private <S> List<S> all(Class<S> kind) {
        Set<Long> now = held;
        return entries.stream()
                .filter(e -> kind.isInstance(e.service) && !now.contains(e.owner))
                .map(e -> kind.cast(e.service))
                .toList();
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
        return choose(formats(), f -> f.ggmlType() == ggmlType, QuantFormat::id, "format");
    }

    /// {@return the formats in the order they came}
    public List<QuantFormat> formats() {
        return all(QuantFormat.class);
    }

    /// {@return the architecture of an id}
    ///
    /// @param id value of `general.architecture`
    /// @throws TenonException (`CFG-002`) if several have it and no preference names one
    public Optional<ModelArchitecture> architecture(String id) {
        return choose(architectures(), a -> a.id().equals(id), ModelArchitecture::id, "architecture");
    }

    /// {@return the architectures in the order they came}
    public List<ModelArchitecture> architectures() {
        return all(ModelArchitecture.class);
    }

    /// {@return the backend of an id}
    ///
    /// @param id backend id
    /// @throws TenonException (`CFG-002`) if several have it and no preference names one
    public Optional<Backend> backend(String id) {
        return choose(all(Backend.class), b -> b.id().equals(id), Backend::id, "backend");
    }

    /// {@return the backends, best rank first}
    public List<Backend> backends() {
        return all(Backend.class).stream()
                .sorted(Comparator.comparingInt(Backend::rank).reversed())
                .toList();
    }

    /// {@return the kernel providers}
    public List<KernelProvider> kernelProviders() {
        return all(KernelProvider.class);
    }

    /// {@return the tokenizer providers}
    public List<TokenizerProvider> tokenizerProviders() {
        return all(TokenizerProvider.class);
    }

    /// {@return the chat template engines}
    public List<ChatTemplateEngine> templateEngines() {
        return all(ChatTemplateEngine.class);
    }

    /// {@return the sampler providers}
    public List<SamplerProvider> samplerProviders() {
        return all(SamplerProvider.class);
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
