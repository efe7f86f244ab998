package dev.tenon.platform.bundles.control;

import com.fasterxml.jackson.databind.ObjectMapper;

/// What the two ends of the control channel write JSON with. A class of its own, because making it takes a
/// while, which only those should wait for who use the channel.
final class ControlJson {
    static final ObjectMapper MAPPER = new ObjectMapper();

    private ControlJson() {}
}
