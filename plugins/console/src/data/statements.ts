/** A statement of a text, with where it begins and ends there. */
export interface Statement {
  readonly sql: string;
  readonly from: number;
  readonly to: number;
}

/** Quoted texts and comments, in which a semicolon ends no statement. */
const SKIPPED =
  /'(?:[^']|'')*'?|"(?:[^"]|"")*"?|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|(\$(?:[A-Za-z_]\w*)?\$)[\s\S]*?(?:\1|$)|;/g;
const COMMENTS = /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;

/** The statements of a text, without those that consist of blanks and comments. */
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
