package dev.tenon.platform.hub;

import dev.tenon.api.error.TenonException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A model of a registry as people name it: `ID:` and what the registry knows; without `ID:` it is `owner/repo[:quant]`
/// of the hub.
///
/// @param registry id of the registry
/// @param model what the registry is asked for
public record ModelReference(String registry, String model) {
    /// At least two letters, which no drive has; an address is none.
    private static final Pattern FORM = Pattern.compile("(?!(?:https?|file):)([a-z][a-z0-9.+-]+):(.+)", Pattern.DOTALL);

    /// Reads a reference.
    ///
    /// @param text what the user gave
    /// @return the reference, if the text has the form of one, which a path or a question may have, too
    /// @throws TenonException (`CLI-001`) if it can only be one of the hub, and is none
    public static Optional<ModelReference> of(String text) {
        if (HubReference.isReference(text) || HubReference.looksLike(text)) {
            String named = HubReference.parse(text).toString();
            return Optional.of(new ModelReference(HubRegistry.ID, named.substring(HubRegistry.ID.length() + 1)));
        }
        Matcher form = FORM.matcher(text);
        return form.matches() ? Optional.of(new ModelReference(form.group(1), form.group(2))) : Optional.empty();
    }

    /// {@return whether it is a model of the hub}
    public boolean isOnHub() {
        return registry.equals(HubRegistry.ID);
    }

    /// {@return its folder in the folder of models: `owner/repo` of the hub; of others one whose name no owner has, in
    /// characters that names of models have}
    Path place() {
        if (isOnHub()) {
            HubReference hub = HubReference.parse(model);
            return Path.of(hub.owner(), hub.repo());
        }
        return Path.of(URLEncoder.encode(toString(), StandardCharsets.UTF_8)
                .replace("*", "%2A")
                .replace('%', '@'));
    }

    @Override
    public String toString() {
        return registry + ":" + model;
    }
}
