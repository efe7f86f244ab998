package dev.tenon.itest.framework;

import dev.tenon.api.device.Backend;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.quant.QuantFormat;
import java.util.ServiceLoader;

/// Runs in a JVM of its own, without any framework: prints what `ServiceLoader` finds, and from which
/// module.
final class ListServices {
    private ListServices() {}

    /// Prints one line a service and one a module.
    ///
    /// @param args unused
    public static void main(String[] args) {
        for (QuantFormat format : ServiceLoader.load(QuantFormat.class)) {
            System.out.println("format " + format.id());
        }
        for (ModelArchitecture architecture : ServiceLoader.load(ModelArchitecture.class)) {
            System.out.println("architecture " + architecture.id());
        }
        for (Backend backend : ServiceLoader.load(Backend.class)) {
            System.out.println("backend " + backend.id());
            System.out.println("probe " + backend.probe().available());
            System.out.println(
                    "backend-module " + backend.getClass().getModule().getName());
        }
        ModuleLayer.boot().modules().stream()
                .map(Module::getName)
                .filter(name -> name.startsWith("dev.tenon."))
                .sorted()
                .forEach(name -> System.out.println("module " + name));
    }
}
