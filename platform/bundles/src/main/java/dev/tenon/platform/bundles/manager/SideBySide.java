package dev.tenon.platform.bundles.manager;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.osgi.framework.hooks.resolver.ResolverHook;
import org.osgi.framework.hooks.resolver.ResolverHookFactory;
import org.osgi.framework.wiring.BundleCapability;
import org.osgi.framework.wiring.BundleRequirement;
import org.osgi.framework.wiring.BundleRevision;

/// Keeps new versions of bundles apart from the old ones, until it is closed: the new ones use
/// each other's classes and not those of the bundles that go; others do not see the new ones yet.
final class SideBySide implements ResolverHookFactory, ResolverHook, AutoCloseable {
    private static final long NOBODY = -1;

    /// From the numbers of the new bundles to those of the old ones.
    private final Map<Long, Long> places = new ConcurrentHashMap<>();

    private final ServiceRegistration<?> registration;

    /// Begins.
    ///
    /// @param context of this bundle
    SideBySide(BundleContext context) {
        registration = context.registerService(ResolverHookFactory.class, this, null);
    }

    /// Names a pair, before the new one is resolved.
    ///
    /// @param next a new bundle
    /// @param old whose place it takes, or null
    void add(Bundle next, Bundle old) {
        places.put(next.getBundleId(), old == null ? NOBODY : old.getBundleId());
    }

    @Override
    public ResolverHook begin(Collection<BundleRevision> triggers) {
        return this;
    }

    @Override
    public void filterMatches(BundleRequirement requirement, Collection<BundleCapability> candidates) {
        long requirer = requirement.getRevision().getBundle().getBundleId();
        if (places.containsKey(requirer)) {
            candidates.removeIf(offered -> places.containsValue(id(offered)));
        } else {
            candidates.removeIf(offered -> replaces(id(offered)));
        }
    }

    /// A bundle that may be there once only may be there twice as long as one of them is about to
    /// go.
    @Override
    public void filterSingletonCollisions(BundleCapability singleton, Collection<BundleCapability> collisions) {
        long own = id(singleton);
        collisions.removeIf(other ->
                places.getOrDefault(own, NOBODY) == id(other) || places.getOrDefault(id(other), NOBODY) == own);
    }

    private boolean replaces(long id) {
        return places.getOrDefault(id, NOBODY) != NOBODY;
    }

    private static long id(BundleCapability capability) {
        return capability.getRevision().getBundle().getBundleId();
    }

    @Override
    public void filterResolvable(Collection<BundleRevision> candidates) {
        // Whoever may run may be tried.
    }

    @Override
    public void end() {
        // Nothing is kept from one resolution to the next.
    }

    @Override
    public void close() {
        registration.unregister();
    }
}
