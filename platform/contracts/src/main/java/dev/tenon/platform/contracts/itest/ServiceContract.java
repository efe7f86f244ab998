package dev.tenon.platform.contracts.itest;

import dev.tenon.api.bundle.BundleChangeListener;
import dev.tenon.api.bundle.BundleSettings;
import dev.tenon.api.chat.ReplyFormatProvider;
import dev.tenon.api.device.Backend;
import dev.tenon.api.http.EndpointProvider;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.media.encoder.MediaEncoder;
import dev.tenon.api.metrics.MetricsExporter;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.registry.ModelRegistry;
import dev.tenon.api.speculation.TokenProposerProvider;
import dev.tenon.api.text.ConstraintProvider;
import dev.tenon.api.text.LogitsProcessorProvider;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.itest.testkit.ArchitectureContract;
import dev.tenon.itest.testkit.BackendContract;
import dev.tenon.itest.testkit.BundleChangeListenerContract;
import dev.tenon.itest.testkit.BundleSettingsContract;
import dev.tenon.itest.testkit.ConstraintContract;
import dev.tenon.itest.testkit.EncoderContract;
import dev.tenon.itest.testkit.EndpointContract;
import dev.tenon.itest.testkit.KernelContract;
import dev.tenon.itest.testkit.LogitsProcessorContract;
import dev.tenon.itest.testkit.MetricsExporterContract;
import dev.tenon.itest.testkit.ModelRegistryContract;
import dev.tenon.itest.testkit.QuantFormatContract;
import dev.tenon.itest.testkit.SamplerContract;
import dev.tenon.itest.testkit.TokenProposerContract;
import dev.tenon.itest.testkit.TokenizerContract;
import dev.tenon.platform.cli.TenonCommand;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/// The services that have a contract, in the order in which `tenon itest` runs them for a bundle.
public enum ServiceContract {
    FORMAT(QuantFormat.class, QuantFormatContract.class),
    KERNEL(KernelProvider.class, KernelContract.class),
    ARCHITECTURE(ModelArchitecture.class, ArchitectureContract.class),
    ENCODER(MediaEncoder.class, EncoderContract.class),
    BACKEND(Backend.class, BackendContract.class),
    TOKENIZER(TokenizerProvider.class, TokenizerContract.class),
    SAMPLER(SamplerProvider.class, SamplerContract.class),
    PROCESSOR(LogitsProcessorProvider.class, LogitsProcessorContract.class),
    CONSTRAINT(ConstraintProvider.class, ConstraintContract.class),
    REGISTRY(ModelRegistry.class, ModelRegistryContract.class),
    PROPOSER(TokenProposerProvider.class, TokenProposerContract.class),
    REPLY(ReplyFormatProvider.class, ReplyFormatContract.class),
    COMMAND(TenonCommand.class, CommandContract.class),
    ENDPOINT(EndpointProvider.class, EndpointContract.class),
    LISTENER(BundleChangeListener.class, BundleChangeListenerContract.class),
    EXPORTER(MetricsExporter.class, MetricsExporterContract.class),
    SETTINGS(BundleSettings.class, BundleSettingsContract.class);

    private final Class<?> service;
    private final Class<?> contract;

    ServiceContract(Class<?> service, Class<?> contract) {
        this.service = service;
        this.contract = contract;
    }

    /// {@return the service's interface}
    public Class<?> service() {
        return service;
    }

    /// {@return the class of JUnit tests}
    public Class<?> contract() {
        return contract;
    }

    /// {@return all of them, for messages: `format, kernel, ... or command`}
    static String list() {
        String words = Arrays.stream(values())
                .map(each -> each.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
        return words.replaceFirst(", (\\w+)$", " or $1");
    }
}
