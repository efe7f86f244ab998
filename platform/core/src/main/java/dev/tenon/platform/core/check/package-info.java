/// Tries services before models use them.
package dev.tenon.platform.core.check;
