package dev.tenon.platform.core.media;

import dev.tenon.api.engine.PromptMedia;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.media.MediaKind;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Sound;
import dev.tenon.api.media.encoder.EncoderTensors;
import dev.tenon.api.media.encoder.MediaLayout;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.placement.Placement;
import dev.tenon.platform.core.steps.PlacementUse;
import dev.tenon.platform.core.tuned.CodeDigest;
import dev.tenon.platform.core.tuned.TunedIdentity;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/// Encodes pictures or sounds for a model by the encoder of its companion file, one at a time, and remembers what it
/// made of the last ones. Safe for any thread.
public final class CompanionEncoder {
    private final String name;
    private final PlacementUse encoder;
    private final String digest;
    private final EncoderTensors tensors;
    private final boolean axes;
    private final EncodedCache cache;
    private final Set<MediaKind> kinds;
    private final Map<String, Integer> namedTokens = new ConcurrentHashMap<>();
    /// The placement that encoded last, and the digest of its code. Used by whoever uses the encoder.
    private WeakReference<Placement> last = new WeakReference<>(null);

    private String code;

    /// @param name of the companion file
    /// @param encoder where the encoder is placed
    /// @param digest tells companion files apart
    /// @param tensors of the companion file
    /// @param axes whether the model rotates along the axes of pictures
    /// @param budget most bytes of rows that are remembered
    public CompanionEncoder(
            String name, PlacementUse encoder, String digest, EncoderTensors tensors, boolean axes, long budget) {
        this.name = name;
        this.encoder = encoder;
        this.digest = digest;
        this.tensors = tensors;
        this.axes = axes;
        this.cache = new EncodedCache(budget);
        this.kinds = Set.of(encoder.run(CompanionEncoder::kind));
    }

    private static MediaKind kind(Placement placement) {
        return switch (layout(placement)) {
            case MediaLayout.OfPictures _ -> MediaKind.PICTURE;
            case MediaLayout.OfSounds _ -> MediaKind.SOUND;
        };
    }

    private static MediaLayout layout(Placement placement) {
        return placement.layout().orElseThrow();
    }

    /// {@return what it encodes}
    public Set<MediaKind> kinds() {
        return kinds;
    }

    /// Encodes a picture.
    ///
    /// @param picture the picture
    /// @param tokenizer of the model
    /// @return what stands in its place
    public PromptMedia encode(Picture picture, Tokenizer tokenizer) {
        String content = digest(hash -> {
            hash.update(("picture " + picture.size() + " ").getBytes(StandardCharsets.UTF_8));
            hash.update(picture.rgb());
        });
        return encode(content, tokenizer, (layout, prompt) -> {
            if (!(layout instanceof MediaLayout.OfPictures pictures)) {
                throw wrong("sounds, and no pictures");
            }
            pictures.lay(picture, tensors, prompt);
        });
    }

    /// Encodes a sound.
    ///
    /// @param sound the sound
    /// @param tokenizer of the model
    /// @return what stands in its place
    public PromptMedia encode(Sound sound, Tokenizer tokenizer) {
        String content = digest(hash -> {
            float[] samples = sound.samples();
            ByteBuffer bytes = ByteBuffer.allocate(samples.length * Float.BYTES);
            bytes.asFloatBuffer().put(samples);
            hash.update(("sound " + sound.rate() + " ").getBytes(StandardCharsets.UTF_8));
            hash.update(bytes);
        });
        return encode(content, tokenizer, (layout, prompt) -> {
            if (!(layout instanceof MediaLayout.OfSounds sounds)) {
                throw wrong("pictures, and no sounds");
            }
            sounds.lay(sound, tensors, prompt);
        });
    }

    private TenonException wrong(String takes) {
        return new TenonException(ErrorCode.ARGUMENT, "The encoder of " + name + " takes " + takes + ".");
    }

    private static String digest(Consumer<MessageDigest> content) {
        MessageDigest hash = TunedIdentity.sha256();
        content.accept(hash);
        return HexFormat.of().formatHex(hash.digest());
    }

    /// Tells a prompt what stands in the place of a content.
    @FunctionalInterface
    private interface Lay {
        void lay(MediaLayout layout, LaidMedia prompt);
    }

    private PromptMedia encode(String content, Tokenizer tokenizer, Lay lay) {
        Optional<EncodedMedia> known = cache.find(content);
        if (known.isPresent()) {
            return known.get();
        }
        return encoder.run(placement -> cache.find(content).orElseGet(() -> {
            // Other code may make other rows of it.
            String whole = digest + code(placement) + content;
            String of = digest(hash -> hash.update(whole.getBytes(StandardCharsets.UTF_8)));
            RowTokens ids = new RowTokens(HexFormat.of().parseHex(of));
            LaidMedia laid = new LaidMedia(placement, tokenizer, ids, axes, namedTokens);
            try {
                lay.lay(layout(placement), laid);
            } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
                throw new TenonException(
                        ErrorCode.ARGUMENT,
                        "The encoder of " + name + " ("
                                + placement.definition().config().architecture()
                                + ") does not take this picture or sound: " + e.getMessage(),
                        e);
            }
            EncodedMedia encoded = laid.encoded();
            cache.put(content, encoded);
            return encoded;
        }));
    }

    /// It takes a while, and a placement stays for long.
    private String code(Placement placement) {
        if (last.get() != placement) {
            code = CodeDigest.of(placement.services());
            last = new WeakReference<>(placement);
        }
        return code;
    }
}
