package org.example.replies;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.chat.CallFormat;
import dev.tenon.api.chat.CallFormat.NameThenJson;
import dev.tenon.api.chat.CallFormat.Wording;
import dev.tenon.api.chat.ReplyFormat;
import dev.tenon.api.chat.ReplyFormat.Reasoning;
import dev.tenon.api.chat.ReplyFormatProvider;
import java.util.List;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// Models whose templates have `<|act|>`, which write
/// `<|muse|>Hm.<|/muse|>I look.<|act|>time<|with|>{"zone": "UTC"}<|/act|>`.
@Component(service = ReplyFormatProvider.class)
@ServiceProvider(value = ReplyFormatProvider.class, resolution = Resolution.OPTIONAL)
public final class Actions implements ReplyFormatProvider {
    private static final ReplyFormat FORMAT = new ReplyFormat(
            new CallFormat(
                    new NameThenJson(Optional.empty(), Optional.empty()),
                    new Wording("", "<|act|>", "<|with|>", "<|/act|>", ""),
                    Optional.of("\n"),
                    List.of("<|act|>", "<|with|>", "<|/act|>"),
                    false),
            new Reasoning("<|muse|>", "<|/muse|>"));

    @Override
    public String id() {
        return "actions";
    }

    @Override
    public Optional<ReplyFormat> format(String template) {
        return template.contains("<|act|>") ? Optional.of(FORMAT) : Optional.empty();
    }
}
