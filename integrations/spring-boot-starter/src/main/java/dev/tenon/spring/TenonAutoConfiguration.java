package dev.tenon.spring;

import dev.tenon.Model;
import dev.tenon.ModelLoader;
import dev.tenon.Tenon;
import dev.tenon.api.graph.Graph;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.PropertyMapper;
import org.springframework.context.annotation.Bean;

/// Loads the models that the configuration names. The context closes them, after the requests that
/// run.
@AutoConfiguration
@EnableConfigurationProperties(TenonProperties.class)
public class TenonAutoConfiguration {
    /// The bean of `tenon.embedding.model`, which is injected by this name only.
    public static final String ENCODER = "tenonEncoder";

    private static final Logger LOG = LoggerFactory.getLogger(TenonAutoConfiguration.class);
    private static final String ANY_TEXT = "Once upon a time";
    private static final int WARM_UP_TOKENS = 16;

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnProperty("tenon.model")
    Model tenonModel(TenonProperties properties) {
        ModelLoader loader = loader(properties.model(), properties);
        PropertyMapper map = PropertyMapper.get();
        map.from(properties::companion).to(companion -> {
            if (companion.equals("auto")) {
                loader.companion();
            } else {
                loader.companion(Path.of(companion));
            }
        });
        map.from(properties::contextLength).to(loader::contextLength);
        map.from(properties::requests).to(loader::requests);
        if (properties.embeddings()) {
            loader.embeddings();
        }
        return load(loader, properties);
    }

    @Bean(name = ENCODER, defaultCandidate = false)
    @ConditionalOnMissingBean(name = ENCODER)
    @ConditionalOnProperty("tenon.embedding.model")
    Model tenonEncoder(TenonProperties properties) {
        return load(loader(properties.embedding().model(), properties), properties);
    }

    @Bean
    TenonLifecycle tenonLifecycle(ListableBeanFactory beans) {
        return new TenonLifecycle(List.copyOf(beans.getBeansOfType(Model.class).values()));
    }

    private static ModelLoader loader(String name, TenonProperties properties) {
        ModelLoader loader = Tenon.model(name).progress(new DownloadLog());
        PropertyMapper map = PropertyMapper.get();
        map.from(properties::backend).to(loader::backend);
        map.from(properties::threads).to(loader::threads);
        properties.settings().forEach(loader::setting);
        return loader;
    }

    private static Model load(ModelLoader loader, TenonProperties properties) {
        Model model = loader.load();
        LOG.info("Loaded {} on {}", model.name(), model.loaded().backend());
        if (properties.warmUp()) {
            if (model.loaded().outputs().containsKey(Graph.LOGITS)) {
                model.completion(ANY_TEXT).maxNewTokens(WARM_UP_TOKENS).text();
            } else {
                model.embed(ANY_TEXT);
            }
        }
        return model;
    }
}
