// Builds the program of a saved view: the microscope's modules as one script that needs no server.
//
// The first line names its sources and their digest, by which a test without node sees whether it is
// of the modules as they are. `--check` builds nothing and fails when it is not.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { build } from "esbuild";

const ROOT = resolve(import.meta.dirname, "..");
const FOLDER = resolve(ROOT, "viz/live");
const PROGRAM = resolve(FOLDER, "offline/program.js");

/**
 * SHA-256 over each source's name and text.
 *
 * @param {string[]} names below viz/live
 */
function digestOf(names) {
  const hash = createHash("sha256");
  for (const name of names) hash.update(`${name}\0${readFileSync(resolve(FOLDER, name))}\0`);
  return hash.digest("hex");
}

/** The program as it should be. */
async function program() {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ["viz/live/offline/offline.js"],
    bundle: true,
    format: "iife",
    globalName: "HeadlightOffline",
    target: "es2022",
    charset: "utf8",
    metafile: true,
    write: false,
  });
  const names = Object.keys(metafile.inputs).map((path) => relative(FOLDER, resolve(ROOT, path)));
  names.sort();
  const [{ text }] = outputFiles;
  return `// sha256 ${digestOf(names)} of ${names.join(" ")}\n// Built by npm run bundle.\n${text}`;
}

const wanted = await program();
if (!process.argv.includes("--check")) writeFileSync(PROGRAM, wanted);
else if (wanted !== readFileSync(PROGRAM, "utf8")) {
  console.error("viz/live/offline/program.js is not of its sources: npm run bundle");
  process.exit(1);
}
