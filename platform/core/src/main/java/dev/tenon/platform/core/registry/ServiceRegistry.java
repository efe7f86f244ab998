package dev.tenon.platform.core.registry;

import dev.tenon.api.chat.ChatProvider;
import dev.tenon.api.device.Backend;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.http.EndpointProvider;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.text.ChatTemplateEngine;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.platform.core.control.EndpointSource;
import dev.tenon.platform.core.control.Origins;
import dev.tenon.platform.core.control.ServiceKind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/// The services that are installed now. Safe for any thread.
///
/// Of two bundles' services with one id the first is offered, unless a preference names the class or the
/// jar of the other; the second waits until the first is gone. Where one of a kind is used it has no id: of
/// those the service of the highest rank is offered. Of services that no bundle owns all are
/// offered, but asking for an id that two of them have is refused with a list of both. [ServiceKind] has the kinds.
///
/// The services of a bundle can be held: they are kept but not offered. So a new version of a bundle is
/// tried beside the old one, and then takes its place in one step.
public final class ServiceRegistry {
    /// The owner of services that no bundle owns.
    public static final long NO_OWNER = -1;

    private volatile List<Entry> entries = List.of();
    private final List<Consumer<Object>> removalListeners = new CopyOnWriteArrayList<>();
    private final List<Consumer<Object>> additionListeners = new CopyOnWriteArrayList<>();
    private volatile Set<Long> held = Set.of();
    private volatile Map<String, String> preferences = Map.of();

    private volatile Offer offer = new Offer(List.of(), List.of());
    private volatile List<EndpointSource.Offered> endpoints = List.of();

    /// A service, the number and the name of the bundle that it comes from, and its rank among those of which
    /// one is used; 0 for others.
    record Entry(Object service, long owner, String origin, ServiceIds ids, int rank) {}

