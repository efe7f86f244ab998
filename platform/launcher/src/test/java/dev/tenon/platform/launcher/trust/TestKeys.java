package dev.tenon.platform.launcher.trust;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.CertPath;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.zip.ZipFile;
import jdk.security.jarsigner.JarSigner;

/// Keys and certificates that the JDK's keytool makes, and jars signed with them.
final class TestKeys {
    static final String PASSWORD = "changeit";

    private final Path folder;
    final Path store;

    TestKeys(Path folder) {
        this.folder = folder;
        this.store = folder.resolve("keys.p12");
    }

    /// Makes a key with a certificate that it has signed itself.
    TestKeys key(String alias, String... more) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of(
                "-genkeypair",
                "-alias",
                alias,
                "-dname",
                "CN=" + alias + ", O=Test",
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1"));
        arguments.addAll(Arrays.asList(more));
        keytool(arguments);
        return this;
    }

    /// Makes a key with a certificate that another key has signed.
    TestKeys issued(String alias, String authority, String... more) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("-signer", authority));
        arguments.addAll(Arrays.asList(more));
        return key(alias, arguments.toArray(String[]::new));
    }

    private void keytool(List<String> arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                // It runs for a moment: nothing of what the second compiler makes would pay.
                "-J-XX:TieredStopAtLevel=1",
                "-J-XX:+UseSerialGC"));
        command.addAll(arguments);
        command.addAll(List.of("-keystore", store.toString(), "-storetype", "PKCS12", "-storepass", PASSWORD));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new AssertionError(command + ": " + said);
        }
    }

    private KeyStore open() throws GeneralSecurityException, IOException {
        return KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
    }

    /// Writes the own certificates of keys as PEM.
    Path pem(String... aliases) throws GeneralSecurityException, IOException {
        StringBuilder text = new StringBuilder();
        for (String alias : aliases) {
            String body = Base64.getMimeEncoder()
                    .encodeToString(open().getCertificate(alias).getEncoded());
            text.append("-----BEGIN CERTIFICATE-----\n").append(body).append("\n-----END CERTIFICATE-----\n");
        }
        return Files.writeString(folder.resolve(String.join("-", aliases) + ".pem"), text);
    }

    /// Writes a signed copy of a jar.
    Path sign(Path jar, String alias) throws GeneralSecurityException, IOException {
        Certificate[] chain = open().getCertificateChain(alias);
        CertPath path = CertificateFactory.getInstance("X.509").generateCertPath(List.of(chain));
        PrivateKey key = (PrivateKey) open().getKey(alias, PASSWORD.toCharArray());
        Path signed = folder.resolve(alias + "-" + jar.getFileName());
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipFile in = new ZipFile(jar.toFile());
                OutputStream out = bytes) {
            new JarSigner.Builder(key, path).build().sign(in, out);
        }
        return Files.write(signed, bytes.toByteArray());
    }
}
