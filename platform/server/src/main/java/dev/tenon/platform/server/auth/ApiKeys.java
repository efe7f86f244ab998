package dev.tenon.platform.server.auth;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/// The keys that clients may have. Keeps their digests alone, and compares them in constant time. Immutable.
public final class ApiKeys {
    private static final int NAME_DIGITS = 12;

    private final List<byte[]> digests;

    private ApiKeys(List<byte[]> digests) {
        this.digests = digests;
    }

    /// {@return no keys: everybody may ask}
    public static ApiKeys none() {
        return new ApiKeys(List.of());
    }

    /// {@return keys}
    ///
    /// @param keys the keys, none of them empty
    public static ApiKeys of(Collection<String> keys) {
        return new ApiKeys(keys.stream().map(ApiKeys::digest).toList());
    }

    /// Reads a file of keys, one a line; empty lines and those that begin with `#` are left out.
    ///
    /// @param file the file
    /// @return its keys
    /// @throws TenonException (`IO-001`) if it cannot be read, (`CFG-001`) if it holds no key
    public static ApiKeys read(Path file) {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.IO,
                    "The keys in " + file + " cannot be read: " + e.getMessage() + ". Check the path.",
                    e);
        }
        List<String> keys = lines.stream()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .toList();
        if (keys.isEmpty()) {
            throw new TenonException(ErrorCode.CONFIG, file + " holds no key; expected one a line.");
        }
        return of(keys);
    }

    /// {@return whether there are no keys}
    public boolean isEmpty() {
        return digests.isEmpty();
    }

    /// Checks a key.
    ///
    /// @param key what a client sent, or null
    /// @return a name for it, which does not tell the key; empty if it is none of the keys
    public Optional<String> nameOf(String key) {
        if (key == null) {
            return Optional.empty();
        }
        byte[] asked = digest(key);
        byte[] found = null;
        for (byte[] digest : digests) {
            if (MessageDigest.isEqual(digest, asked)) {
                found = digest;
            }
        }
        return Optional.ofNullable(found)
                .map(digest -> HexFormat.of().formatHex(digest).substring(0, NAME_DIGITS));
    }

    private static byte[] digest(String key) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
