package dev.tenon.platform.core.tuned;

import dev.tenon.platform.core.control.UserFolders;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The folder of tuned settings: a file for each model on each device. A file that is damaged, or not
/// one of these, is passed over with a warning. Safe for any thread and several processes.
///
/// @param path where it is; made when the first file is written
public record TunedFolder(Path path) {
    /// What the names of its files end with.
    static final String ENDING = ".tuned";

    private static final Logger LOG = LoggerFactory.getLogger(TunedFolder.class);
    private static final long MOST_BYTES = 1 << 20;

    /// {@return the folder}
    ///
    /// @param setting the setting `tuned.folder`; if empty, `tenon/tuned` in the user's cache folder
    /// @param environment environment variables
    public static TunedFolder of(String setting, Map<String, String> environment) {
        if (!setting.isEmpty()) {
            return new TunedFolder(Path.of(setting));
        }
        return new TunedFolder(UserFolders.cache(environment).resolve("tuned"));
    }

    /// {@return whether there is any file of a backend: a cheap look before an identity is made}
    ///
    /// @param backend its id
    public boolean hasAny(String backend) {
        return !files(TunedIdentity.prefix(backend)).isEmpty();
    }

    /// {@return what is kept for a backend, device and model, whether it holds now or not}
    ///
    /// @param identity what a model is loaded with; its driver and code do not matter
    public Optional<TunedSettings> find(TunedIdentity identity) {
        return read(path.resolve(identity.fileName()));
    }

    /// {@return everything that is kept}
    public List<TunedSettings> all() {
        return files("").stream().flatMap(file -> read(file).stream()).toList();
    }

    private List<Path> files(String prefix) {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(
                path, file -> file.getFileName().toString().startsWith(prefix))) {
            files.forEach(file -> {
                if (file.getFileName().toString().endsWith(ENDING)) {
                    found.add(file);
                }
            });
        } catch (NoSuchFileException | NotDirectoryException e) {
            LOG.debug("nothing is tuned: {}", e.toString());
        } catch (IOException e) {
            LOG.warn("{} cannot be listed ({}); nothing counts as tuned", path, e.toString());
        }
        found.sort(null);
        return found;
    }

    private static Optional<TunedSettings> read(Path file) {
        try {
            if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                return Optional.empty();
            }
            if (Files.size(file) > MOST_BYTES) {
                throw new IllegalArgumentException("it has more than " + MOST_BYTES + " bytes");
            }
            return Optional.of(TunedSettings.parse(Files.readString(file)));
        } catch (IllegalArgumentException | CharacterCodingException e) {
            String problem = e instanceof CharacterCodingException ? "it is no text" : e.getMessage();
            LOG.warn("{} is not used: {}. Remove it with 'tenon tune --reset'", file, problem);
        } catch (IOException e) {
            LOG.warn("{} is not used: {}", file, e.toString());
        }
        return Optional.empty();
    }

    /// Keeps what tuning found, in place of what was kept for the same model and device.
    ///
    /// @param found what it found
    /// @throws IOException if it cannot be written; what was kept before stays
    public void write(TunedSettings found) throws IOException {
        Files.createDirectories(path);
        Path temporary = Files.createTempFile(path, "new-", ".tmp");
        try {
            Files.writeString(temporary, found.text());
            Files.move(
                    temporary,
                    path.resolve(found.identity().fileName()),
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /// Forgets what was found for one model on a device.
    ///
    /// @param identity which one
    /// @return whether something was kept
    /// @throws IOException if it cannot be removed
    public boolean remove(TunedIdentity identity) throws IOException {
        return Files.deleteIfExists(path.resolve(identity.fileName()));
    }

    /// Forgets everything, damaged files too.
    ///
    /// @return how many files were removed
    /// @throws IOException if one cannot be removed
    public int removeAll() throws IOException {
        int removed = 0;
        for (Path file : files("")) {
            removed += Files.deleteIfExists(file) ? 1 : 0;
        }
        return removed;
    }
}
