package dev.tenon.platform.server;

import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.chat.ChatPrompt;
import dev.tenon.api.chat.ChatProvider;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.chat.ReplyReader;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.PromptMedia;
import dev.tenon.api.media.MediaKind;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.platform.chat.TenonChats;
import dev.tenon.platform.core.StandaloneEngine;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/// Has models take pictures and sounds: in prompts each is one word, in conversations they are left out and kept for
/// who looks.
final class SeeingEngine implements ChatProvider {
    /// The turns of the last conversation.
    volatile List<ChatTurn> turns;

    /// The texts of all last turns that had pictures or sounds.
    final Set<String> asked = ConcurrentHashMap.newKeySet();

    /// {@return the engine with models that take pictures and sounds}
    ///
    /// @param engine the engine, which prefers this class for chats
    Engine over(StandaloneEngine engine) {
        engine.installProviders(this);
        return proxy(
                Engine.class,
                engine,
                (name, args) -> name.equals("load") ? seeing((LoadedModel) call(engine, name, args)) : null);
    }

    private static LoadedModel seeing(LoadedModel model) {
        return proxy(LoadedModel.class, model, (name, args) -> switch (name) {
            case "media" -> Set.of(MediaKind.PICTURE, MediaKind.SOUND);
            case "encode" -> new Word(model.tokenizer().encode(" fox", false, false));
            default -> null;
        });
    }

    private record Word(int... tokens) implements PromptMedia {
        @Override
        public int rows() {
            return 0;
        }

        @Override
        public float[] row(int index) {
            throw new IndexOutOfBoundsException(index);
        }
    }

    private interface Answers {
        /// {@return what a method returns; null for what the original does}
        Object to(String method, Object[] args) throws ReflectiveOperationException;
    }

    private static Object call(Engine engine, String name, Object[] args) throws ReflectiveOperationException {
        return Engine.class
                .getMethod(name, Stream.of(args).map(Object::getClass).toArray(Class<?>[]::new))
                .invoke(engine, args);
    }

    private static <T> T proxy(Class<T> type, T original, Answers answers) {
        Class<?>[] all = Stream.<Class<?>>iterate(original.getClass(), c -> c != null, Class::getSuperclass)
                .flatMap(c -> Arrays.stream(c.getInterfaces()))
                .distinct()
                .toArray(Class<?>[]::new);
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), all, (proxy, method, args) -> {
            try {
                Object own = answers.to(method.getName(), args);
                return own == null ? method.invoke(original, args) : own;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }

    @Override
    public ChatModel chat(LoadedModel model) {
        return new Chat(new TenonChats().chat(model));
    }

    private final class Chat implements ChatModel {
        private final ChatModel own;

        private Chat(ChatModel own) {
            this.own = own;
        }

        @Override
        public LoadedModel model() {
            return own.model();
        }

        @Override
        public ChatPrompt prompt(ChatRequest request) {
            turns = request.turns();
            ChatRequest plain = withoutMedia(request);
            if (!turns.getLast().media().isEmpty()) {
                asked.add(plain.turns().getLast().text());
            }
            return own.prompt(plain);
        }

        private static ChatRequest withoutMedia(ChatRequest request) {
            List<ChatTurn> texts = request.turns().stream()
                    .map(turn -> new ChatTurn(
                            turn.role(),
                            turn.text().replace(String.valueOf(MediaPart.PLACE), ""),
                            turn.reasoning(),
                            turn.calls(),
                            turn.callId(),
                            turn.name(),
                            List.of()))
                    .toList();
            return request.toBuilder().turns(texts).build();
        }

        @Override
        public Optional<TokenConstraint> constraint(ChatRequest request, ChatPrompt prompt) {
            return own.constraint(withoutMedia(request), prompt);
        }

        @Override
        public Optional<TokenConstraint> constraint(TextFormat format) {
            return own.constraint(format);
        }

        @Override
        public ReplyReader reader(ChatRequest request, ChatPrompt prompt, ChatEvents events) {
            return own.reader(withoutMedia(request), prompt, events);
        }
    }
}
