/** A statement of a text, with its start index and its end index (exclusive) in the text. */
export interface Statement {
  readonly sql: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Matches quoted texts, comments of one line, and the beginning of other comments, in which a semicolon does not end a statement, and
 * semicolons outside of them.
 */
const SKIPPED =
  /(?<![\w$])[eE]'(?:[^'\\]|''|\\[\s\S])*'?|'(?:[^']|'')*'?|"(?:[^"]|"")*"?|--[^\n]*|\/\*|(\$(?:[A-Za-z_]\w*)?\$)[\s\S]*?(?:\1|$)|;/g;

/** Splits a text into statements. Statements that consist only of blanks and comments are left out. */
export function statementsIn(text: string): readonly Statement[] {
  const found: Statement[] = [];
  let from = 0;
  /** The text of the statement without comments. */
  let content = '';
  const add = (to: number): void => {
    const sql = text.slice(from, to);
    if (content.trim() !== '') {
      const begin = from + sql.length - sql.trimStart().length;
      found.push({ sql: sql.trim(), from: begin, to: begin + sql.trim().length });
    }
    from = to + 1;
    content = '';
  };
  SKIPPED.lastIndex = 0;
  let read = 0;
  for (let match = SKIPPED.exec(text); match !== null; match = SKIPPED.exec(text)) {
    const [token] = match;
    content += text.slice(read, match.index);
    if (token === ';') add(match.index);
    else if (token === '/*') SKIPPED.lastIndex = commentEnd(text, match.index);
    else if (!token.startsWith('--')) content += token;
    read = SKIPPED.lastIndex;
  }
  content += text.slice(read);
  add(text.length);
  return found;
}

/** Returns the end of the comment that begins at `begin`. Comments may contain comments, as in PostgreSQL. */
function commentEnd(text: string, begin: number): number {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = begin;
  let depth = 0;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    depth += mark[0] === '/*' ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return text.length;
}
