package dev.tenon.platform.launcher;

import dev.tenon.platform.launcher.home.PlatformException;
import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/// Loads the Vector API's module into a JVM that was started without it.
///
/// A JVM whose command line names an incubator module says so in a line at each start, and reads its
/// start-up cache without linked classes and without the profiles of the recorded run. So the start
/// script does not name the module, but exports the JDK's own way of loading one later to the launcher.
final class VectorModule {
    /// The module, and its only package.
    static final String NAME = "jdk.incubator.vector";

    /// System property of the start script: `first` loads the module before the framework starts,
    /// `last` when the command has run. The recording of a cache takes the latter, because a cache
    /// cannot hold classes that depend on the module. Not set: the command line of the JVM decides.
    private static final String WHEN = "tenon.vector";

    private VectorModule() {}

    /// {@return whether the module comes later, so that the framework does not see it}
    static boolean isLate() {
        return System.getProperty(WHEN) != null && !isThere();
    }

    private static boolean isThere() {
        return ModuleLayer.boot().findModule(NAME).isPresent();
    }

    /// Loads the module in a thread of its own if it is to be there first: nothing needs it before
    /// a model is loaded.
    ///
    /// @return waits for the module; throws the [PlatformException] of [#load]
    static Runnable loadBeside() {
        if (!isTime("first")) {
            return () -> {};
        }
        FutureTask<Void> task = new FutureTask<>(() -> load("first"), null);
        Thread.ofPlatform().daemon().name("tenon-vector").start(task);
        return () -> {
            try {
                task.get();
            } catch (ExecutionException e) {
                throw e.getCause() instanceof PlatformException known ? known : new IllegalStateException(e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new PlatformException("The start was interrupted.");
            }
        };
    }

    private static boolean isTime(String when) {
        return when.equals(System.getProperty(WHEN)) && !isThere();
    }

    /// Loads the module if this is the time for it, and it is not there.
    ///
    /// @param when `first` or `last`
    /// @throws PlatformException if this JDK cannot
    static void load(String when) {
        if (!isTime(when)) {
            return;
        }
        try {
            Class.forName("jdk.internal.module.Modules")
                    .getMethod("loadModule", String.class)
                    .invoke(null, NAME);
        } catch (ReflectiveOperationException | RuntimeException e) {
            Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
            throw new PlatformException("This JDK (" + Runtime.version() + ") does not load the module " + NAME
                    + " into a running JVM: " + cause + ". Start with TENON_AOT=off.");
        }
    }
}
