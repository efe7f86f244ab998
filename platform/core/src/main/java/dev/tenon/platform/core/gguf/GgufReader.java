package dev.tenon.platform.core.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Opens GGUF files: version 2 and 3, little-endian, of any size, single or split.
///
/// Every count and length in the header is checked against the bytes that are left before anything
/// is allocated for it. Text values that are not UTF-8 get U+FFFD for the bad bytes; keys and
/// tensor names must be UTF-8 without control characters. Elements of nested arrays are [GgufValue]s, so that
/// their type is not lost. Safe for any thread.
public final class GgufReader {
    static final String SPLIT_NUMBER = "split.no";
    static final String SPLIT_COUNT = "split.count";
    static final String SPLIT_TENSORS = "split.tensors.count";

    private static final Pattern SPLIT_NAME = Pattern.compile("(.*)-(\\d{5})-of-(\\d{5})\\.gguf");

    private GgufReader() {}

    /// Maps a file, reads its header and checks it; of split files (`NAME-00001-of-00003.gguf`) any part
    /// opens all.
    ///
    /// @param path the file; for split files all parts lie in the same folder
    /// @param types the tensor types that are known, see [TensorTypes#of(java.util.Collection)]
    /// @return the open file; the caller closes it
    /// @throws TenonException (`IO-001`) if it is missing, not a regular file, or cannot be read
    /// @throws ModelFormatException (`GGUF-...`) if it is not GGUF or broken, or a part is missing
    ///     (`GGUF-008`)
    /// @throws UnsupportedModelException if its version (`GGUF-002`) or a tensor type (`GGUF-009`) is not
    ///     known
    public static GgufFile open(Path path, TensorTypes types) {
        Arena arena = Arena.ofShared();
        boolean done = false;
        try {
            GgufFile file = open(path, types, arena);
            done = true;
            return file;
        } catch (InternalError e) {
            throw changed(path, e);
        } finally {
            if (!done) {
                arena.close();
            }
        }
    }

    /// Checks the header of one file, and that all tensors lie within it; a part of a split file is
    /// checked without the others.
    ///
    /// @param path the file, of any name
    /// @param types the tensor types that are known
    /// @return the bytes that the header describes: up to the end of the last tensor and its padding
    /// @throws TenonException as [#open]
    public static long check(Path path, TensorTypes types) {
        try (Arena arena = Arena.ofConfined()) {
            MappedPart mapped = MappedPart.map(path, arena);
            GgufHeader header = GgufHeader.read(mapped.header(), path.toString(), 0, types);
            long alignment = header.metadata().get(GgufHeader.ALIGNMENT_KEY) instanceof GgufValue value
                    ? (Long) value.value()
                    : GgufHeader.DEFAULT_ALIGNMENT;
            long end = header.tensors().stream()
                    .mapToLong(tensor -> tensor.offsetBytes() + tensor.sizeBytes())
                    .max()
                    .orElse(mapped.header().byteSize());
            return Math.ceilDiv(end, alignment) * alignment;
        } catch (InternalError e) {
            throw changed(path, e);
        }
    }

    private static TenonException changed(Path path, InternalError e) {
        return new TenonException(
                ErrorCode.IO, path + " changed or could not be read while its header was read. Try again.", e);
    }

