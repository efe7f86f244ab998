package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.platform.cli.doctor.ErrorPage;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.FieldRefEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.StringEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.lang.module.ModuleFinder;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// The rules of the house, checked on the compiled classes of the finished jars.
class RulesIT {
    /// Which of our modules may use another one than `api`; exactly these are used.
    private static final Map<String, Set<String>> ALLOWED = Map.ofEntries(
            Map.entry("dev.tenon.backend.cuda", Set.of("dev.tenon.kernels.nvidia")),
            Map.entry("dev.tenon.backend.nv.tegra", Set.of("dev.tenon.kernels.nvidia")),
            Map.entry(
                    "dev.tenon.backend.nv.rm",
                    Set.of("dev.tenon.backend.nv.tegra", "dev.tenon.kernels.nvidia", "dev.tenon.platform.cli")),
            Map.entry("dev.tenon.jcuda", Set.of("dev.tenon.kernels.nvidia")),
            Map.entry("dev.tenon.backend.nv.tegra.emulator", Set.of("dev.tenon.backend.nv.tegra")),
            Map.entry(
                    "dev.tenon.itest.nv.tegra",
                    Set.of(
                            "dev.tenon.platform.cli",
                            "dev.tenon.platform.core",
                            "dev.tenon.backend.nv.tegra",
                            "dev.tenon.backend.nv.tegra.emulator")),
            Map.entry("dev.tenon.platform.launcher", Set.of("dev.tenon.platform.boot")),
            Map.entry(
                    "dev.tenon.platform.cli",
                    Set.of(
                            "dev.tenon.platform.core",
                            "dev.tenon.platform.boot",
                            "dev.tenon.platform.grammar",
                            "dev.tenon.platform.chat",
                            "dev.tenon.platform.hub",
                            "dev.tenon.platform.media")),
            Map.entry(
                    "dev.tenon.platform.bundles",
                    Set.of(
                            "dev.tenon.platform.core",
                            "dev.tenon.platform.cli",
                            "dev.tenon.platform.boot",
                            "dev.tenon.platform.hub")),
            Map.entry("dev.tenon.platform.hub", Set.of("dev.tenon.platform.core")),
            Map.entry(
                    "dev.tenon",
                    Set.of("dev.tenon.platform.core", "dev.tenon.platform.chat", "dev.tenon.platform.hub")),
            Map.entry("dev.tenon.langchain4j", Set.of("dev.tenon")),
            Map.entry("dev.tenon.platform.tools", Set.of("dev.tenon.platform.core", "dev.tenon.platform.cli")),
            Map.entry(
                    "dev.tenon.platform.bench",
                    Set.of(
                            "dev.tenon.platform.cli",
                            "dev.tenon.platform.core",
                            "dev.tenon.platform.hub",
                            "dev.tenon.platform.tools")),
            Map.entry(
                    "dev.tenon.platform.chat",
                    Set.of("dev.tenon.platform.core", "dev.tenon.platform.grammar", "dev.tenon.platform.media")),
            Map.entry(
                    "dev.tenon.platform.server",
                    Set.of("dev.tenon.platform.core", "dev.tenon.platform.chat", "dev.tenon.platform.hub")),
            Map.entry(
                    "dev.tenon.platform.serve",
                    Set.of("dev.tenon.platform.cli", "dev.tenon.platform.core", "dev.tenon.platform.server")),
            Map.entry(
                    "dev.tenon.platform.contracts",
                    Set.of(
                            "dev.tenon.platform.core",
                            "dev.tenon.platform.cli",
                            "dev.tenon.platform.chat", // what a format of replies is tried with
                            "dev.tenon.itest.testkit")));

    private static final Set<String> MAY_PRINT =
            Set.of("dev.tenon.platform.cli", "dev.tenon.platform.bench", "dev.tenon.platform.launcher");

    private static final Pattern OUR_TYPE = Pattern.compile("dev/tenon/[A-Za-z0-9_/]+");

    /// A class of ours.
    private record Type(String module, String name, ClassModel model) {
        String packageName() {
            return name.substring(0, name.lastIndexOf('.'));
        }

        /// The packages of ours that it names, in whatever way: types, descriptors, signatures.
        Set<String> usedPackages(Set<String> known) {
            Set<String> packages = new TreeSet<>();
            for (PoolEntry entry : model.constantPool()) {
                String text = entry instanceof Utf8Entry utf8 ? utf8.stringValue() : "";
                Matcher matcher = OUR_TYPE.matcher(text);
                while (matcher.find()) {
                    String path = matcher.group();
                    int end = path.lastIndexOf('/');
                    if (end == path.length() - 1) {
                        continue; // a folder of resources
                    }
                    String candidate = path.substring(0, end).replace('/', '.');
                    if (known.contains(candidate)) {
                        packages.add(candidate);
                    }
                }
            }
            packages.remove(packageName());
            return packages;
        }
    }

