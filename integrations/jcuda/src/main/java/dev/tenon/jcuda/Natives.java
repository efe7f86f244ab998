package dev.tenon.jcuda;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import jcuda.NativePointerObject;

/// JCuda's objects and the driver's handles: what JCuda hides, because it has objects where the driver has numbers.
final class Natives {
    private static final Map<String, String> REASONS = new ConcurrentHashMap<>();
    private static final VarHandle POINTER;

    static {
        try {
            POINTER = MethodHandles.privateLookupIn(NativePointerObject.class, MethodHandles.lookup())
                    .findVarHandle(NativePointerObject.class, "nativePointer", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private Natives() {}

    /// Lets an object stand for a handle or an address.
    ///
    /// @param object of the class that JCuda wants
    /// @param handle the driver's number
    /// @return the object
    static <T extends NativePointerObject> T set(T object, long handle) {
        POINTER.set(object, handle);
        return object;
    }

    /// {@return the handle or address that an object stands for}
    static long get(NativePointerObject object) {
        return (long) POINTER.get(object);
    }

    /// {@return why a library was not loaded, in one line: JCuda's own message has dozens, and only the first attempt
    ///     to load it throws that}
    ///
    /// @param library its name
    /// @param error what the attempt threw
    static String reason(String library, LinkageError error) {
        return REASONS.computeIfAbsent(library, l -> {
            List<String> lines = String.valueOf(error.getMessage())
                    .lines()
                    .map(String::strip)
                    .toList();
            return lines.stream()
                    .filter(line -> line.contains("cannot open shared object"))
                    .findFirst()
                    .orElse(lines.getFirst())
                    .replaceFirst("^(java\\.lang\\.\\w+: )?(/\\S+: )?", "");
        });
    }
}
