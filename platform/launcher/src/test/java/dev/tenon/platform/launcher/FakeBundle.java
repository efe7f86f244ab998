package dev.tenon.platform.launcher;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/// Makes small bundles on the fly: sources are compiled in memory and packed with a manifest.
public final class FakeBundle {
    /// Classes by their names and sources: many tests start from the same ones.
    private static final Map<String, Map<String, byte[]>> COMPILED = new ConcurrentHashMap<>();

    private final Map<String, String> manifest = new LinkedHashMap<>();
    private final Map<String, byte[]> entries = new LinkedHashMap<>();

    public FakeBundle(String symbolicName) {
        manifest.put("Manifest-Version", "1.0");
        manifest.put("Bundle-ManifestVersion", "2");
        manifest.put("Bundle-SymbolicName", symbolicName);
        manifest.put("Bundle-Version", "1.0.0");
    }

    public FakeBundle header(String name, String value) {
        manifest.put(name, value);
        return this;
    }

    /// Adds the class of a source text.
    public FakeBundle type(String name, String source) {
        COMPILED.computeIfAbsent(name + "\n" + source, key -> compile(name, source))
                .forEach((type, bytes) -> entries.put(type.replace('.', '/') + ".class", bytes));
        return this;
    }

    private static Map<String, byte[]> compile(String name, String source) {
        Map<String, ByteArrayOutputStream> classes = new HashMap<>();
        var compiler = ToolProvider.getSystemJavaCompiler();
        var text =
                new SimpleJavaFileObject(
                        URI.create("string:///" + name.replace('.', '/') + ".java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        var files = new ForwardingJavaFileManager<>(compiler.getStandardFileManager(null, null, null)) {
            @Override
            public JavaFileObject getJavaFileForOutput(
                    JavaFileManager.Location location, String type, JavaFileObject.Kind kind, FileObject sibling) {
                return new SimpleJavaFileObject(URI.create("mem:///" + type), kind) {
                    @Override
                    public OutputStream openOutputStream() {
                        return classes.computeIfAbsent(type, key -> new ByteArrayOutputStream());
                    }
                };
            }
        };
        var options = List.of("-cp", System.getProperty("java.class.path"), "-proc:none");
        if (!compiler.getTask(null, files, null, options, null, List.of(text)).call()) {
            throw new IllegalArgumentException("The source of " + name + " does not compile");
        }
        Map<String, byte[]> bytes = new LinkedHashMap<>();
        classes.forEach((type, written) -> bytes.put(type, written.toByteArray()));
        return bytes;
    }

    /// Adds a file.
    public FakeBundle entry(String name, byte[] bytes) {
        entries.put(name, bytes);
        return this;
    }

    /// Adds a file, and names it in the header `Service-Component`.
    public FakeBundle component(String xml) {
        entries.put("OSGI-INF/c.xml", xml.getBytes(StandardCharsets.UTF_8));
        return header("Service-Component", "OSGI-INF/c.xml");
    }

    /// Writes the jar, by way of a hidden file, so that no one sees half of it.
    public Path write(Path jar) throws IOException {
        Path part = jar.resolveSibling("." + jar.getFileName() + ".part");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(part))) {
            out.putNextEntry(new ZipEntry("META-INF/MANIFEST.MF"));
            for (Map.Entry<String, String> header : manifest.entrySet()) {
                out.write((header.getKey() + ": " + header.getValue() + "\r\n").getBytes(StandardCharsets.UTF_8));
            }
            for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
                out.putNextEntry(new ZipEntry(entry.getKey()));
                out.write(entry.getValue());
            }
        }
        return Files.move(part, jar);
    }
}
