package dev.tenon.platform.core.control;

import dev.tenon.api.bundle.BundleChange;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.TenonException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.osgi.annotation.versioning.ProviderType;

/// What the manager of bundles does with the engine: it tries a new version beside the old one and then
/// has it take the old one's place. Bundles go by their numbers in the framework. Safe for any thread.
@ProviderType
public interface EngineControl {
    /// Offers no service of a bundle to models, neither those that are there nor those to come.
    ///
    /// @param bundle number of the bundle
    void hold(long bundle);

    /// Offers the services of a bundle that was held; also to be called when a held bundle is gone.
    ///
    /// @param bundle number of the bundle
    void release(long bundle);

    /// {@return how many services of a bundle the engine knows, held or not}
    ///
    /// @param bundle number of the bundle
    int services(long bundle);

    /// Tries the services of a bundle: backends and kernels compute a tiny model and are compared with
    /// scalar arithmetic; the decoders of formats with their layouts.
    ///
    /// @param bundle number of the bundle, which may be held
    /// @param replaced number of the bundle that it replaces, or -1
    /// @return what is wrong, a line each; empty if nothing is
    List<String> check(long bundle, long replaced);

    /// Tells which formats of a bundle decode a block to other values than the version that they replace.
    ///
    /// @param bundle number of the bundle, which may be held
    /// @param replaced number of the bundle that it replaces, or -1
    /// @return what has changed, a line each; empty if nothing has
    List<String> changedFormats(long bundle, long replaced);

    /// Tells which services of some bundles are not offered, or would not be, since other bundles have their
    /// ids and no setting names those to offer.
    ///
    /// @param bundles numbers of the bundles, held or not
    /// @param replaced numbers of the bundles that they are to replace
    /// @return what is wrong, a line each; empty if nothing is
    List<String> refusedIds(Set<Long> bundles, Set<Long> replaced);

    /// Offers the services of some bundles instead of others'. Models that use the old ones move to the
    /// new ones; their sessions wait meanwhile and go on.
    ///
    /// @param old numbers of the bundles that are replaced; their services are held afterwards
    /// @param next numbers of bundles that are held
    /// @param reason what sessions are told
    /// @param acceptChangedResults whether the logits of a model may become others, by more than rounding
    /// @return how the logits of a short text differ, a line for each loaded model whose logits do
    /// @throws TenonException if a model cannot be placed on the new services, or its logits became
    ///     others (`BUNDLE-007`); then everything is as before
    List<String> replace(Set<Long> old, Set<Long> next, String reason, boolean acceptChangedResults);

    /// Tells the listeners of bundles what was done, later and on a thread of their own.
    ///
    /// @param change what was done, or refused
    void tell(BundleChange change);

    /// Explains where a model would run now, and why, without loading it.
    ///
    /// @param request the model, and how it is to be placed
    /// @return the selections: architecture, the format of each tensor, backend, device, and the kernel of each
    ///     op; those after a selection without a candidate that can be taken are left out
    /// @throws TenonException if the file cannot be read
    List<Selection> explain(LoadRequest request);

    /// Lists the settings that the platform's engine, the installed backends, the kernel providers and other bundles
    /// declare, with their values.
    ///
    /// @param request values by name that override all others, as those of a request do
    /// @return the values, one for each declaration; a setting that several backends read comes several times
    /// @throws TenonException (`CFG-001`) if the request names a setting that nobody declares
    List<SettingValue> settings(Map<String, String> request);
}
