// LaTeX to MathML, as KaTeX writes it: a JSON list of formulas on stdin, the list of MathML on stdout.
//
// The first argument is KaTeX's module. The one that Streamlit carries will do: it is what draws the
// formulas of the pages, so the sheet has the same.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const { default: katex } = await import(pathToFileURL(resolve(process.argv[2])).href);
const options = { output: "mathml", displayMode: true, throwOnError: true };
const written = JSON.parse(readFileSync(0, "utf8")).map((latex) =>
  katex.renderToString(latex, options),
);
process.stdout.write(JSON.stringify(written));
