package dev.tenon.platform.hub;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.files.OutputFile;
import dev.tenon.platform.hub.http.HttpGet;
import java.io.IOException;
import java.net.http.HttpHeaders;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A download that is not complete: `NAME.part`, which belongs to one version of what one address has.
///
/// Its [Origin] lies beside it. What comes from elsewhere, or from nobody knows where, is not continued. Used under the
/// [TargetLock] of the target.
final class Part {
    private static final Pattern CONTENT_RANGE = Pattern.compile("bytes (?:(\\d{1,18})-\\d{1,18}|\\*)/(\\d{1,18}|\\*)");

    private final Path target;
    private final Path file;

    Part(Path target) {
        this.target = target;
        file = target.resolveSibling(target.getFileName() + ".part");
    }

    Path file() {
        return file;
    }

    long size() throws IOException {
        return Files.exists(file) ? Files.size(file) : 0;
    }

    /// {@return how many bytes can be continued; those that cannot are removed}
    ///
    /// @param wanted what is to be downloaded
    long keep(Downloader.Wanted wanted) throws IOException {
        Optional<Origin> origin = Origin.read(file);
        long size = size();
        boolean ours = origin.isPresent()
                && origin.get().url().equals(wanted.uri().toString())
                && (!origin.get().condition().isEmpty() || wanted.sha256() != null)
                && (wanted.size() < 0 || size <= wanted.size())
                && (origin.get().length() < 0 || size <= origin.get().length());
        if (!ours) {
            discard();
        }
        return ours ? size : 0;
    }

    /// {@return whether all is there}
    ///
    /// @param wanted what is to be downloaded; the part is what [#keep] left
    boolean isWhole(Downloader.Wanted wanted) throws IOException {
        long length = wanted.size() >= 0
                ? wanted.size()
                : Origin.read(file).map(Origin::length).orElse(-1L);
        return length > 0 && size() == length;
    }

    /// {@return the headers of a request for the rest}
    ///
    /// @param have the bytes that are there
    Map<String, String> request(long have) throws IOException {
        Map<String, String> headers = new LinkedHashMap<>();
        if (have > 0) {
            headers.put("Range", "bytes=" + have + "-");
            Origin.read(file)
                    .map(Origin::condition)
                    .filter(condition -> !condition.isEmpty())
                    .ifPresent(condition -> headers.put("If-Range", condition));
        }
        return headers;
    }

    /// {@return whether an answer is the rest of this part, and of nothing else}
    ///
    /// @param answer an answer with part of a file
    /// @param from what it says of itself
    /// @param have the bytes that are there
    boolean continues(HttpGet.Answer answer, Origin from, long have) throws IOException {
        Optional<Origin> origin = Origin.read(file);
        Matcher range = range(answer.headers());
        return origin.isPresent()
                && origin.get().sameVersion(from)
                && range.matches()
                && range.group(1) != null
                && Long.parseLong(range.group(1)) == have
                && (origin.get().length() < 0 || origin.get().length() == total(answer));
    }

    /// {@return the length of the whole file, of which an answer has a part, or -1 when not told}
    ///
    /// @param answer the answer
    static long total(HttpGet.Answer answer) {
        Matcher range = range(answer.headers());
        return range.matches() && !range.group(2).equals("*") ? Long.parseLong(range.group(2)) : -1;
    }

    private static Matcher range(HttpHeaders headers) {
        return CONTENT_RANGE.matcher(headers.firstValue("Content-Range").orElse(""));
    }

    /// Starts again, with another version.
    void begin(Origin origin) throws IOException {
        discard();
        origin.write(file);
    }

    /// Makes room.
    ///
    /// @param more bytes that are to come
    /// @throws TenonException (`IO-001`) if the disk has less
    void requireSpace(long more) throws IOException {
        long free = Files.getFileStore(target.toAbsolutePath().getParent()).getUsableSpace();
        if (more > free) {
            throw new TenonException(
                    ErrorCode.IO,
                    target + " needs " + more + " bytes more, and its disk has " + free
                            + ". Free space, or name another folder with -o.");
        }
    }

    /// Appends bytes.
    ///
    /// @throws TenonException (`IO-001`) if they cannot be written: another attempt would not help
    void append(FileChannel channel, ByteBuffer bytes) {
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (IOException e) {
            throw OutputFile.failed(target, e);
        }
    }

    FileChannel open() {
        try {
            return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw OutputFile.failed(target, e);
        }
    }

    /// Gives the file its name. At no time the target has the origin of another file.
    void complete() throws IOException {
        try (FileChannel channel = open()) {
            channel.force(true);
        }
        Origin origin = Origin.read(file).orElseThrow(() -> new IOException(file + " lost its origin"));
        new Origin(origin.url(), origin.etag(), origin.modified(), size()).write(file);
        Files.deleteIfExists(Origin.beside(target));
        OutputFile.move(file, target);
        OutputFile.move(Origin.beside(file), Origin.beside(target));
    }

    void discard() throws IOException {
        Files.deleteIfExists(file);
        Files.deleteIfExists(Origin.beside(file));
    }
}
