package dev.tenon.api.bundle;

import dev.tenon.api.config.Setting;
import java.util.List;
import java.util.Map;
import org.osgi.annotation.versioning.ConsumerType;

/// The settings of a bundle: users find them in `tenon config`, and give them where they give all
/// others, in `etc/dev.tenon.platform.cfg` or in the environment.
///
/// A service; all of them are used. An engine tells it the values when it comes, and again whenever the
/// configuration has changed; until then the defaults hold. One call at a time, on several threads; it
/// must be quick. An exception is logged. Backends and kernel providers declare theirs by themselves.
@ConsumerType
public interface BundleSettings {
    /// {@return who reads them, as `tenon config` calls it: a word or two; always the same}
    String owner();

    /// {@return the settings; always the same. Names begin with a word of the bundle's own}
    List<Setting> settings();

    /// Takes the values.
    ///
    /// @param values the value of each setting by its name, in the one spelling of its type; the default
    ///     where none is given, or one that is not allowed; unmodifiable
    void configured(Map<String, String> values);
}