    private static GgufFile open(Path path, TensorTypes types, Arena arena) {
        MappedPart mapped = MappedPart.map(path, arena);
        GgufHeader header = GgufHeader.read(mapped.header(), path.toString(), 0, types);
        long count = integer(header, path, SPLIT_COUNT, 1);
        if (count <= 1) {
            return file(path, List.of(mapped), List.of(header), arena);
        }
        Matcher name = SPLIT_NAME.matcher(path.getFileName().toString());
        if (!name.matches() || Integer.parseInt(name.group(3)) != count) {
            throw split(path + " is one of " + count + " split files (" + SPLIT_COUNT + "), so its name must be NAME-"
                    + String.format(Locale.ROOT, "%05d-of-%05d.gguf", 1, count)
                    + " or another number of that series. Give the parts their old names back.");
        }
        int opened = Integer.parseInt(name.group(2)) - 1;
        List<Path> paths = new ArrayList<>();
        for (int part = 0; part < count; part++) {
            String partName = String.format(Locale.ROOT, "%s-%05d-of-%05d.gguf", name.group(1), part + 1, count);
            Path partPath = path.resolveSibling(partName);
            if (!Files.exists(partPath)) {
                throw split("Part " + (part + 1) + " of " + count + " is missing: " + partPath
                        + ". Download it into the same folder.");
            }
            paths.add(partPath);
        }
        List<MappedPart> parts = new ArrayList<>();
        List<GgufHeader> headers = new ArrayList<>();
        for (int part = 0; part < count; part++) {
            MappedPart next = part == opened ? mapped : MappedPart.map(paths.get(part), arena);
            GgufHeader partHeader = part == opened && part == 0
                    ? header
                    : GgufHeader.read(next.header(), paths.get(part).toString(), part, types);
            checkPart(partHeader, paths.get(part), part, count);
            parts.add(next);
            headers.add(partHeader);
        }
        return file(paths.getFirst(), parts, headers, arena);
    }

    private static void checkPart(GgufHeader header, Path path, int part, long count) {
        long foundCount = integer(header, path, SPLIT_COUNT, 1);
        long foundNumber = integer(header, path, SPLIT_NUMBER, part);
        if (foundCount != count || foundNumber != part) {
            throw split(path + " says that it is part " + (foundNumber + 1) + " of " + foundCount + "; expected part "
                    + (part + 1) + " of " + count + ". Parts were renamed or mixed: download them again.");
        }
    }

    private static GgufFile file(Path path, List<MappedPart> parts, List<GgufHeader> headers, Arena arena) {
        GgufHeader first = headers.getFirst();
        Map<String, TensorInfo> tensors = new LinkedHashMap<>();
        for (GgufHeader header : headers) {
            for (TensorInfo tensor : header.tensors()) {
                TensorInfo other = tensors.put(tensor.name(), tensor);
                if (other != null) {
                    throw new ModelFormatException(
                            ErrorCode.GGUF_NAME,
                            "Tensor " + GgufCursor.show(tensor.name()) + " is in part " + (other.part() + 1)
                                    + " and in part " + (tensor.part() + 1) + " of " + path
                                    + ". Parts of different models were mixed: download them again.");
                }
            }
        }
        if (headers.size() > 1) {
            long expected = integer(first, path, SPLIT_TENSORS, tensors.size());
            if (expected != tensors.size()) {
                throw split("The " + headers.size() + " parts of " + path + " have " + tensors.size()
                        + " tensors; expected " + expected + " (" + SPLIT_TENSORS
                        + "). Parts of different models were mixed: download them again.");
            }
        }
        return new MappedGgufFile(
                path, first.version(), GgufMetadata.of(path.toString(), first.metadata()), tensors, parts, arena);
    }

    private static long integer(GgufHeader header, Path path, String key, long otherwise) {
        GgufValue value = header.metadata().get(key);
        if (value == null) {
            return otherwise;
        }
        if (!value.type().isInteger() || (Long) value.value() < 0 || (Long) value.value() > Integer.MAX_VALUE) {
            throw split("Metadata key " + key + " in " + path + " is "
                    + (value.type().isInteger() ? value.value() : "a value of type " + value.type())
                    + "; expected an integer from 0 to 2147483647. The file is broken: download it again.");
        }
        long number = (Long) value.value();
        if (key.equals(SPLIT_COUNT) && number > 99_999) {
            throw split("Metadata key " + key + " in " + path + " is " + number
                    + "; expected at most 99999. The file is broken: download it again.");
        }
        return number;
    }

    private static ModelFormatException split(String text) {
        return new ModelFormatException(ErrorCode.GGUF_SPLIT, text);
    }
}
