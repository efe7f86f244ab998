package dev.tenon.platform.launcher.trust;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.launcher.FakeBundle;
import dev.tenon.platform.launcher.home.Home;
import dev.tenon.platform.launcher.home.PlatformException;
import dev.tenon.platform.launcher.trust.TrustPolicy.Mode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrustTests {
    @TempDir
    static Path folder;

    private static TestKeys keys;
    private static Path plain;

    @BeforeAll
    static void makeKeysAndAJar() throws Exception {
        keys = new TestKeys(folder)
                .key("author")
                .key("stranger")
                .key("old", "-startdate", "-10d", "-validity", "5")
                .key("authority", "-ext", "bc:c")
                .issued("vouched", "authority", "-ext", "eku=codeSigning")
                .issued("web", "authority", "-ext", "eku=serverAuth");
        plain = new FakeBundle("org.example.plain")
                .type("org.example.Plain", "package org.example; public class Plain {}")
                .component("<nothing/>")
                .write(folder.resolve("plain.jar"));
    }

    private static String refusal(Mode mode, Path certificates, Path jar) throws IOException {
        TrustPolicy policy =
                new TrustPolicy(mode, certificates, TestKeys.PASSWORD, folder.resolve("list.txt"), shipped());
        return policy.refusal(SignedJar.read(jar));
    }

    /// Copies a jar with one entry changed; null leaves it out.
    private static Path changed(Path jar, String entry, UnaryOperator<String> change) throws IOException {
        Path copy = Files.createTempFile(folder, "changed", ".jar");
        boolean found = false;
        try (ZipFile in = new ZipFile(jar.toFile());
                ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(copy))) {
            for (ZipEntry each : in.stream().toList()) {
                byte[] bytes;
                try (InputStream content = in.getInputStream(each)) {
                    bytes = content.readAllBytes();
                }
                if (each.getName().equals(entry)) {
                    found = true;
                    String text = change.apply(new String(bytes, StandardCharsets.ISO_8859_1));
                    if (text == null) {
                        continue;
                    }
                    bytes = text.getBytes(StandardCharsets.ISO_8859_1);
                }
                out.putNextEntry(new ZipEntry(each.getName()));
                out.write(bytes);
            }
            if (!found) {
                out.putNextEntry(new ZipEntry(entry));
                out.write(change.apply("").getBytes(StandardCharsets.ISO_8859_1));
            }
        }
        return copy;
    }

    private static void assertRefused(String reason, String refusal) {
        assertTrue(refusal != null && refusal.contains(reason), () -> "expected: " + reason + ", found: " + refusal);
    }

    @Test
    void whoeverATrustedCertificateNamesOrVouchesForMaySign() throws Exception {
        assertNull(refusal(Mode.SIGNED, keys.pem("author"), keys.sign(plain, "author")));
        assertNull(refusal(Mode.SIGNED, keys.pem("stranger", "author"), keys.sign(plain, "author")));
        assertNull(refusal(Mode.SIGNED, keys.pem("authority"), keys.sign(plain, "vouched")));
        assertNull(refusal(Mode.SIGNED, keys.store, keys.sign(plain, "author")), "a key store");
        assertEquals(
                "CN=vouched,O=Test", SignedJar.read(keys.sign(plain, "vouched")).signerNames());
    }

    @Test
    void othersMayNot() throws Exception {
        Path author = keys.pem("author");
        assertRefused("it is not signed", refusal(Mode.SIGNED, author, plain));
        assertRefused("signed by CN=stranger", refusal(Mode.SIGNED, author, keys.sign(plain, "stranger")));
        assertRefused("vouches", refusal(Mode.SIGNED, author, keys.sign(plain, "vouched")));
        assertRefused("not valid now", refusal(Mode.SIGNED, keys.pem("old"), keys.sign(plain, "old")));
        assertRefused("not for signing code", refusal(Mode.SIGNED, keys.pem("authority"), keys.sign(plain, "web")));
        assertRefused(
                "holds no certificate", refusal(Mode.SIGNED, folder.resolve("none.pem"), keys.sign(plain, "author")));
    }

    @Test
    void aSignatureCoversEveryByteThatCounts() throws Exception {
        Path certificates = keys.pem("author");
        Path signed = keys.sign(plain, "author");
        Path edited = changed(signed, "OSGI-INF/c.xml", text -> text + " ");
        Path header = changed(
                signed,
                "META-INF/MANIFEST.MF",
                text -> text.replaceFirst("\r\n", "\r\nBundle-Activator: evil.Code\r\n"));
        Path added = changed(signed, "evil/Code.class", text -> "more");
        Path removed = changed(signed, "OSGI-INF/c.xml", text -> null);
        Path block = changed(signed, "META-INF/SIGNER.EC", text -> null);
        assertRefused("does not match its signature", refusal(Mode.SIGNED, certificates, edited));
        assertRefused("does not match its signature", refusal(Mode.ANY, certificates, edited));
        assertRefused("does not match its signature", refusal(Mode.SIGNED, certificates, header));
        assertRefused("evil/Code.class is not signed", refusal(Mode.SIGNED, certificates, added));
        assertRefused("OSGI-INF/c.xml was signed, and is missing", refusal(Mode.SIGNED, certificates, removed));
        assertRefused("it is not signed", refusal(Mode.SIGNED, certificates, block));
    }

    /// Copies a jar with one more entry, whose name is then written over by another one of its length: no writer
    /// makes two entries of one name.
    private static Path twice(Path jar, String name, String text) throws IOException {
        String draft = "#".repeat(name.length());
        Path copy = changed(jar, draft, nothing -> text);
        byte[] bytes = Files.readAllBytes(copy);
        String all = new String(bytes, StandardCharsets.ISO_8859_1).replace(draft, name);
        return Files.write(copy, all.getBytes(StandardCharsets.ISO_8859_1));
    }

    @Test
    void whatIsThereTwiceIsNotTheSignersAlone() throws Exception {
        Path certificates = keys.pem("author");
        Path signed = keys.sign(plain, "author");
        String type = "org/example/Plain.class";
        assertRefused(type, refusal(Mode.SIGNED, certificates, twice(signed, type, "evil")));
        assertRefused(type, refusal(Mode.ANY, certificates, twice(signed, type, "evil")));
        String header =
                "Manifest-Version: 1.0\r\nBundle-SymbolicName: org.example.plain\r\nBundle-Activator: x.Y\r\n\r\n";
        assertRefused(
                "two entries named META-INF/MANIFEST.MF",
                refusal(Mode.SIGNED, certificates, twice(signed, "META-INF/MANIFEST.MF", header)));
        for (String name : List.of("META-INF/manifest.mf", "meta-inf/MANIFEST.MF")) {
            Path more = twice(signed, name, header);
            assertRefused("a manifest named " + name, refusal(Mode.SIGNED, certificates, more));
            assertRefused("a manifest named " + name, refusal(Mode.ANY, certificates, more));
        }
    }

    /// The verification takes a manifest of any case, the framework the one in capitals alone.
    @Test
    void theManifestThatWasSignedIsTheOneThatIsRead() throws Exception {
        Path certificates = keys.pem("author");
        Path signed = keys.sign(plain, "author");
        byte[] bytes = Files.readAllBytes(signed);
        String renamed =
                new String(bytes, StandardCharsets.ISO_8859_1).replace("META-INF/MANIFEST.MF", "META-INF/Manifest.mf");
        Path aside = Files.write(
                Files.createTempFile(folder, "aside", ".jar"), renamed.getBytes(StandardCharsets.ISO_8859_1));
        assertRefused("a manifest named META-INF/Manifest.mf", refusal(Mode.SIGNED, certificates, aside));
        Path own = changed(aside, "META-INF/MANIFEST.MF", nothing -> "Manifest-Version: 1.0\r\n\r\n");
        assertRefused("a manifest named META-INF/Manifest.mf", refusal(Mode.SIGNED, certificates, own));
    }

    @Test
    void aJarInsideIsCoveredByTheSignatureOfTheOuterOne() throws Exception {
        Path certificates = keys.pem("author");
        Path outer = new FakeBundle("org.example.outer")
                .header("Bundle-ClassPath", "lib/inner.jar")
                .entry("lib/inner.jar", Files.readAllBytes(plain))
                .write(folder.resolve("outer.jar"));
        Path signed = keys.sign(outer, "author");
        assertNull(refusal(Mode.SIGNED, certificates, signed));
        Path swapped = changed(signed, "lib/inner.jar", text -> text.replace("Plain", "Plane"));
        assertRefused("does not match its signature", refusal(Mode.SIGNED, certificates, swapped));
        Path added = changed(signed, "lib/more.jar", nothing -> "more");
        assertRefused("lib/more.jar is not signed", refusal(Mode.SIGNED, certificates, added));
    }

    @Test
    void aListedDigestIsEnoughAndOneOtherByteIsNot() throws Exception {
        Path list = folder.resolve("own-list.txt");
        TrustPolicy listed = new TrustPolicy(Mode.LISTED, keys.pem("author"), "", list, shipped());
        assertRefused("is not in " + list, listed.refusal(SignedJar.read(plain)));
        assertRefused("is not in " + list, listed.refusal(SignedJar.read(keys.sign(plain, "author"))));
        Files.writeString(list, "# ours\n" + SignedJar.read(plain).sha256().toUpperCase() + " *plain.jar\n");
        assertNull(listed.refusal(SignedJar.read(plain)));
        assertNull(
                new TrustPolicy(Mode.SIGNED, keys.pem("author"), "", list, shipped()).refusal(SignedJar.read(plain)));
        Path other = changed(plain, "OSGI-INF/c.xml", text -> text + " ");
        assertRefused("is not in " + list, listed.refusal(SignedJar.read(other)));
    }

    private static Path shipped() {
        return folder.resolve("shipped.sha256");
    }

    /// The folder is that of all tests.
    @AfterEach
    void nothingShipped() throws IOException {
        Files.deleteIfExists(shipped());
    }

    /// They are unsigned; the stricter policy asks for its own list.
    @Test
    void whatCameWithTheDistributionRunsWhereSignaturesAreAsked() throws Exception {
        assertRefused("not signed", refusal(Mode.SIGNED, keys.pem("author"), plain));
        Files.writeString(shipped(), SignedJar.read(plain).sha256() + "  plain.jar\n");
        assertNull(refusal(Mode.SIGNED, keys.pem("author"), plain));
        assertRefused("is not in", refusal(Mode.LISTED, keys.pem("author"), plain));
        Path other = changed(plain, "OSGI-INF/c.xml", text -> text + " ");
        assertRefused("not signed", refusal(Mode.SIGNED, keys.pem("author"), other));
    }

    @Test
    void theEnvironmentMakesAPolicyStricterAndNeverWeaker() throws Exception {
        Path home = folder.resolve("home");
        Path file = Files.createDirectories(home.resolve("etc")).resolve("dev.tenon.platform.bundles.cfg");
        Files.writeString(file, "bundles.trust = signed\n");
        Map<String, String> weaker = Map.of(
                "TENON_BUNDLES_TRUST", "any",
                "TENON_BUNDLES_TRUST_LIST", "/elsewhere.txt",
                "TENON_BUNDLES_TRUST_CERTIFICATES", "/elsewhere.pem",
                "TENON_BUNDLES_TRUST_PASSWORD", "secret");
        TrustPolicy read = TrustPolicy.read(new Home(home), weaker::get);
        assertEquals(Mode.SIGNED, read.mode());
        assertEquals(home.toAbsolutePath().resolve("etc/trusted-bundles.txt"), read.list());
        assertEquals(home.toAbsolutePath().resolve("etc/trusted-bundles.pem"), read.certificates());
        assertEquals("secret", read.password(), "it opens what the file names");
        Files.delete(file);
        TrustPolicy alone = TrustPolicy.read(
                new Home(home), Map.of("TENON_BUNDLES_TRUST", "Listed", "TENON_BUNDLES_TRUST_LIST", "/own.txt")::get);
        assertEquals(Mode.LISTED, alone.mode());
        assertEquals(Path.of("/own.txt"), alone.list());
    }

    @Test
    void whatIsTrustedCannotBeReadMeansNothingIs() throws Exception {
        Path broken = Files.writeString(folder.resolve("broken.pem"), "-----BEGIN CERTIFICATE-----\nnonsense\n");
        assertRefused("cannot be read", refusal(Mode.SIGNED, broken, keys.sign(plain, "author")));
        TrustPolicy wrong = new TrustPolicy(Mode.SIGNED, keys.store, "wrong", folder.resolve("list.txt"), shipped());
        assertRefused("cannot be read", wrong.refusal(SignedJar.read(keys.sign(plain, "author"))));
    }

    @Test
    void settingsComeFromTheFileAndTheEnvironmentGoesOverIt() throws Exception {
        Path home = folder.resolve("home");
        Path file = Files.createDirectories(home.resolve("etc")).resolve("dev.tenon.platform.bundles.cfg");
        assertEquals(Mode.ANY, TrustPolicy.read(new Home(home), name -> null).mode());
        Files.writeString(file, "bundles.trust = signed\nbundles.trust.list = ${tenon.home}/own.txt\n");
        TrustPolicy read = TrustPolicy.read(new Home(home), name -> null);
        assertEquals(Mode.SIGNED, read.mode());
        assertEquals(home.toAbsolutePath().resolve("own.txt"), read.list());
        assertEquals(home.toAbsolutePath().resolve("etc/trusted-bundles.pem"), read.certificates());
        Map<String, String> environment = Map.of("TENON_BUNDLES_TRUST", "listed");
        assertEquals(
                Mode.LISTED, TrustPolicy.read(new Home(home), environment::get).mode());
        Files.writeString(file, "bundles.trust = some");
        PlatformException e =
                assertThrows(PlatformException.class, () -> TrustPolicy.read(new Home(home), name -> null));
        assertTrue(e.getMessage().contains("'some'"), e.getMessage());
    }

    @Test
    void onlyWhatWasAdmittedIsKnownAtItsLocation() throws Exception {
        Trust trust =
                new Trust(new TrustPolicy(Mode.SIGNED, keys.pem("author"), "", folder.resolve("list.txt"), shipped()));
        Path signed = keys.sign(plain, "author");
        assertEquals("", trust.admit("tenon:x/1", signed).refusal());
        assertEquals("CN=author,O=Test", trust.installed("tenon:x/1").signer());
        assertEquals(
                SignedJar.read(signed).sha256(), trust.installed("tenon:x/1").sha256());
        assertRefused("not signed", trust.admit("tenon:x/2", plain).refusal());
        assertEquals("", trust.installed("tenon:x/2").sha256());
    }
}
