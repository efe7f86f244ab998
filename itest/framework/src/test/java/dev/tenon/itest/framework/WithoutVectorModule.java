package dev.tenon.itest.framework;

import java.nio.file.Path;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleException;

/// Runs in a JVM of its own, without the vector module: starts every bundle that can start and prints the
/// states.
final class WithoutVectorModule {
    private WithoutVectorModule() {}

    /// Starts the bundles.
    ///
    /// @param args kind of framework, folder for its cache
    public static void main(String[] args) throws Exception {
        if (ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent()) {
            throw new IllegalStateException("the vector module is there; this program is to run without it");
        }
        try (Osgi osgi = new Osgi(Osgi.Kind.valueOf(args[0]), Path.of(args[1]), false)) {
            for (Path jar : Jars.thirdPartyBundles()) {
                osgi.install(jar);
            }
            for (Path jar : Jars.ours()) {
                osgi.install(jar);
            }
            for (Bundle bundle : osgi.bundles()) {
                if (bundle.getBundleId() != 0 && bundle.getHeaders().get("Fragment-Host") == null) {
                    start(bundle);
                }
            }
            for (Bundle bundle : osgi.bundles()) {
                System.out.println(bundle.getSymbolicName() + " " + Osgi.state(bundle));
            }
            System.out.println("formats="
                    + osgi.properties(BundlesIT.FORMAT, "quant.format").size());
            System.out.println("backends=" + osgi.properties(BundlesIT.BACKEND, "backend.id"));
        }
        System.exit(0);
    }

    private static void start(Bundle bundle) {
        try {
            bundle.start();
        } catch (BundleException e) {
            System.out.println(bundle.getSymbolicName() + " does not start: " + e.getMessage());
        }
    }
}
