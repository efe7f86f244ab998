package dev.tenon.platform.launcher.trust;

import dev.tenon.platform.boot.BundleTrust;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.osgi.framework.BundleEvent;
import org.osgi.framework.SynchronousBundleListener;
import org.osgi.framework.hooks.resolver.ResolverHook;
import org.osgi.framework.hooks.resolver.ResolverHookFactory;
import org.osgi.framework.wiring.BundleCapability;
import org.osgi.framework.wiring.BundleRequirement;
import org.osgi.framework.wiring.BundleRevision;

/// Prevents bundles that the policy does not trust from running: a bundle that was not admitted is
/// never resolved, so none of its classes is loaded.
///
/// Safe for any thread.
public final class Trust implements BundleTrust, ResolverHookFactory, ResolverHook, SynchronousBundleListener {
    private final TrustPolicy policy;
    private final Map<String, SignedJar> admitted = new ConcurrentHashMap<>();

    public Trust(TrustPolicy policy) {
        this.policy = policy;
    }

    /// {@return whether there is anything to check when the platform starts}
    public boolean strict() {
        return policy.mode() != TrustPolicy.Mode.ANY;
    }

    @Override
    public Verdict look(Path jar) {
        try {
            return verdict(SignedJar.read(jar));
        } catch (IOException e) {
            return unreadable(e);
        }
    }

    @Override
    public Verdict installed(String location) {
        try {
            SignedJar jar = admitted.get(location);
            Path file = jar == null ? fileOf(location) : null;
            return file == null ? verdict(jar) : verdict(SignedJar.read(file));
        } catch (IOException e) {
            return unreadable(e);
        }
    }

    @Override
    public Verdict admit(String location, Path jar) {
        try {
            SignedJar read = SignedJar.read(jar);
            Verdict verdict = verdict(read);
            if (verdict.allows()) {
                admitted.put(location, read);
            }
            return verdict;
        } catch (IOException e) {
            return unreadable(e);
        }
    }

    private Verdict verdict(SignedJar jar) throws IOException {
        String refusal = jar == null ? null : policy.refusal(jar);
        return new Verdict(
                policy(),
                policy.list().toString(),
                jar == null ? "" : jar.sha256(),
                jar == null ? "" : jar.signerNames(),
                refusal == null ? "" : refusal);
    }

    private Verdict unreadable(IOException e) {
        return new Verdict(policy(), policy.list().toString(), "", "", "it cannot be read: " + e.getMessage());
    }

    private String policy() {
        return policy.mode().name().toLowerCase(Locale.ROOT);
    }

    /// The jar of a bundle that was installed by reference, or null.
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
