package dev.tenon.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.Model;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;

/// Which beans there are, with which properties and libraries.
class AutoConfigurationTests {
    private static final String MODEL = "tenon.model=" + Story.FILE;
    private static Model model;

    private final ApplicationContextRunner context = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    TenonAutoConfiguration.class,
                    TenonChatAutoConfiguration.class,
                    TenonEmbeddingAutoConfiguration.class,
                    TenonActuatorAutoConfiguration.class));
    private final ApplicationContextRunner withModel =
            context.withBean("own", Model.class, () -> model, bean -> bean.setDestroyMethodName(""));

    @BeforeAll
    static void load() {
        model = Story.load();
    }

    @AfterAll
    static void close() {
        model.close();
    }

    @Test
    void withoutAModelThereIsNothing() {
        context.run(beans -> assertThat(beans)
                .hasNotFailed()
                .doesNotHaveBean(Model.class)
                .doesNotHaveBean(ChatModel.class)
                .doesNotHaveBean(EmbeddingModel.class)
                .doesNotHaveBean(TenonHealthIndicator.class)
                .doesNotHaveBean(TenonMetrics.class));
    }

    @Test
    void aModelIsLoadedAndClosedWithTheContext() {
        Model[] loaded = new Model[1];
        context.withPropertyValues(
                        MODEL,
                        "tenon.context-length=256",
                        "tenon.requests=2",
                        "tenon.threads=1",
                        "tenon.backend=cpu-vector",
                        "tenon.settings.prefix.cache=off",
                        "tenon.embeddings=true",
                        "tenon.warm-up=true")
                .run(beans -> {
                    loaded[0] = beans.getBean(Model.class);
                    assertThat(loaded[0].contextLength()).isEqualTo(256);
                    assertThat(loaded[0].loaded().backend()).isEqualTo("cpu-vector");
                    assertThat(beans.getBean(TenonProperties.class).settings()).containsEntry("prefix.cache", "off");
                    assertThat(beans).hasSingleBean(TenonChatModel.class).hasSingleBean(TenonMetrics.class);
                    EmbeddingModel embedding = beans.getBean(EmbeddingModel.class);
                    assertThat(embedding.embed("Once")).hasSize(embedding.dimensions());
                });
        assertThat(loaded[0].isClosed()).isTrue();
    }

    @Test
    void anEncoderStandsBesideTheModel() {
        context.withPropertyValues(
                        MODEL,
                        "tenon.context-length=128",
                        "tenon.warm-up=true",
                        "tenon.embedding.model=" + Story.ENCODER)
                .run(beans -> {
                    assertThat(beans.getBean(Model.class).name()).isEqualTo(Story.NAME);
                    assertThat(beans.getBean(EmbeddingModel.class).embed("a b")).isNotEmpty();
                    assertThat(beans).hasSingleBean(ChatModel.class);
                });
    }

    @Test
    void anEncoderAloneDoesNotChat() {
        context.withPropertyValues("tenon.embedding.model=" + Story.ENCODER)
                .run(beans -> assertThat(beans)
                        .hasSingleBean(TenonEmbeddingModel.class)
                        .doesNotHaveBean(ChatModel.class)
                        .hasBean(TenonAutoConfiguration.ENCODER));
    }

    @Test
    void aModelThatCannotBeHadIsNamed() {
        context.withPropertyValues("tenon.model=nowhere.gguf")
                .run(beans -> assertThat(beans.getStartupFailure()).rootCause().hasMessageContaining("nowhere.gguf"));
    }

    @Test
    void theUsersOwnModelIsTaken() {
        withModel
                .withPropertyValues(MODEL)
                .withBean(
                        TenonChatOptions.class,
                        () -> TenonChatOptions.builder().seed(7L).build())
                .run(beans -> {
                    assertThat(beans.getBean(Model.class)).isSameAs(model);
                    assertThat(beans).doesNotHaveBean("tenonModel").doesNotHaveBean(EmbeddingModel.class);
                    TenonChatOptions options =
                            (TenonChatOptions) beans.getBean(ChatModel.class).getOptions();
                    assertThat(options.getSeed()).isEqualTo(7);
                    assertThat(options.getModel()).isEqualTo(Story.NAME);
                });
    }

    @Test
    void otherModelsOfSpringAiAreLetBe() {
        withModel
                .withPropertyValues(
                        "spring.ai.model.chat=other", "spring.ai.model.embedding=other", "tenon.embeddings=true")
                .run(beans -> assertThat(beans).doesNotHaveBean(ChatModel.class).doesNotHaveBean(EmbeddingModel.class));
        withModel
                .withPropertyValues(
                        "spring.ai.model.chat=tenon", "spring.ai.model.embedding=tenon", "tenon.embeddings=true")
                .run(beans -> assertThat(beans).hasSingleBean(ChatModel.class).hasSingleBean(EmbeddingModel.class));
    }

    @Test
    void eachLibraryMayBeMissing() {
        without(
                beans -> assertThat(beans).hasSingleBean(Model.class).hasSingleBean(TenonMetrics.class),
                "org.springframework.ai",
                "reactor");
        without(beans -> assertThat(beans).hasSingleBean(ChatModel.class), "org.springframework.ai.chat.client");
        without(
                beans -> assertThat(beans).hasSingleBean(ChatModel.class).doesNotHaveBean(HealthIndicator.class),
                "org.springframework.boot.health",
                "org.springframework.boot.actuate");
        without(
                beans -> assertThat(beans)
                        .hasSingleBean(ChatModel.class)
                        .hasSingleBean(HealthIndicator.class)
                        .doesNotHaveBean("tenonMetrics"),
                "io.micrometer.core");
    }

    private void without(ContextConsumer<AssertableApplicationContext> check, String... packages) {
        withModel.withClassLoader(new FilteredClassLoader(packages)).run(beans -> {
            assertThat(beans).hasNotFailed();
            check.accept(beans);
        });
    }

    @Test
    void operatorsSeeTheModel() {
        withModel.run(beans -> {
            Health health = beans.getBean(HealthIndicator.class).health();
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails())
                    .containsEntry("model", Story.NAME)
                    .containsEntry("backend", "cpu-vector")
                    .containsEntry("running", 0);
            Info.Builder info = new Info.Builder();
            beans.getBean(InfoContributor.class).contribute(info);
            assertThat(info.build().get("tenon").toString()).contains(Story.NAME, "qwen3", "cpu-vector");
        });
        withModel
                .withPropertyValues("management.health.tenon.enabled=false", "management.info.tenon.enabled=false")
                .run(beans -> assertThat(beans)
                        .doesNotHaveBean(HealthIndicator.class)
                        .doesNotHaveBean(InfoContributor.class));
    }

    @Test
    void aClosedModelIsDown() {
        Model closed = Story.load();
        closed.close();
        Health health = new TenonHealthIndicator(closed).health();
        assertThat(health.getStatus()).isEqualTo(Status.DOWN);
        assertThat(health.getDetails()).containsKey("reason");
    }
}
