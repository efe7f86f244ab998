/// The DeepSeek architectures, and others with latent attention, as graph builders.
package dev.tenon.models.deepseek;
