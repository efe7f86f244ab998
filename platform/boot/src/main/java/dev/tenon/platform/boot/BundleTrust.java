package dev.tenon.platform.boot;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.osgi.annotation.versioning.ProviderType;

/// Decides which bundles may run. Trust only the launcher's own service, that of the system bundle.
///
/// A bundle is admitted by its location, after its jar was checked. The installer must install
/// exactly the bytes that were checked: a copy that nobody else can change. Safe for any thread.
@ProviderType
public interface BundleTrust {
    /// What the names of Tenon's packages begin with.
    String OURS = "dev.tenon.";

    /// What `bundles.trust` may be, the weakest first.
    List<String> POLICIES = List.of("any", "signed", "listed");

    /// Tells whether a variable of the environment counts for the settings of trust. It may make the policy of the
    /// file in `etc` stricter, never weaker; where that one asks for anything, what is trusted comes from the file
    /// alone.
    ///
    /// @param setting such as `bundles.trust.list`
    /// @param value the variable's
    /// @param policy `bundles.trust` in the file
    /// @return whether it counts
    static boolean counts(String setting, String value, String policy) {
        int strictness = POLICIES.indexOf(policy.strip().toLowerCase(Locale.ROOT));
        int asked = POLICIES.indexOf(value.strip().toLowerCase(Locale.ROOT));
        return switch (setting) {
            case "bundles.trust" -> asked < 0 || asked >= strictness; // what is no policy is refused later
            case "bundles.trust.certificates", "bundles.trust.list" -> strictness == 0;
            default -> true;
        };
    }

    /// Tells what is known of a jar, without admitting it.
    ///
    /// @param jar the jar
    /// @return what is known
    Verdict look(Path jar);

    /// {@return what is known of the bundle that was installed at a location}
    ///
    /// @param location the bundle's location
    Verdict installed(String location);

    /// Checks a jar, and lets it run when it is installed at a location.
    ///
    /// @param location where it will be installed
    /// @param jar a copy that nobody else changes
    /// @return what is known; it was admitted if there is no refusal
    Verdict admit(String location, Path jar);

    /// Finds a package of Tenon's that a bundle exports although it is another bundle's: those that import it would
    /// get other classes. A package is the bundle's whose symbolic name it begins with.
    ///
    /// @param bundle symbolic name
    /// @param exports the header `Export-Package`, or null
    /// @return the first such package, or null
    static String foreignExport(String bundle, String exports) {
        if (exports == null || !exports.contains(OURS)) {
            return null;
        }
        boolean quoted = false;
        int start = 0;
        for (int i = 0; i <= exports.length(); i++) {
            char c = i == exports.length() ? ',' : exports.charAt(i);
            if (c == '"') {
                quoted = !quoted;
            } else if (!quoted && (c == ',' || c == ';')) {
                String part = exports.substring(start, i).strip();
                start = i + 1;
                if (part.startsWith(OURS) && !part.contains("=") && !(part + ".").startsWith(bundle + ".")) {
                    return part;
                }
            }
        }
        return null;
    }

    /// What is known of a jar.
    ///
    /// @param policy `any`, `signed` or `listed`; empty where nothing decides
    /// @param list the file with digests of trusted jars, or empty
    /// @param sha256 digest of the jar in hexadecimal digits, or empty
    /// @param signer who signed all of it, or empty
    /// @param refusal why it may not run, or empty
    record Verdict(String policy, String list, String sha256, String signer, String refusal) {
        /// What is known where nothing decides.
        public static final Verdict NONE = new Verdict("", "", "", "", "");

        /// {@return whether the jar may run}
        public boolean allows() {
            return refusal.isEmpty();
        }
    }
}
