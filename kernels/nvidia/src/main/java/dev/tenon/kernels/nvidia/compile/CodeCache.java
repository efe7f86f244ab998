package dev.tenon.kernels.nvidia.compile;

import dev.tenon.kernels.nvidia.source.CudaSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Compiled kernels on disk, one file each, named by a hash of everything that the code depends on.
///
/// A file starts with a magic and the SHA-256 of what follows, so that a torn or damaged one is
/// recognised and made again. It is written beside its place and moved there, so that processes
/// which write the same one at the same time do not disturb each other; what a killed process left
/// beside them goes when a later one stores something. A cache that cannot be written costs time, not
/// function. Safe for any thread.
public final class CodeCache {
    private static final Logger LOG = LoggerFactory.getLogger(CodeCache.class);
    private static final byte[] MAGIC = "TENONCU1".getBytes(StandardCharsets.US_ASCII);
    private static final int DIGEST_BYTES = 32;
    private static final String TEMPORARY = ".new";
    private static final Duration GRACE = Duration.ofMinutes(1);

    private final Path folder;

    /// @param folder where the files are; made when the first is written
    public CodeCache(Path folder) {
        this.folder = folder;
    }

    /// {@return the folder that is used without a setting: `tenon/cuda` in the user's cache folder}
    ///
    /// @param environment environment variables
    public static Path defaultFolder(Map<String, String> environment) {
        String cache = environment.getOrDefault("XDG_CACHE_HOME", "");
        Path base = cache.isEmpty() ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(cache);
        return base.resolve("tenon").resolve("cuda");
    }

    /// {@return the file name for a compilation}
    ///
    /// @param source source and headers
    /// @param options all options, the architecture among them
    /// @param compiler which compiler, with its version
    static String key(CudaSource source, List<String> options, String compiler) {
        MessageDigest digest = sha256();
        update(digest, compiler);
        options.forEach(option -> update(digest, option));
        update(digest, source.text());
        source.headers().entrySet().stream().sorted(Map.Entry.comparingByKey()).forEach(header -> {
            update(digest, header.getKey());
            update(digest, header.getValue());
        });
        return source.name().replaceAll("[^A-Za-z0-9_-]", "_") + "-"
                + HexFormat.of().formatHex(digest.digest()).substring(0, 40) + ".cubin";
    }

    private static void update(MessageDigest digest, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        digest.update((bytes.length + ":").getBytes(StandardCharsets.US_ASCII));
        digest.update(bytes);
    }

    /// {@return the code stored under a name, if it is there and whole}
    ///
    /// @param key from [#key]
    Optional<byte[]> find(String key) {
        Path file = folder.resolve(key);
        try {
            byte[] all = Files.readAllBytes(file);
            int start = MAGIC.length + DIGEST_BYTES;
            if (all.length > start && Arrays.equals(all, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
                MessageDigest digest = sha256();
                digest.update(all, start, all.length - start);
                if (Arrays.equals(digest.digest(), Arrays.copyOfRange(all, MAGIC.length, start))) {
                    return Optional.of(Arrays.copyOfRange(all, start, all.length));
                }
            }
            LOG.warn("{} is damaged; its kernels are compiled again", file);
        } catch (NoSuchFileException e) {
            LOG.debug("{} is not there yet", file);
        } catch (IOException e) {
            LOG.warn("{} cannot be read ({}); its kernels are compiled again", file, e.toString());
        }
        return Optional.empty();
    }

    /// Stores code under a name.
    ///
    /// @param key from [#key]
    /// @param code the code
    void store(String key, byte[] code) {
        Path file = folder.resolve(key);
        try {
            Files.createDirectories(folder);
            sweep();
            Path temporary = Files.createTempFile(
                    folder, key + "." + ProcessHandle.current().pid() + ".", TEMPORARY);
            try {
                byte[] all = Arrays.copyOf(MAGIC, MAGIC.length + DIGEST_BYTES + code.length);
                System.arraycopy(sha256().digest(code), 0, all, MAGIC.length, DIGEST_BYTES);
                System.arraycopy(code, 0, all, MAGIC.length + DIGEST_BYTES, code.length);
                Files.write(temporary, all);
                Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(temporary);
            }
        } catch (IOException e) {
            LOG.warn("{} cannot be written ({}); its kernels are compiled again at the next start", file, e.toString());
        }
    }

    /// Removes files that killed processes left incomplete. One from a moment ago may belong to a process of
    /// another machine.
    private void sweep() {
        Instant old = Instant.now().minus(GRACE);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.[0-9]*" + TEMPORARY)) {
            for (Path file : files) {
                String[] parts = file.getFileName().toString().split("\\.");
                String pid = parts[parts.length - 3];
                if (pid.matches("[0-9]{1,18}")
                        && ProcessHandle.of(Long.parseLong(pid)).isEmpty()
                        && Files.getLastModifiedTime(file).toInstant().isBefore(old)) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            LOG.debug("Incomplete files stay in {}", folder, e);
        }
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
