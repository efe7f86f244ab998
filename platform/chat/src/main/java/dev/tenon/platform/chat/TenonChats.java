package dev.tenon.platform.chat;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.chat.ChatProvider;
import dev.tenon.api.engine.LoadedModel;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/// Makes models chat, as their templates show: prompts, forms of calls and reasoning. Safe for any thread.
///
/// ```java
/// ChatModel chat = new TenonChats().chat(model);
/// System.out.println(chat.ask("Why is the sky blue?").text());
/// ```
@Component(service = ChatProvider.class, configurationPolicy = ConfigurationPolicy.IGNORE)
@ServiceProvider(value = ChatProvider.class, resolution = Resolution.OPTIONAL)
public final class TenonChats implements ChatProvider {
    /// Makes one; there is no state.
    @Activate
    public TenonChats() {}

    @Override
    public ChatModel chat(LoadedModel model) {
        return new TemplateChat(model);
    }
}
