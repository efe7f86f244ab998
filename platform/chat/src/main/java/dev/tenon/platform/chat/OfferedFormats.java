package dev.tenon.platform.chat;

import dev.tenon.api.chat.ReplyFormat;
import dev.tenon.api.chat.ReplyFormatProvider;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.platform.core.control.ScheduledModel;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The formats of replies that bundles offer.
final class OfferedFormats {
    private static final Logger LOG = LoggerFactory.getLogger(OfferedFormats.class);

    private OfferedFormats() {}

    /// {@return what the first provider says, by their ids, that knows a template; empty if none
    /// does}
    ///
    /// @param model a model with this template
    /// @param template its source
    static Optional<ReplyFormat> of(LoadedModel model, String template) {
        if (!(model instanceof ScheduledModel scheduled)) {
            return Optional.empty();
        }
        for (String id : scheduled.ids(ReplyFormatProvider.class)) {
            try {
                Optional<ReplyFormat> format = scheduled
                        .service(ReplyFormatProvider.class, id)
                        .flatMap(provider -> provider.format(template).map(ReplyFormat.class::cast));
                if (format.isPresent()) {
                    return format;
                }
            } catch (RuntimeException | LinkageError e) {
                LOG.warn("The format of replies '{}' is passed over, because it fails: {}", id, e, e);
            }
        }
        return Optional.empty();
    }
}
