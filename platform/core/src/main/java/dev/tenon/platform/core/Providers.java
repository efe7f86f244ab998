package dev.tenon.platform.core;

import dev.tenon.platform.core.control.ServiceKind;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Consumer;
import java.util.function.Predicate;

/// Finds the providers of all kinds by `ServiceLoader`, each class once.
final class Providers {
    private final Map<Class<?>, Object> found = new LinkedHashMap<>();
    private final Predicate<Class<?>> wanted;
    private final Consumer<Throwable> failure;

    /// @param wanted which classes to make providers of; asked before their code runs, unless a module provides
    ///     by a method that does not say what it returns
    /// @param failure told why a provider cannot be had
    Providers(Predicate<Class<?>> wanted, Consumer<Throwable> failure) {
        this.wanted = wanted;
        this.failure = failure;
    }

    /// Adds those that a class loader finds.
    ///
    /// @return this
    Providers find(ClassLoader loader) {
        for (ServiceKind kind : ServiceKind.values()) {
            Iterator<? extends ServiceLoader.Provider<?>> providers =
                    ServiceLoader.load(kind.type(), loader).stream().iterator();
            while (next(providers)) {}
        }
        return this;
    }

    private boolean next(Iterator<? extends ServiceLoader.Provider<?>> providers) {
        try {
            if (!providers.hasNext()) {
                return false;
            }
            ServiceLoader.Provider<?> provider = providers.next();
            if (!found.containsKey(provider.type()) && wanted.test(provider.type())) {
                Object made = provider.get();
                if (made.getClass() == provider.type() || wanted.test(made.getClass())) {
                    found.put(provider.type(), made);
                }
            }
        } catch (ServiceConfigurationError | LinkageError e) {
            failure.accept(e);
        }
        return true;
    }

    /// {@return the providers in the order they were found}
    Iterable<Object> all() {
        return found.values();
    }
}
