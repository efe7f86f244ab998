/// Load on a server that speaks OpenAI's protocol.
package dev.tenon.platform.bench.serve;
