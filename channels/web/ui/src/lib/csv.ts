// Rows of a table as a file for spreadsheets.

// What a spreadsheet would calculate (or, after a tab or a break, take for a cell that begins so).
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** Rows as CSV. Every cell is quoted, and what could be a formula is text by an apostrophe before it. Pure. */
export function toCsv(rows: readonly (readonly string[])[]): string {
  const cell = (text: string): string => `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
