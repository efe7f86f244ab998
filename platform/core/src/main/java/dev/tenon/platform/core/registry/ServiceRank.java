package dev.tenon.platform.core.registry;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.Annotation;
import java.lang.classfile.AnnotationElement;
import java.lang.classfile.AnnotationValue;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.util.Map;

/// The rank of a service of a kind of which only one is used: that of its component in a framework, and that of the
/// annotation `ServiceRanking`, from which the component's comes, without one.
public final class ServiceRank {
    private static final String PROPERTY = "service.ranking";
    private static final String ANNOTATION = "Lorg/osgi/service/component/propertytypes/ServiceRanking;";

    private ServiceRank() {}

    /// {@return the rank in a framework; 0 if none is given}
    ///
    /// @param properties of the service
    public static int of(Map<String, Object> properties) {
        return properties.get(PROPERTY) instanceof Integer rank ? rank : 0;
    }

    /// {@return the rank that the class has by its annotation; 0 without one}
    ///
    /// @param type whose class file says so; the annotation is not there at run time
    public static int of(Class<?> type) {
        String file = type.getName().substring(type.getName().lastIndexOf('.') + 1) + ".class";
        try (InputStream in = type.getResourceAsStream(file)) {
            return in == null ? 0 : of(in.readAllBytes());
        } catch (IOException e) {
            throw new IllegalStateException(type + " was loaded, but cannot be read again", e);
        }
    }

    private static int of(byte[] file) {
        return ClassFile.of().parse(file).findAttribute(Attributes.runtimeInvisibleAnnotations()).stream()
                .flatMap(found -> found.annotations().stream())
                .filter(each -> each.className().equalsString(ANNOTATION))
                .mapToInt(ServiceRank::value)
                .findFirst()
                .orElse(0);
    }

    private static int value(Annotation annotation) {
        return annotation.elements().stream()
                .map(AnnotationElement::value)
                .mapToInt(value -> value instanceof AnnotationValue.OfInt rank ? rank.intValue() : 0)
                .findFirst()
                .orElse(0);
    }
}
