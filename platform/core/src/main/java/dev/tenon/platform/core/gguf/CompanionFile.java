package dev.tenon.platform.core.gguf;

import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.TensorInfo;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The companion of a model that sees or hears: a GGUF file beside the model's with the encoder of pictures or sounds,
/// and the projector that makes rows of the model's width. Immutable.
///
/// It lies in the folder of the model, has the word `mmproj` in its name and says of itself that it is one. Its rows
/// have the width of the model; those with parts for further layers (deepstack) consist of such rows. No other model of
/// this width in the folder has more of the words in its name. Of several the one that shares most words with the model
/// is taken, and
/// of these one of F16 before BF16, Q8_0, F32 and others.
///
/// @param path the file
/// @param bytes its size
/// @param metadata what it says of itself
/// @param sees whether it reads pictures
/// @param hears whether it reads sounds
/// @param widths of models that its rows may fit
public record CompanionFile(
        Path path, long bytes, GgufMetadata metadata, boolean sees, boolean hears, Set<Long> widths) {
    private static final Logger LOG = LoggerFactory.getLogger(CompanionFile.class);
    private static final Pattern WORD = Pattern.compile("(?i)(?<![^-._])mmproj(?![^-._])");
    private static final Pattern PRECISION = Pattern.compile("(?i)(?<![^-._])(b?f16|f32|i?q\\d\\w*)(?![^-._])");
    private static final List<String> PRECISIONS = List.of("f16", "bf16", "q8_0", "f32");
    private static final String ENDING = ".gguf";

    /// Widths of models, whose headers are long.
    private static final Map<Path, Known> KNOWN = new ConcurrentHashMap<>();

    private static final int MOST_KNOWN = 1000;

    private record Known(long size, FileTime modified, OptionalInt width) {}

    /// {@return the file of the model's companion, if it has one}
    ///
    /// @param model the model's file; of a split model any part
    public static Optional<Path> beside(Path model) {
        return of(model).map(CompanionFile::path);
    }

    /// {@return the model's companion, if it has one}
    ///
    /// @param model the model's file; of a split model any part
    public static Optional<CompanionFile> of(Path model) {
        return all(model).stream().findFirst();
    }

    /// {@return all files that can be the model's companion, the one that is taken first; none for a file or folder
    /// that cannot be read}
    ///
    /// @param model the model's file; of a split model any part
    public static List<CompanionFile> all(Path model) {
        if (!Files.isRegularFile(model)) {
            return List.of();
        }
        String name = model.getFileName().toString();
        Map<Boolean, List<String>> names = names(model.toAbsolutePath().getParent());
        if (isNamed(name) || names.get(true).isEmpty()) {
            return List.of();
        }
        OptionalInt width = width(model);
        return names.get(true).stream()
                .sorted(byName(name).thenComparing(byPrecision()))
                .map(each -> read(model.resolveSibling(each)))
                .flatMap(Optional::stream)
                .filter(each -> width.isPresent() && each.widths().contains((long) width.getAsInt()))
                .filter(each -> names.get(false).stream()
                        .filter(other -> shared(other, each.name()) > shared(name, each.name()))
                        .noneMatch(other -> width(model.resolveSibling(other)).equals(width)))
                .toList();
    }

    /// Reads a companion.
    ///
    /// @param file the file
    /// @return the companion; empty if the file is something else, or cannot be read
    public static Optional<CompanionFile> read(Path file) {
        try (GgufFile gguf = GgufReader.open(file, TensorTypes.standard())) {
            GgufMetadata metadata = gguf.metadata();
            boolean isOne = metadata.string("general.type").equals(Optional.of("mmproj"))
                    || metadata.string("general.architecture").equals(Optional.of("clip"));
            return isOne
                    ? Optional.of(new CompanionFile(
                            file,
                            gguf.sizeBytes(),
                            metadata,
                            metadata.bool("clip.has_vision_encoder").orElse(false),
                            metadata.bool("clip.has_audio_encoder").orElse(false),
                            widths(gguf)))
                    : Optional.empty();
        } catch (TenonException e) {
            LOG.debug("{} is no companion of a model", file, e);
            return Optional.empty();
        }
    }

    /// Lengths of the projector's tensors: the width that the file tells, if it is one of them. Otherwise, as in files
    /// that tell the width of another projector, which was left out, any of them may be it.
    private static Set<Long> widths(GgufFile file) {
        Set<Long> lengths = file.tensors().stream()
                .filter(tensor -> !tensor.name().matches("[av]\\..*"))
                .map(TensorInfo::shape)
                .flatMap(List::stream)
                .collect(Collectors.toUnmodifiableSet());
        return Stream.of("vision", "audio")
                .map(kind -> file.metadata().integer("clip." + kind + ".projection_dim"))
                .flatMapToInt(OptionalInt::stream)
                .mapToObj(Long::valueOf)
                .filter(lengths::contains)
                .findFirst()
                .map(Set::of)
                .orElse(lengths);
    }

    private static OptionalInt width(Path model) {
        try {
            BasicFileAttributes now = Files.readAttributes(model, BasicFileAttributes.class);
            Known known = KNOWN.get(model.toAbsolutePath());
            if (known != null && known.size() == now.size() && known.modified().equals(now.lastModifiedTime())) {
                return known.width();
            }
            try (GgufFile file = GgufReader.open(model, TensorTypes.standard())) {
                GgufMetadata metadata = file.metadata();
                OptionalInt width =
                        metadata.integer(metadata.string("general.architecture").orElse("") + ".embedding_length");
                if (KNOWN.size() >= MOST_KNOWN) {
                    KNOWN.clear();
                }
                KNOWN.put(model.toAbsolutePath(), new Known(now.size(), now.lastModifiedTime(), width));
                return width;
            }
        } catch (IOException | TenonException e) {
            LOG.debug("{} has no companion", model, e);
            return OptionalInt.empty();
        }
    }

    /// {@return names of companions (true), and of other GGUF files of a folder}
    private static Map<Boolean, List<String>> names(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.toLowerCase(Locale.ROOT).endsWith(ENDING))
                    .sorted()
                    .collect(Collectors.partitioningBy(CompanionFile::isNamed));
        } catch (IOException | UncheckedIOException e) {
            LOG.debug("{} cannot be searched for companions", folder, e);
            return Map.of(true, List.of());
        }
    }

    /// {@return whether a file has the name of a companion, which no model has}
    ///
    /// @param name of the file, or its path
    public static boolean isNamed(String name) {
        return WORD.matcher(base(name)).find();
    }

    /// {@return the order of companions by the words that their names share with the model's from the beginning: the
    /// most first}
    ///
    /// @param model name of the model's file, or its path
    public static Comparator<String> byName(String model) {
        return Comparator.comparingInt(name -> -shared(model, name));
    }

    /// {@return the order of companions by the precision in their names: F16, BF16, Q8_0, F32, others}
    public static Comparator<String> byPrecision() {
        return Comparator.comparingInt(name -> PRECISION
                .matcher(base(name))
                .results()
                .mapToInt(found -> PRECISIONS.indexOf(found.group(1).toLowerCase(Locale.ROOT)))
                .filter(index -> index >= 0)
                .findFirst()
                .orElse(PRECISIONS.size()));
    }

    private String name() {
        return path.getFileName().toString();
    }

    private static int shared(String model, String companion) {
        String[] own = words(
                PRECISION.matcher(WORD.matcher(base(companion)).replaceAll("")).replaceAll(""));
        int mismatch = Arrays.mismatch(own, words(base(model)));
        return mismatch < 0 ? own.length : mismatch;
    }

    private static String[] words(String name) {
        return Stream.of(name.toLowerCase(Locale.ROOT).split("[-.]+"))
                .filter(word -> !word.isEmpty())
                .toArray(String[]::new);
    }

    private static String base(String name) {
        return name.substring(name.lastIndexOf('/') + 1).replaceFirst("(?i)\\.gguf$", "");
    }

    /// {@return ids of its projectors, such as `gemma3`; of one for pictures and one for sounds both, separated by a
    /// comma}
    ///
    /// @throws dev.tenon.api.error.ModelFormatException (`MODEL-002`) if the file tells something else; also below
    public String projector() {
        return Stream.of("clip.projector_type", "clip.vision.projector_type", "clip.audio.projector_type")
                .map(metadata::string)
                .flatMap(Optional::stream)
                .distinct()
                .collect(Collectors.joining(", "));
    }

    /// {@return pixels along a side of the pictures that it was made for, if it reads pictures and says so}
    public OptionalInt imageSize() {
        return metadata.integer("clip.vision.image_size");
    }

    /// {@return pixels along a side of a patch, if it reads pictures and says so}
    public OptionalInt patchSize() {
        return metadata.integer("clip.vision.patch_size");
    }
}
