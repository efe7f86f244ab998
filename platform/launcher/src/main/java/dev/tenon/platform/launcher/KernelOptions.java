package dev.tenon.platform.launcher;

import java.io.File;
import java.io.IOException;
import java.lang.classfile.Annotation;
import java.lang.classfile.AnnotationElement;
import java.lang.classfile.AnnotationValue;
import java.lang.classfile.AttributedElement;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;

/// Makes options of the JVM from the annotations of kernels, `ForceInline` and
/// `CompileThresholdScaling` of the api's package `dev.tenon.api.kernel.cpu`. The build writes the
/// distribution's argument files with it.
public final class KernelOptions {
    private static final String INLINE = "Ldev/tenon/api/kernel/cpu/ForceInline;";
    private static final String SCALING = "Ldev/tenon/api/kernel/cpu/CompileThresholdScaling;";
    private static final String COMMAND = "-XX:CompileCommand=";
    /// What an option may name: no classes of the JDK, and no space, which would start another
    /// option.
    private static final Pattern NAME = Pattern.compile("(?!(java|javax|jdk|sun)\\.)[\\w.$]+::[\\w$<>*]+");

    private KernelOptions() {}

    /// Prints text files, and then the options that the classes of jars ask for.
    ///
    /// @param args files, or lists of them as in a class path; what ends neither in `.options` nor
    ///     in `.jar` is left out
    public static void main(String[] args) throws IOException {
        Collection<String> options = new TreeSet<>();
        for (String file : String.join(File.pathSeparator, args).split(Pattern.quote(File.pathSeparator))) {
            if (file.endsWith(".options")) {
                System.out.print(Files.readString(Path.of(file)));
            } else if (file.endsWith(".jar")) {
                options.addAll(of(Path.of(file)));
            }
        }
        options.forEach(System.out::println);
    }

    /// {@return the options that the classes of a jar ask for, sorted}
    ///
    /// @throws IOException if it is not a jar, or a class in it cannot be read
    static Collection<String> of(Path jar) throws IOException {
        Collection<String> options = new TreeSet<>();
        try (JarFile file = new JarFile(jar.toFile())) {
            for (JarEntry entry : file.stream().toList()) {
                if (entry.getName().endsWith(".class")) {
                    add(ClassFile.of().parse(file.getInputStream(entry).readAllBytes()), options);
                }
            }
        } catch (IllegalArgumentException e) {
            throw new IOException(jar + " holds a class that cannot be read: " + e.getMessage(), e);
        }
        return options;
    }

    private static void add(ClassModel type, Collection<String> options) {
        String name = type.thisClass().asInternalName().replace('/', '.');
        add(type, name + "::*", options);
        for (MethodModel method : type.methods()) {
            add(method, name + "::" + method.methodName().stringValue(), options);
        }
    }

    private static void add(AttributedElement annotated, String methods, Collection<String> options) {
        annotated.findAttribute(Attributes.runtimeInvisibleAnnotations()).ifPresent(found -> {
            for (Annotation annotation : found.annotations()) {
                String kind = annotation.className().stringValue();
                if (!NAME.matcher(methods).matches()) {
                    continue;
                }
                if (kind.equals(INLINE)) {
                    options.add(COMMAND + "inline," + methods);
                } else if (kind.equals(SCALING)) {
                    options.add(COMMAND + "CompileThresholdScaling," + methods + "," + factor(annotation));
                }
            }
        });
    }

    private static double factor(Annotation scaling) {
        for (AnnotationElement element : scaling.elements()) {
            if (element.value() instanceof AnnotationValue.OfDouble factor) {
                return factor.doubleValue();
            }
        }
        throw new IllegalArgumentException("CompileThresholdScaling without a factor");
    }
}
