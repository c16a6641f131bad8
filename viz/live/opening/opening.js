// Home before its model is there: a recorded run of the first example plays until the live one does.
// The page asks for this at Home's plain address alone (routes.py). Where it fails, the page opens
// without.

import { stand } from "../../kit/hosts/recorded.js";
import home from "../../kit/parts/home.js";

const THEME = "stActiveTheme-/-v2"; // where Streamlit keeps the theme that a person chose

/** @param {string} name */
function fetched(name) {
  return fetch(new URL(`live/${name}`, document.baseURI));
}

async function open() {
  const [run, style] = await Promise.all(["opening/run.json", "live.css"].map(fetched));
  if (!run.ok || !style.ok) return;
  const contents = await run.json();
  const chosen = JSON.parse(localStorage.getItem(THEME) ?? "null");
  const { [String(chosen).toLowerCase()]: theme } = contents.told.themes;
  const look = { style: await style.text(), background: theme?.background ?? "" };
  stand(home, contents, look);
}

open().catch(() => {});