    private static List<Type> types() throws IOException {
        List<Type> types = new ArrayList<>();
        for (Path jar : jars()) {
            String module = module(jar);
            try (JarFile file = new JarFile(jar.toFile())) {
                for (JarEntry entry : file.stream().toList()) {
                    String name = entry.getName();
                    // Libraries that are copied into a jar keep their own package names.
                    if (name.startsWith("dev/tenon/") && name.endsWith(".class")) {
                        ClassModel model =
                                ClassFile.of().parse(file.getInputStream(entry).readAllBytes());
                        types.add(new Type(
                                module, name.substring(0, name.length() - 6).replace('/', '.'), model));
                    }
                }
            }
        }
        assertTrue(types.size() > 100, "only " + types.size() + " classes found");
        return types;
    }

    /// Our jars, the launcher and the published contracts included.
    private static List<Path> jars() {
        List<Path> jars = new ArrayList<>(Jars.oursAndLauncher());
        jars.addAll(Jars.published());
        return jars;
    }

    private static String module(Path jar) {
        return ModuleFinder.of(jar).findAll().iterator().next().descriptor().name();
    }

    private static Map<String, String> moduleOfPackage(List<Type> types) {
        Map<String, String> modules = new TreeMap<>();
        types.forEach(type -> modules.put(type.packageName(), type.module()));
        return modules;
    }

    @Test
    void packagesStartWithTheirModulesNameAndAreNotSplit() throws IOException {
        Map<String, Set<String>> modules = new TreeMap<>();
        List<String> wrong = new ArrayList<>();
        for (Type type : types()) {
            modules.computeIfAbsent(type.packageName(), p -> new TreeSet<>()).add(type.module());
            String name = type.packageName();
            if (!name.equals(type.module()) && !name.startsWith(type.module() + ".")) {
                wrong.add(type.name() + " in " + type.module());
            }
        }
        assertEquals(List.of(), wrong);
        modules.values().removeIf(each -> each.size() == 1);
        assertEquals(Map.of(), modules, "packages in more than one module");
    }

    @Test
    void modulesMeetOnlyInTheApi() throws IOException {
        List<Type> types = types();
        Map<String, String> moduleOf = moduleOfPackage(types);
        Set<String> wrong = new TreeSet<>();
        Map<String, Set<String>> seen = new TreeMap<>();
        for (Type type : types) {
            for (String used : type.usedPackages(moduleOf.keySet())) {
                String module = moduleOf.get(used);
                if (!module.equals(type.module()) && !module.equals("dev.tenon.api")) {
                    seen.computeIfAbsent(type.module(), m -> new TreeSet<>()).add(module);
                    if (!ALLOWED.getOrDefault(type.module(), Set.of()).contains(module)) {
                        wrong.add(type.name() + " uses " + used);
                    }
                }
            }
        }
        assertEquals(Set.of(), wrong);
        assertEquals(new TreeMap<>(ALLOWED), seen, "what is allowed is used, too");
    }

    @Test
    void theApiNeedsNothingButTheJdk() throws IOException {
        Set<String> wrong = new TreeSet<>();
        for (Type type : types()) {
            if (type.module().equals("dev.tenon.api")) {
                for (PoolEntry entry : type.model().constantPool()) {
                    if (entry instanceof ClassEntry c) {
                        String name = c.asInternalName();
                        if (!name.startsWith("java/") && !name.startsWith("[") && !name.startsWith("dev/tenon/api/")) {
                            wrong.add(type.name() + " uses " + name);
                        }
                    }
                }
            }
        }
        assertEquals(Set.of(), wrong);
    }

