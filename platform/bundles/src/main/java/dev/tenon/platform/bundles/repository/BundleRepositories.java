package dev.tenon.platform.bundles.repository;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.control.UserFolders;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/// The repositories that are asked for a bundle, one after the other.
///
/// A repository is a folder or an address in Maven's layout, or the index of an OSGi repository, an XML file.
/// A fetched file is compared with the checksum that the repository publishes; where it publishes none, only
/// a folder of this machine is believed.
public final class BundleRepositories {
    /// What is asked when nothing is configured.
    public static final String CENTRAL = "https://repo.maven.apache.org/maven2/";

    /// The algorithms of checksums, by the ends of their files' names; the strongest first.
    private static final List<Map.Entry<String, String>> CHECKSUMS =
            List.of(Map.entry(".sha512", "SHA-512"), Map.entry(".sha256", "SHA-256"), Map.entry(".sha1", "SHA-1"));

    private final List<URI> repositories;
    private final boolean offline;
    private final Predicate<String> fits;

    /// A bundle that was fetched.
    ///
    /// @param file where it was put
    /// @param from where it came from
    /// @param checked which checksum was compared, or that there was none
    public record Fetched(Path file, URI from, String checked) {}

    /// Creates a list.
    ///
    /// @param repositories addresses or paths, separated by commas; `~` stands for the user's folder
    /// @param offline whether only files of this machine are read
    /// @param fits whether the platform meets a requirement on a package, an LDAP filter of an index
    /// @throws TenonException (`CFG-001`) if one is no address
    public BundleRepositories(String repositories, boolean offline, Predicate<String> fits) {
        this.repositories = Arrays.stream(repositories.split(","))
                .map(String::strip)
                .filter(each -> !each.isEmpty())
                .map(BundleRepositories::uri)
                .toList();
        this.offline = offline;
        this.fits = fits;
    }

    private static URI uri(String text) {
        try {
            if (text.matches("[a-z]+:/.*")) {
                return URI.create(text.endsWith(".xml") || text.endsWith("/") ? text : text + "/");
            }
            String file = UserFolders.path(text).toAbsolutePath().toUri().toString();
            return URI.create(text.endsWith(".xml") || file.endsWith("/") ? file : file + "/");
        } catch (IllegalArgumentException e) {
            throw new TenonException(
                    ErrorCode.CONFIG,
                    "bundles.repositories names '" + text + "', which is neither an address nor a path: "
                            + e.getMessage());
        }
    }

    /// Fetches a bundle from the first repository that has it.
    ///
    /// @param wanted what to fetch
    /// @param folder where to put it
    /// @return the file
    /// @throws TenonException (`BUNDLE-006`) if no repository has it, with what each said; (`IO-002`) if a
    ///     checksum is wrong or missing
    public Fetched fetch(Coordinates wanted, Path folder) {
        List<String> said = new ArrayList<>();
        try (Transfer transfer = new Transfer(offline)) {
            for (URI repository : repositories) {
                try {
                    Optional<Fetched> found = repository.getPath().endsWith(".xml")
                            ? fromIndex(transfer, repository, wanted, folder, said)
                            : fromMaven(transfer, repository, wanted, folder, said);
                    if (found.isPresent()) {
                        return found.get();
                    }
                } catch (IOException e) {
                    said.add(repository + ": "
                            + (e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage()));
                }
            }
        }
        throw new TenonException(
                ErrorCode.BUNDLE_NOT_FOUND,
                "No repository has " + wanted + ". "
                        + (said.isEmpty() ? "None is configured" : "Asked: " + String.join("; ", said))
                        + ". The setting bundles.repositories lists the repositories");
    }

    private Optional<Fetched> fromMaven(
            Transfer transfer, URI repository, Coordinates wanted, Path folder, List<String> said) throws IOException {
        if (wanted.group().isEmpty()) {
            said.add(repository + ": a Maven repository needs group:artifact:version");
            return Optional.empty();
        }
        URI from = repository.resolve(wanted.mavenPath());
        String expected = null;
        String algorithm = "SHA-256";
        for (Map.Entry<String, String> each : CHECKSUMS) {
            Optional<String> published = transfer.text(URI.create(from + each.getKey()));
            if (published.isPresent()) {
                expected = published.get().strip().split("\\s", 2)[0].toLowerCase(Locale.ROOT);
                algorithm = each.getValue();
                break;
            }
        }
        Path target = folder.resolve(wanted.name() + "-" + wanted.version() + ".jar");
        Optional<String> found = transfer.copy(from, target, algorithm);
        if (found.isEmpty()) {
            said.add(repository + ": has no " + wanted);
            return Optional.empty();
        }
        return Optional.of(checked(from, target, algorithm, expected, found.get()));
    }

    private Optional<Fetched> fromIndex(
            Transfer transfer, URI index, Coordinates wanted, Path folder, List<String> said) throws IOException {
        if (!wanted.group().isEmpty()) {
            said.add(index + ": an index has symbolic names, not Maven coordinates");
            return Optional.empty();
        }
        Optional<String> text = transfer.text(index);
        if (text.isEmpty()) {
            said.add(index + ": is not there");
            return Optional.empty();
        }
        List<IndexFile.Resource> all = IndexFile.read(text.get()).stream()
                .filter(resource -> resource.name().equals(wanted.name()))
                .filter(resource ->
                        wanted.version().isEmpty() || resource.version().equals(wanted.version()))
                .toList();
        Optional<IndexFile.Resource> best = all.stream()
                .filter(resource -> resource.packages().stream().allMatch(fits))
                .max(IndexFile.BY_VERSION);
        if (best.isEmpty()) {
            said.add(
                    all.isEmpty()
                            ? index + ": has no " + wanted
                            : index + ": has " + wanted.name() + " "
                                    + all.stream()
                                            .map(IndexFile.Resource::version)
                                            .toList()
                                    + ", none for this platform; needed: "
                                    + all.getLast().packages().stream()
                                            .filter(fits.negate())
                                            .toList());
            return Optional.empty();
        }
        URI from = index.resolve(best.get().url());
        Path target = folder.resolve(wanted.name() + "-" + best.get().version() + ".jar");
        Optional<String> found = transfer.copy(from, target, "SHA-256");
        if (found.isEmpty()) {
            said.add(index + ": names " + from + ", which is not there");
            return Optional.empty();
        }
        return Optional.of(checked(from, target, "SHA-256", best.get().sha256(), found.get()));
    }

    private static Fetched checked(URI from, Path target, String algorithm, String expected, String found) {
        if (expected == null && !"file".equals(from.getScheme())) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD,
                    "Nothing published beside " + from
                            + " gives its checksum, so the download cannot be verified. Download the jar"
                            + " yourself and install the file");
        }
        if (expected != null && !expected.equals(found)) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD,
                    "The checksum of " + from + " is wrong: " + algorithm + " is " + found + ", published is "
                            + expected + ". Nothing was installed; try again, or ask the repository's owner");
        }
        return new Fetched(target, from, expected == null ? "no checksum is kept there" : algorithm + " is right");
    }
}
