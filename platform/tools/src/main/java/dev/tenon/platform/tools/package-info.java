/// Commands that write model files: `quantize` and `synth`.
package dev.tenon.platform.tools;
