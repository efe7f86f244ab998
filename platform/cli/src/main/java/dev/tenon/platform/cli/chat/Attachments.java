package dev.tenon.platform.cli.chat;

import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.media.MediaKind;
import dev.tenon.platform.chat.MediaPrompts;
import dev.tenon.platform.cli.options.MediaFile;
import dev.tenon.platform.core.control.UserFolders;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Pictures and sounds that go with the next message of a chat. For one thread.
final class Attachments {
    private static final Set<String> PICTURES = Set.of("png", "jpg", "jpeg", "webp", "gif", "bmp");
    private static final Set<String> SOUNDS = Set.of("wav");

    private final LoadedModel model;
    private final List<MediaPart> parts;

    /// @param model takes them
    /// @param parts those of the first message
    Attachments(LoadedModel model, List<MediaPart> parts) {
        this.model = model;
        this.parts = new ArrayList<>(parts);
    }

    /// {@return the file of a picture or sound that a line is the path of, if the model takes it}
    ///
    /// @param line as terminals and shells write paths that are dropped: in quotes, with a backslash
    ///     before blanks, or as a URL; and as a person writes it
    Optional<MediaFile> dropped(String line) {
        if (line.lines().count() != 1 || model.media().isEmpty()) {
            return Optional.empty();
        }
        try {
            Path path = path(line.strip());
            String ending = MediaFile.ending(path);
            MediaKind kind =
                    PICTURES.contains(ending) ? MediaKind.PICTURE : SOUNDS.contains(ending) ? MediaKind.SOUND : null;
            return kind != null && model.media().contains(kind) && Files.isRegularFile(path)
                    ? Optional.of(new MediaFile(path, kind))
                    : Optional.empty();
        } catch (IllegalArgumentException e) { // what no path or URL can be
            return Optional.empty();
        }
    }

    /// {@return the path that a text means}
    ///
    /// @param text the path: plain, in quotes, with a backslash before blanks, or as a URL
    /// @throws IllegalArgumentException if it is none
    static Path path(String text) {
        if (text.startsWith("file:")) {
            return Path.of(URI.create(text));
        }
        boolean quoted = text.matches("'[^']+'|\"[^\"]+\"");
        String plain = quoted
                ? text.substring(1, text.length() - 1)
                : text.replaceAll("\\\\([ \t'\"()\\[\\]&;!$`#*?{}])", "$1");
        return UserFolders.path(plain);
    }

    /// Has a file go with the next message.
    ///
    /// @param file the file
    /// @return what it is, in words
    /// @throws dev.tenon.api.error.TenonException (`MEDIA-001` to `MEDIA-003`, `IO-001`) if it is not read,
    ///     (`STATE-002`) if the model does not take it
    String attach(MediaFile file) {
        MediaPart part = file.part();
        MediaPrompts.check(model, List.of(part));
        MediaFile.Decoded decoded = file.decode();
        int tokens = decoded.encode(model).tokens().length; // the engine remembers it for the message
        parts.add(part);
        return file.path() + ": " + decoded.size() + ", " + tokens + " tokens";
    }

    /// {@return what goes with the next message}
    List<MediaPart> parts() {
        return List.copyOf(parts);
    }

    /// Forgets what went with a message.
    void sent() {
        parts.clear();
    }
}
