/// Samplers: single steps over the tokens that are still candidates, the chain that the platform offers,
/// stop strings.
package dev.tenon.platform.core.sampling;
