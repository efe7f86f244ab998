package dev.tenon.platform.cli.bundles;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import org.osgi.framework.BundleContext;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/// Asks the launcher which bundles may run. Without a launcher everything may, and nothing is known of
/// signers. Safe for any thread.
@Component(service = BundleTrust.class, configurationPolicy = ConfigurationPolicy.IGNORE)
public final class BundleTrust {
    private final BundleContext context;

    /// Creates the client.
    ///
    /// @param context finds the launcher's service
    @Activate
    public BundleTrust(BundleContext context) {
        this.context = context;
    }

    /// What is known of a jar.
    ///
    /// @param policy `any`, `signed`, `listed`, or empty where nothing decides
    /// @param list the file with digests of trusted jars, or empty
    /// @param sha256 its digest in hexadecimal digits, or empty
    /// @param signer who signed all of it, or empty
    /// @param refusal why it may not run, or empty
    record Verdict(String policy, String list, String sha256, String signer, String refusal) {
        static Verdict of(Map<String, String> facts) {
            return new Verdict(
                    facts.getOrDefault("policy", ""),
                    facts.getOrDefault("list", ""),
                    facts.getOrDefault("sha256", ""),
                    facts.getOrDefault("signer", ""),
                    facts.getOrDefault("refusal", ""));
        }
    }

    /// Tells what is known of a jar, without admitting it.
    ///
    /// @param file the jar
    /// @return what is known
    Verdict look(Path file) {
        return ask("", file);
    }

    /// {@return what is known of the bundle that was installed at a location}
    ///
    /// @param location its location
    Verdict installed(String location) {
        return ask(location, null);
    }

    /// Checks a jar, and lets it run when it is installed at a location.
    ///
    /// @param location where it will be installed
    /// @param file a copy that nobody else changes
    /// @param title what messages call it
    /// @throws TenonException (`BUNDLE-005`) if it may not run
    void admit(String location, Path file, String title) {
        Verdict verdict = ask(location, file);
        if (!verdict.refusal().isEmpty()) {
            throw new TenonException(
                    ErrorCode.BUNDLE_TRUST,
                    title + " is not trusted (bundles.trust=" + verdict.policy() + "): " + verdict.refusal()
                            + ". Nothing of it was run. 'tenon bundles trust JAR' puts it into the list");
        }
    }

    private Verdict ask(String location, Path file) {
        return service(context)
                .map(service -> Verdict.of(service.apply(location, file)))
                .orElse(Verdict.of(Map.of()));
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // a service is looked up by its class, which has no type arguments
    private static Optional<BiFunction<String, Path, Map<String, String>>> service(BundleContext context) {
        try {
            for (ServiceReference<BiFunction> reference :
                    context.getServiceReferences(BiFunction.class, "(tenon.info=trust)")) {
                if (reference.getBundle().getBundleId() == 0) { // the launcher's: no other may speak for it
                    return Optional.ofNullable(context.getService(reference));
                }
            }
        } catch (InvalidSyntaxException e) {
            throw new IllegalStateException(e);
        }
        return Optional.empty();
    }
}
