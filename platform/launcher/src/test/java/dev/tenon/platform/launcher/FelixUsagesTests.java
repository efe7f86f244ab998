package dev.tenon.platform.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.felix.framework.FrameworkFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.wiring.BundleWiring;

class FelixUsagesTests {
    @TempDir
    Path folder;

    private Bundle started(BundleContext context, String name) throws Exception {
        Path jar = folder.resolve(name + ".jar");
        new FakeBundle(name)
                .type("fake.Type", "package fake; public class Type {}")
                .write(jar);
        Bundle bundle = context.installBundle(jar.toUri().toString());
        bundle.start();
        return bundle;
    }

    /// A service that it used stays, and a thread that ended was the second to want a class of another one.
    @Test
    @SuppressWarnings("unchecked")
    void nothingIsKeptOfABundleThatWasUninstalled() throws Exception {
        Framework felix = new FrameworkFactory()
                .newFramework(Map.of(
                        Constants.FRAMEWORK_STORAGE, folder.resolve("cache").toString(), "felix.log.level", "0"));
        felix.start();
        try {
            FelixUsages.forgetOf(felix);
            BundleContext context = felix.getBundleContext();
            Bundle stays = started(context, "fake.stays");
            Bundle goes = started(context, "fake.goes");
            ServiceReference<String> service =
                    context.registerService(String.class, "x", null).getReference();
            goes.getBundleContext().getService(service);
            goes.getBundleContext().ungetService(service);
            Map<?, ?> usages = (Map<?, ?>) FelixUsages.read(FelixUsages.read(felix, "m_registry"), "m_inUseMap");
            assertTrue(usages.containsKey(goes), "the note that Felix keeps");
            stays.loadClass("fake.Type");
            var loader = stays.adapt(BundleWiring.class).getClassLoader();
            Map<String, Thread> locks = (Map<String, Thread>) FelixUsages.read(loader, "m_classLocks");
            locks.put("fake.Type", Thread.currentThread());
            goes.uninstall();
            assertFalse(usages.containsKey(goes));
            assertEquals(Map.of(), locks);
        } finally {
            felix.stop();
            felix.waitForStop(TimeUnit.MINUTES.toMillis(1));
        }
    }
}
