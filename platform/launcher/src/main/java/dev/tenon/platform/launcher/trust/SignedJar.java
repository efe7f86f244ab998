package dev.tenon.platform.launcher.trust;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSigner;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.regex.Pattern;

/// A jar's digest and signers. Reading checks every entry against the signatures.
///
/// @param sha256 digest of the file, in hexadecimal digits
/// @param signers who signed every entry; empty if nobody did
/// @param flaw why the signature does not hold although there is one, or null
public record SignedJar(String sha256, List<CodeSigner> signers, String flaw) {
    /// The manifest, signature files and signature blocks, which no signature covers.
    private static final Pattern SIGNATURE =
            Pattern.compile("META-INF/(MANIFEST\\.MF|[^/]+\\.(SF|RSA|DSA|EC)|SIG-[^/]+)");

    /// Reads a jar from end to end. It must not change meanwhile: read a copy of your own.
    ///
    /// @param file the jar
    /// @return what it says
    /// @throws IOException if it cannot be read or is no jar
    public static SignedJar read(Path file) throws IOException {
        String sha256 = digest(file);
        Set<CodeSigner> common = null;
        String unsigned = null;
        Set<String> names = new HashSet<>();
        try (JarFile jar = new JarFile(file.toFile(), true)) {
            for (JarEntry entry : Collections.list(jar.entries())) {
                String name = entry.getName();
                if (!names.add(name)) {
                    return new SignedJar(sha256, List.of(), "it has two entries named " + name);
                }
                // The verification takes it for the manifest, the framework does not.
                if (name.equalsIgnoreCase(JarFile.MANIFEST_NAME) && !name.equals(JarFile.MANIFEST_NAME)) {
                    return new SignedJar(sha256, List.of(), "it has a manifest named " + name);
                }
                try (InputStream in = jar.getInputStream(entry)) {
                    in.transferTo(OutputStream.nullOutputStream());
                }
                if (entry.isDirectory()
                        || SIGNATURE.matcher(name.toUpperCase(Locale.ROOT)).matches()) {
                    continue;
                }
                CodeSigner[] own = entry.getCodeSigners();
                if (own == null) {
                    unsigned = unsigned == null ? name : unsigned;
                } else if (common == null) {
                    common = new LinkedHashSet<>(Arrays.asList(own));
                } else {
                    common.retainAll(Arrays.asList(own));
                }
            }
            return new SignedJar(sha256, signers(common, unsigned), flaw(common, unsigned, names, jar.getManifest()));
        } catch (SecurityException e) {
            return new SignedJar(sha256, List.of(), "it does not match its signature: " + e.getMessage());
        }
    }

    private static List<CodeSigner> signers(Set<CodeSigner> common, String unsigned) {
        return common == null || unsigned != null ? List.of() : List.copyOf(common);
    }

    private static String flaw(Set<CodeSigner> common, String unsigned, Set<String> names, Manifest manifest) {
        if (common == null) {
            return null; // not signed at all
        }
        if (unsigned != null) {
            return "its entry " + unsigned + " is not signed";
        }
        if (common.isEmpty()) {
            return "its entries are signed by different signers";
        }
        Set<String> missing = new TreeSet<>(manifest.getEntries().keySet());
        missing.removeAll(names);
        return missing.isEmpty() ? null : "its entry " + missing.iterator().next() + " was signed, and is missing";
    }

    /// {@return the names of the signers, as their certificates give them; empty if nobody signed
    /// it}
    String signerNames() {
        return String.join(
                "; ",
                signers.stream()
                        .map(signer -> (X509Certificate)
                                signer.getSignerCertPath().getCertificates().getFirst())
                        .map(certificate ->
                                certificate.getSubjectX500Principal().getName())
                        .toList());
    }

    static String digest(Path file) throws IOException {
        try (DigestInputStream in =
                new DigestInputStream(Files.newInputStream(file), MessageDigest.getInstance("SHA-256"))) {
            in.transferTo(OutputStream.nullOutputStream());
            return HexFormat.of().formatHex(in.getMessageDigest().digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
