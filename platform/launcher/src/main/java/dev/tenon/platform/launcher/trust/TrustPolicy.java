package dev.tenon.platform.launcher.trust;

import dev.tenon.platform.boot.BundleTrust;
import dev.tenon.platform.launcher.home.CfgFile;
import dev.tenon.platform.launcher.home.Home;
import dev.tenon.platform.launcher.home.PlatformException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSigner;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertPath;
import java.security.cert.CertPathValidator;
import java.security.cert.Certificate;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.slf4j.LoggerFactory;

/// Which bundles may run, as `etc/dev.tenon.platform.bundles.cfg` says. The certificates and the
/// list are read at each check, so that a change applies to the next bundle.
///
/// @param mode what is asked of a bundle
/// @param certificates trusted certificates: PEM, or a key store
/// @param password of the key store, perhaps empty
/// @param list digests of trusted jars, a line each, as `sha256sum` prints them
/// @param shipped digests of the distribution's jars, in the same form, see [ShippedJars]
public record TrustPolicy(Mode mode, Path certificates, String password, Path list, Path shipped) {
    /// What is asked of a bundle.
    enum Mode {
        /// Nothing, but a signature must be valid if there is one.
        ANY,
        /// It is signed with a trusted certificate's key, or listed, or came with the distribution.
        SIGNED,
        /// That its digest is in the list.
        LISTED
    }

    private static final String CODE_SIGNING = "1.3.6.1.5.5.7.3.3";
    private static final String ANY_PURPOSE = "2.5.29.37.0";
    private static final String FILE = "dev.tenon.platform.bundles.cfg";
    private static final String TRUST = "bundles.trust";

