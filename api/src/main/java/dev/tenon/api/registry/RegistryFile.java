package dev.tenon.api.registry;

import java.net.URI;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/// A GGUF file of a [ModelRegistry], and how to get it. Immutable.
///
/// @param name its path below the model's folder: names with `/` between them, the last one with
///     `.gguf` at its end. Parts of a split model are called `NAME-00001-of-00003.gguf`
/// @param uri where it is: an absolute `https` address, an `http` address of this machine, or a `file`
///     of this machine, which is read where it is unless it is pulled. Shown to users and kept beside
///     the file, so it holds no password
/// @param size its size in bytes, or -1 where that is not known
/// @param sha256 its SHA-256 as 64 hexadecimal digits, or an empty text where that is not known; a
///     file that has another one is not kept
/// @param headers headers of the request that gets it, such as `Authorization`; sent to the host of
///     `uri` alone, not where a redirect leads. Neither shown nor kept; unmodifiable
public record RegistryFile(String name, URI uri, long size, String sha256, Map<String, String> headers) {
    /// Set by the download itself.
    private static final Set<String> TAKEN = Set.of(
            "connection",
            "content-length",
            "expect",
            "host",
            "if-range",
            "range",
            "transfer-encoding",
            "upgrade",
            "user-agent");

    /// Checks what can be seen of a file alone.
    ///
    /// @throws IllegalArgumentException if something has not the form above; the message does not have
    ///     the values of headers
    public RegistryFile {
        require(isPath(name), "the name '" + name + "'; expected a path below a folder that ends in .gguf");
        require(isPlace(uri), "the address " + uri + "; expected https, http or file");
        require(size >= -1, size + " bytes; expected a size, or -1");
        require(sha256.matches("([0-9a-fA-F]{64})?"), "the SHA-256 '" + sha256 + "'; expected 64 digits");
        headers = Map.copyOf(headers);
        headers.forEach((header, value) -> require(
                header.matches("[A-Za-z0-9!#$%&'*+.^_`|~-]+")
                        && !TAKEN.contains(header.toLowerCase(Locale.ROOT))
                        && value.chars().allMatch(c -> c >= ' ' && c <= '~'),
                "the header " + header + "; expected one that a download does not set, in printable ASCII"));
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException("A file of a registry has " + otherwise);
        }
    }

    private static boolean isPath(String name) {
        for (String part : name.split("/", -1)) {
            if (part.isBlank() || part.equals(".") || part.equals("..") || part.matches(".*[\\p{Cntrl}\\\\].*")) {
                return false;
            }
        }
        return name.toLowerCase(Locale.ROOT).endsWith(".gguf");
    }

    private static boolean isPlace(URI uri) {
        return switch (String.valueOf(uri.getScheme())) {
            case "https", "http" -> uri.getHost() != null;
            case "file" -> uri.getPath() != null && uri.getPath().startsWith("/") && uri.getAuthority() == null;
            default -> false;
        };
    }

    /// {@return all but the values of headers}
    @Override
    public String toString() {
        return name + " at " + uri + ", " + size + " bytes, SHA-256 '" + sha256 + "', headers " + headers.keySet();
    }
}
