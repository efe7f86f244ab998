package dev.tenon.platform.bundles.manager;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.FieldRefEntry;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.osgi.framework.Bundle;
import org.osgi.framework.namespace.PackageNamespace;
import org.osgi.framework.wiring.BundleWiring;

/// Finds what a bundle's classes name and nobody has: a class, method or field of the bundle's own
/// packages or of those that it is bound to. Such code fails when it first runs, perhaps long after
/// the bundle was installed.
///
/// Every class is loaded and linked, none is initialized. Packages that the bundle neither has nor
/// is bound to are left out: what a library names there it can do without. So are those of the JDK, also where a
/// bundle imports them: methods such as `VarHandle.get` have any signature, and reflection hides some members.
final class LinkCheck {
    /// Of one bundle; further faults mostly have the same reason.
    private static final int MOST = 5;

    private final ClassLoader loader;
    private final Set<String> packages;
    private final Map<String, Class<?>> loaded = new HashMap<>();
    private final Map<Class<?>, Set<String>> members = new HashMap<>();

    private LinkCheck(ClassLoader loader, Set<String> packages) {
        this.loader = loader;
        this.packages = packages;
    }

    /// {@return a line for each fault, naming the class and what it lacks}
    ///
    /// @param bundle a resolved bundle
    static List<String> faults(Bundle bundle) {
        BundleWiring wiring = bundle.adapt(BundleWiring.class);
        List<String> classes = wiring
                .listResources("/", "*.class", BundleWiring.LISTRESOURCES_RECURSE | BundleWiring.LISTRESOURCES_LOCAL)
                .stream()
                .filter(file -> !file.startsWith("META-INF/") && !file.endsWith("module-info.class"))
                .sorted()
                .toList();
        Stream<String> imported = wiring.getRequiredWires(PackageNamespace.PACKAGE_NAMESPACE).stream()
                .map(wire -> wire.getCapability().getAttributes().get(PackageNamespace.PACKAGE_NAMESPACE))
                .map(Object::toString);
        return faults(wiring.getClassLoader(), classes, imported);
    }

    /// {@return a line for each fault}
    ///
    /// @param loader of the classes
    /// @param classes their files
    /// @param imported packages of others that they are bound to
    static List<String> faults(ClassLoader loader, List<String> classes, Stream<String> imported) {
        Set<String> packages =
                classes.stream().map(LinkCheck::packageOf).collect(Collectors.toCollection(HashSet::new));
        imported.filter(each -> !each.startsWith("java.")).forEach(each -> packages.add(each.replace('.', '/')));
        LinkCheck check = new LinkCheck(loader, packages);
        List<String> faults = new ArrayList<>();
        for (String file : classes) {
            if (faults.size() < MOST) {
                check.look(file, faults);
            }
        }
        return faults;
    }

    private void look(String file, List<String> faults) {
        String name = file.substring(0, file.length() - ".class".length());
        Set<String> missing = new TreeSet<>();
        try (InputStream in = loader.getResourceAsStream(file)) {
            if (in == null) {
                return; // its package is another bundle's, whose class is taken instead
            }
            ClassModel model = ClassFile.of().parse(in.readAllBytes());
            for (PoolEntry entry : model.constantPool()) {
                switch (entry) {
                    case ClassEntry type -> find(type.asInternalName(), missing);
                    case MemberRefEntry member -> find(member, missing);
                    default -> {} // names nothing of others
                }
            }
            if (missing.isEmpty()) {
                Class.forName(name.replace('/', '.'), false, loader).getDeclaredConstructors(); // links it
            }
        } catch (NoClassDefFoundError e) {
            addIfOurs(String.valueOf(e.getMessage()), missing);
        } catch (LinkageError | ClassNotFoundException | IllegalArgumentException | IOException e) {
            missing.add(e.toString().replaceAll("\\s+", " "));
        }
        if (!missing.isEmpty()) {
            faults.add(name.replace('/', '.') + ": " + String.join(", ", missing));
        }
    }

    /// {@return the class, or null if it is not there or not looked for}
    ///
    /// @param name with slashes, or of an array
    private Class<?> find(String name, Set<String> missing) {
        if (name.startsWith("[") || !packages.contains(packageOf(name))) {
            return null;
        }
        try {
            Class<?> known = loaded.get(name);
            if (known == null) {
                known = Class.forName(name.replace('/', '.'), false, loader);
                loaded.put(name, known);
            }
            return known;
        } catch (ClassNotFoundException e) {
            addIfOurs(name, missing);
        } catch (NoClassDefFoundError e) {
            addIfOurs(String.valueOf(e.getMessage()), missing);
        }
        return null;
    }

    private void addIfOurs(String name, Set<String> missing) {
        if (packages.contains(packageOf(name))) {
            missing.add("no class " + name.replace('/', '.'));
        }
    }

    private void find(MemberRefEntry member, Set<String> missing) {
        Class<?> owner = find(member.owner().asInternalName(), missing);
        String key = member.name().stringValue() + member.type().stringValue();
        try {
            if (owner != null && !has(owner, key)) {
                missing.add(
                        "no " + (member instanceof FieldRefEntry ? "field " : "method ") + owner.getName() + "." + key);
            }
        } catch (NoClassDefFoundError e) {
            addIfOurs(String.valueOf(e.getMessage()), missing);
        }
    }

    private boolean has(Class<?> type, String key) {
        if (members.computeIfAbsent(type, LinkCheck::members).contains(key)) {
            return true;
        }
        Class<?> parent = type.isInterface() ? Object.class : type.getSuperclass();
        return parent != null && has(parent, key)
                || Arrays.stream(type.getInterfaces()).anyMatch(each -> has(each, key));
    }

    private static Set<String> members(Class<?> type) {
        return Stream.of(
                        Arrays.stream(type.getDeclaredFields())
                                .map(field -> field.getName() + field.getType().descriptorString()),
                        Arrays.stream(type.getDeclaredMethods())
                                .map(method -> method.getName()
                                        + descriptor(method.getParameterTypes(), method.getReturnType())),
                        Arrays.stream(type.getDeclaredConstructors())
                                .map(each -> "<init>" + descriptor(each.getParameterTypes(), void.class)))
                .flatMap(each -> each)
                .collect(Collectors.toSet());
    }

    private static String descriptor(Class<?>[] parameters, Class<?> result) {
        return Arrays.stream(parameters)
                .map(Class::descriptorString)
                .collect(Collectors.joining("", "(", ")" + result.descriptorString()));
    }

    private static String packageOf(String name) {
        return name.substring(0, Math.max(0, name.lastIndexOf('/')));
    }
}
