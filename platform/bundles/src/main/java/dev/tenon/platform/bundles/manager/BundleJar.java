package dev.tenon.platform.bundles.manager;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.boot.BundleTrust;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.jar.Attributes;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/// A jar that was read from its first byte to its last and found to be a whole bundle.
///
/// @param file the jar
/// @param name symbolic name
/// @param version version as in the manifest
/// @param sha256 digest of the file in hexadecimal digits
/// @param fragment the host's name if it is a fragment, else null
/// @param access what it says it reaches outside the JVM, or null if it says nothing
public record BundleJar(Path file, String name, String version, String sha256, String fragment, String access) {
    /// The header by which a bundle says what it reaches outside the JVM: `native`, `network`, `files`,
    /// separated by commas, or `none`.
    public static final String ACCESS = "Tenon-Access";

    private static final Pattern NAME = Pattern.compile("[\\w-]+(\\.[\\w-]+)*");
    private static final Pattern VERSION = Pattern.compile("\\d{1,9}(\\.\\d{1,9}(\\.\\d{1,9}(\\.[\\w-]+)?)?)?");
    private static final String MANIFEST = "META-INF/MANIFEST.MF";

    /// Reads a jar.
    ///
    /// @param file the jar
    /// @return what it is
    /// @throws TenonException (`BUNDLE-001`) if it is incomplete, damaged or no bundle; (`BUNDLE-002`) if it
    ///     exports packages of Tenon's that are not its own
    public static BundleJar read(Path file) {
        return read(file, file.toString());
    }

    /// Reads a copy of a jar.
    ///
    /// @param file the copy
    /// @param shown what messages call it
    /// @return what it is
    /// @throws TenonException as above
    static BundleJar read(Path file, String shown) {
        String sha256 = digest(file, shown);
        Manifest manifest = null;
        try (ZipFile zip = new ZipFile(file.toFile())) {
            Enumeration<? extends ZipEntry> entries = zip.entries();
            while (entries.hasMoreElements()) {
                ZipEntry entry = entries.nextElement();
                CheckedInputStream in = new CheckedInputStream(zip.getInputStream(entry), new CRC32());
                try (in) {
                    if (entry.getName().equals(MANIFEST)) {
                        manifest = new Manifest(in);
                    }
                    in.transferTo(java.io.OutputStream.nullOutputStream());
                }
                if (in.getChecksum().getValue() != entry.getCrc()) {
                    throw damaged(shown, "the checksum of its entry " + entry.getName() + " is wrong");
                }
            }
        } catch (ZipException e) {
            throw damaged(shown, e.getMessage());
        } catch (IOException e) {
            throw damaged(shown, "it cannot be read: " + e.getMessage());
        }
        String name = manifest == null ? null : header(manifest, "Bundle-SymbolicName");
        if (name == null || name.isEmpty()) {
            throw new TenonException(
                    ErrorCode.BUNDLE_FILE,
                    shown + " is not an OSGi bundle: its manifest has no Bundle-SymbolicName. Build it as a bundle, for"
                            + " example with the bnd Maven plug-in");
        }
        String version = header(manifest, "Bundle-Version");
        version = version == null ? "0.0.0" : version;
        // Both become parts of file names.
        if (!NAME.matcher(name).matches() || !VERSION.matcher(version).matches()) {
            throw new TenonException(
                    ErrorCode.BUNDLE_FILE,
                    shown + " is no OSGi bundle: its name '" + name + "' or its version '" + version
                            + "' is not one as OSGi spells them");
        }
        String foreign =
                BundleTrust.foreignExport(name, manifest.getMainAttributes().getValue("Export-Package"));
        if (foreign != null) {
            throw new TenonException(
                    ErrorCode.BUNDLE_REJECTED,
                    name + " " + version + " was refused: it exports " + foreign
                            + ", which is not its own. Take the package out of its Export-Package");
        }
        return new BundleJar(file, name, version, sha256, header(manifest, "Fragment-Host"), header(manifest, ACCESS));
    }

    private static TenonException damaged(String file, String what) {
        return new TenonException(
                ErrorCode.BUNDLE_FILE,
                file + " is incomplete or damaged: " + what + ". Copy it again; a jar that is still being copied is"
                        + " picked up when it is whole");
    }

    /// The value of a header without its attributes, or null.
    private static String header(Manifest manifest, String name) {
        String value = manifest.getMainAttributes().getValue(new Attributes.Name(name));
        return value == null ? null : value.split(";", 2)[0].strip();
    }

    /// {@return the SHA-256 digest of a file in hexadecimal digits}
    ///
    /// @param file the file
    /// @throws TenonException (`BUNDLE-001`) if it cannot be read
    static String digest(Path file) {
        return digest(file, file.toString());
    }

    private static String digest(Path file, String shown) {
        requireFile(file);
        try (InputStream in = Files.newInputStream(file);
                DigestInputStream digest = new DigestInputStream(in, MessageDigest.getInstance("SHA-256"))) {
            digest.transferTo(java.io.OutputStream.nullOutputStream());
            return HexFormat.of().formatHex(digest.getMessageDigest().digest());
        } catch (IOException e) {
            throw damaged(shown, "it cannot be read: " + e.getMessage());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /// Refuses what is no file, such as a pipe, from which reading might never end.
    ///
    /// @param file what is to be read
    /// @throws TenonException (`BUNDLE-001`) if it is none, or not there
    static void requireFile(Path file) {
        if (!Files.isRegularFile(file)) {
            throw new TenonException(
                    ErrorCode.BUNDLE_FILE, file + (Files.exists(file) ? " is no file" : " does not exist"));
        }
    }

    /// {@return name and version, as messages call it}
    public String title() {
        return name + " " + version;
    }
}
