package dev.tenon.api;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Writes what a type offers to those outside of its package, a line for each member.
final class Signatures {
    private Signatures() {}

    /// {@return whether code of other packages sees a type}
    static boolean isOffered(Class<?> type) {
        boolean seen = isSeen(type.getModifiers());
        Class<?> outer = type.getEnclosingClass();
        return seen && !type.isAnonymousClass() && !type.isLocalClass() && (outer == null || isOffered(outer));
    }

    private static boolean isSeen(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }

    /// {@return the version of the package of a type; the annotation is in its class file only}
    static String version(Class<?> type) throws IOException {
        String file = "/" + type.getPackageName().replace('.', '/') + "/package-info.class";
        try (InputStream in = Signatures.class.getResourceAsStream(file)) {
            return ClassFile.of()
                    .parse(in.readAllBytes())
                    .findAttribute(Attributes.runtimeInvisibleAnnotations())
                    .stream()
                    .flatMap(a -> a.annotations().stream())
                    .filter(a -> a.className().stringValue().endsWith("/Version;"))
                    .map(a -> a.elements().getFirst().value())
                    .map(v -> ((java.lang.classfile.AnnotationValue.OfString) v).stringValue())
                    .findFirst()
                    .orElseThrow();
        }
    }

    /// {@return the type and its members}
    static List<String> of(Class<?> type) {
        List<String> lines = new ArrayList<>();
        for (Field field : type.getDeclaredFields()) {
            if (isOffered(field)) {
                String value = field.getType().isPrimitive() || field.getType() == String.class ? constant(field) : "";
                lines.add(field.toGenericString() + value);
            }
        }
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            if (isOffered(constructor)) {
                lines.add(constructor.toGenericString());
            }
        }
        for (Method method : type.getDeclaredMethods()) {
            if (isOffered(method)) {
                lines.add(method.toGenericString());
            }
        }
        lines.sort(null);
        String permitted = type.isSealed() ? " permits " + names(type.getPermittedSubclasses()) : "";
        lines.addFirst(type.toGenericString() + " extends " + type.getGenericSuperclass() + " implements "
                + Arrays.toString(type.getGenericInterfaces()) + permitted);
        return lines;
    }

    private static String names(Class<?>[] types) {
        return Arrays.stream(types).map(Class::getName).sorted().toList().toString();
    }

    private static boolean isOffered(Member member) {
        return isSeen(member.getModifiers()) && !member.isSynthetic();
    }

    /// The value of a constant: callers have it in their own class files.
    private static String constant(Field field) {
        try {
            return Modifier.isStatic(field.getModifiers()) ? " = " + field.get(null) : "";
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }
}