    /// Reads the settings.
    ///
    /// @param home the distribution
    /// @param environment gives the value of an environment variable, or null
    /// @return the policy
    /// @throws PlatformException if they cannot be read or are not understood: nothing may run then
    public static TrustPolicy read(Home home, UnaryOperator<String> environment) {
        Path file = home.etc().resolve(FILE);
        Map<String, Object> values = Map.of();
        UnaryOperator<String> variables =
                name -> name.equals("tenon.home") ? home.root().toString() : System.getProperty(name);
        if (Files.exists(file)) {
            try {
                values = CfgFile.read(file, variables).values();
            } catch (IOException e) {
                throw new PlatformException(
                        file + " cannot be read, so the bundles that may run are unknown: " + e.getMessage() + ".");
            }
        }
        String asked = value(values, environment, TRUST, "any");
        Mode mode;
        try {
            mode = Mode.valueOf(asked.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new PlatformException(
                    "bundles.trust is '" + asked + "' in " + file + "; expected any, signed or listed.");
        }
        return new TrustPolicy(
                mode,
                path(home, value(values, environment, "bundles.trust.certificates", "etc/trusted-bundles.pem")),
                value(values, environment, "bundles.trust.password", ""),
                path(home, value(values, environment, "bundles.trust.list", "etc/trusted-bundles.txt")),
                home.lib().resolve(ShippedJars.LIST));
    }

    private static String value(
            Map<String, Object> values, UnaryOperator<String> environment, String key, String otherwise) {
        String name = "TENON_" + key.toUpperCase(Locale.ROOT).replace('.', '_');
        String given = environment.apply(name);
        String policy = values.getOrDefault(TRUST, "any").toString();
        if (given != null && !BundleTrust.counts(key, given, policy)) {
            LoggerFactory.getLogger(TrustPolicy.class)
                    .warn(
                            "{} is ignored: etc/{} says {}={}, which nothing outside it weakens [CFG-001]",
                            name,
                            FILE,
                            TRUST,
                            policy);
            given = null;
        }
        Object value = given != null ? given : values.getOrDefault(key, otherwise);
        return value.toString().strip();
    }

    private static Path path(Home home, String value) {
        return home.root().resolve(value);
    }

    /// Decides on a jar.
    ///
    /// @param jar what it says of itself
    /// @return why it may not run, or null if it may
    String refusal(SignedJar jar) {
        if (mode == Mode.ANY) {
            return jar.flaw();
        }
        try {
            if (digests(list).contains(jar.sha256())) {
                return null;
            }
            if (mode == Mode.LISTED) {
                return "its SHA-256 " + jar.sha256() + " is not in " + list;
            }
            if (digests(shipped).contains(jar.sha256())) {
                return null;
            }
            return jar.flaw() != null ? jar.flaw() : unsigned(jar);
        } catch (IOException | GeneralSecurityException e) {
            return "what is trusted cannot be read: " + e.getMessage();
        }
    }

    private String unsigned(SignedJar jar) throws IOException, GeneralSecurityException {
        if (jar.signers().isEmpty()) {
            return "it is not signed, and not in " + list;
        }
        Set<X509Certificate> trusted = trusted();
        List<String> reasons = new ArrayList<>();
        for (CodeSigner signer : jar.signers()) {
            String reason = distrust(signer, trusted);
            if (reason == null) {
                return null;
            }
            reasons.add(reason);
        }
        return "it is signed by " + jar.signerNames() + ": " + String.join("; ", reasons);
    }

    /// Why a signer is not trusted, or null.
    private String distrust(CodeSigner signer, Set<X509Certificate> trusted) {
        List<X509Certificate> chain = signer.getSignerCertPath().getCertificates().stream()
                .map(X509Certificate.class::cast)
                .toList();
        X509Certificate own = chain.getFirst();
        try {
            // A time stamp is not accepted: no setting says which authorities are trusted for it.
            own.checkValidity();
            List<String> purposes = own.getExtendedKeyUsage();
            if (purposes != null && !purposes.contains(CODE_SIGNING) && !purposes.contains(ANY_PURPOSE)) {
                return "the certificate is not for signing code";
            }
            if (trusted.contains(own)) {
                return null;
            }
            List<X509Certificate> path =
                    chain.stream().takeWhile(c -> !trusted.contains(c)).toList();
            CertPath checked = CertificateFactory.getInstance("X.509").generateCertPath(path);
            Set<TrustAnchor> anchors =
                    trusted.stream().map(c -> new TrustAnchor(c, null)).collect(Collectors.toSet());
            if (anchors.isEmpty()) {
                return certificates + " holds no certificate";
            }
            PKIXParameters parameters = new PKIXParameters(anchors);
            parameters.setRevocationEnabled(false);
            CertPathValidator.getInstance("PKIX").validate(checked, parameters);
            return null;
        } catch (CertificateExpiredException | CertificateNotYetValidException e) {
            return "the certificate is not valid now (" + e.getMessage() + ")";
        } catch (GeneralSecurityException e) {
            return "no certificate of " + certificates + " vouches for it (" + e.getMessage() + ")";
        }
    }

    private static Set<String> digests(Path file) throws IOException {
        if (!Files.exists(file)) {
            return Set.of();
        }
        return Files.readAllLines(file).stream()
                .map(line -> line.strip().split("\\s", 2)[0].toLowerCase(Locale.ROOT))
                .filter(word -> word.matches("[0-9a-f]{64}"))
                .collect(Collectors.toSet());
    }

    private Set<X509Certificate> trusted() throws IOException, GeneralSecurityException {
        Set<X509Certificate> found = new HashSet<>();
        if (!Files.exists(certificates)) {
            return found;
        }
        if (certificates.toString().matches(".*\\.(p12|pfx|jks|keystore)")) {
            KeyStore store =
                    KeyStore.getInstance(certificates.toFile(), password.isEmpty() ? null : password.toCharArray());
            for (String alias : Collections.list(store.aliases())) {
                if (store.getCertificate(alias) instanceof X509Certificate certificate) {
                    found.add(certificate);
                }
            }
            return found;
        }
        try (InputStream in = Files.newInputStream(certificates)) {
            for (Certificate certificate :
                    CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                found.add((X509Certificate) certificate);
            }
        }
        return found;
    }
}
