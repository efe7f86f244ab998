package dev.tenon.itest.framework;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeModel;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;

/// Where the build put the finished jars, and how to make changed copies of them.
///
/// Our jars and the bundles that they need are those of the distribution that the launcher's module lays
/// out.
final class Jars {
    private static final Path DISTRIBUTION = Path.of(
                    System.getProperty("tenon.distribution", "../../platform/launcher/target/tenon-0.1.0"))
            .toAbsolutePath()
            .normalize();
    private static final Path JARS =
            Path.of(System.getProperty("tenon.jars", "target/jars")).toAbsolutePath();
    private static final String OURS = "tenon-";

    private Jars() {}

    private static List<Path> list(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(f -> f.toString().endsWith(".jar")).sorted().toList();
        } catch (IOException e) {
            throw new AssertionError("the build has not put jars into " + folder, e);
        }
    }

    private static boolean isOurs(Path jar) {
        return jar.getFileName().toString().startsWith(OURS);
    }

    /// {@return our bundles, those that are not part of the distribution's archive included}
    static List<Path> ours() {
        Path bundles = DISTRIBUTION.resolve("bundles");
        return Stream.concat(list(bundles).stream().filter(Jars::isOurs), list(bundles.resolve("extras")).stream())
                .sorted(Comparator.comparing(Path::getFileName))
                .toList();
    }

    /// {@return our jars, the launcher included, which is no bundle of the platform}
    static List<Path> oursAndLauncher() {
        Stream<Path> launcher = list(DISTRIBUTION.resolve("lib")).stream().filter(Jars::isOurs);
        return Stream.concat(ours().stream(), launcher).toList();
    }

    /// {@return our jars that are no part of the distribution: the contracts, and the one for Java programs}
    static List<Path> published() {
        return list(JARS.resolve("published"));
    }

    /// {@return one of our jars, such as `api` or `models-llama`}
    static Path ours(String name) {
        return oursAndLauncher().stream()
                .filter(jar -> jar.getFileName().toString().matches(OURS + name + "-[0-9].*"))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no jar of " + name + " in " + DISTRIBUTION));
    }

    /// {@return our bundles of architectures}
    static List<Path> models() {
        return ours().stream()
                .filter(jar -> jar.getFileName().toString().startsWith("tenon-models-"))
                .toList();
    }

    /// {@return an object of each class in jars of the class path that has a type}
    static <T> List<T> implementations(Class<T> type, List<Path> jars) {
        List<T> all = new ArrayList<>();
        for (Path jar : jars) {
            try (JarFile file = new JarFile(jar.toFile())) {
                for (JarEntry entry : file.stream().toList()) {
                    if (!entry.getName().endsWith(".class") || entry.getName().endsWith("-info.class")) {
                        continue;
                    }
                    Class<?> loaded = Class.forName(
                            entry.getName().replaceFirst("\\.class$", "").replace('/', '.'));
                    if (type.isAssignableFrom(loaded) && !Modifier.isAbstract(loaded.getModifiers())) {
                        all.add(type.cast(loaded.getConstructor().newInstance()));
                    }
                }
            } catch (IOException | ReflectiveOperationException e) {
                throw new AssertionError("cannot make what is in " + jar, e);
            }
        }
        return all;
    }

    /// {@return the bundles of others that ours need, as they are in the distribution}
    static List<Path> thirdPartyBundles() {
        return list(DISTRIBUTION.resolve("bundles")).stream()
                .filter(jar -> !isOurs(jar))
                .toList();
    }

    /// {@return the component runtime and what it needs; without the watcher of folders}
    static List<Path> systemBundles() {
        return list(DISTRIBUTION.resolve("bundles").resolve("system")).stream()
                .filter(jar -> !jar.getFileName().toString().contains("fileinstall"))
                .toList();
    }

    /// {@return the jars of others that ours need on the plain class path}
    static List<Path> libraries() {
        return list(JARS.resolve("third"));
    }

    /// {@return a framework's jar}
    static Path framework(String name) {
        return JARS.resolve("frameworks").resolve(name + ".jar");
    }

    /// {@return the main attributes of a jar's manifest}
    static Attributes attributes(Path jar) {
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.getManifest() == null
                    ? new Attributes()
                    : file.getManifest().getMainAttributes();
        } catch (IOException e) {
            throw new AssertionError("cannot read " + jar, e);
        }
    }

    /// Copies a jar with other manifest attributes.
    static Path patched(Path jar, Path target, Map<String, String> attributes) throws IOException {
        try (JarFile in = new JarFile(jar.toFile())) {
            Manifest manifest = new Manifest(in.getManifest());
            attributes.forEach((key, value) -> manifest.getMainAttributes().putValue(key, value));
            try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(target), manifest)) {
                for (JarEntry entry : in.stream().toList()) {
                    if (!entry.getName().equals(JarFile.MANIFEST_NAME)) {
                        out.putNextEntry(new JarEntry(entry.getName()));
                        in.getInputStream(entry).transferTo(out);
                        out.closeEntry();
                    }
                }
            }
        }
        return target;
    }

    /// Copies a jar with another version and one void method that does nothing.
    static Path broken(Path jar, Path target, String version, String type, String method) throws IOException {
        return withCode(jar, target, version, type, method, CodeBuilder::return_);
    }

    /// Copies a jar with another version and one method that throws a NullPointerException.
    static Path failing(Path jar, Path target, String version, String type, String method) throws IOException {
        return withCode(
                jar, target, version, type, method, code -> code.aconst_null().athrow());
    }

    private static Path withCode(
            Path jar, Path target, String version, String type, String method, Consumer<CodeBuilder> code)
            throws IOException {
        return changed(
                jar,
                target,
                version,
                type,
                changes -> ClassTransform.transformingMethods(
                        m -> m.methodName().equalsString(method), (builder, element) -> {
                            if (element instanceof CodeModel) {
                                changes.run();
                                builder.withCode(code);
                            } else {
                                builder.with(element);
                            }
                        }));
    }

    /// Copies a jar with another version and one class that calls a method which nobody has: it
    /// was built against other classes than it runs with.
    ///
    /// @param method that the class calls; the copy calls `noSuchMethod` instead
    static Path misbuilt(Path jar, Path target, String version, String type, String method) throws IOException {
        return changed(
                jar,
                target,
                version,
                type,
                changes -> ClassTransform.transformingMethodBodies((builder, element) -> {
                    if (element instanceof InvokeInstruction call && call.name().equalsString(method)) {
                        changes.run();
                        builder.invokevirtual(call.owner().asSymbol(), "noSuchMethod", call.typeSymbol());
                    } else {
                        builder.with(element);
                    }
                }));
    }

    /// Copies the qwen3 architecture with another version, which rotates neighbours instead of half-split pairs:
    /// its tensors are the same, its numbers are not.
    static Path rotatingNeighbours(Path target, String version) throws IOException {
        return changed(
                ours("models-qwen3"),
                target,
                version,
                "dev.tenon.models.qwen3.DenseQwen",
                changes -> ClassTransform.transformingMethodBodies((builder, element) -> {
                    if (element instanceof FieldInstruction field
                            && field.name().equalsString("HALF_SPLIT")) {
                        changes.run();
                        builder.getstatic(field.owner().asSymbol(), "INTERLEAVED", field.typeSymbol());
                    } else {
                        builder.with(element);
                    }
                }));
    }

    /// Copies the formats with another version, in which the levels of Q4_0 stand for other numbers.
    static Path withOtherLevels(Path target, String version) throws IOException {
        return changed(
                ours("quant-formats"),
                target,
                version,
                "dev.tenon.quant.formats.Q4_0Format",
                changes -> ClassTransform.transformingMethodBodies((builder, element) -> {
                    if (element instanceof ConstantInstruction constant
                            && constant.constantValue().equals(8)) {
                        changes.run();
                        builder.loadConstant(7);
                    } else {
                        builder.with(element);
                    }
                }));
    }

    /// Copies a jar with another version and a changed class.
    ///
    /// @param transform gets what it has to call for each change
    private static Path changed(
            Path jar, Path target, String version, String type, Function<Runnable, ClassTransform> transform)
            throws IOException {
        Path named =
                patched(jar, target.resolveSibling(target.getFileName() + ".tmp"), Map.of("Bundle-Version", version));
        String path = type.replace('.', '/') + ".class";
        int[] changes = new int[1];
        try (JarFile in = new JarFile(named.toFile());
                JarOutputStream out = new JarOutputStream(Files.newOutputStream(target), in.getManifest())) {
            for (JarEntry entry : in.stream().toList()) {
                if (entry.getName().equals(JarFile.MANIFEST_NAME)) {
                    continue;
                }
                byte[] bytes = in.getInputStream(entry).readAllBytes();
                if (entry.getName().equals(path)) {
                    ClassFile file = ClassFile.of();
                    bytes = file.transformClass(file.parse(bytes), transform.apply(() -> changes[0]++));
                }
                out.putNextEntry(new JarEntry(entry.getName()));
                out.write(bytes);
                out.closeEntry();
            }
        }
        Files.delete(named);
        if (changes[0] == 0) {
            throw new AssertionError(type + " has nothing to change");
        }
        return target;
    }

    /// {@return the unpacked distribution}
    static Path distribution() {
        return DISTRIBUTION;
    }

    /// {@return the small trained model of the distribution}
    static Path model() {
        return DISTRIBUTION.resolve("models").resolve("story-qwen3-q4_k_m.gguf");
    }
}
