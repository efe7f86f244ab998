/// The DeepSeek architectures as graph builders.
package dev.tenon.models.deepseek;
