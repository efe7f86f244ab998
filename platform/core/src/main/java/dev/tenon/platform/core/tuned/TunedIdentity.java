package dev.tenon.platform.core.tuned;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/// What tuned settings were measured with. They hold for a load where all of it is the same.
///
/// @param backend id of the backend
/// @param device id and name of the device
/// @param driver what runs below the kernels: facts of the device such as its driver, and the JVM
/// @param given settings that a user gave otherwise than by default, as [TunedSettings#line]
/// @param code digest of the code of the backend and of all kernels
/// @param model digest of the graph's ops, of the shapes and types of the tensors and of the cache's
///     types; models of the same shape share it
public record TunedIdentity(String backend, String device, String driver, String given, String code, String model) {
    private static final int NAME_DIGITS = 24;

    /// {@return name of the file for this backend, device and model; driver and code are compared
    /// with what stands in it, so that a change can be told}
    public String fileName() {
        return prefix(backend) + digest(List.of(device, model)).substring(0, NAME_DIGITS) + TunedFolder.ENDING;
    }

    /// {@return what the names of all files of a backend begin with}
    ///
    /// @param backend its id
    static String prefix(String backend) {
        return backend.replaceAll("[^A-Za-z0-9_-]", "_") + "-";
    }

    /// {@return why what was measured with this does not hold now; empty if it does}
    ///
    /// @param now what a model is loaded with
    public Optional<String> staleFor(TunedIdentity now) {
        if (!backend.equals(now.backend) || !device.equals(now.device) || !model.equals(now.model)) {
            return Optional.of("it is of another model, device or backend");
        }
        if (!driver.equals(now.driver)) {
            return Optional.of("driver or JVM changed from '" + driver + "' to '" + now.driver + "'");
        }
        if (!given.equals(now.given)) {
            return Optional.of(
                    "settings given are " + or(now.given) + ", and were " + or(given) + " when it was tuned");
        }
        return code.equals(now.code) ? Optional.empty() : Optional.of("the code of the backend or its kernels changed");
    }

    private static String or(String settings) {
        return settings.isEmpty() ? "none" : settings;
    }

    /// {@return the SHA-256 of some texts, as hexadecimal digits}
    ///
    /// @param texts the texts; where one ends and the next begins counts
    public static String digest(List<String> texts) {
        MessageDigest digest = sha256();
        for (String text : texts) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            digest.update((bytes.length + ":").getBytes(StandardCharsets.US_ASCII));
            digest.update(bytes);
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    /// {@return a new digest}
    public static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
