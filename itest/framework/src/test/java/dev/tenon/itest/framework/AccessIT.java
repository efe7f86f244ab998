package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// What each of our bundles declares to reach outside the JVM is what its classes name.
class AccessIT {
    /// Classes, or names of methods, by which code reaches something.
    private static final Map<String, Pattern> REACHES = Map.of(
            "native", Pattern.compile("java/lang/foreign/(Linker|SymbolLookup)|loadLibrary"),
            "network",
                    Pattern.compile("java/net/http/.*|java/net/(Server)?Socket|java/net/URLConnection"
                            + "|java/nio/channels/(Server)?SocketChannel|org/eclipse/jetty/server/ServerConnector"),
            "files",
                    Pattern.compile("java/nio/file/Files|java/io/File(In|Out)putStream|java/io/RandomAccessFile"
                            + "|java/io/File(Read|Writ)er|java/nio/channels/FileChannel"),
            "processes", Pattern.compile("java/lang/ProcessBuilder"));

    @Test
    void everyBundleDeclaresWhatItsClassesReach() throws IOException {
        Map<String, Set<String>> declared = new TreeMap<>();
        Map<String, Set<String>> found = new TreeMap<>();
        List<Path> jars = new ArrayList<>(Jars.ours());
        jars.addAll(Jars.published());
        for (Path jar : jars) {
            String header = String.valueOf(Jars.attributes(jar).getValue("Tenon-Access"));
            declared.put(jar.getFileName().toString(), new TreeSet<>(Arrays.asList(header.split(","))));
            Set<String> reached = reached(jar);
            found.put(jar.getFileName().toString(), reached.isEmpty() ? Set.of("none") : reached);
        }
        assertEquals(found, declared);
    }

    /// Looks at the classes of ours only; libraries that are copied into a jar keep their own names. JCuda's are looked
    /// at, too: a bundle exists to carry them.
    private static Set<String> reached(Path jar) throws IOException {
        Set<String> reached = new TreeSet<>();
        try (JarFile file = new JarFile(jar.toFile())) {
            for (JarEntry entry : file.stream().toList()) {
                if (entry.getName().matches("(dev/tenon|jcuda)/.*\\.class")) {
                    byte[] bytes = file.getInputStream(entry).readAllBytes();
                    ClassFile.of()
                            .parse(bytes)
                            .constantPool()
                            .forEach(constant -> names(constant)
                                    .forEach(name -> REACHES.forEach((what, pattern) -> {
                                        if (pattern.matcher(name).matches()) {
                                            reached.add(what);
                                        }
                                    })));
                }
            }
        }
        return reached;
    }

    private static Stream<String> names(PoolEntry constant) {
        return switch (constant) {
            case ClassEntry type -> Stream.of(type.asInternalName());
            case Utf8Entry text when text.equalsString("loadLibrary") -> Stream.of("loadLibrary");
            default -> Stream.empty();
        };
    }
}
