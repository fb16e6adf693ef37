// Words of what was changed in two places at once. Every key is in merge.zh.ts too.

export const mergeEn = {
  take_theirs: "Take theirs instead",
  conflict_base: "Before",
  conflict_stored: "In the file now",
  conflict_mine: "Yours",
  keep_mine: "Keep mine",
  merge_open: "This file was changed elsewhere in the meantime. Changes in different places are merged in the text below. Where both changed the same lines, you decide:",
  merge_done: "This file was changed elsewhere in the meantime. The text below contains both changes: check it, then save.",
  merge_text: "Merged: this will be saved",
  merge_theirs: "Only what is in the file",
  merge_mine: "Only what I typed",
  file_gone: "This file was deleted elsewhere in the meantime. Saving creates it again.",
  line: "Line {line}",
  lines: "Lines {first}–{last}",
};
