// Says in a line that the WebSocket is gone, or never came: Streamlit's own sign for it is hidden, and
// without one the page stays empty.

const STATE = "data-test-connection-state";
const BACK = "headlight-back"; // address.js has the page run again, with what was chosen meanwhile
const LOST =
  "The connection to the app is lost. What is shown stays; what you change is worked out " +
  "once the app is there again.";
const NEVER =
  "The app answers, but its WebSocket (_stcore/stream) does not come through. Whatever stands between " +
  "must hand on WebSockets; deploy/README.md says how.";

const line = Object.assign(document.createElement("p"), { className: "hl-error hl-lost" });
line.setAttribute("role", "alert");
const root = document.documentElement;
let wasThere = false;

/** @param {MutationRecord[]} changes */
function look(changes) {
  for (const { target, oldValue } of changes) {
    const isThere = target instanceof Element && target.getAttribute(STATE) === "CONNECTED";
    if (isThere && wasThere && line.isConnected) dispatchEvent(new Event(BACK));
    wasThere ||= isThere;
    root.toggleAttribute("data-lost", !isThere && wasThere);
    if (isThere) line.remove();
    else if (wasThere || oldValue === "CONNECTING") say(wasThere ? LOST : NEVER);
  }
}

/** @param {string} text */
function say(text) {
  line.textContent = text;
  document.body.append(line);
}

/** Watch the connection from now on; it may be there by then. */
export function watchConnection() {
  wasThere = document.querySelector(`[${STATE}=CONNECTED]`) !== null;
  const options = { attributeFilter: [STATE], attributeOldValue: true, subtree: true };
  new MutationObserver(look).observe(root, options);
}
