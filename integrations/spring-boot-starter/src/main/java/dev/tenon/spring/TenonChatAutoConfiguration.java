package dev.tenon.spring;

import dev.tenon.Model;
import dev.tenon.api.metrics.FinishedGeneration;
import io.micrometer.observation.ObservationRegistry;
import java.util.function.Consumer;
import org.springframework.ai.chat.client.AdvisorParams;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientBuilderCustomizer;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.observation.ChatModelObservationConvention;
import org.springframework.ai.model.SpringAIModelProperties;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/// The model as Spring AI's [ChatModel], unless `spring.ai.model.chat` names another one.
@AutoConfiguration(after = TenonAutoConfiguration.class)
@ConditionalOnClass(ChatModel.class)
@ConditionalOnBean(Model.class)
@ConditionalOnProperty(
        name = SpringAIModelProperties.CHAT_MODEL,
        havingValue = TenonChatModel.PROVIDER,
        matchIfMissing = true)
public class TenonChatAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean
    TenonChatModel tenonChatModel(
            Model model,
            ObjectProvider<TenonChatOptions> options,
            ObjectProvider<TenonRequestCustomizer> customizers,
            ObjectProvider<Consumer<FinishedGeneration>> listeners,
            ObjectProvider<ObservationRegistry> observations,
            ObjectProvider<ChatModelObservationConvention> convention) {
        return TenonChatModel.builder(model)
                .options(options.getIfAvailable(() -> TenonChatOptions.builder().build()))
                .customizers(customizers.orderedStream().toList())
                .listeners(listeners.orderedStream().toList())
                .observations(observations.getIfUnique(() -> ObservationRegistry.NOOP), convention.getIfAvailable())
                .build();
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ChatClient.class)
    static class Client {
        /// Has values of Java types constrained, not only asked for.
        @Bean
        ChatClientBuilderCustomizer tenonChatClientBuilderCustomizer(ObjectProvider<ChatModel> model) {
            return builder -> {
                if (model.getIfUnique() instanceof TenonChatModel) {
                    builder.defaultAdvisors(AdvisorParams.ENABLE_NATIVE_STRUCTURED_OUTPUT);
                }
            };
        }
    }
}
