/// What happens in Tenon, told elsewhere.
package org.example.telemetry;