    /// A service of a bundle that is not offered.
    ///
    /// @param owner number of its bundle
    /// @param what the id that it cannot have, such as `format Q8_0`, or a whole reason
    /// @param holder number of the bundle that has it, or [ServiceRegistry#NO_OWNER] if nobody may have it
    /// @param setting what names the one to offer, such as `format.Q8_0`
    /// @param outranked whether the other one has a higher rank
    public record Refused(long owner, String what, long holder, String setting, boolean outranked) {}

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
        ServiceKind.Use use = kind(service).use();
        add(service, owner, Origins.of(service), use.isRanked() ? ServiceRank.of(service.getClass()) : 0);
    }

    /// The same for a service of a framework.
    ///
    /// @param origin name and version of the bundle it comes from
    /// @param rank the service's; counts for kinds whose [use is ranked][ServiceKind.Use#isRanked()]
    public void add(Object service, long owner, String origin, int rank) {
        ServiceKind kind = kind(service);
        Entry entry = new Entry(
                service, owner, origin, ServiceIds.of(kind, service), kind.use().isRanked() ? rank : 0);
        synchronized (this) {
            if (find(service) != null) {
                return;
            }
            List<Entry> next = new ArrayList<>(entries);
            next.add(entry);
            change(next, held);
        }
        if (offers(service)) {
            tell(additionListeners, service);
        }
    }

    private static ServiceKind kind(Object service) {
        return ServiceKind.of(service)
                .orElseThrow(() -> new IllegalArgumentException("no kind of service: " + service.getClass()));
    }

    private Entry find(Object service) {
        for (Entry entry : entries) {
            if (entry.service == service) {
                return entry;
            }
        }
        return null;
    }

    private static void tell(List<Consumer<Object>> listeners, Object service) {
        for (Consumer<Object> listener : listeners) {
            listener.accept(service);
        }
    }

    /// Removes a service, then calls the removal listeners, which return when nothing uses it any more.
    ///
    /// @param service the service
    public void remove(Object service) {
        synchronized (this) {
            List<Entry> rest = new ArrayList<>(entries);
            rest.removeIf(e -> e.service == service);
            change(rest, held);
        }
        tell(removalListeners, service);
    }

    /// Offers no service of a bundle, neither those that are here nor those to come, until it is released.
    ///
    /// @param owner number of the bundle
    public void hold(long owner) {
        synchronized (this) {
            change(entries, held(Set.of(owner), Set.of()));
        }
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
            synchronized (this) {
                change(entries, held(Set.of(), Set.of(owner)));
            }
            for (Object service : servicesOf(owner)) {
                if (offers(service)) {
                    tell(additionListeners, service);
                }
            }
        }
    }

    /// Offers the services of some bundles instead of others', in one step: nobody sees both, or neither.
    ///
    /// @param old numbers of the bundles that are held from now on
    /// @param next numbers of the bundles that are released
    public synchronized void swap(Set<Long> old, Set<Long> next) {
        change(order(old, next), held(old, next));
    }

    /// Tells which services of some bundles would not be offered, since others have their ids.
    ///
    /// @param next numbers of the bundles, held or not
    /// @param old numbers of the bundles that they would replace
    /// @return a record for each such service
    public synchronized List<Refused> refused(Set<Long> next, Set<Long> old) {
        return Offer.of(order(old, next), held(old, next), this::isPreferred).refused().stream()
                .filter(each -> next.contains(each.owner))
                .toList();
    }

    /// {@return the service that is offered for an id}
    ///
    /// @param setting the id, as [Refused#setting()] has it
    public Optional<Object> offered(String setting) {
        return entries.stream()
                .filter(e -> e.ids.setting().equals(setting))
                .map(Entry::service)
                .filter(this::offers)
                .findFirst();
    }

    /// {@return the services that are not offered, since others have their ids}
    public List<Refused> refused() {
        return offer.refused();
    }

    private Set<Long> held(Set<Long> holding, Set<Long> releasing) {
        Set<Long> next = new HashSet<>(held);
        next.addAll(holding);
        next.removeAll(releasing);
        return Set.copyOf(next);
    }

    /// The entries with those of new bundles in the place of the old ones': at the end, a third bundle that
    /// waits for one of the ids would come before them.
    private List<Entry> order(Set<Long> old, Set<Long> next) {
        List<Entry> order = new ArrayList<>();
        int place = -1;
        List<Entry> arriving = new ArrayList<>();
        for (Entry entry : entries) {
            if (next.contains(entry.owner)) {
                arriving.add(entry);
                continue;
            }
            if (place < 0 && old.contains(entry.owner)) {
                place = order.size();
            }
            order.add(entry);
        }
        if (place < 0) {
            return entries;
        }
        order.addAll(place, arriving);
        return order;
    }

    private void change(List<Entry> nextEntries, Set<Long> nextHeld) {
        Offer next = Offer.of(nextEntries, nextHeld, this::isPreferred);
        entries = List.copyOf(nextEntries);
        held = nextHeld;
        offer = next;
        endpoints = endpoints(next.services());
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
        for (Object each : offer.services()) {
            if (each == service) {
                return true;
            }
        }
        return false;
    }

    /// Registers a listener that ends the use of a removed service before it returns.
    ///
    /// @param listener gets the service
    public void onRemoval(Consumer<Object> listener) {
        removalListeners.add(listener);
    }

    /// Takes back [#onRemoval].
    ///
    /// @param listener the listener
    public void offRemoval(Consumer<Object> listener) {
        removalListeners.remove(listener);
    }

    /// Registers a listener for new services.
    ///
    /// @param listener gets each service after it was added; not those of bundles that are held
    public void onAddition(Consumer<Object> listener) {
        additionListeners.add(listener);
    }

    /// {@return the services of a kind in the order they came}
    ///
    /// @param kind such as [KernelProvider]
    public <S> List<S> all(Class<S> kind) {
        List<S> all = new ArrayList<>();
        for (Object service : offer.services()) {
            if (kind.isInstance(service)) {
                all.add(kind.cast(service));
            }
        }
        return Collections.unmodifiableList(all);
    }

    /// Sets what is offered where two services have one id.
    ///
    /// @param byId names of classes, of bundles or of jars, by kind and id, such as `format.ID` or `sampler`
    public synchronized void prefer(Map<String, String> byId) {
        preferences = Map.copyOf(byId);
        change(entries, held);
    }

    private boolean isPreferred(Entry entry) {
        String preferred = preferences.get(entry.ids.setting());
        return preferred != null
                && (entry.service.getClass().getName().endsWith(preferred)
                        || entry.origin.startsWith(preferred + " ")
                        || origin(entry.service).contains(preferred));
    }

    /// {@return the format of a tensor type}
    ///
    /// @param ggmlType type number
    /// @throws TenonException (`CFG-002`) if several formats have it and no preference names one
    public Optional<QuantFormat> format(int ggmlType) {
        List<QuantFormat> found = formats().stream()
                .filter(format -> format.ggmlType() == ggmlType)
                .toList();
        return found.isEmpty()
                ? Optional.empty()
                : Optional.of(one(found, "format", found.getFirst().id()));
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
        return service(ModelArchitecture.class, id);
    }

    /// {@return the service of a kind that has an id}
    ///
    /// @param type interface of a kind of which one is used for each id
    /// @param id the id; nothing has the empty one
    /// @throws TenonException (`CFG-002`) if several have it and no preference names one
    public <S> Optional<S> service(Class<S> type, String id) {
        List<S> found = all(type).stream()
                .filter(service -> !id.isEmpty() && kind(service).id(service).equals(id))
                .toList();
        if (found.isEmpty()) {
            return Optional.empty();
        }
        ServiceKind kind = kind(found.getFirst());
        return kind.use().isRanked() ? best(type, id) : Optional.of(one(found, kind.word(), id));
    }

    /// {@return the ids of the services of a kind, each once, sorted}
    ///
    /// @param type interface of a kind of which one is used for each id
    public List<String> ids(Class<?> type) {
        return all(type).stream()
                .map(service -> kind(service).id(service))
                .filter(id -> !id.isEmpty())
                .distinct()
                .sorted()
                .toList();
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
        return service(Backend.class, id);
    }

    /// {@return the backends, best rank first}
    public List<Backend> backends() {
        List<Backend> backends = new ArrayList<>(all(Backend.class));
        backends.sort((a, b) -> Integer.compare(b.rank(), a.rank()));
        return Collections.unmodifiableList(backends);
    }

    /// {@return the kernel providers}
    public List<KernelProvider> kernelProviders() {
        return all(KernelProvider.class);
    }

    /// {@return the tokenizer providers}
    public List<TokenizerProvider> tokenizerProviders() {
        return all(TokenizerProvider.class);
    }

    /// {@return the providers of end points, those of the highest rank first; the same list until
    /// something changes}
    public List<EndpointSource.Offered> endpoints() {
        return endpoints;
    }

    private List<EndpointSource.Offered> endpoints(List<Object> offered) {
        return entries.stream()
                .filter(entry -> entry.service instanceof EndpointProvider
                        && offered.stream().anyMatch(each -> each == entry.service))
                .sorted(Comparator.comparingInt(Entry::rank).reversed())
                .map(entry ->
                        new EndpointSource.Offered((EndpointProvider) entry.service, entry.origin, isPreferred(entry)))
                .toList();
    }

    /// {@return the engine for chat templates}
    public Optional<ChatTemplateEngine> templateEngine() {
        return best(ChatTemplateEngine.class, "");
    }

    /// {@return the maker of samplers for requests that name none}
    public Optional<SamplerProvider> samplerProvider() {
        return best(SamplerProvider.class, "");
    }

    /// {@return what makes models chat}
    public Optional<ChatProvider> chatProvider() {
        return best(ChatProvider.class, "");
    }

    /// Tells of a kind of which one is used what there is, without those that have ids.
    ///
    /// @param kind such as [SamplerProvider]
    /// @return for each that is not held where it comes from, its rank, and whether it is the one that is used
    public List<Ranked> ranked(Class<?> kind) {
        Object used = best(kind, "").orElse(null);
        return entries.stream()
                .filter(entry -> isNamed(entry, kind, "") && !held.contains(entry.owner))
                .map(entry -> new Ranked(entry.origin, entry.service.getClass(), entry.rank, entry.service == used))
                .toList();
    }

    /// A service of a kind of which one is used.
    ///
    /// @param origin name and version of its bundle, or else of its jar or module
    /// @param type its class
    /// @param rank the higher one is used
    /// @param used whether it is used
    public record Ranked(String origin, Class<?> type, int rank, boolean used) {}

    private static boolean isNamed(Entry entry, Class<?> kind, String id) {
        return kind.isInstance(entry.service) && entry.ids.name().equals(id);
    }

    /// {@return of the offered services of a kind and an id the preferred one, or that of the highest rank, or the
    ///     first}
    private <S> Optional<S> best(Class<S> kind, String id) {
        return entries.stream()
                .filter(entry -> isNamed(entry, kind, id) && offers(entry.service))
                .min(Comparator.comparing((Entry entry) -> !isPreferred(entry))
                        .thenComparing(Comparator.comparingInt(Entry::rank).reversed()))
                .map(entry -> kind.cast(entry.service));
    }

    /// {@return the only one of some services with an id, or the preferred one}
    private <S> S one(List<S> found, String kind, String id) {
        if (found.size() == 1) {
            return found.getFirst();
        }
        String key = kind + "." + id;
        for (Entry entry : entries) {
            int index = found.indexOf(entry.service);
            if (index >= 0 && isPreferred(entry)) {
                return found.get(index);
            }
        }
        throw new TenonException(
                ErrorCode.DUPLICATE_ID,
                "Several bundles offer the " + kind + " " + id + ": " + names(found)
                        + ". Remove all but one, or name the class, the bundle or the jar of one in the setting prefer."
                        + key);
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
