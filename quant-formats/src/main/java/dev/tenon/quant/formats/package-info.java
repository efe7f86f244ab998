/// The weight formats that ship with Tenon, one class a format.
package dev.tenon.quant.formats;
