package dev.tenon.platform.bundles.manager;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.FrameworkUtil;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.namespace.PackageNamespace;
import org.osgi.framework.wiring.BundleCapability;
import org.osgi.framework.wiring.BundleRequirement;
import org.osgi.framework.wiring.BundleRevision;
import org.osgi.resource.Namespace;

/// The api's packages that this platform offers, and what bundles require of them.
public final class ApiPackages {
    private static final String API = "dev.tenon.api.";
    private static final String NAME = PackageNamespace.PACKAGE_NAMESPACE;

    private ApiPackages() {}

    /// Tells which packages of the api a bundle needs in versions that the platform does not offer.
    ///
    /// @param bundle an installed bundle, resolved or not
    /// @param context finds what is offered
    /// @return what is needed and what there is, a text each
    static List<String> missing(Bundle bundle, BundleContext context) {
        List<String> missing = new ArrayList<>();
        for (BundleRequirement requirement : bundle.adapt(BundleRevision.class).getDeclaredRequirements(NAME)) {
            Map<String, String> directives = requirement.getDirectives();
            String filter = directives.getOrDefault(Namespace.REQUIREMENT_FILTER_DIRECTIVE, "");
            boolean optional =
                    Namespace.RESOLUTION_OPTIONAL.equals(directives.get(Namespace.REQUIREMENT_RESOLUTION_DIRECTIVE));
            if (!optional && !meets(filter, context)) {
                missing.add("it needs " + filter + ", this platform offers " + offered(filter, context));
            }
        }
        return missing;
    }

    /// {@return whether the platform offers what a filter asks of a package of the api; true for other
    /// packages}
    ///
    /// @param filter LDAP filter over a package's name and version
    /// @param context finds what is offered
    public static boolean meets(String filter, BundleContext context) {
        if (!filter.contains(API)) {
            return true;
        }
        try {
            var wanted = FrameworkUtil.createFilter(filter);
            return packages(context).stream().anyMatch(offered -> wanted.matches(offered.getAttributes()));
        } catch (InvalidSyntaxException e) {
            return false;
        }
    }

    private static String offered(String filter, BundleContext context) {
        return packages(context).stream()
                .filter(offered -> filter.contains("=" + offered.getAttributes().get(NAME) + ")"))
                .map(offered -> offered.getAttributes().get(NAME) + " "
                        + offered.getAttributes().get(PackageNamespace.CAPABILITY_VERSION_ATTRIBUTE))
                .findFirst()
                .orElse("no such package");
    }

    private static List<BundleCapability> packages(BundleContext context) {
        List<BundleCapability> found = new ArrayList<>();
        for (Bundle bundle : context.getBundles()) {
            BundleRevision revision = bundle.adapt(BundleRevision.class);
            if (revision != null) {
                revision.getDeclaredCapabilities(NAME).stream()
                        .filter(offered ->
                                offered.getAttributes().get(NAME).toString().startsWith(API))
                        .forEach(found::add);
            }
        }
        return found;
    }
}
