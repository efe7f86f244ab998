package org.example.tokens;

import dev.tenon.api.http.EndpointProvider;
import dev.tenon.itest.testkit.EndpointContract;

/// The provider keeps the contract of end points.
class TokensProviderTests extends EndpointContract {
    @Override
    protected EndpointProvider provider() {
        return new TokensProvider();
    }
}
