package dev.tenon.backend.cpu.vector;

import dev.tenon.api.kernel.cpu.ForceInline;
import java.io.IOException;
import java.lang.classfile.AttributedElement;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/// Before the first test of a JVM, makes it inline what asks for that with [ForceInline], as the
/// options of a program do (docs/embedding.md).
///
/// Without that C2 omits calls that were counted rarely, because it was busy when they were made: the
/// vectors that pass through them are then made on the heap for good.
public final class ForcedInlining implements LauncherSessionListener {
    private static final String ANNOTATION = ForceInline.class.descriptorString();

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        try {
            Path directives = Files.createTempFile("directives", ".json");
            try {
                Files.writeString(directives, "[{match: \"*.*\", c2: {inline: [" + methods() + "]}}]");
                Object printed = ManagementFactory.getPlatformMBeanServer()
                        .invoke(
                                new ObjectName("com.sun.management:type=DiagnosticCommand"),
                                "compilerDirectivesAdd",
                                new Object[] {new String[] {directives.toString()}},
                                new String[] {String[].class.getName()});
                if (!printed.toString().contains("1 compiler directives added")) {
                    throw new IllegalStateException("The JVM refused directives: " + printed);
                }
            } finally {
                Files.delete(directives);
            }
        } catch (IOException | URISyntaxException | JMException e) {
            throw new IllegalStateException("no directives for the JVM", e);
        }
    }

    /// {@return the methods as patterns of a directive}
    private static String methods() throws IOException, URISyntaxException {
        Path classes = Path.of(CpuDevice.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        List<Path> files;
        try (Stream<Path> all = Files.walk(classes)) {
            files = all.filter(file -> file.toString().endsWith(".class")).toList();
        }
        StringBuilder methods = new StringBuilder();
        for (Path file : files) {
            ClassModel type = ClassFile.of().parse(file);
            String name = type.thisClass().asInternalName();
            type.methods().stream()
                    .filter(method -> asks(type) || asks(method))
                    .map(method -> "\"+" + name + "." + method.methodName().stringValue() + "\",")
                    .forEach(methods::append);
        }
        return methods.toString();
    }

    private static boolean asks(AttributedElement element) {
        return element.findAttribute(Attributes.runtimeInvisibleAnnotations()).stream()
                .flatMap(found -> found.annotations().stream())
                .anyMatch(annotation -> annotation.className().equalsString(ANNOTATION));
    }
}
