package dev.tenon.platform.cli.doctor;

import dev.tenon.api.error.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// Compares the files of an installation with `lib/shipped.sha256`, lines as `sha256sum` prints
/// them. Paths are relative to the installation's folder; a name without a folder is of an extra,
/// which need not be there. Manual page and completion may be missing: packages of small systems
/// leave them out.
final class InstalledFiles {
    private static final String LIST = "lib/shipped.sha256";
    private static final String EXTRAS = "bundles/extras";
    private static final String CODE = " [" + ErrorCode.ENV_PLATFORM + "]";
    private static final String ADVICE = "Install it again: what is there is not what was shipped.";

    private InstalledFiles() {}

    /// Adds a finding for each file that is missing or another one than was shipped, or else one for all.
    ///
    /// @param home the installation's folder
    /// @param report receives the findings
    static void check(Path home, DoctorReport report) {
        Path list = home.resolve(LIST);
        if (Files.notExists(list)) {
            report.fail("files", list + " is missing" + CODE, ADVICE);
            return;
        }
        int good = 0;
        int all = 0;
        try {
            for (String line : Files.readAllLines(list)) {
                String digest = line.substring(0, line.indexOf(' '));
                String path = line.substring(line.indexOf(' ')).strip();
                boolean extra = path.indexOf('/') < 0;
                Path file = (extra ? home.resolve(EXTRAS) : home).resolve(path).normalize();
                boolean there = Files.isRegularFile(file);
                if (extra && !there) {
                    continue;
                }
                all++;
                if (!there && path.contains("share/")) {
                    report.warn(
                            "file",
                            file + " is missing" + CODE,
                            "Install it again, if pages and completion are wanted.");
                } else if (!there) {
                    report.fail("file", file + " is missing" + CODE, ADVICE);
                } else if (!digest.equals(sha256(file))) {
                    report.fail("file", file + " has " + Files.size(file) + " bytes of another digest" + CODE, ADVICE);
                } else {
                    good++;
                }
            }
        } catch (IOException | StringIndexOutOfBoundsException e) {
            report.fail("files", list + " cannot be read: " + e.getMessage() + CODE, ADVICE);
            return;
        }
        if (good == all) {
            report.pass("files", all + " as they were shipped");
        }
    }

    private static String sha256(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            new DigestInputStream(in, digest).transferTo(OutputStream.nullOutputStream());
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }
}
