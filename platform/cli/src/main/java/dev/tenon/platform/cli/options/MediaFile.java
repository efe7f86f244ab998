package dev.tenon.platform.cli.options;

import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.PromptMedia;
import dev.tenon.api.media.MediaKind;
import dev.tenon.api.media.MelSpectrogram;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Sound;
import dev.tenon.platform.media.PictureBudget;
import dev.tenon.platform.media.PictureReader;
import dev.tenon.platform.media.SoundBudget;
import dev.tenon.platform.media.SoundReader;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Locale;

/// A file of a picture or sound that goes to a model.
///
/// @param path the file
/// @param kind what it is to be
public record MediaFile(Path path, MediaKind kind) {
    /// Stands in texts of the command line in the place of a picture or sound.
    public static final String MARK = "<__media__>";

    private static final PictureReader PICTURES = new PictureReader(PictureBudget.defaults(), true);
    private static final SoundReader SOUNDS = new SoundReader(SoundBudget.defaults(), MelSpectrogram.RATE);

    /// {@return its bytes as a part of a prompt}
    ///
    /// @throws dev.tenon.api.error.TenonException (`MEDIA-003`) if there are too many, (`IO-001`) if it
    ///     cannot be read
    public MediaPart part() {
        boolean picture = kind == MediaKind.PICTURE;
        byte[] bytes = picture ? PICTURES.bytes(path) : SOUNDS.bytes(path);
        return new MediaPart((picture ? "image/" : "audio/") + ending(path), ByteBuffer.wrap(bytes));
    }

    /// {@return the text of a turn, with a mark for each picture and sound that has a place in it}
    ///
    /// @param turn the turn
    public static String marked(ChatTurn turn) {
        return turn.media().isEmpty() ? turn.text() : turn.text().replace(String.valueOf(MediaPart.PLACE), MARK);
    }

    /// {@return what its name ends with after the last dot, in small letters}
    ///
    /// @param path a file
    public static String ending(Path path) {
        String name = String.valueOf(path.getFileName());
        return name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    }

    /// {@return what is in it}
    ///
    /// @throws dev.tenon.api.error.TenonException (`MEDIA-001` to `MEDIA-003`, `IO-001`) if it is not read
    public Decoded decode() {
        return kind == MediaKind.PICTURE
                ? new Decoded(PICTURES.read(path), null)
                : new Decoded(null, SOUNDS.read(path));
    }

    /// A picture or a sound.
    ///
    /// @param picture the picture; null for a sound
    /// @param sound the sound; null for a picture
    public record Decoded(Picture picture, Sound sound) {
        /// {@return how large it is, in words}
        public String size() {
            return picture == null
                    ? String.format(Locale.ROOT, "%.2f s", sound.seconds())
                    : picture.size().width() + " x " + picture.size().height() + " pixels";
        }

        /// {@return what stands for it in prompts}
        ///
        /// @param model encodes it
        /// @throws dev.tenon.api.error.TenonException (`STATE-002`) if the model does not take it
        public PromptMedia encode(LoadedModel model) {
            return picture == null ? model.encode(sound) : model.encode(picture);
        }
    }
}
