package dev.tenon.platform.chat;

import dev.tenon.api.chat.ChatException;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.PromptMedia;
import dev.tenon.api.media.MediaKind;
import dev.tenon.api.media.MelSpectrogram;
import dev.tenon.platform.media.MediaException;
import dev.tenon.platform.media.PictureBudget;
import dev.tenon.platform.media.PictureReader;
import dev.tenon.platform.media.SoundBudget;
import dev.tenon.platform.media.SoundReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// Encodes prompts with pictures and sounds, and refuses those that the model does not take.
public final class MediaPrompts {
    private static final int RIFF = 0x52494646;
    private static final int WAVE = 0x57415645;
    private static final PictureReader PICTURES = new PictureReader(PictureBudget.defaults(), true);
    private static final SoundReader SOUNDS = new SoundReader(SoundBudget.defaults(), MelSpectrogram.RATE);
    /// Held while a part is decoded and encoded: a decoded picture takes up to 1 GiB, whatever its file takes.
    private static final Object DECODING = new Object();

    private MediaPrompts() {}

    /// A prompt as a model takes it.
    ///
    /// @param tokens the tokens of text and parts, fewer than the context holds
    /// @param media has the rows for which [tokens below 0][PromptMedia#tokens] stand, in their order; copied
    public record Encoded(int[] tokens, List<PromptMedia> media) {
        /// Copies.
        public Encoded {
            media = List.copyOf(media);
        }

        /// A prompt without pictures and sounds.
        ///
        /// @param tokens the tokens of its text
        public Encoded(int... tokens) {
            this(tokens, List.of());
        }
    }

    /// Encodes a text in which control tokens are meant as such. Blocks.
    ///
    /// @param model has vocabulary, encoder and context
    /// @param text the text, with a [place][MediaPart#PLACE] for each part; without parts any text
    /// @param addSpecial whether the vocabulary's special tokens are added
    /// @param parts what stands in the places, in their order
    /// @return the prompt
    /// @throws ChatException (`STATE-002`) if the model does not take the parts, or the text has more
    ///     or fewer places, (`MEDIA-001` to `MEDIA-003`) if a part is not read
    /// @throws PromptText.TooLong (`LIMIT-001`) if the tokens are too many
    public static Encoded encode(LoadedModel model, String text, boolean addSpecial, List<MediaPart> parts) {
        return encode(model, text, addSpecial, new int[0], parts, PromptText.PROMPT);
    }

    /// Encodes a text in which control tokens are meant as such, but for those that span a border. Blocks.
    ///
    /// @param model has vocabulary, encoder and context
    /// @param text the text, with a [place][MediaPart#PLACE] for each part; without parts any text
    /// @param addSpecial whether the vocabulary's special tokens are added
    /// @param borders ascending indices of chars
    /// @param parts what stands in the places, in their order
    /// @return the prompt
    /// @throws ChatException (`STATE-002`) if the model does not take the parts, or the text has more
    ///     or fewer places, (`MEDIA-001` to `MEDIA-003`) if a part is not read
    /// @throws PromptText.TooLong (`LIMIT-001`) if the tokens are too many
    static Encoded encode(LoadedModel model, String text, boolean addSpecial, int[] borders, List<MediaPart> parts) {
        return encode(model, text, addSpecial, borders, parts, PromptText.MESSAGES);
    }

    private static Encoded encode(
            LoadedModel model, String text, boolean addSpecial, int[] borders, List<MediaPart> parts, String field) {
        if (parts.isEmpty()) {
            return new Encoded(PromptText.encode(model, text, addSpecial, borders, field), List.of());
        }
        check(model, parts);
        List<int[]> texts = texts(model, text, borders, parts.size(), field);
        int[] special = model.tokenizer().encode("", addSpecial, true);
        int before = special.length > 0 && model.tokenizer().addsBos() ? 1 : 0;
        // Known before anything is decoded: a part has at least one token.
        int length = special.length + parts.size();
        for (int[] piece : texts) {
            length += piece.length;
            PromptText.requireRoom(length, model.contextLength(), field);
        }
        IntStream.Builder tokens = IntStream.builder();
        IntStream.of(special).limit(before).forEach(tokens);
        List<PromptMedia> media = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            IntStream.of(texts.get(i)).forEach(tokens);
            PromptMedia encoded = encode(model, parts.get(i), i + 1 + " of " + parts.size());
            int[] rows = encoded.tokens();
            length += rows.length - 1;
            PromptText.requireRoom(length, model.contextLength(), field);
            IntStream.of(rows).forEach(tokens);
            media.add(encoded);
        }
        IntStream.of(texts.getLast()).forEach(tokens);
        IntStream.of(special).skip(before).forEach(tokens);
        return new Encoded(tokens.build().toArray(), media);
    }

    /// Refuses parts that a model does not take.
    ///
    /// @param model the model
    /// @param parts pictures and sounds
    /// @throws ChatException (`STATE-002`) if it does not take one of them
    public static void check(LoadedModel model, List<MediaPart> parts) {
        for (MediaPart part : parts) {
            if (!model.media().contains(kind(part))) {
                String kind = kind(part) == MediaKind.SOUND ? "sounds" : "pictures";
                throw ChatException.invalid(
                        ChatException.Part.TURNS,
                        model.file().path().getFileName() + " takes no " + kind
                                + " as it was loaded. Leave them out, or load it with the companion file of an encoder of "
                                + kind + " (--mmproj).");
            }
        }
    }

    /// What a part is: a sound if its type says so or it is a WAV; otherwise a picture, of which only its reader knows.
    private static MediaKind kind(MediaPart part) {
        ByteBuffer bytes = part.bytes().slice();
        boolean wav = bytes.remaining() >= 12 && bytes.getInt(0) == RIFF && bytes.getInt(8) == WAVE;
        return wav || part.contentType().startsWith("audio/") ? MediaKind.SOUND : MediaKind.PICTURE;
    }

    /// Encodes what is before, between and after the places.
    private static List<int[]> texts(LoadedModel model, String text, int[] borders, int places, String field) {
        String[] pieces = text.split(String.valueOf(MediaPart.PLACE), -1);
        if (pieces.length != places + 1) {
            throw ChatException.invalid(
                    ChatException.Part.TURNS,
                    "The prompt has " + (pieces.length - 1) + " places for pictures and sounds; expected " + places
                            + ". Put them where the model's template writes them.");
        }
        List<int[]> texts = new ArrayList<>();
        int from = 0;
        for (String piece : pieces) {
            int begin = from;
            int[] inside = IntStream.of(borders)
                    .map(border -> border - begin)
                    .filter(border -> border > 0 && border < piece.length())
                    .toArray();
            texts.add(PromptText.encode(model, piece, false, inside, field));
            from += piece.length() + 1;
        }
        return texts;
    }

    private static PromptMedia encode(LoadedModel model, MediaPart part, String name) {
        byte[] file = new byte[part.bytes().remaining()];
        part.bytes().get(file);
        synchronized (DECODING) {
            try {
                return kind(part) == MediaKind.SOUND
                        ? model.encode(SOUNDS.read(file, name))
                        : model.encode(PICTURES.read(file, name));
            } catch (MediaException e) {
                throw ChatException.of(ChatException.Part.TURNS, e);
            }
        }
    }
}
