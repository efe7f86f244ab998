/// `config`: all settings, their values, and where these come from.
package dev.tenon.platform.cli.config;
