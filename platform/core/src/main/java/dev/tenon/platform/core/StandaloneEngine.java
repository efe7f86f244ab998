package dev.tenon.platform.core;

import dev.tenon.api.engine.Engine;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.osgi.annotation.versioning.ProviderType;
import org.slf4j.LoggerFactory;

/// An engine without a framework, made from whatever is on the class path or module path. Bundles are installed into
/// it,
/// replaced in it and removed from it while it runs. Safe for any thread.
///
/// ```java
/// try (Engine engine = StandaloneEngine.create(Map.of());
///         LoadedModel model = engine.load(LoadRequest.of(Path.of("model.gguf")));
///         Session session = model.newSession()) {
///     int[] prompt = model.tokenizer().encode("Once upon a time", true, false);
///     session.generate(GenerationRequest.of(prompt, SamplingParams.defaults(), 100),
///             System.out::print);
/// }
/// ```
///
/// The engine does not check who made a bundle: its code runs when it is installed, with the rights of
/// the program. It does check that a bundle computes what it should: backends and kernels compute a tiny
/// model and are compared with scalar arithmetic, a replaced format has to decode as before, and loaded
/// models keep their logits.
@ProviderType
public interface StandaloneEngine extends Engine {
    /// Makes an engine from all providers that `ServiceLoader` finds by the thread's class loader and by
    /// Tenon's own. A provider that cannot be loaded is skipped with a warning.
    ///
    /// The class path is trusted: whoever can put a jar on it, or on the module path, runs code in this
    /// process. Two providers of one id are not chosen from: a model that needs the id is refused with both
    /// named, unless the setting `prefer.KIND.ID` names one (`CFG-002`).
    ///
    /// @param settings as in `etc/dev.tenon.platform.cfg`; the environment's `TENON_*` variables override
    ///     them
    /// @return the engine; the caller closes it
    static StandaloneEngine create(Map<String, String> settings) {
        return create(settings, type -> true);
    }

    /// Makes an engine from some of the providers that `ServiceLoader` finds.
    ///
    /// @param settings as above
    /// @param wanted which classes to make providers of, such as those of some modules or packages, or with
    ///     some signers. Asked before a class is initialised; of a module that provides by a method, that
    ///     method's return type is asked for first
    /// @return the engine; the caller closes it
    static StandaloneEngine create(Map<String, String> settings, Predicate<Class<?>> wanted) {
        ServiceRegistry registry = new ServiceRegistry();
        new Providers(
                        wanted,
                        e -> LoggerFactory.getLogger(StandaloneEngine.class)
                                .warn("A provider was skipped: {}", e.toString()))
                .find(Thread.currentThread().getContextClassLoader())
                .find(StandaloneEngine.class.getClassLoader())
                .all()
                .forEach(registry::add);
        return new ServiceLoaderEngine(registry, EngineConfig.of(settings, System.getenv()));
    }

    /// Installs what jars offer: formats, architectures, backends, kernels and whatever else
    /// `META-INF/services` names.
    ///
    /// The jars get one class loader, which sees the program's classes too; the engine owns it and closes
    /// it when the bundle is removed or the engine closed. Until then the files must not change. Models
    /// that are loaded stay where they are.
    ///
    /// @param jars the bundle's jar, and those that it needs and the program does not have
    /// @return the bundle
    /// @throws dev.tenon.api.error.TenonException (`BUNDLE-001`) if a file is no jar, (`BUNDLE-002`) if the
    ///     bundle offers nothing, does not load or fails its check, (`CFG-002`) if it offers an id that
    ///     another one has; nothing is installed
    InstalledBundle install(Path... jars);

    /// Installs providers that the program made, as [#install(Path...)] does with those of a jar.
    ///
    /// @param providers formats, architectures, backends, kernel providers, and others of the api
    /// @return the bundle
    /// @throws dev.tenon.api.error.TenonException as above
    /// @throws IllegalArgumentException if one is no provider
    InstalledBundle installProviders(Object... providers);

    /// A bundle that was installed into a running engine.
    @ProviderType
    interface InstalledBundle {
        /// {@return its providers; unmodifiable}
        List<Object> providers();

        /// Replaces the bundle. Loaded models that use it move to the new one in one step: their sessions
        /// wait, compute their tokens again and go on.
        ///
        /// @param jars as in [StandaloneEngine#install(Path...)]; other files than those in use
        /// @return the new bundle; this one is removed
        /// @throws dev.tenon.api.error.TenonException as there, or why a loaded model cannot be placed on the
        ///     new bundle, or (`BUNDLE-007`) that its logits would become others by more than rounding; then
        ///     this one stays in use. Where other logits are meant, [#remove()] and install instead
        InstalledBundle replace(Path... jars);

        /// Removes the bundle. Loaded models that use it are placed again by their next step; if nothing
        /// else can run them, that step fails (`BACKEND-004`). Removing it twice does nothing.
        void remove();
    }
}
