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

/** A statement of a request's text, classified. */
export interface RequestStatement {
  readonly text: string;
  /** Where it begins in the request's SQL, in UTF-16 units. */
  readonly offset: number;
  readonly classification: Classification;
}

/**
 * Statements of one request. Each gets an outcome of its own, which has to be held until the last one has run.
 */
export const MAX_STATEMENTS = 10_000;
/** Longest time without a turn of the event loop. */
const MAX_TURN_MS = 20;

/** Decides when to yield to the event loop; returns a promise to wait for. */
export class Turns {
  #turnedAt = performance.now();

  pause(): Promise<void> | undefined {
    if (performance.now() - this.#turnedAt < MAX_TURN_MS) return undefined;
    return turn().then(() => {
      this.#turnedAt = performance.now();
    });
  }
}

/** ApiFailure 400 for a text of more than `most` statements, before any of them runs. */
export async function requireFewStatements(sql: string, most: number, maxLength: number, turns: Turns): Promise<void> {
  let semicolons = 0;
  for (let at = sql.indexOf(';'); at >= 0 && semicolons < most; at = sql.indexOf(';', at + 1)) semicolons++;
  if (semicolons < most) return;
  // Some may be in quotes, or end nothing.
  let count = 0;
  for (const statement of readStatements(sql, maxLength)) {
    if (statement !== undefined && ++count > most) {
      throw new ApiFailure(400, most === 1 ? TEXTS.oneWithParameters : TEXTS.manyStatements(most));
    }
    await turns.pause();
  }
}

/** Characters that take about as long as others may wait: a statement with more is classified in a turn of its own. */
const LONG = 500_000;

/** Blanks and empty statements, of which a body may hold millions. */
const NOTHING = /[ \t\n\r\f\v;]*/y;

/**
 * Yields the statements one by one, and `undefined` from time to time if reading a statement takes long. A step
 * examines few characters, and a statement at most `maxLength`, because reading blocks all other requests. Throws
 * ApiFailure 400 for a longer statement, since the start of the next one is then unknown.
 */
export function* readStatements(
  sql: string,
  maxLength: number,
): Generator<RequestStatement | undefined, void, undefined> {
  for (let from = 0; from < sql.length;) {
    NOTHING.lastIndex = from;
    from += NOTHING.exec(sql)?.[0].length ?? 0;
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
      if (text.length > LONG) yield undefined;
      const classification = classify(text);
      if (classification.kind !== 'empty') yield { text, offset: from + offset, classification };
    }
    if (read === 0 && isLong) throw new ApiFailure(400, TEXTS.longStatement(maxLength));
    from += read === 0 ? window.length : read;
  }
}

const BLANKS = /\s*/y;

/** Behind the semicolon that ends a statement; `undefined` when the text ends without one. */
function endOf(text: string, from: number): number | undefined {
  BLANKS.lastIndex = from;
  const at = from + (BLANKS.exec(text)?.[0].length ?? 0);
  return text.charAt(at) === ';' ? at + 1 : undefined;
}

/** The translation of a statement for `database`; the tables that it names are looked up there. */
export async function translateIn(database: string, request: ApiRequest, sql: string): Promise<Translation> {
  return request.clock.parseWith(() => translateWith(tablesOf(database, request), database, sql));
}

/** The translation of a statement that the database refused with `sqlstate`; `undefined` if there is none. */
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
