package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.contracts.itest.ServiceContract;
import dev.tenon.platform.contracts.project.ProjectKind;
import dev.tenon.platform.core.control.ServiceKind;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.reflect.AccessFlag;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The page `docs/extension-points.md`: the services that a bundle can offer, as the jars' descriptors say who
/// offers and who takes them. An interface that bundles implement is a `ConsumerType`.
final class ExtensionPage {
    private static final Path ROOT = Path.of("../..");
    private static final Pattern OFFERED = Pattern.compile("<provide interface=\"([^\"]+)\"");
    private static final Pattern TAKEN = Pattern.compile("<reference [^>]*interface=\"([^\"]+)\"");
    private static final Pattern CAPABILITY = Pattern.compile("osgi\\.service;objectClass:List<String>=\"([^\"]+)\"");
    private static final Pattern SERVICES = Pattern.compile("META-INF/services/(.+)");
    private static final Pattern EXPORTED =
            Pattern.compile("([a-z0-9_.]+);(?:uses:=\"[^\"]*\";)?version=\"([0-9.]+)\"");
    private static final Pattern SUMMARY = Pattern.compile("///(.+?[.:])(?=\\s)", Pattern.DOTALL);

    /// The bundles that offer a service, by its interface.
    private final Map<String, Set<String>> offered = new TreeMap<>();
    /// Interfaces whose services our bundles take.
    private final Set<String> taken = new TreeSet<>();
    /// Versions of the packages that our jars export.
    private final Map<String, String> versions = new TreeMap<>();
    /// Bytes of our interfaces' classes.
    private final Map<String, byte[]> classes = new TreeMap<>();

    /// {@return the page}
    ///
    /// @param renew the command that makes it
    static String text(String renew) throws IOException {
        return new ExtensionPage().page(renew);
    }

    private ExtensionPage() throws IOException {
        Arrays.stream(ServiceKind.values())
                .forEach(kind -> taken.add(kind.type().getName()));
        for (Path jar : Jars.oursAndLauncher()) {
            read(jar);
        }
    }

    private void read(Path jar) throws IOException {
        try (JarFile file = new JarFile(jar.toFile())) {
            String bundle = file.getManifest().getMainAttributes().getValue("Bundle-SymbolicName");
            find(CAPABILITY, file.getManifest().getMainAttributes().getValue("Provide-Capability"))
                    .forEach(names -> offers(bundle, names.split(",")));
            EXPORTED.matcher(Objects.toString(
                            file.getManifest().getMainAttributes().getValue("Export-Package"), ""))
                    .results()
                    .forEach(found -> versions.put(found.group(1), found.group(2)));
            for (JarEntry entry : file.stream().toList()) {
                String name = entry.getName();
                find(SERVICES, name).forEach(service -> offers(bundle, service));
                if (name.startsWith("OSGI-INF/") && name.endsWith(".xml")) {
                    String component = new String(bytes(file, entry), StandardCharsets.UTF_8);
                    find(OFFERED, component).forEach(service -> offers(bundle, service));
                    taken.addAll(find(TAKEN, component));
                } else if (name.startsWith("dev/tenon/") && name.endsWith(".class")) {
                    classes.put(name.replace('/', '.').replaceAll("\\.class$", ""), bytes(file, entry));
                }
            }
        }
    }

    private void offers(String bundle, String... services) {
        for (String service : services) {
            offered.computeIfAbsent(service, key -> new TreeSet<>()).add(bundle);
        }
    }

    private static byte[] bytes(JarFile file, JarEntry entry) throws IOException {
        try (InputStream in = file.getInputStream(entry)) {
            return in.readAllBytes();
        }
    }

    private static List<String> find(Pattern pattern, String text) {
        return text == null
                ? List.of()
                : pattern.matcher(text).results().map(found -> found.group(1)).toList();
    }

    private String page(String renew) throws IOException {
        List<String> own = new ArrayList<>();
        List<String> others = new ArrayList<>();
        Set<String> all = new TreeSet<>(taken);
        all.addAll(offered.keySet());
        for (String service : all) {
            if (isExtension(service)) {
                (kind(service).isPresent() ? own : others).add(row(service));
            }
        }
        return """
                # Extension points

                A bundle offers services, each by the interface below; [write-your-own-bundle.md](write-your-own-bundle.md) shows how. A test makes this page from
                the descriptors in the jars, from `ServiceKind`, and from what `tenon new` and `tenon itest` know, and compares it. To renew it:

                ```
                %s
                ```

                Packages of version 1.x keep what they have; those of 0.x may change. Implementations are those of the distribution and of its extras.

                ## For the engine and its servers

                In a framework and, by `ServiceLoader`, without one. [One rule](bundles.md#which-one-is-used) tells which of several is used; the setting names another one.

                %s

                ## For other parts

                In a framework; backends and their parts without one, too.

                %s
                """.formatted(renew, table(own), table(others));
    }

