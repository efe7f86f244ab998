package dev.tenon.platform.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Version;
import org.osgi.framework.startlevel.BundleStartLevel;

class NotedProblemsTests {
    @Test
    void aBundleThatIsUninstalledMeanwhileHasNoProblem() {
        assertEquals(List.of(), new NotedProblems(one(Bundle.UNINSTALLED)).lines());
    }

    @Test
    void anotherFailureOfTheFrameworkIsToldWithTheBundle() {
        List<String> lines = new NotedProblems(one(Bundle.INSTALLED)).lines();
        assertEquals(
                List.of("some.bundle 1.0.0 did not start: IllegalArgumentException: Bundle is uninstalled."), lines);
    }

    /// One bundle of which Felix says that it is uninstalled, as it does when it is asked for the start level.
    ///
    /// @param later its state from that question on
    private static BundleContext one(int later) {
        AtomicInteger state = new AtomicInteger(Bundle.INSTALLED);
        BundleStartLevel gone = proxy(BundleStartLevel.class, Map.of("isPersistentlyStarted", args -> {
            state.set(later);
            throw new IllegalArgumentException("Bundle is uninstalled.");
        }));
        Bundle bundle = proxy(
                Bundle.class,
                Map.of(
                        "getBundleId", args -> 7L,
                        "getSymbolicName", args -> "some.bundle",
                        "getVersion", args -> new Version(1, 0, 0),
                        "adapt", args -> args[0] == BundleStartLevel.class ? gone : null,
                        "getState", args -> state.get()));
        return proxy(BundleContext.class, Map.of("getBundles", args -> new Bundle[] {bundle}));
    }

    private static <T> T proxy(Class<T> type, Map<String, Function<Object[], ?>> answers) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, args) -> answers.get(method.getName()).apply(args)));
    }
}
