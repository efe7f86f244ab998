package dev.tenon.kernels.nvidia.compile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Lists the places where NVIDIA's run-time compiler may be, in the order of trying: what is
/// configured, the loader's own path, toolkits, and the folders into which pip and conda install
/// it.
///
/// @param root `/`; another one in tests
/// @param environment environment variables
public record NvrtcFinder(Path root, Map<String, String> environment) {
    /// The names of the library, newest first; those of CUDA 11 end in 11.2.
    static final List<String> NAMES = List.of("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2");

    /// {@return a finder for this machine}
    public static NvrtcFinder ofThisMachine() {
        return new NvrtcFinder(Path.of("/"), System.getenv());
    }

    /// {@return what to open: names for the loader and absolute paths of files that exist}
    ///
    /// @param configured a file or a folder from the settings, or empty; if given, nothing else is
    ///     tried
    List<String> candidates(String configured) {
        Set<String> found = new LinkedHashSet<>();
        if (!configured.isEmpty()) {
            Path path = Path.of(configured);
            if (Files.isDirectory(path)) {
                addNames(path, found);
            } else {
                found.add(configured);
            }
            return List.copyOf(found);
        }
        found.addAll(NAMES);
        for (Path folder : folders()) {
            addNames(folder, found);
        }
        return List.copyOf(found);
    }

    /// {@return the folders that exist and are looked into}
    List<Path> folders() {
        List<Path> folders = new ArrayList<>();
        for (String variable : List.of("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")) {
            String home = environment.getOrDefault(variable, "");
            if (!home.isEmpty()) {
                folders.add(Path.of(home, "lib64"));
                folders.add(Path.of(home, "lib"));
            }
        }
        for (String pattern : List.of(
                "usr/local/cuda*/lib64",
                "usr/local/cuda*/targets/*/lib",
                "opt/cuda*/lib64",
                "usr/lib/x86_64-linux-gnu",
                "usr/lib/aarch64-linux-gnu",
                "usr/lib64")) {
            folders.addAll(match(root, pattern));
        }
        List<Path> prefixes = new ArrayList<>();
        for (String variable : List.of("VIRTUAL_ENV", "CONDA_PREFIX")) {
            String prefix = environment.getOrDefault(variable, "");
            if (!prefix.isEmpty()) {
                prefixes.add(Path.of(prefix));
                folders.add(Path.of(prefix, "lib"));
            }
        }
        String home = environment.getOrDefault("HOME", "");
        if (!home.isEmpty()) {
            prefixes.add(Path.of(home, ".local"));
        }
        prefixes.add(root.resolve("usr"));
        prefixes.add(root.resolve("usr/local"));
        for (Path prefix : prefixes) {
            for (String packages : List.of("site-packages", "dist-packages")) {
                folders.addAll(match(prefix, "lib/python3*/" + packages + "/nvidia/cuda_nvrtc/lib"));
                folders.addAll(match(prefix, "lib/python3*/" + packages + "/nvidia/cu*/lib"));
            }
        }
        return folders.stream().filter(Files::isDirectory).distinct().toList();
    }

    private static void addNames(Path folder, Set<String> found) {
        for (String name : NAMES) {
            Path file = folder.resolve(name);
            if (Files.exists(file)) {
                found.add(file.toString());
            }
        }
    }

    /// Folders below a base whose names match a pattern, part by part; the last by name first, so
    /// that the newest of several versions leads.
    private static List<Path> match(Path base, String pattern) {
        List<Path> current = List.of(base);
        for (String part : pattern.split("/")) {
            List<Path> next = new ArrayList<>();
            for (Path folder : current) {
                if (!part.contains("*")) {
                    next.add(folder.resolve(part));
                } else if (Files.isDirectory(folder)) {
                    next.addAll(list(folder, part));
                }
            }
            current = next;
        }
        return current.stream().filter(Files::isDirectory).toList();
    }

    /// {@return what is in a folder under names that match a pattern, the last by name first}
    static List<Path> list(Path folder, String part) {
        PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + part);
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, e -> matcher.matches(e.getFileName()))) {
            entries.forEach(found::add);
        } catch (java.nio.file.AccessDeniedException e) {
            // A folder that may not be read holds nothing that could be opened either.
            return List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        found.sort(Comparator.reverseOrder());
        return found;
    }
}
