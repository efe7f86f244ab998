package dev.tenon.platform.bundles.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class LinkCheckTests {
    private static final ClassDesc USER = ClassDesc.of("user.Code");

    /// Faults of a class with one method of this code, in a bundle that imports the packages.
    private static List<String> faults(Consumer<CodeBuilder> code, String... imported) {
        byte[] bytes = ClassFile.of()
                .build(
                        USER,
                        type -> type.withMethodBody(
                                "run", MethodTypeDesc.of(ConstantDescs.CD_void), ClassFile.ACC_STATIC, code));
        ClassLoader loader = new ClassLoader(LinkCheckTests.class.getClassLoader()) {
            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                if (!name.equals("user.Code")) {
                    throw new ClassNotFoundException(name);
                }
                return defineClass(name, bytes, 0, bytes.length);
            }

            @Override
            public InputStream getResourceAsStream(String name) {
                return new ByteArrayInputStream(bytes);
            }
        };
        return LinkCheck.faults(loader, List.of("user/Code.class"), Stream.of(imported));
    }

    private static void call(CodeBuilder code, Class<?> owner, String name, ClassDesc result) {
        code.aconst_null()
                .checkcast(owner.describeConstable().orElseThrow())
                .invokevirtual(owner.describeConstable().orElseThrow(), name, MethodTypeDesc.of(result))
                .pop2()
                .return_();
    }

    /// The compiler writes the types of the call into it, which no declaration has.
    @Test
    void methodsOfAnySignatureAreNoFaults() {
        assertEquals(
                List.of(),
                faults(code -> call(code, VarHandle.class, "get", ConstantDescs.CD_long), "java.lang.invoke"));
        assertEquals(
                List.of(),
                faults(
                        code -> call(code, MethodHandle.class, "invokeExact", ConstantDescs.CD_long),
                        "java.lang.invoke"));
    }

    @Test
    void aMethodThatAnImportedClassDoesNotHaveIsAFault() {
        List<String> faults = faults(
                code -> call(code, BundleManager.class, "noSuchMethod", ConstantDescs.CD_long),
                BundleManager.class.getPackageName());
        assertEquals(List.of("user.Code: no method " + BundleManager.class.getName() + ".noSuchMethod()J"), faults);
    }

    @Test
    void aClassThatIsNotThereIsAFaultWhereItsPackageIsImported() {
        Consumer<CodeBuilder> code = it -> it.aconst_null()
                .checkcast(ClassDesc.of("dev.tenon.platform.bundles.manager.NoSuchClass"))
                .pop()
                .return_();
        assertEquals(List.of(), faults(code));
        assertEquals(
                List.of("user.Code: no class dev.tenon.platform.bundles.manager.NoSuchClass"),
                faults(code, "dev.tenon.platform.bundles.manager"));
    }
}
