// A proxy may hand on the page under a name that the app does not answer to: what a browser names its
// page's site for is refused then, all modules among it. This is none, and says why nothing comes.

async function sayIfRefused() {
  const answer = await fetch("live/asked", { method: "POST" });
  if (answer.status !== 403) return;
  const line = Object.assign(document.createElement("p"), { className: "hl-error", role: "alert" });
  line.textContent = await answer.text();
  document.documentElement.dataset.refused = "";
  document.body.append(line);
}

sayIfRefused().catch(() => {}); // no server at all, which Streamlit says
