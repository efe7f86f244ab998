package org.example.jcublas;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import jcuda.NativePointerObject;

/// JCuda's objects for the driver's handles: JCuda hides the number that an object stands for.
final class Handles {
    private static final VarHandle POINTER;

    static {
        try {
            POINTER = MethodHandles.privateLookupIn(NativePointerObject.class, MethodHandles.lookup())
                    .findVarHandle(NativePointerObject.class, "nativePointer", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private Handles() {}

    /// Lets an object stand for a handle or an address.
    static <T extends NativePointerObject> T set(T object, long handle) {
        POINTER.set(object, handle);
        return object;
    }

    /// {@return the handle or address that an object stands for}
    static long get(NativePointerObject object) {
        return (long) POINTER.get(object);
    }
}
