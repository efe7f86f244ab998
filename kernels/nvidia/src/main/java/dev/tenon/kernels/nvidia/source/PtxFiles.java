package dev.tenon.kernels.nvidia.source;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/// Compressed PTX of the modules: in the form of [PtxText], without the lines that repeat others
/// ([RepeatedLines]), then gzipped.
///
/// A file's first line may name another module. Then lines of that one, and of those before it, are
/// left out, too: modules of one source file have most of them in common. Usual formats come first,
/// because who reads a module reads all before it. Also a program, which `prebuild.sh` runs from its
/// source: it depends on the JDK alone.
final class PtxFiles {
    private static final String PLAIN = ".ptx";
    private static final String BASE = "// after ";
    /// What the names of the first modules of a source file end in.
    private static final List<String> FIRST = List.of("Q4_K", "Q4_K.Q6_K", "Q6_K", "Q6_K.Q6_K", "Q8_0", "F16", "BF16");

    private PtxFiles() {}

    /// Compresses the PTX files of a folder, or brings them back as the driver will get them.
    ///
    /// @param arguments `pack` or `unpack`; a folder; the end of compressed files' names
    static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[1]);
        String end = arguments[2];
        if (arguments[0].equals("pack")) {
            pack(folder, end);
            return;
        }
        for (String name : names(folder, end)) {
            String text = read(name, module -> Optional.of(open(folder.resolve(module + end))))
                    .orElseThrow();
            Files.writeString(folder.resolve(name + PLAIN), text);
        }
    }

    private static InputStream open(Path file) {
        try {
            return Files.newInputStream(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> names(Path folder, String end) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(end))
                    .map(name -> name.substring(0, name.length() - end.length()))
                    .sorted()
                    .toList();
        }
    }

    private static void pack(Path folder, String end) throws IOException {
        List<String> names = new ArrayList<>(names(folder, PLAIN));
        names.sort(Comparator.comparingInt(PtxFiles::place));
        Map<String, String> last = new HashMap<>();
        Map<String, List<String>> before = new HashMap<>();
        for (String name : names) {
            List<String> lines = encoded(folder, name);
            String base = last.put(kind(name), name);
            List<String> all = before.computeIfAbsent(kind(name), kind -> new ArrayList<>());
            String first = base == null ? "" : BASE + base + "\n";
            String text = first + String.join("\n", RepeatedLines.leaveOut(all, lines)) + "\n";
            try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(folder.resolve(name + end))) {
                {
                    def.setLevel(9);
                }
            }) {
                out.write(text.getBytes(StandardCharsets.US_ASCII));
            }
            all.addAll(lines);
        }
    }

    private static int place(String name) {
        int place = FIRST.size();
        for (int i = FIRST.size() - 1; i >= 0; i--) {
            place = name.endsWith("." + FIRST.get(i)) ? i : place;
        }
        return place;
    }

    private static String kind(String name) {
        return name.contains(".") ? name.substring(0, name.indexOf('.')) : name;
    }

    private static List<String> encoded(Path folder, String name) throws IOException {
        String text = PtxText.encode(Files.readString(folder.resolve(name + PLAIN)));
        if (!PtxText.encode(PtxText.decode(text)).equals(text)) {
            throw new IllegalStateException(name + " does not come back from its compressed form");
        }
        return text.lines().toList();
    }

    /// {@return PTX that a driver compiles; empty if there is none}
    ///
    /// @param module a module's name
    /// @param files opens the compressed file of a module, if there is one
    static Optional<String> read(String module, Function<String, Optional<InputStream>> files) {
        return files.apply(module).map(file -> {
            List<String> all = new ArrayList<>();
            int first = append(all, file, files);
            return PtxText.decode(String.join("\n", all.subList(first, all.size())));
        });
    }

    /// Appends the lines of the modules before a module, then its own.
    ///
    /// @return index of its first line
    private static int append(List<String> all, InputStream file, Function<String, Optional<InputStream>> files) {
        List<String> lines;
        try (InputStream in = new GZIPInputStream(file)) {
            lines = new String(in.readAllBytes(), StandardCharsets.US_ASCII)
                    .lines()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (lines.getFirst().startsWith(BASE)) {
            String base = lines.getFirst().substring(BASE.length());
            append(all, files.apply(base).orElseThrow(), files);
            lines = lines.subList(1, lines.size());
        }
        int first = all.size();
        RepeatedLines.putBack(all, lines);
        return first;
    }
}
