// Everything here adds to pages that work without it.
import { startCopying } from "./copy.js";
import { startForms } from "./forms.js";
import { startKeys } from "./keys.js";
import { startLive } from "./live.js";
import { startSelecting } from "./selecting.js";
import { startTheme } from "./theme.js";
import { startTimes } from "./times.js";

document.documentElement.classList.add("scripted");
for (const start of [startTheme, startTimes, startLive, startKeys, startForms, startCopying, startSelecting]) {
  start();
}
