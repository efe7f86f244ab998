package dev.tenon.platform.chat;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.chat.ChatProvider;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.platform.core.StandaloneEngine;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ChatsTests {
    private static final Path MODEL = Path.of("../launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf");

    private static final class OtherChats implements ChatProvider {
        private ChatModel last;

        @Override
        public ChatModel chat(LoadedModel model) {
            last = new TemplateChat(model);
            return last;
        }
    }

    @Test
    void theProviderThatTheSettingNamesIsUsedWhileItIsThere() {
        OtherChats other = new OtherChats();
        Chats chats = new Chats();
        try (StandaloneEngine engine = StandaloneEngine.create(Map.of("prefer.chat", "OtherChats"));
                LoadedModel model =
                        engine.load(LoadRequest.builder(MODEL).contextLength(64).build())) {
            ChatModel own = assertInstanceOf(TemplateChat.class, chats.of(model));
            assertSame(own, chats.of(model), "what was prepared is kept");
            StandaloneEngine.InstalledBundle installed = engine.installProviders(other);
            ChatModel theirs = chats.of(model);
            assertSame(other.last, theirs);
            assertSame(theirs, chats.of(model), "what was prepared is kept");
            installed.remove();
            assertNotSame(theirs, chats.of(model));
        }
    }
}
