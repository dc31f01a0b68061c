import {
  classify,
  splitStatements,
  translateRefusedWith,
  translateWith,
  type Classification,
  type TableLookup,
  type Translation,
} from '../../../src/index.ts';
import { ApiFailure, type ApiRequest } from '../route.ts';
import { TEXTS } from '../texts.ts';

/** A statement of a request's text, classified. */
export interface RequestStatement {
  readonly text: string;
  readonly classification: Classification;
}

/**
 * The statements one after another as they are asked for. A step looks at little more than `maxLength` characters, because
 * reading and translating them keeps everyone else waiting. ApiFailure 400 for a statement that is longer; where the next
 * one begins is not known then.
 */
export function* readStatements(sql: string, maxLength: number): Generator<RequestStatement, void, undefined> {
  for (let from = 0; from < sql.length;) {
    const window = sql.slice(from, from + maxLength + 1);
    const isLast = from + window.length === sql.length;
    let read = 0;
    let isLong = !isLast;
    for (const { text, offset } of splitStatements(window)) {
      const end = endOf(window, offset + text.length);
      isLong = text.length > maxLength || (end === undefined && !isLast);
      if (isLong) break;
      read = end ?? window.length;
      const classification = classify(text);
      if (classification.kind !== 'empty') yield { text, classification };
    }
    if (read === 0) read = /^[\s;]*/.exec(window)?.[0].length ?? 0;
    if (read === 0 && isLong) throw new ApiFailure(400, TEXTS.longStatement(maxLength));
    from += read === 0 ? window.length : read;
  }
}

/** Behind the semicolon that ends a statement; `undefined` when the text ends without one. */
function endOf(text: string, from: number): number | undefined {
  let at = from;
  while (/\s/.test(text.charAt(at))) at++;
  return text.charAt(at) === ';' ? at + 1 : undefined;
}

/** What becomes of a statement in `database`; the tables it names are looked up there. */
export async function translateIn(database: string, request: ApiRequest, sql: string): Promise<Translation> {
  return request.clock.parseWith(() => translateWith(tablesOf(database, request), database, sql));
}

/** What to run instead of a statement that the database refused with `sqlstate`; `undefined` to leave it at that. */
export async function translateAgain(
  database: string,
  request: ApiRequest,
  sql: string,
  sqlstate: string,
): ReturnType<typeof translateRefusedWith> {
  return request.clock.parseWith(() => translateRefusedWith(tablesOf(database, request), database, sql, sqlstate));
}

function tablesOf(database: string, { clock, executorOn }: ApiRequest): TableLookup {
  const { catalogue } = executorOn(database);
  return {
    find: (table) => clock.database(() => catalogue.find(table)),
    refresh: (table) => clock.database(() => catalogue.refresh(table)),
    dialect: () => clock.database(() => catalogue.dialect()),
  };
}
