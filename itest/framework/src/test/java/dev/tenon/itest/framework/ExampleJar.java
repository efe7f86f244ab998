package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;

import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.http.EndpointProvider;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/// The bundle of examples/endpoint-tokens, compiled here, in versions that answer differently.
final class ExampleJar {
    private static final Path SOURCES = Path.of("../../examples/endpoint-tokens/src/main/java");
    private static final String PROVIDER = "org.example.tokens.TokensProvider";

    private ExampleJar() {}

    /// Makes a jar.
    ///
    /// @param folder a new folder for it
    /// @param version the bundle's
    /// @param answered what its answers have as version
    static Path make(Path folder, String version, String answered) throws Exception {
        Path classes = Files.createDirectories(folder.resolve("classes"));
        List<String> arguments = new ArrayList<>(List.of("-proc:none", "-d", classes.toString(), "-cp", classPath()));
        try (Stream<Path> sources = Files.walk(SOURCES)) {
            for (Path source : sources.filter(Files::isRegularFile).toList()) {
                String text = Files.readString(source).replace("VERSION = \"1\"", "VERSION = \"" + answered + "\"");
                Path copy = folder.resolve("src").resolve(SOURCES.relativize(source));
                Files.createDirectories(copy.getParent());
                arguments.add(Files.writeString(copy, text).toString());
            }
        }
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)));
        Path jar = folder.resolve("tokens-" + version + ".jar");
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream zip = new JarOutputStream(out, manifest(version));
                Stream<Path> made = Files.walk(classes)) {
            add(zip, "OSGI-INF/provider.xml", component().getBytes(StandardCharsets.UTF_8));
            for (Path file : made.filter(Files::isRegularFile).toList()) {
                add(zip, classes.relativize(file).toString(), Files.readAllBytes(file));
            }
        }
        return jar;
    }

    private static void add(JarOutputStream zip, String name, byte[] bytes) throws IOException {
        zip.putNextEntry(new JarEntry(name));
        zip.write(bytes);
    }

    private static String classPath() throws Exception {
        List<String> paths = new ArrayList<>();
        for (Class<?> type : List.of(
                EndpointProvider.class,
                ServiceProvider.class,
                org.osgi.service.component.annotations.Component.class)) {
            paths.add(Path.of(type.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString());
        }
        return String.join(File.pathSeparator, paths);
    }

    private static Manifest manifest(String version) {
        Manifest manifest = new Manifest();
        Attributes main = manifest.getMainAttributes();
        main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        main.putValue("Bundle-ManifestVersion", "2");
        main.putValue("Bundle-SymbolicName", "org.example.tokens");
        main.putValue("Bundle-Version", version);
        main.putValue(
                "Import-Package", "dev.tenon.api.http;version=\"[0.1,0.2)\",dev.tenon.api.engine,dev.tenon.api.text");
        main.putValue("Service-Component", "OSGI-INF/provider.xml");
        return manifest;
    }

    private static String component() {
        return "<scr:component xmlns:scr=\"http://www.osgi.org/xmlns/scr/v1.3.0\" name=\"" + PROVIDER + "\">"
                + "<implementation class=\"" + PROVIDER + "\"/><service><provide interface=\""
                + EndpointProvider.class.getName() + "\"/></service></scr:component>";
    }
}
