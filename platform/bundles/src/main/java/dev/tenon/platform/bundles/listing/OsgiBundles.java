package dev.tenon.platform.bundles.listing;

import dev.tenon.platform.boot.BundleProblems;
import dev.tenon.platform.boot.BundleTrust;
import dev.tenon.platform.bundles.manager.BundleJar;
import dev.tenon.platform.bundles.manager.BundleManager;
import dev.tenon.platform.core.control.ServiceKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.FrameworkUtil;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.namespace.PackageNamespace;
import org.osgi.framework.startlevel.BundleStartLevel;
import org.osgi.framework.startlevel.FrameworkStartLevel;
import org.osgi.framework.wiring.BundleRevision;
import org.osgi.framework.wiring.FrameworkWiring;
import org.osgi.resource.Namespace;
import org.osgi.resource.Requirement;

/// What the OSGi framework knows of its bundles. Without a framework, using it throws `NoClassDefFoundError`.
public final class OsgiBundles {
    private static final String NOT_STARTED = "not started";

    private OsgiBundles() {}

    /// One bundle.
    ///
    /// @param id number of the bundle
    /// @param name symbolic name
    /// @param version version
    /// @param state such as `ACTIVE`
    /// @param services the types it offers, with how many of each, or with the names by which requests choose them
    /// @param problems why it is not resolved or not started
    /// @param access what it says it reaches outside the JVM; empty if it says nothing
    /// @param sha256 digest of its jar in hexadecimal digits; empty if nobody has looked
    /// @param signer who signed all of its jar; empty if nobody did, or nobody has looked
    /// @param removable whether it was installed beside the distribution, so that it can be removed
    public record Info(
            long id,
            String name,
            String version,
            String state,
            List<String> services,
            List<String> problems,
            String access,
            String sha256,
            String signer,
            boolean removable) {}

    /// {@return all bundles by number, without digests and signers, and then the jars that are no bundles of the
    /// framework because they were refused, numbered -1 and in the state `ASIDE`; empty outside a framework}
    public static List<Info> all() {
        return all(null);
    }

    /// {@return the same}
    ///
    /// @param trust looks at the jars for digests and signers; null: nobody does
    public static List<Info> all(BundleTrust trust) {
        Bundle self = FrameworkUtil.getBundle(OsgiBundles.class);
        BundleContext context = self == null ? null : self.getBundleContext();
        if (context == null) {
            return List.of();
        }
        FrameworkWiring wiring =
                context.getBundle(Constants.SYSTEM_BUNDLE_LOCATION).adapt(FrameworkWiring.class);
        Optional<List<Info>> bundles = Optional.empty();
        while (bundles.isEmpty()) {
            bundles = infos(context, wiring, trust);
        }
        List<String> reports = reports(context);
        List<Info> all = new ArrayList<>();
        bundles.get().forEach(info -> all.add(withReasons(info, reports)));
        for (String report : reports) {
            String file = report.split(" ", 2)[0];
            all.add(new Info(-1, file, "", "ASIDE", List.of(), List.of(report), "", "", "", false));
        }
        return all;
    }

    /// What the launcher and the watcher of `deploy/` report of jars and bundles, a line each.
    private static List<String> reports(BundleContext context) {
        List<String> reports = new ArrayList<>();
        try {
            for (ServiceReference<BundleProblems> reference :
                    context.getServiceReferences(BundleProblems.class, null)) {
                BundleProblems problems = context.getService(reference);
                if (problems != null) {
                    reports.addAll(problems.lines());
                }
            }
        } catch (InvalidSyntaxException e) {
            throw new IllegalStateException(e);
        }
        return reports;
    }

    /// Says of a bundle what its start, or the engine, reported; takes those reports away.
    private static Info withReasons(Info bundle, List<String> reports) {
        String title = bundle.name() + " " + bundle.version() + " ";
        String start = title + "did not start: ";
        List<String> problems = new ArrayList<>(bundle.problems());
        for (String report : List.copyOf(reports)) {
            if (report.startsWith(start)) {
                reports.remove(report);
                if (problems.remove(NOT_STARTED)) {
                    problems.add(NOT_STARTED + ": " + report.substring(start.length()));
                }
            } else if (report.startsWith(title + "is not used in full: ")) {
                reports.remove(report);
                problems.add(report.substring(title.length()));
            }
        }
        return new Info(
                bundle.id(),
                bundle.name(),
                bundle.version(),
                bundle.state(),
                bundle.services(),
                List.copyOf(problems),
                bundle.access(),
                bundle.sha256(),
                bundle.signer(),
                bundle.removable());
    }

    /// Empty if one was uninstalled since they were listed, as in an update that another thread makes: its new
    /// version is not among them. Felix says so with several exceptions: `IllegalStateException`, and
    /// `IllegalArgumentException` where it is asked for the start level.
    private static Optional<List<Info>> infos(BundleContext context, FrameworkWiring wiring, BundleTrust trust) {
        List<Info> infos = new ArrayList<>();
        for (Bundle bundle : context.getBundles()) {
            try {
                infos.add(info(bundle, context, wiring, trust));
            } catch (IllegalStateException | IllegalArgumentException e) {
                if (bundle.getState() != Bundle.UNINSTALLED) {
                    throw e;
                }
            }
            if (bundle.getState() == Bundle.UNINSTALLED) {
                return Optional.empty();
            }
        }
        return Optional.of(infos);
    }

