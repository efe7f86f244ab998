package dev.tenon.platform.cli.options;

import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.media.MediaKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/// Options that give a model pictures and sounds, in the order of the command line.
public final class MediaOptions {
    @ArgGroup(exclusive = true, multiplicity = "0..*")
    private List<Given> given = new ArrayList<>();

    /// One of them.
    static final class Given {
        @Option(
                names = "--image",
                required = true,
                paramLabel = "FILE",
                description =
                        "Picture for the model, PNG, JPEG, WebP, GIF or BMP, in the place of <__media__>; may be repeated.")
        Path image;

        @Option(
                names = "--audio",
                required = true,
                paramLabel = "FILE",
                description = "Sound for the model, WAV, in the place of <__media__>; may be repeated.")
        Path audio;

        MediaFile file() {
            return image == null ? new MediaFile(audio, MediaKind.SOUND) : new MediaFile(image, MediaKind.PICTURE);
        }
    }

    /// {@return whether there are pictures or sounds}
    public boolean given() {
        return !given.isEmpty();
    }

    /// {@return their files, in order}
    public List<MediaFile> files() {
        return given.stream().map(Given::file).toList();
    }

    /// {@return the paths of files, and of other files that a command reads}
    ///
    /// @param others the others
    public Path[] inputs(Path... others) {
        return Stream.concat(Arrays.stream(others), files().stream().map(MediaFile::path))
                .toArray(Path[]::new);
    }

    /// {@return what is in the files, as parts of a prompt}
    ///
    /// @throws TenonException (`MEDIA-003`) if a file is too large, (`IO-001`) if it cannot be read
    public List<MediaPart> parts() {
        return files().stream().map(MediaFile::part).toList();
    }

    /// {@return how many [marks][MediaFile#MARK] a text has}
    ///
    /// @param text the text
    public static int marks(String text) {
        return text.split(MediaFile.MARK, -1).length - 1;
    }

    /// {@return a text with a [place][MediaPart#PLACE] for each [mark][MediaFile#MARK]; without parts the text itself}
    ///
    /// @param text the text
    /// @param parts how many pictures and sounds there are
    /// @throws TenonException (`CLI-001`) if it has more marks
    public static String placed(String text, int parts) {
        if (parts == 0) {
            return text;
        }
        int marks = marks(text);
        if (marks > parts) {
            throw wrongMarks(marks, parts, "at most " + parts);
        }
        return text.replace(MediaFile.MARK, String.valueOf(MediaPart.PLACE));
    }

    /// {@return a text as [#placed] makes it, with a mark for each part}
    ///
    /// @param text the text
    /// @param parts how many pictures and sounds there are
    /// @throws TenonException (`CLI-001`) if it has more or fewer marks
    public static String placedExactly(String text, int parts) {
        int marks = marks(text);
        if (marks != parts) {
            throw wrongMarks(marks, parts, "" + parts);
        }
        return placed(text, parts);
    }

    private static TenonException wrongMarks(int marks, int parts, String expected) {
        return new TenonException(
                ErrorCode.USAGE,
                "The text has " + MediaFile.MARK + " " + marks + " times, for " + parts
                        + " pictures and sounds; expected " + expected + ".");
    }
}