    @Test
    void packagesHaveNoCycle() throws IOException {
        List<Type> types = types();
        Map<String, String> moduleOf = moduleOfPackage(types);
        Map<String, Set<String>> uses = new TreeMap<>();
        moduleOf.keySet().forEach(p -> uses.put(p, new TreeSet<>()));
        for (Type type : types) {
            type.usedPackages(moduleOf.keySet()).stream()
                    .filter(used -> moduleOf.get(used).equals(type.module()))
                    .forEach(uses.get(type.packageName())::add);
        }
        // Takes away packages that use nothing that is left, or that nothing left uses; what remains is in a cycle, or
        // between two.
        Map<String, Set<String>> rest = new TreeMap<>(uses);
        while (rest.entrySet().removeIf(each -> each.getValue().stream().noneMatch(rest::containsKey))
                || rest.keySet().removeIf(each -> rest.values().stream().noneMatch(used -> used.contains(each)))) {
            rest.values().forEach(used -> used.retainAll(rest.keySet()));
        }
        assertEquals(Set.of(), rest.keySet(), () -> "packages in a cycle: " + rest);
    }

    @Test
    void onlyTheProgramsPrintToTheConsole() throws IOException {
        Set<String> allowed = new TreeSet<>();
        Set<String> wrong = new TreeSet<>();
        for (Type type : types()) {
            for (PoolEntry entry : type.model().constantPool()) {
                if (entry instanceof FieldRefEntry field
                        && field.owner().asInternalName().equals("java/lang/System")
                        && Set.of("out", "err").contains(field.name().stringValue())) {
                    (MAY_PRINT.contains(type.module()) ? allowed : wrong)
                            .add(type.name() + " uses System." + field.name().stringValue());
                }
            }
        }
        assertTrue(!allowed.isEmpty(), "the check is blind: it does not see what the programs do");
        assertEquals(Set.of(), wrong);
    }

    @Test
    void nothingEndsTheProcess() throws IOException {
        Set<String> allowed = new TreeSet<>();
        Set<String> wrong = new TreeSet<>();
        for (Type type : types()) {
            for (PoolEntry entry : type.model().constantPool()) {
                if (entry instanceof java.lang.classfile.constantpool.MethodRefEntry method
                        && Set.of("java/lang/System.exit", "java/lang/Runtime.halt", "java/lang/Runtime.exit")
                                .contains(method.owner().asInternalName() + "."
                                        + method.name().stringValue())) {
                    (MAY_PRINT.contains(type.module()) ? allowed : wrong)
                            .add(type.name() + " uses " + method.owner().asInternalName() + "." + method.name());
                }
            }
        }
        assertTrue(!allowed.isEmpty(), "the check is blind: it does not see what the programs do");
        assertEquals(Set.of(), wrong);
    }

    @Test
    void internalPackagesAreNotExported() {
        Set<String> wrong = new TreeSet<>();
        for (Path jar : jars()) {
            ModuleFinder.of(jar).findAll().iterator().next().descriptor().exports().stream()
                    .filter(e -> e.source().contains(".internal"))
                    .forEach(e -> wrong.add(module(jar) + " exports " + e.source()));
            String exports = String.valueOf(Jars.attributes(jar).getValue("Export-Package"));
            if (exports.contains(".internal")) {
                wrong.add(jar.getFileName() + " exports " + exports);
            }
        }
        assertEquals(Set.of(), wrong);
    }

    @Test
    void providersExportNothing() {
        List<Path> providers = new ArrayList<>(Jars.models());
        for (String name : List.of("quant-formats", "backend-cpu-vector", "backend-cuda")) {
            providers.add(Jars.ours(name));
        }
        for (Path jar : providers) {
            assertEquals(null, Jars.attributes(jar).getValue("Export-Package"), jar.toString());
        }
    }

    @Test
    void everyExportedPackageHasAVersionOfItsOwn() {
        for (Path jar : jars()) {
            String exports = Jars.attributes(jar).getValue("Export-Package");
            if (exports != null) {
                String bare = exports.replaceAll(";uses:=\"[^\"]*\"", "");
                for (String clause : bare.split(",(?=[a-z])")) {
                    assertTrue(clause.contains(";version=\""), jar.getFileName() + ": " + clause);
                }
            }
        }
    }

    /// Codes of the api's constants, and those that bundles have besides, are string constants of
    /// classes.
    @Test
    void thePageOfErrorsExplainsEachCodeAndNoOther() throws Exception {
        Pattern code = Pattern.compile("[A-Z]+-0\\d\\d");
        Set<String> codes = new TreeSet<>();
        for (Type type : types()) {
            for (PoolEntry entry : type.model().constantPool()) {
                if (entry instanceof StringEntry text
                        && code.matcher(text.stringValue()).matches()) {
                    codes.add(text.stringValue());
                }
            }
        }
        for (Field field : ErrorCode.class.getFields()) {
            codes.add((String) field.get(null));
        }
        Set<String> explained =
                ErrorPage.entries().stream().map(ErrorPage.Entry::code).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(codes, explained);
    }
}
