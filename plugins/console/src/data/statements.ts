/** A statement of a text, with its start index and its end index (exclusive) in the text. */
export interface Statement {
  readonly sql: string;
  readonly from: number;
  readonly to: number;
}

/** Matches quoted texts and comments, in which a semicolon does not end a statement, and semicolons outside of them. */
const SKIPPED =
  /'(?:[^']|'')*'?|"(?:[^"]|"")*"?|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|(\$(?:[A-Za-z_]\w*)?\$)[\s\S]*?(?:\1|$)|;/g;
const COMMENTS = /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;

/** Splits a text into statements. Statements that consist only of blanks and comments are left out. */
export function statementsIn(text: string): readonly Statement[] {
  const found: Statement[] = [];
  let from = 0;
  const add = (to: number): void => {
    const sql = text.slice(from, to);
    if (sql.replace(COMMENTS, '').trim() !== '') {
      const begin = from + sql.length - sql.trimStart().length;
      found.push({ sql: sql.trim(), from: begin, to: begin + sql.trim().length });
    }
    from = to + 1;
  };
  for (const match of text.matchAll(SKIPPED)) if (match[0] === ';') add(match.index);
  add(text.length);
  return found;
}
