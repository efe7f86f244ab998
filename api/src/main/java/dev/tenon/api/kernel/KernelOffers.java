package dev.tenon.api.kernel;

import dev.tenon.api.quant.QuantFormat;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/// All kernels that are offered for one kind of device, in the order in which backends take them.
///
/// The rule for kernels that match alike: the provider of the highest [KernelProvider#rank()] wins; of
/// equal ranks, kernels that a provider has by itself come before those that one makes of a layout, and then
/// the provider whose class name comes first; within a provider, its own order. Immutable; safe for any
/// thread.
public final class KernelOffers {
    /// A kernel and who offers it.
    ///
    /// @param provider who offers it
    /// @param kernel the kernel
    public record Offer(KernelProvider provider, Kernel kernel) {}

    private final List<KernelProvider> providers;
    private final String deviceKind;
    private final List<Offer> offers;

    private KernelOffers(List<KernelProvider> providers, String deviceKind) {
        this.providers = providers;
        this.deviceKind = deviceKind;
        this.offers = providers.stream()
                .flatMap(provider -> provider.kernels().stream()
                        .filter(kernel -> kernel.deviceKind().equals(deviceKind))
                        .map(kernel -> new Offer(provider, kernel)))
                .toList();
    }

    /// {@return providers in the order of the rule; unmodifiable}
    ///
    /// @param providers who offers kernels
    public static List<KernelProvider> inOrder(Collection<KernelProvider> providers) {
        KernelProvider[] sorted = providers.toArray(new KernelProvider[0]);
        Arrays.sort(sorted, KernelOffers::compare);
        return List.of(sorted);
    }

    private static int compare(KernelProvider a, KernelProvider b) {
        int byRank = Integer.compare(b.rank(), a.rank());
        return byRank != 0
                ? byRank
                : a.getClass().getName().compareTo(b.getClass().getName());
    }

    /// {@return the kernels of some providers, in the order of the rule}
    ///
    /// @param providers who offers kernels
    /// @param deviceKind the kind of device, as in [dev.tenon.api.device.DeviceInfo#kind()]
    public static KernelOffers of(Collection<KernelProvider> providers, String deviceKind) {
        return new KernelOffers(inOrder(providers), deviceKind);
    }

    /// {@return all kernels that providers have by themselves, in the order of the rule; unmodifiable}
    public List<Offer> offers() {
        return offers;
    }

    /// {@return the first kernel of a type that fits}
    ///
    /// @param <K> the type
    /// @param type the type
    /// @param fits whether a kernel does what is needed, such as reading a format
    public <K extends Kernel> Optional<K> first(Class<K> type, Predicate<K> fits) {
        for (Offer offer : offers) {
            if (type.isInstance(offer.kernel())) {
                K kernel = type.cast(offer.kernel());
                if (fits.test(kernel)) {
                    return Optional.of(kernel);
                }
            }
        }
        return Optional.empty();
    }

    /// {@return the first kernel of a type that reads a format and fits, of those that are made for it too}
    ///
    /// @param <K> the type
    /// @param type the type
    /// @param format the weight format
    /// @param fits whether a kernel does what is needed, such as taking rows of a length
    public <K extends Kernel> Optional<K> first(Class<K> type, QuantFormat format, Predicate<K> fits) {
        Optional<K> made = Optional.empty();
        int rank = 0;
        for (KernelProvider provider : providers) {
            if (made.isPresent() && provider.rank() < rank) {
                return made;
            }
            for (Kernel kernel : provider.kernels(format)) {
                boolean matches = kernel.deviceKind().equals(deviceKind)
                        && type.isInstance(kernel)
                        && fits.test(type.cast(kernel));
                if (matches && provider.kernels().contains(kernel)) {
                    return Optional.of(type.cast(kernel));
                }
                if (matches && made.isEmpty()) {
                    made = Optional.of(type.cast(kernel));
                    rank = provider.rank();
                }
            }
        }
        return made;
    }
}
