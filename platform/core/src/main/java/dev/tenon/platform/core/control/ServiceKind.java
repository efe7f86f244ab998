package dev.tenon.platform.core.control;

import aQute.bnd.annotation.Cardinality;
import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceConsumer;
import dev.tenon.api.bundle.BundleChangeListener;
import dev.tenon.api.bundle.BundleSettings;
import dev.tenon.api.chat.ChatProvider;
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
import dev.tenon.api.text.ChatTemplateEngine;
import dev.tenon.api.text.ConstraintProvider;
import dev.tenon.api.text.LogitsProcessorProvider;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.TokenizerProvider;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/// The kinds of services that bundles offer to the engine and its servers. Everything that finds services, tells them
/// apart or decides
/// which one is used reads this list. A new kind is a line here and a [ServiceConsumer], for the module path.
@ServiceConsumer(
        value = QuantFormat.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = ModelArchitecture.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = MediaEncoder.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = Backend.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = KernelProvider.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = TokenizerProvider.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = ChatTemplateEngine.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = SamplerProvider.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = ChatProvider.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = ReplyFormatProvider.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = LogitsProcessorProvider.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = ConstraintProvider.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = ModelRegistry.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = TokenProposerProvider.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = BundleSettings.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = MetricsExporter.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = BundleChangeListener.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
@ServiceConsumer(
        value = EndpointProvider.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = ServiceKind.ACTIVE)
public enum ServiceKind {
    FORMAT(QuantFormat.class, QuantFormat::id),
    ARCHITECTURE(ModelArchitecture.class, ModelArchitecture::id),
    ENCODER(MediaEncoder.class, MediaEncoder::id),
    BACKEND(Backend.class, Backend::id),
    KERNELS(KernelProvider.class, Use.ALL),
    TOKENIZER(TokenizerProvider.class, TokenizerProvider::model),
    TEMPLATE(ChatTemplateEngine.class, Use.BEST, late -> source -> late.get().compile(source)),
    SAMPLER(SamplerProvider.class, Use.BEST, SamplerProvider::id, null),
    CHAT(ChatProvider.class, Use.BEST, late -> model -> late.get().chat(model)),
    REPLY(ReplyFormatProvider.class, ReplyFormatProvider::id),
    PROCESSOR(LogitsProcessorProvider.class, LogitsProcessorProvider::id),
    CONSTRAINT(ConstraintProvider.class, ConstraintProvider::id),
    REGISTRY(ModelRegistry.class, ModelRegistry::id),
    PROPOSER(TokenProposerProvider.class, TokenProposerProvider::id),
    ENDPOINT(EndpointProvider.class, Use.BEST_FOR_EACH_ID, EndpointProvider::id, null),
    LISTENER(BundleChangeListener.class, Use.ALL),
    EXPORTER(MetricsExporter.class, Use.ALL),
    SETTINGS(BundleSettings.class, Use.ALL);

    /// A framework makes no wires of requirements that are effective at another time than `resolve`; by such
    /// a wire this bundle would restart, and end all sessions, whenever a provider is replaced.
    static final String ACTIVE = "active";

    /// Which services of a kind are used.
    public enum Use {
        /// All of them.
        ALL,
        /// For each id the one that came first.
        FIRST_FOR_EACH_ID,
        /// For each id the one of the highest rank.
        BEST_FOR_EACH_ID,
        /// The one of the highest rank; where some have ids, those for each id like this, and of the rest one.
        BEST;

        /// {@return whether ranks of services count}
        public boolean isRanked() {
            return this == BEST_FOR_EACH_ID || this == BEST;
        }
    }

    private final Class<?> type;
    private final Use use;
    private final Function<Object, String> id;
    private final Function<Supplier<?>, ?> late;

    <S> ServiceKind(Class<S> type, Function<S, String> id) {
        this(type, Use.FIRST_FOR_EACH_ID, id, null);
    }

    <S> ServiceKind(Class<S> type, Use use) {
        this(type, use, service -> "", null);
    }

    <S> ServiceKind(Class<S> type, Use use, Function<Supplier<S>, S> late) {
        this(type, use, service -> "", late);
    }

    @SuppressWarnings("unchecked")
    <S> ServiceKind(Class<S> type, Use use, Function<S, String> id, Function<Supplier<S>, S> late) {
        this.type = type;
        this.use = use;
        this.id = service -> id.apply(type.cast(service));
        this.late = late == null ? null : supplier -> late.apply((Supplier<S>) supplier);
    }

    /// {@return the kind of a service; of several the first, empty if it is of none}
    ///
    /// @param service any object
    public static Optional<ServiceKind> of(Object service) {
        return Arrays.stream(values())
                .filter(kind -> kind.type.isInstance(service))
                .findFirst();
    }

    /// {@return the kind of a service in a framework; of several the first, empty if it is of none}
    ///
    /// @param objectClass the service's property of this name
    public static Optional<ServiceKind> of(String[] objectClass) {
        return Arrays.stream(values())
                .filter(kind -> Arrays.asList(objectClass).contains(kind.type.getName()))
                .findFirst();
    }

    /// {@return its name in settings and messages, such as `format` in `prefer.format.ID`}
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// {@return the interface under which services of this kind are registered}
    public Class<?> type() {
        return type;
    }

    /// {@return which services of this kind are used}
    public Use use() {
        return use;
    }

    /// {@return the id of a service of this kind; empty if the kind has none}
    ///
    /// @param service the service
    public String id(Object service) {
        return id.apply(service);
    }

    /// {@return whether requests or settings choose services of this kind by their ids, so that users have to know
    /// them}
    public boolean isNamed() {
        return switch (this) {
            case SAMPLER, PROCESSOR, CONSTRAINT, PROPOSER, REGISTRY -> true;
            default -> false;
        };
    }

    /// {@return whether services of this kind are fetched when they are first called, because most commands need no
    ///     classes of their bundles}
    public boolean isLate() {
        return late != null;
    }

    /// Makes what stands for a service until it is fetched.
    ///
    /// @param fetch fetches it; called for each call
    /// @return a service of this kind, if it [is late][#isLate()]
    public Object late(Supplier<?> fetch) {
        return late.apply(fetch);
    }
}
