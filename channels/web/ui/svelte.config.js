// The classes that bind styles to their components are in the first load a thousand times: short ones save a kilobyte.
const cssHash = ({ hash, filename }) => `s${hash(filename).slice(0, 4)}`;

export default {
  compilerOptions: { runes: true, css: "external", cssHash },
};
