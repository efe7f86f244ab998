package dev.tenon.spring;

import dev.tenon.Model;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.actuate.autoconfigure.info.ConditionalOnEnabledInfoContributor;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/// What operators see of the model: health, facts and meters, each where its library is there.
@AutoConfiguration(after = TenonAutoConfiguration.class)
@ConditionalOnBean(Model.class)
public class TenonActuatorAutoConfiguration {
    private static final String NAME = "tenon";

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
    static class OfHealth {
        @Bean
        @ConditionalOnEnabledHealthIndicator(NAME)
        @ConditionalOnMissingBean(name = "tenonHealthIndicator")
        HealthIndicator tenonHealthIndicator(Model model) {
            return new TenonHealthIndicator(model);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({InfoContributor.class, ConditionalOnEnabledInfoContributor.class})
    static class OfInfo {
        @Bean
        @ConditionalOnEnabledInfoContributor(NAME)
        @ConditionalOnMissingBean(name = "tenonInfoContributor")
        InfoContributor tenonInfoContributor(Model model) {
            Map<String, Object> facts = new LinkedHashMap<>();
            facts.put("model", model.name());
            facts.put("architecture", model.loaded().config().architecture());
            facts.put("contextLength", model.contextLength());
            facts.put("backend", model.loaded().backend());
            facts.put("device", model.loaded().device().name());
            return info -> info.withDetail(NAME, facts);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    static class OfMeters {
        @Bean
        @ConditionalOnMissingBean
        TenonMetrics tenonMetrics(Model model) {
            return new TenonMetrics(model);
        }
    }
}
