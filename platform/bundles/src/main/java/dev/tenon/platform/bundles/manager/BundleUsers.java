package dev.tenon.platform.bundles.manager;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.osgi.framework.Bundle;
import org.osgi.framework.namespace.BundleNamespace;
import org.osgi.framework.namespace.HostNamespace;
import org.osgi.framework.namespace.PackageNamespace;
import org.osgi.framework.wiring.BundleRevision;
import org.osgi.framework.wiring.BundleWire;
import org.osgi.framework.wiring.BundleWiring;

/// Who uses a bundle's classes.
final class BundleUsers {
    /// Namespaces of wires over which one bundle uses another's classes.
    private static final Set<String> CLASSES =
            Set.of(PackageNamespace.PACKAGE_NAMESPACE, BundleNamespace.BUNDLE_NAMESPACE, HostNamespace.HOST_NAMESPACE);

    private BundleUsers() {}

    /// {@return the bundles that use a bundle's classes, and those that use theirs; each after one that it
    /// uses}
    ///
    /// @param bundle a bundle, resolved or not
    static List<Bundle> of(Bundle bundle) {
        List<Bundle> found = new ArrayList<>();
        Deque<Bundle> open = new ArrayDeque<>(List.of(bundle));
        while (!open.isEmpty()) {
            BundleWiring wiring = open.remove().adapt(BundleWiring.class);
            List<BundleWire> wires = wiring == null ? null : wiring.getProvidedWires(null);
            for (BundleWire wire : wires == null ? List.<BundleWire>of() : wires) {
                Bundle user = wire.getRequirer().getBundle();
                boolean classes = CLASSES.contains(wire.getCapability().getNamespace());
                if (classes && !user.equals(bundle) && !found.contains(user)) {
                    found.add(user);
                    open.add(user);
                }
            }
        }
        return found;
    }

    static boolean isFragment(Bundle bundle) {
        BundleRevision revision = bundle.adapt(BundleRevision.class);
        return revision != null && (revision.getTypes() & BundleRevision.TYPE_FRAGMENT) != 0;
    }
}
