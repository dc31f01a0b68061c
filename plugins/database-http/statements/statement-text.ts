import { setImmediate as turn } from 'node:timers/promises';
import {
  classify,
  splitInSteps,
  translateRefusedWith,
  translateWith,
  type Classification,
  type TableLookup,
  type Translation,
} from '../../database/index.ts';
import { ApiFailure, type ApiRequest } from '../route.ts';
import { TEXTS } from '../texts.ts';

/** A classified statement in the text of a request. */
export interface RequestStatement {
  readonly text: string;
  /** Position of the statement in the request's SQL, in UTF-16 units. */
  readonly offset: number;
  readonly classification: Classification;
}

/** Maximum number of statements in a request. The outcome of each is kept in memory until the last one has run. */
export const MAX_STATEMENTS = 10_000;
/** Maximum time without a turn of the event loop. */
const MAX_TURN_MS = 20;

/** Decides when to yield to the event loop. `pause` returns a promise if the caller must wait for the next turn. */
export class Turns {
  #turnedAt = performance.now();

  pause(): Promise<void> | undefined {
    if (performance.now() - this.#turnedAt < MAX_TURN_MS) return undefined;
    return turn().then(() => {
      this.#turnedAt = performance.now();
    });
  }
}

/** Rejects with an ApiFailure 400 if the text has more than `most` statements. Called before any of them runs. */
export async function requireFewStatements(sql: string, most: number, maxLength: number, turns: Turns): Promise<void> {
  let semicolons = 0;
  for (let at = sql.indexOf(';'); at >= 0 && semicolons < most; at = sql.indexOf(';', at + 1)) semicolons++;
  if (semicolons < most) return;
  // Some of the semicolons may be in quotes or end an empty statement, so the statements are counted.
  let count = 0;
  for (const statement of readStatements(sql, maxLength)) {
    if (statement !== undefined && ++count > most) {
      throw new ApiFailure(400, most === 1 ? TEXTS.oneWithParameters : TEXTS.manyStatements(most));
    }
    await turns.pause();
  }
}

/** A statement with more characters is classified in its own turn of the event loop, because that takes several milliseconds. */
const LONG_STATEMENT = 500_000;

/** Blanks and empty statements. A body may contain millions of them. */
const EMPTY_STATEMENTS = /[ \t\n\r\f\v;]*/y;

/**
 * Yields the statements one by one, and `undefined` from time to time while a long statement is read. Each step examines few
 * characters, because reading blocks all other requests. Throws an ApiFailure with status 400 if a statement has more than
 * `maxLength` characters, since the start of the next one is then unknown.
 */
export function* readStatements(
  sql: string,
  maxLength: number,
): Generator<RequestStatement | undefined, void, undefined> {
  for (let from = 0; from < sql.length;) {
    EMPTY_STATEMENTS.lastIndex = from;
    from += EMPTY_STATEMENTS.exec(sql)?.[0].length ?? 0;
    const window = sql.slice(from, from + maxLength + 1);
    const isLast = from + window.length === sql.length;
    let read = 0;
    let isLong = !isLast;
    for (const found of splitInSteps(window)) {
      if (found === undefined) {
        yield undefined;
        continue;
      }
      const { text, offset } = found;
      const end = endOf(window, offset + text.length);
      isLong = text.length > maxLength || (end === undefined && !isLast);
      if (isLong) break;
      read = end ?? window.length;
      if (text.length > LONG_STATEMENT) yield undefined;
      const classification = classify(text);
      if (classification.kind !== 'empty') yield { text, offset: from + offset, classification };
    }
    if (read === 0 && isLong) throw new ApiFailure(400, TEXTS.longStatement(maxLength));
    from += read === 0 ? window.length : read;
  }
}

const BLANKS = /\s*/y;

/** Position after the semicolon that ends a statement; `undefined` if the text ends without one. */
function endOf(text: string, from: number): number | undefined {
  BLANKS.lastIndex = from;
  const at = from + (BLANKS.exec(text)?.[0].length ?? 0);
  return text.charAt(at) === ';' ? at + 1 : undefined;
}

/** Translates a statement. The tables in it are looked up in `database`. */
export async function translateIn(database: string, request: ApiRequest, sql: string): Promise<Translation> {
  return request.clock.parseWith(() => translateWith(tablesOf(database, request), database, sql));
}

/** Translates a statement that the database refused with `sqlstate`. Resolves with `undefined` if there is no translation. */
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
  const turns = new Turns();
  return {
    pause: () => turns.pause(),
    find: (table) => clock.database(() => catalogue.find(table)),
    refresh: (table) => clock.database(() => catalogue.refresh(table)),
    dialect: () => clock.database(() => catalogue.dialect()),
  };
}
