package dev.tenon.api.device;

import java.util.Optional;
import org.osgi.annotation.versioning.ConsumerType;

/// The memory of a plan's KV cache, cut into pages. The backend owns the memory; the platform
/// decides which sequence uses which page and keeps the page tables and the free pages.
///
/// A page holds keys and values of all layers for [#tokensPerPage()] consecutive positions.
@ConsumerType
public interface KvPages {
    /// {@return positions in a page}
    int tokensPerPage();

    /// {@return number of pages; pages are 0 to this - 1}
    int pageCount();

    /// {@return bytes of a page over all layers}
    long pageBytes();

    /// Copies a page, so that a shared page can be written by one of its users. Not during a step.
    ///
    /// @param from source page
    /// @param to target page
    void copy(int from, int to);

    /// {@return what brings pages to the host and back; empty if the backend cannot do that}
    default Optional<HostCopies> hostCopies() {
        return Optional.empty();
    }
}