    private static Info info(Bundle bundle, BundleContext context, FrameworkWiring wiring, BundleTrust trust) {
        String access = bundle.getHeaders("").get(BundleJar.ACCESS);
        BundleTrust.Verdict verdict = trust == null ? null : trust.installed(bundle.getLocation());
        return new Info(
                bundle.getBundleId(),
                String.valueOf(bundle.getSymbolicName()),
                bundle.getVersion().toString(),
                state(bundle),
                services(bundle, context),
                problems(bundle, wiring),
                access == null ? "" : access,
                verdict == null ? "" : verdict.sha256(),
                verdict == null ? "" : verdict.signer(),
                bundle.getBundleId() != 0 && !BundleManager.isOfDistribution(bundle.getLocation()));
    }

    private static String state(Bundle bundle) {
        return switch (bundle.getState()) {
            case Bundle.ACTIVE -> "ACTIVE";
            case Bundle.STARTING -> "STARTING";
            case Bundle.STOPPING -> "STOPPING";
            case Bundle.RESOLVED -> isFragment(bundle) ? "FRAGMENT" : "RESOLVED";
            case Bundle.INSTALLED -> "INSTALLED";
            default -> "UNINSTALLED";
        };
    }

    private static boolean isFragment(Bundle bundle) {
        BundleRevision revision = bundle.adapt(BundleRevision.class);
        return revision != null && (revision.getTypes() & BundleRevision.TYPE_FRAGMENT) != 0;
    }

    private static List<String> services(Bundle bundle, BundleContext context) {
        ServiceReference<?>[] references = bundle.getRegisteredServices();
        Map<String, Integer> counts = new TreeMap<>();
        if (references != null) {
            for (ServiceReference<?> reference : references) {
                String[] types = (String[]) reference.getProperty(Constants.OBJECTCLASS);
                String name = ServiceKind.of(types)
                        .filter(ServiceKind::isNamed)
                        .map(kind -> name(kind, reference, context))
                        .orElse("");
                for (String type : types) {
                    counts.merge(type.substring(type.lastIndexOf('.') + 1) + name, 1, Integer::sum);
                }
            }
        }
        return counts.entrySet().stream()
                .map(e -> e.getValue() == 1 ? e.getKey() : e.getKey() + " x" + e.getValue())
                .toList();
    }

    /// Asks a service for its id, after a blank; that fails where its bundle is at fault.
    private static String name(ServiceKind kind, ServiceReference<?> reference, BundleContext context) {
        Object service = context.getService(reference);
        try {
            String id = service == null ? "" : kind.id(service);
            return id.isEmpty() ? "" : " " + id;
        } catch (RuntimeException | LinkageError e) {
            return " (" + e + ")";
        } finally {
            context.ungetService(reference);
        }
    }

    private static List<String> problems(Bundle bundle, FrameworkWiring wiring) {
        List<String> problems = new ArrayList<>();
        if (bundle.getState() == Bundle.INSTALLED) {
            BundleRevision revision = bundle.adapt(BundleRevision.class);
            if (revision != null) {
                for (Requirement requirement : revision.getRequirements(null)) {
                    if (needed(requirement) && wiring.findProviders(requirement).isEmpty()) {
                        problems.add("no bundle offers " + text(requirement));
                    }
                }
            }
            if (problems.isEmpty() && shouldRun(bundle)) {
                problems.add("not resolved: what it needs is offered only by bundles that are not resolved, or"
                        + " conflict with each other");
            }
        } else if (bundle.getState() == Bundle.RESOLVED && !isFragment(bundle) && shouldRun(bundle)) {
            problems.add(NOT_STARTED);
        }
        return problems;
    }

    /// Whether somebody wants the bundle to run and the framework has come to its start level.
    private static boolean shouldRun(Bundle bundle) {
        BundleStartLevel level = bundle.adapt(BundleStartLevel.class);
        FrameworkStartLevel framework = FrameworkUtil.getBundle(OsgiBundles.class)
                .getBundleContext()
                .getBundle(Constants.SYSTEM_BUNDLE_LOCATION)
                .adapt(FrameworkStartLevel.class);
        return level != null && level.isPersistentlyStarted() && level.getStartLevel() <= framework.getStartLevel();
    }

    private static boolean needed(Requirement requirement) {
        Map<String, String> directives = requirement.getDirectives();
        return !Namespace.RESOLUTION_OPTIONAL.equals(directives.get(Namespace.REQUIREMENT_RESOLUTION_DIRECTIVE))
                && Namespace.EFFECTIVE_RESOLVE.equals(
                        directives.getOrDefault(Namespace.REQUIREMENT_EFFECTIVE_DIRECTIVE, Namespace.EFFECTIVE_RESOLVE))
                && !"dynamic".equals(directives.get(Namespace.REQUIREMENT_RESOLUTION_DIRECTIVE));
    }

    private static String text(Requirement requirement) {
        String filter = requirement.getDirectives().getOrDefault(Namespace.REQUIREMENT_FILTER_DIRECTIVE, "");
        String text = requirement.getNamespace() + " " + filter;
        return requirement.getNamespace().equals(PackageNamespace.PACKAGE_NAMESPACE)
                        && filter.contains("jdk.incubator.vector")
                ? text + ": start the JVM with --add-modules jdk.incubator.vector"
                : text;
    }
}
