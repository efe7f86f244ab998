package dev.tenon.platform.server.page;

import dev.tenon.api.http.RequestException;
import dev.tenon.platform.core.control.BundleControl;
import dev.tenon.platform.server.auth.OriginCheck;
import dev.tenon.platform.server.http.Exchange;
import java.util.Optional;
import java.util.function.Supplier;

/// Which changes of the platform may be asked for over HTTP.
///
/// @param models whether models may be loaded, unloaded, pulled and deleted
/// @param allowed whether bundles may be changed: clients have keys, or all of them are on this machine
/// @param control the manager of bundles at the moment; null where there is none
public record Management(boolean models, boolean allowed, Supplier<BundleControl> control) {
    private static final int FORBIDDEN = 403;

    /// {@return the manager of bundles, if the platform has one}
    Optional<BundleControl> bundles() {
        return Optional.ofNullable(control.get());
    }

    /// {@return the manager of bundles}
    ///
    /// @throws RequestException (501) if there is none
    BundleControl requireBundles() {
        return bundles()
                .orElseThrow(() -> RequestException.unsupported(
                        null,
                        "This server runs without a framework, so it has no bundles. Start it by 'tenon serve'."));
    }

    /// Refuses a change that may not be asked for, or that a page of another origin asks for.
    ///
    /// @param exchange the request
    /// @throws RequestException (403) if it is refused
    void requireAllowed(Exchange exchange) {
        if (!allowed) {
            throw RequestException.of(
                    FORBIDDEN,
                    "permission_error",
                    "management_off",
                    "No bundle may be changed here: serve.manage is off, or others reach the server without keys.");
        }
        if (!OriginCheck.isOwn(exchange::header)) {
            throw RequestException.of(
                    FORBIDDEN, "permission_error", "other_origin", "A page of another origin may change nothing here.");
        }
    }
}
