package dev.tenon.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.Model;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.converter.ListOutputConverter;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.chat.observation.autoconfigure.ChatObservationAutoConfiguration;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.annotation.ToolParam;
import org.springframework.ai.vectorstore.SearchRequest;
import org.springframework.ai.vectorstore.SimpleVectorStore;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.ParameterizedTypeReference;

/// What an application does with the beans.
class ChatClientTests {
    private final ApplicationContextRunner context = new ApplicationContextRunner()
            .withUserConfiguration(Beans.class)
            .withConfiguration(AutoConfigurations.of(
                    TenonAutoConfiguration.class,
                    TenonChatAutoConfiguration.class,
                    TenonEmbeddingAutoConfiguration.class,
                    TenonActuatorAutoConfiguration.class,
                    ChatClientAutoConfiguration.class,
                    ChatObservationAutoConfiguration.class))
            .withPropertyValues("tenon.model=" + Story.FILE, "tenon.context-length=1024");

    @Configuration(proxyBeanMethods = false)
    static class Beans {
        @Bean
        Story story(Model model) {
            return new Story(model);
        }

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }

        @Bean
        ObservationRegistry observations(MeterRegistry meters) {
            ObservationRegistry registry = ObservationRegistry.create();
            registry.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
            return registry;
        }
    }

    record Hero(String name, int age, List<String> friends) {}

    static class Weather {
        int calls;

        @Tool(description = "Tells the weather.")
        String weather(@ToolParam(description = "where") String city) {
            calls++;
            return "sunny in " + city;
        }
    }

    private interface Check {
        void check(ChatClient client, Story story);
    }

    private void run(Check check) {
        context.run(beans -> check.check(beans.getBean(ChatClient.Builder.class).build(), beans.getBean(Story.class)));
    }

    @Test
    void itAnswersAndStreams() {
        run((client, story) -> {
            story.replies("Once.", "Twice upon a time.");
            assertThat(client.prompt("A story").call().content()).isEqualTo("Once.");
            List<String> parts =
                    client.prompt("A story").stream().content().collectList().block();
            assertThat(parts).hasSizeGreaterThan(2);
            assertThat(String.join("", parts)).isEqualTo("Twice upon a time.");
        });
    }

    @Test
    void valuesAreConstrained() {
        run((client, story) -> {
            String hero = "{\"age\":9,\"friends\":[\"Tim\"],\"name\":\"Lily\"}";
            story.replies("{\"name\": 7", hero);
            Hero expected = new Hero("Lily", 9, List.of("Tim"));
            story.replies(hero);
            assertThat(client.prompt("A hero").call().entity(Hero.class)).isEqualTo(expected);
            story.replies("[" + hero + "]");
            assertThat(client.prompt("Heroes").call().entity(new ParameterizedTypeReference<List<Hero>>() {}))
                    .containsExactly(expected);
            story.replies("Lily, Tim");
            assertThat(client.prompt("Names").call().entity(new ListOutputConverter()))
                    .containsExactly("Lily", "Tim");
            story.replies();
            record Age(int age) {}
            Age free = client.prompt("An age")
                    .options(TenonChatOptions.builder().seed(5L))
                    .call()
                    .entity(Age.class);
            assertThat(free).isNotNull();
        });
    }

    @Test
    void toolsAreCalled() {
        run((client, story) -> {
            Weather weather = new Weather();
            story.replies(Story.call("weather", "{\"city\": \"Oslo\"}"), "It is sunny.");
            assertThat(client.prompt("Weather in Oslo?").tools(weather).call().content())
                    .isEqualTo("It is sunny.");
            story.replies(Story.call("weather", "{\"city\": \"Rome\"}"), "It is sunny, too.");
            List<String> parts = client.prompt("And Rome?").tools(weather).stream()
                    .content()
                    .collectList()
                    .block();
            assertThat(String.join("", parts)).isEqualTo("It is sunny, too.");
            assertThat(weather.calls).isEqualTo(2);
        });
    }

    @Test
    void toolsAndValuesGoTogether() {
        run((client, story) -> {
            Weather weather = new Weather();
            story.replies(
                    Story.call("weather", "{\"city\": \"Oslo\"}"),
                    "It is sunny.",
                    "{\"age\":9,\"friends\":[],\"name\":\"Lily\"}");
            assertThat(client.prompt("Who likes the weather?")
                            .tools(weather)
                            .call()
                            .entity(Hero.class))
                    .isEqualTo(new Hero("Lily", 9, List.of()));
            assertThat(weather.calls).isEqualTo(1);
        });
    }

    @Test
    void aMemoryIsKept() {
        run((client, story) -> {
            ChatMemory memory = MessageWindowChatMemory.builder().build();
            MessageChatMemoryAdvisor advisor =
                    MessageChatMemoryAdvisor.builder(memory).build();
            for (String reply : List.of("Hello Ann.", "Ann.")) {
                story.replies(reply);
                client.prompt("I am Ann; who am I?")
                        .advisors(advisor)
                        .advisors(spec -> spec.param(ChatMemory.CONVERSATION_ID, "1"))
                        .call()
                        .content();
            }
            assertThat(memory.get("1")).hasSize(4);
        });
    }

    @Test
    void metersCount() {
        context.run(beans -> {
            beans.getBean(TenonMetrics.class).bindTo(beans.getBean(MeterRegistry.class));
            ChatClient client = beans.getBean(ChatClient.Builder.class).build();
            beans.getBean(Story.class).replies("Once upon a time.", "Once upon a time.");
            client.prompt("A story").call().content();
            client.prompt("A story").stream().content().blockLast();
            MeterRegistry meters = beans.getBean(MeterRegistry.class);
            for (String name : List.of(
                    "gen_ai.server.request.duration",
                    "gen_ai.server.time_to_first_token",
                    "gen_ai.server.time_per_output_token",
                    "gen_ai.client.operation")) {
                // An observation of a stream ends after its last part was told.
                Awaitility.await()
                        .untilAsserted(() -> assertThat(meters.get(name)
                                        .tag("gen_ai.request.model", Story.NAME)
                                        .timers())
                                .as(name)
                                .anySatisfy(timer -> assertThat(timer.count()).isEqualTo(2)));
            }
            assertThat(meters.get("tenon.tokens.per.second").summary().count()).isEqualTo(2);
            assertThat(meters.get("tenon.tokens")
                            .tag("gen_ai.token.type", "output")
                            .counter()
                            .count())
                    .isGreaterThan(8);
            assertThat(meters.get("tenon.requests.running").gauge().value()).isZero();
            assertThat(meters.get("tenon.requests.waiting").gauge().value()).isZero();
            assertThat(meters.getMeters().stream().map(Meter::getId).map(Meter.Id::getName))
                    .contains("spring.ai.chat.client");
        });
    }

    @Test
    void documentsAreFound() {
        context.withPropertyValues("tenon.embedding.model=" + Story.ENCODER).run(beans -> {
            EmbeddingModel embedding = beans.getBean(EmbeddingModel.class);
            assertThat(embedding.dimensions()).isEqualTo(embedding.embed("a").length);
            SimpleVectorStore store = SimpleVectorStore.builder(embedding).build();
            store.add(List.of(new Document("a b", Map.of()), new Document("c d e", Map.of())));
            assertThat(store.similaritySearch(
                            SearchRequest.builder().query("a b").topK(1).build()))
                    .first()
                    .extracting(Document::getText)
                    .isEqualTo("a b");
        });
    }
}
