package dev.tenon.platform.image;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.apache.commons.compress.compressors.gzip.GzipCompressorOutputStream;
import org.apache.commons.compress.compressors.gzip.GzipParameters;

/// Folders, and archives of them that are the same for the same files: entries are sorted, belong to
/// root, and bear a given time; what its owner may run, all may.
final class Trees {
    private static final int PROGRAM = 0755;
    private static final int FILE = 0644;

    private Trees() {}

    static void delete(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> old = Files.walk(folder)) {
                for (Path path : old.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    /// Unpacks an archive of the distribution; its script may be run.
    ///
    /// @param wanted says of an entry's name whether it is taken
    static void unzip(Path archive, Path folder, Predicate<String> wanted) throws IOException {
        try (ZipFile zip = new ZipFile(archive.toFile())) {
            for (ZipEntry entry :
                    zip.stream().filter(each -> !each.isDirectory()).toList()) {
                if (wanted.test(entry.getName())) {
                    Path file = folder.resolve(entry.getName()).normalize();
                    Files.createDirectories(file.getParent());
                    Files.copy(zip.getInputStream(entry), file);
                    boolean program = file.endsWith("bin/tenon");
                    file.toFile().setExecutable(program, false);
                }
            }
        }
    }

    /// {@return a folder's files, links and folders below it, sorted}
    static List<Path> below(Path folder) throws IOException {
        try (Stream<Path> paths = Files.walk(folder)) {
            return paths.filter(path -> !path.equals(folder)).sorted().toList();
        }
    }

    /// Writes a `.tar.gz`.
    ///
    /// @param prefix before the paths of entries, such as `./`
    static void tar(Path folder, String prefix, OutputStream to, Instant time) throws IOException {
        GzipParameters best = new GzipParameters();
        best.setCompressionLevel(9);
        try (TarArchiveOutputStream tar =
                new TarArchiveOutputStream(new GzipCompressorOutputStream(new BufferedOutputStream(to), best))) {
            tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_GNU);
            for (Path path : below(folder)) {
                String name = prefix + slashed(folder.relativize(path));
                boolean link = Files.isSymbolicLink(path);
                boolean directory = !link && Files.isDirectory(path);
                TarArchiveEntry entry = link
                        ? new TarArchiveEntry(name, TarConstants.LF_SYMLINK)
                        : new TarArchiveEntry(directory ? name + "/" : name);
                entry.setIds(0, 0);
                entry.setNames("root", "root");
                entry.setModTime(time.toEpochMilli());
                if (link) {
                    entry.setLinkName(Files.readSymbolicLink(path).toString());
                    entry.setMode(0777);
                } else {
                    entry.setMode(Files.isExecutable(path) ? PROGRAM : FILE);
                }
                boolean content = !link && !directory;
                entry.setSize(content ? Files.size(path) : 0);
                tar.putArchiveEntry(entry);
                if (content) {
                    Files.copy(path, tar);
                }
                tar.closeArchiveEntry();
            }
        }
    }

    /// Writes a `.zip`; what a link leads to stands in its place.
    static void zip(Path folder, String prefix, OutputStream to, Instant time) throws IOException {
        try (ZipOutputStream zip = new ZipOutputStream(new BufferedOutputStream(to))) {
            for (Path path : below(folder)) {
                if (Files.isRegularFile(path)) {
                    ZipEntry entry = new ZipEntry(prefix + slashed(folder.relativize(path)));
                    entry.setTimeLocal(LocalDateTime.ofInstant(time, ZoneOffset.UTC));
                    zip.putNextEntry(entry);
                    Files.copy(path, zip);
                    zip.closeEntry();
                }
            }
        }
    }

    static String slashed(Path path) {
        return path.toString().replace('\\', '/');
    }
}
