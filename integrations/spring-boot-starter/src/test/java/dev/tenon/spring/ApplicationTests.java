package dev.tenon.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.Model;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;

/// An application with a web server, as its configuration makes it: over HTTP, from its start to its end.
class ApplicationTests {
    private final HttpClient http = HttpClient.newHttpClient();
    private ConfigurableApplicationContext application;

    @SpringBootApplication
    static class App {
        @Bean
        Story story(Model model) {
            return new Story(model);
        }
    }

    @RestController
    static class Api {
        private final ChatClient client;

        Api(ChatClient.Builder builder) {
            client = builder.build();
        }

        @GetMapping("/ask")
        String ask(@RequestParam String question) {
            return client.prompt(question)
                            .tools(new ChatClientTests.Weather())
                            .call()
                            .content() + " " + Thread.currentThread().isVirtual();
        }

        @GetMapping(path = "/stream", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        Flux<String> stream(@RequestParam String question) {
            return client
                    .prompt(question)
                    .options(TenonChatOptions.builder().maxTokens(60).seed(1L))
                    .stream()
                    .content();
        }
    }

    @BeforeEach
    void start() {
        application = SpringApplication.run(new Class<?>[] {App.class, Api.class}, new String[] {
            "--server.port=0",
            "--tenon.model=" + Story.FILE,
            "--tenon.context-length=512",
            "--spring.threads.virtual.enabled=true",
            "--management.endpoints.web.exposure.include=*",
            "--management.info.tenon.enabled=true",
            "--management.endpoint.health.show-details=always"
        });
    }

    @AfterEach
    void stop() {
        application.close();
    }

    private HttpRequest request(String path) {
        int port = ((ServletWebServerApplicationContext) application)
                .getWebServer()
                .getPort();
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                .build();
    }

    private String get(String path) throws Exception {
        HttpResponse<String> response = http.send(request(path), HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    @Test
    void itAnswersOverHttpAndShowsItsState() throws Exception {
        application.getBean(Story.class).replies(Story.call("weather", "{\"city\": \"Oslo\"}"), "It is blue.");
        assertThat(get("/ask?question=Sky")).isEqualTo("It is blue. true");
        assertThat(get("/stream?question=A+story").lines().filter(line -> line.startsWith("data:")))
                .hasSizeGreaterThan(10);
        assertThat(get("/actuator/health")).contains("\"tenon\"", Story.NAME, "cpu-vector");
        assertThat(get("/actuator/info")).contains(Story.NAME, "qwen3");
        assertThat(get("/actuator/metrics/gen_ai.server.time_to_first_token")).contains("\"value\":3.0");
        assertThat(get("/actuator/metrics/tenon.requests.running")).contains("\"value\":0.0");
        assertThat(get("/actuator/metrics/gen_ai.client.token.usage")).contains(Story.NAME);
        assertThat(get("/actuator/metrics/gen_ai.client.operation")).contains("tenon");
    }

    @Test
    void whoLeavesEndsTheGeneration() throws Exception {
        Model model = application.getBean(Model.class);
        CompletableFuture<String> first = new CompletableFuture<>();
        HttpResponse<Stream<String>> response =
                http.send(request("/stream?question=A+story"), HttpResponse.BodyHandlers.ofLines());
        try (Stream<String> lines = response.body()) {
            lines.filter(line -> line.startsWith("data:")).limit(1).forEach(first::complete);
        }
        assertThat(first.get(10, TimeUnit.SECONDS)).isNotEmpty();
        model.awaitIdle();
        assertThat(model.runningRequests()).isZero();
    }

    @Test
    void requestsEndBeforeTheModelCloses() throws Exception {
        Model model = application.getBean(Model.class);
        String whole = data(get("/stream?question=A+story"));
        CompletableFuture<HttpResponse<String>> running =
                http.sendAsync(request("/stream?question=A+story"), HttpResponse.BodyHandlers.ofString());
        ChatClient background = application.getBean(ChatClient.Builder.class).build();
        CompletableFuture<String> answer = CompletableFuture.supplyAsync(() -> background
                .prompt("A story")
                .options(TenonChatOptions.builder().maxTokens(60).seed(1L))
                .call()
                .content());
        while (model.runningRequests() < 2) {
            Thread.sleep(5);
        }
        application.close();
        assertThat(model.isClosed()).isTrue();
        assertThat(data(running.get(10, TimeUnit.SECONDS).body())).isEqualTo(whole);
        assertThat(answer.get(10, TimeUnit.SECONDS)).isNotBlank();
    }

    private static String data(String events) {
        return events.lines().filter(line -> line.startsWith("data:")).collect(Collectors.joining("\n"));
    }
}
