package dev.tenon.spring;

import dev.tenon.Model;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.embedding.observation.EmbeddingModelObservationConvention;
import org.springframework.ai.model.SpringAIModelProperties;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/// Spring AI's [EmbeddingModel], unless `spring.ai.model.embedding` names another one: of the encoder
/// if there is one, otherwise of the model, if that embeds.
@AutoConfiguration(after = TenonAutoConfiguration.class)
@ConditionalOnClass(EmbeddingModel.class)
@ConditionalOnProperty(
        name = SpringAIModelProperties.EMBEDDING_MODEL,
        havingValue = TenonChatModel.PROVIDER,
        matchIfMissing = true)
public class TenonEmbeddingAutoConfiguration {
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(name = TenonAutoConfiguration.ENCODER)
    static class OfTheEncoder {
        @Bean
        @ConditionalOnMissingBean
        TenonEmbeddingModel tenonEmbeddingModel(
                @Qualifier(TenonAutoConfiguration.ENCODER) Model model,
                ObjectProvider<ObservationRegistry> observations,
                ObjectProvider<EmbeddingModelObservationConvention> convention) {
            return embedding(model, observations, convention);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(Model.class)
    @ConditionalOnMissingBean(name = TenonAutoConfiguration.ENCODER)
    @ConditionalOnProperty("tenon.embeddings")
    static class OfTheModel {
        @Bean
        @ConditionalOnMissingBean
        TenonEmbeddingModel tenonEmbeddingModel(
                Model model,
                ObjectProvider<ObservationRegistry> observations,
                ObjectProvider<EmbeddingModelObservationConvention> convention) {
            return embedding(model, observations, convention);
        }
    }

    private static TenonEmbeddingModel embedding(
            Model model,
            ObjectProvider<ObservationRegistry> observations,
            ObjectProvider<EmbeddingModelObservationConvention> convention) {
        return new TenonEmbeddingModel(
                model, observations.getIfUnique(() -> ObservationRegistry.NOOP), convention.getIfAvailable());
    }
}
