package dev.tenon.platform.cli.terminal;

import dev.tenon.platform.cli.Console;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/// Watches for a signal, such as Ctrl-C (SIGINT).
///
/// The JDK has no supported way to see a signal; `sun.misc.Signal` of module `jdk.unsupported` is
/// there in every JDK, and is looked up through the boot loader, so that neither bundle nor module
/// has to require it. Without it the signal simply ends the process.
public final class InterruptWatch implements Console.Interrupt {
    private final AtomicInteger signals = new AtomicInteger();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final String name;
    /// What a second signal ends the process with; 0 if each one calls the action.
    private final int status;
    private final Runnable action;
    /// Those that are open of each signal, the last one opened last: it alone hears the signal. Guards itself.
    private static final Map<String, List<InterruptWatch>> OPEN = new HashMap<>();
    /// How to give signals their usual meaning again. Guarded by [#OPEN].
    private static final Map<String, Runnable> RESTORE = new HashMap<>();

    /// @param name the signal, without `SIG`
    /// @param status what a second one ends the process with; 0 if each one calls the action
    /// @param action called at the first one, or at each
    public InterruptWatch(String name, int status, Runnable action) {
        this.name = name;
        this.status = status;
        this.action = action;
        synchronized (OPEN) {
            List<InterruptWatch> open = OPEN.computeIfAbsent(name, n -> new ArrayList<>());
            if (open.isEmpty()) {
                RESTORE.put(name, install(name));
            }
            open.add(this);
        }
    }

    @Override
    public boolean happened() {
        return signals.get() > 0;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            synchronized (OPEN) {
                List<InterruptWatch> open = OPEN.get(name);
                open.remove(this);
                if (open.isEmpty()) {
                    RESTORE.remove(name).run();
                }
            }
        }
    }

    public void signal() {
        if (signals.incrementAndGet() > 1 && status != 0) {
            Runtime.getRuntime().halt(status);
        }
        action.run();
    }

    private static void heard(String name) {
        InterruptWatch last;
        synchronized (OPEN) {
            List<InterruptWatch> open = OPEN.get(name);
            if (open.isEmpty()) {
                return; // it was closed at this moment
            }
            last = open.getLast();
        }
        last.signal();
    }

    private static Runnable install(String name) {
        try {
            Class<?> signalClass = Class.forName("sun.misc.Signal", true, null);
            Class<?> handlerClass = Class.forName("sun.misc.SignalHandler", true, null);
            Object signal = signalClass.getConstructor(String.class).newInstance(name);
            InvocationHandler calls = (proxy, method, args) -> switch (method.getName()) {
                case "handle" -> {
                    heard(name);
                    yield null;
                }
                case "hashCode" -> System.identityHashCode(proxy);
                case "equals" -> proxy == args[0];
                default -> "watch for SIG" + name;
            };
            Object handler =
                    Proxy.newProxyInstance(InterruptWatch.class.getClassLoader(), new Class<?>[] {handlerClass}, calls);
            Object before =
                    signalClass.getMethod("handle", signalClass, handlerClass).invoke(null, signal, handler);
            return () -> {
                try {
                    signalClass.getMethod("handle", signalClass, handlerClass).invoke(null, signal, before);
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException("the handler of SIG" + name + " cannot be restored", e);
                }
            };
        } catch (ReflectiveOperationException | IllegalArgumentException e) {
            // No such module, or the JVM runs with -Xrs: the signal keeps its usual meaning.
            return () -> {};
        }
    }
}
