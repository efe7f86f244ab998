package dev.tenon.api.registry;

import java.util.List;
import org.osgi.annotation.versioning.ConsumerType;

/// A place that has models: a hub, a company's registry, a folder.
///
/// A service; of each id one is used. It answers what `ID:` at the beginning of a model's name means;
/// `tenon pull corp:team/model:Q8_0` asks the registry `corp` for `team/model:Q8_0`. The platform
/// downloads the files: it resumes, verifies, and keeps them in the folder of models, where they are
/// found by that name without asking again. So a registry is asked for a model that is not there.
///
/// Making one must cost nothing: every process that has an engine does. What it needs, such as
/// connections, it opens when it is asked and closes before it answers. Safe for any thread.
@ConsumerType
public interface ModelRegistry {
    /// {@return what stands before the colon: two or more lower-case letters, digits, dots, dashes
    /// and plus signs, of which the first is a letter; not `http`, `https` or `file`; always the same}
    String id();

    /// Tells what files a model has.
    ///
    /// The call may wait for a network. It ends with an exception when its thread is interrupted.
    ///
    /// @param reference what stands after the colon, as the user or a request gave it: not empty,
    ///     otherwise any text. A registry decides what it means, and that it leads to nothing else
    ///     than its models
    /// @return the model's file, or all parts of a split one in order; not empty. After them may come its
    /// companion, which encodes pictures or sounds for it: a file with the word `mmproj` in its name, as
    /// in `mmproj-F16.gguf`
    /// @throws dev.tenon.api.error.TenonException (`CLI-001`) if the reference has not the form that it
    ///     expects, (`IO-002`) if it has no such model, cannot be reached or denies access, (`CFG-001`)
    ///     if a setting of its own is missing or wrong. The message is for people: it says what is
    ///     expected, and holds no password or token. Any other exception counts as a fault of the bundle
    List<RegistryFile> files(String reference);
}
