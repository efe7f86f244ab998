package dev.tenon.platform.core.engine;

import dev.tenon.api.bundle.BundleChange;
import dev.tenon.api.device.Backend;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.metrics.FinishedRequest;
import dev.tenon.api.metrics.MetricsSource;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.registry.ModelRegistry;
import dev.tenon.platform.core.check.SelfCheck;
import dev.tenon.platform.core.control.EndpointSource;
import dev.tenon.platform.core.control.EngineControl;
import dev.tenon.platform.core.control.ModelRegistries;
import dev.tenon.platform.core.control.Selection;
import dev.tenon.platform.core.control.ServiceKind;
import dev.tenon.platform.core.control.SettingValue;
import dev.tenon.platform.core.registry.ServiceRank;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceReference;
import org.osgi.service.component.AnyService;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Modified;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/// The engine as an OSGi service: feeds the registry from the service registry and takes settings
/// from ConfigAdmin.
@Component(
        service = {Engine.class, EngineControl.class},
        configurationPid = EngineConfig.PID)
public final class EngineComponent implements Engine, EngineControl, EndpointSource, ModelRegistries {
    /// One reference for all kinds: [ServiceKind] tells them apart. The engine itself is left out.
    private static final String API_SERVICES =
            "(&(objectClass=dev.tenon.api.*)(!(objectClass=dev.tenon.api.engine.Engine)))";

    private static final Logger LOG = LoggerFactory.getLogger(EngineComponent.class);

    private final ServiceRegistry registry = new ServiceRegistry();
    private final Map<ServiceReference<?>, Service> services = new ConcurrentHashMap<>();
    /// Numbers of the bundles of which it was logged that their ids are taken.
    private final Set<Long> warned = ConcurrentHashMap.newKeySet();
    private final BundleContext context;
    private volatile TenonEngine engine;

    /// A service, and what the registry offers for it.
    private record Service(HeldService held, Object offered) {}

    /// Created by the component runtime.
    ///
    /// @param context of this bundle
    @Activate
    public EngineComponent(BundleContext context) {
        this.context = context;
    }

    @Activate
    void activate(Map<String, Object> properties) {
        engine = new TenonEngine(registry, EngineConfig.of(properties, System.getenv()));
        warn();
    }

    @Modified
    void modified(Map<String, Object> properties) {
        EngineConfig next = EngineConfig.of(properties, System.getenv());
        if (next.problem().isEmpty()) {
            engine.configure(next);
            warn();
        } else {
            LOG.warn("The engine's settings stay as they were: {}", next.problem());
        }
    }

    @Deactivate
    void deactivate() {
        engine.close();
    }

    @Reference(
            service = AnyService.class,
            target = API_SERVICES,
            cardinality = ReferenceCardinality.MULTIPLE,
            policy = ReferencePolicy.DYNAMIC)
    void addService(ServiceReference<?> reference, Map<String, Object> properties) {
        ServiceKind kind =
                ServiceKind.of((String[]) properties.get(Constants.OBJECTCLASS)).orElse(null);
        if (kind == null) {
            return;
        }
        long owner = properties.get(Constants.SERVICE_BUNDLEID) instanceof Long id ? id : ServiceRegistry.NO_OWNER;
        HeldService held = new HeldService(context, reference);
        // A new version on trial must start now: one that does not is no replacement.
        if (kind.isLate() && !registry.isHeld(owner) || held.fetch()) {
            Service added = new Service(held, kind.isLate() ? kind.late(held) : held.get());
            services.put(reference, added);
            registry.add(added.offered, owner, title(owner), ServiceRank.of(properties));
            if (engine != null) {
                warn();
            }
        }
    }

    void removeService(ServiceReference<?> reference) {
        Service removed = services.remove(reference);
        if (removed != null) {
            registry.remove(removed.offered);
            removed.held.release();
        }
    }

    /// Logs once for each bundle that ids of its services are taken.
    private void warn() {
        for (ServiceRegistry.Refused refused : registry.refused()) {
            if (warned.add(refused.owner())) {
                // A rank is given on purpose, so nobody needs to be warned.
                LOG.atLevel(refused.outranked() ? Level.INFO : Level.WARN)
                        .log(
                                "{} is not used in full: {} [{}]",
                                title(refused.owner()),
                                text(refused),
                                ErrorCode.DUPLICATE_ID);
            }
        }
    }

    private String text(ServiceRegistry.Refused refused) {
        return refused.holder() == ServiceRegistry.NO_OWNER
                ? refused.what()
                : refused.what() + " is offered by " + title(refused.holder())
                        + (refused.outranked() ? ", which has a higher rank" : " already") + " (prefer."
                        + refused.setting() + " can name the one to use)";
    }

    private String title(long bundle) {
        Bundle found = context.getBundle(bundle);
        return found == null ? "bundle " + bundle : found.getSymbolicName() + " " + found.getVersion();
    }

    @Override
    public void hold(long bundle) {
        registry.hold(bundle);
    }

    @Override
    public void release(long bundle) {
        registry.release(bundle);
    }

    @Override
    public int services(long bundle) {
        return registry.servicesOf(bundle).size();
    }

    @Override
    public List<String> check(long bundle, long replaced) {
        return new SelfCheck(registry).check(bundle, replaced);
    }

    @Override
    public List<String> changedFormats(long bundle, long replaced) {
        return new SelfCheck(registry).changedFormats(bundle, replaced);
    }

    @Override
    public List<String> refusedIds(Set<Long> bundles, Set<Long> replaced) {
        return registry.refused(bundles, replaced).stream().map(this::text).toList();
    }

    @Override
    public List<String> replace(Set<Long> old, Set<Long> next, String reason, boolean acceptChangedResults) {
        return engine.replace(old, next, reason, acceptChangedResults);
    }

    @Override
    public void tell(BundleChange change) {
        engine.tell(change);
    }

    @Override
    public List<EndpointSource.Offered> endpoints() {
        return registry.endpoints();
    }

    @Override
    public void onServiceRemoval(Consumer<Object> listener) {
        registry.onRemoval(listener);
    }

    @Override
    public void offServiceRemoval(Consumer<Object> listener) {
        registry.offRemoval(listener);
    }

    @Override
    public void tell(FinishedRequest request, MetricsSource metrics) {
        engine.tell(request, metrics);
    }

    @Override
    public long untold() {
        return engine.untold();
    }

    @Override
    public Optional<ModelRegistry> registry(String id) {
        return engine.registry(id);
    }

    @Override
    public List<String> registries() {
        return engine.registries();
    }

    @Override
    public List<Selection> explain(LoadRequest request) {
        return engine.explain(request);
    }

    @Override
    public List<SettingValue> settings(Map<String, String> request) {
        return engine.settings(request);
    }

    @Override
    public LoadedModel load(LoadRequest request) {
        return engine.load(request);
    }

    @Override
    public List<LoadedModel> models() {
        return engine.models();
    }

    @Override
    public List<Backend> backends() {
        return engine.backends();
    }

    @Override
    public List<ModelArchitecture> architectures() {
        return engine.architectures();
    }

    @Override
    public List<QuantFormat> formats() {
        return engine.formats();
    }

    @Override
    public List<KernelProvider> kernelProviders() {
        return engine.kernelProviders();
    }

    /// Closes the engine; also done when the component is deactivated.
    @Override
    public void close() {
        engine.close();
    }
}
