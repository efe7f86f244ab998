package dev.tenon.platform.launcher;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.osgi.framework.BundleEvent;
import org.osgi.framework.SynchronousBundleListener;
import org.osgi.framework.hooks.resolver.ResolverHook;
import org.osgi.framework.hooks.resolver.ResolverHookFactory;
import org.osgi.framework.wiring.BundleCapability;
import org.osgi.framework.wiring.BundleRequirement;
import org.osgi.framework.wiring.BundleRevision;

/// Keeps bundles from running that the policy does not trust, whoever installs them: a bundle that was not
/// admitted is never resolved, so no class of it is loaded.
///
/// A bundle is admitted by its location, once its jar was checked. Whoever installs it must install the
/// very bytes that were checked, a copy that nobody else can change. It is also a service, of types that
/// every bundle knows, with the property `tenon.info=trust`: from a location (empty: only look) and a jar
/// (null: the one that was installed there) to `policy`, `list`, `sha256`, `signer` and `refusal`, which
/// are empty where there is nothing to say. Safe for any thread.
final class Trust
        implements BiFunction<String, Path, Map<String, String>>,
                ResolverHookFactory,
                ResolverHook,
                SynchronousBundleListener {
    private final TrustPolicy policy;
    private final Map<String, SignedJar> admitted = new ConcurrentHashMap<>();

    Trust(TrustPolicy policy) {
        this.policy = policy;
    }

    /// {@return whether there is anything to check when the platform starts}
    boolean strict() {
        return policy.mode() != TrustPolicy.Mode.ANY;
    }

    @Override
    public Map<String, String> apply(String location, Path file) {
        SignedJar jar = file == null ? admitted.get(location) : null;
        String refusal = "";
        try {
            Path own = file != null ? file : jar == null ? fileOf(location) : null;
            if (own != null) {
                jar = SignedJar.read(own);
                String why = policy.refusal(jar);
                refusal = why == null ? "" : why;
            }
        } catch (IOException e) {
            refusal = "it cannot be read: " + e.getMessage();
        }
        if (file != null && !location.isEmpty() && refusal.isEmpty()) {
            admitted.put(location, jar);
        }
        return Map.of(
                "policy",
                policy.mode().name().toLowerCase(Locale.ROOT),
                "list",
                policy.list().toString(),
                "sha256",
                jar == null ? "" : jar.sha256(),
                "signer",
                jar == null ? "" : jar.signerNames(),
                "refusal",
                refusal);
    }

    /// The jar of a bundle that was installed where it lies, or null.
    private static Path fileOf(String location) {
        String uri = location.replaceFirst("^(tenon:)?(reference:)?", "");
        Path file = uri.startsWith("file:/") ? Path.of(URI.create(uri)) : null;
        return file != null && Files.isRegularFile(file) ? file : null;
    }

    @Override
    public ResolverHook begin(Collection<BundleRevision> triggers) {
        return this;
    }

    @Override
    public void filterResolvable(Collection<BundleRevision> candidates) {
        candidates.removeIf(revision -> revision.getBundle().getBundleId() != 0
                && !admitted.containsKey(revision.getBundle().getLocation()));
    }

    @Override
    public void filterSingletonCollisions(BundleCapability singleton, Collection<BundleCapability> collisions) {
        // Not a matter of trust.
    }

    @Override
    public void filterMatches(BundleRequirement requirement, Collection<BundleCapability> candidates) {
        // What is not admitted is not resolvable, and so is no candidate.
    }

    @Override
    public void end() {
        // Nothing is kept from one resolution to the next.
    }

    /// Other bytes than those that were checked need another check.
    @Override
    public void bundleChanged(BundleEvent event) {
        if (Set.of(BundleEvent.UPDATED, BundleEvent.UNINSTALLED).contains(event.getType())) {
            admitted.remove(event.getBundle().getLocation());
        }
    }
}