    private static String table(List<String> rows) {
        return Stream.concat(
                        Stream.of(
                                "| service | what it is for | implemented by | `tenon new` | contract | example | setting |",
                                "| --- | --- | --- | --- | --- | --- | --- |"),
                        rows.stream())
                .collect(Collectors.joining("\n"));
    }

    /// {@return whether bundles are to implement an interface; it has to say so if it is ours}
    private boolean isExtension(String service) {
        byte[] type = classes.get(service);
        if (type == null || !ClassFile.of().parse(type).flags().has(AccessFlag.INTERFACE)) {
            return false; // of others, or a class
        }
        boolean implemented = isMarked(type, "ConsumerType");
        assertTrue(
                implemented || isMarked(type, "ProviderType"),
                service + " is a service: say by @ConsumerType that bundles may offer it, or by @ProviderType that they"
                        + " may not");
        return implemented;
    }

    private static boolean isMarked(byte[] type, String annotation) {
        return ClassFile.of().parse(type).findAttribute(Attributes.runtimeInvisibleAnnotations()).stream()
                .flatMap(found -> found.annotations().stream())
                .anyMatch(each -> each.className().equalsString("Lorg/osgi/annotation/versioning/" + annotation + ";"));
    }

    private static Optional<ServiceKind> kind(String service) {
        return ServiceKind.of(new String[] {service});
    }

    private String row(String service) throws IOException {
        String packageName = service.substring(0, service.lastIndexOf('.'));
        Path source = source(service);
        return Stream.of(
                        "[`" + simple(service) + "`]("
                                + ROOT.relativize(source).toString().replaceFirst("^", "../") + ") of `" + packageName
                                + "` " + versions.get(packageName),
                        summary(source),
                        String.join(", ", offered.getOrDefault(service, Set.of())),
                        Arrays.stream(ProjectKind.values())
                                .filter(kind -> kind.service().getName().equals(service))
                                .map(kind -> "`" + kind.word() + "`")
                                .collect(Collectors.joining(", ")),
                        Arrays.stream(ServiceContract.values())
                                .filter(contract -> contract.service().getName().equals(service))
                                .map(contract -> "`" + contract.contract().getSimpleName() + "`")
                                .collect(Collectors.joining(", ")),
                        examples(simple(service)),
                        kind(service).map(ExtensionPage::setting).orElse(""))
                .map(cell -> cell.isEmpty() ? "–" : cell)
                .collect(Collectors.joining(" | ", "| ", " |"));
    }

    private static String setting(ServiceKind kind) {
        return switch (kind.use()) {
            case ALL -> "all are used";
            case BEST -> "`prefer." + kind.word() + "`" + (kind == ServiceKind.SAMPLER ? ", `prefer.sampler.ID`" : "");
            case FIRST_FOR_EACH_ID, BEST_FOR_EACH_ID -> "`prefer." + kind.word() + ".ID`";
        };
    }

    private static String simple(String type) {
        return type.substring(type.lastIndexOf('.') + 1);
    }

    private static Path source(String type) throws IOException {
        Path path = Path.of("src/main/java", type.replace('.', '/') + ".java");
        try (Stream<Path> modules = Files.find(ROOT, 3, (file, is) -> file.endsWith("pom.xml"))) {
            return modules.map(pom -> pom.resolveSibling(path))
                    .filter(Files::exists)
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("no source of " + type));
        }
    }

    /// {@return the first sentence of a type's Javadoc}
    private static String summary(Path source) throws IOException {
        String text = Files.readString(source);
        Matcher sentence = SUMMARY.matcher(text);
        assertTrue(sentence.find(), source + " has no Javadoc");
        return sentence.group(1)
                .replaceAll("\\s*///\\s*", " ")
                .replaceAll("\\[#?([\\w.]+)[^]]*]", "`$1`")
                .replaceAll(":$", ".")
                .strip();
    }

    /// {@return the projects of `examples/` with a component that offers a service}
    private static String examples(String service) throws IOException {
        Set<String> found = new TreeSet<>();
        try (Stream<Path> files = Files.walk(ROOT.resolve("examples"))) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                String project =
                        ROOT.resolve("examples").relativize(file).getName(0).toString();
                if (!project.equals("archetypes")
                        && Files.readString(file).matches("(?s).*@Component\\([^)]*\\b" + service + "\\.class.*")) {
                    found.add("[" + project + "](../examples/" + project + ")");
                }
            }
        }
        return String.join(", ", found);
    }
}
