import { mount } from "svelte";
import App from "./App.svelte";
import { begin, enterByLink } from "./lib/api";
import { apply, loadWords } from "./lib/locale.svelte";
import { follow } from "./lib/router.svelte";
import "./app.css";

apply();
const refused = enterByLink(); // before the address is followed
follow();
// A page that was open while its files were replaced cannot find the parts that it has not loaded yet.
addEventListener("vite:preloadError", () => location.reload());
const entered = refused.then(begin); // on its way while the words are
void loadWords().then(() => mount(App, { target: document.body, props: { entered, refused } }));
