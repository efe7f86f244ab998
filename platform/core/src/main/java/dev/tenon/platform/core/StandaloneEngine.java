package dev.tenon.platform.core;

import dev.tenon.api.engine.Engine;
import java.nio.file.Path;
import java.util.List;
import org.osgi.annotation.versioning.ProviderType;

/// An engine without a framework, which bundles are installed into, replaced in and removed from while it
/// runs. Made by [Tenon#standalone]. Safe for any thread.
///
/// The engine does not check who made a bundle: its code runs when it is installed, with the rights of
/// the program. It does check that a bundle computes what it should: backends and kernels compute a tiny
/// model and are compared with scalar arithmetic, a replaced format has to decode as before, and loaded
/// models keep their logits.
@ProviderType
public interface StandaloneEngine extends Engine {
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
