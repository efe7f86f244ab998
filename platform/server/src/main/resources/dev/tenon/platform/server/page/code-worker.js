// A worker that colours code by its language: the first code of one takes longer than a page may stand still.

import hljs from "./lib/highlight/core.js";
import bash from "./lib/highlight/bash.js";
import c from "./lib/highlight/c.js";
import cpp from "./lib/highlight/cpp.js";
import csharp from "./lib/highlight/csharp.js";
import css from "./lib/highlight/css.js";
import diff from "./lib/highlight/diff.js";
import dockerfile from "./lib/highlight/dockerfile.js";
import go from "./lib/highlight/go.js";
import ini from "./lib/highlight/ini.js";
import java from "./lib/highlight/java.js";
import javascript from "./lib/highlight/javascript.js";
import json from "./lib/highlight/json.js";
import kotlin from "./lib/highlight/kotlin.js";
import markdown from "./lib/highlight/markdown.js";
import php from "./lib/highlight/php.js";
import python from "./lib/highlight/python.js";
import ruby from "./lib/highlight/ruby.js";
import rust from "./lib/highlight/rust.js";
import sql from "./lib/highlight/sql.js";
import typescript from "./lib/highlight/typescript.js";
import xml from "./lib/highlight/xml.js";
import yaml from "./lib/highlight/yaml.js";

const MOST_CHARACTERS = 50_000;

const LANGUAGES = {
  bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, markdown, php, python, ruby, rust, sql, typescript, xml, yaml,
};

for (const [name, language] of Object.entries(LANGUAGES)) {
  hljs.registerLanguage(name, language);
}

/** Answers code with the markup of its colours, or with null where the language is unknown or the code is too long. */
onmessage = ({ data: { code, language } }) => {
  const known = hljs.getLanguage(language) && code.length <= MOST_CHARACTERS;
  postMessage(known ? hljs.highlight(code, { language, ignoreIllegals: true }).value : null);
};
